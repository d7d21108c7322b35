package ibmcloud_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/IBM/platform-services-go-sdk/iampolicymanagementv1"
	"github.com/IBM/platform-services-go-sdk/resourcecontrollerv2"
	"github.com/IBM/platform-services-go-sdk/resourcemanagerv2"
	"github.com/IBM/vpc-go-sdk/vpcv1"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
)

// network is a VPC with a gateway and a subnet in a resource group of its own.
type network struct{ group, vpc, gateway, subnet string }

func (c *cloud) network(t *testing.T, infra string) (n network) {
	t.Helper()
	ctx := t.Context()
	n.group = c.group(t, infra)
	group := &vpcv1.ResourceGroupIdentityByID{ID: &n.group}
	zone := &vpcv1.ZoneIdentityByName{Name: new(region + "-1")}
	vpc, _, err := c.vpc.CreateVPCWithContext(ctx, &vpcv1.CreateVPCOptions{Name: new(infra + "-vpc"), ResourceGroup: group})
	require.NoError(t, err)
	n.vpc = *vpc.ID
	gateway, _, err := c.vpc.CreatePublicGatewayWithContext(ctx, &vpcv1.CreatePublicGatewayOptions{Name: new(infra + "-pgateway"), ResourceGroup: group, VPC: &vpcv1.VPCIdentityByID{ID: &n.vpc}, Zone: zone})
	require.NoError(t, err)
	n.gateway = *gateway.ID
	require.NotNil(t, gateway.FloatingIP)
	subnet, _, err := c.vpc.CreateSubnetWithContext(ctx, &vpcv1.CreateSubnetOptions{SubnetPrototype: &vpcv1.SubnetPrototypeSubnetByTotalCount{
		Name: new(infra + "-subnet"), ResourceGroup: group, VPC: &vpcv1.VPCIdentityByID{ID: &n.vpc}, Zone: zone, TotalIpv4AddressCount: new(int64(256)),
		PublicGateway: &vpcv1.PublicGatewayIdentityPublicGatewayIdentityByID{ID: &n.gateway},
	}})
	require.NoError(t, err)
	n.subnet = *subnet.ID
	return n
}

func (c *cloud) machine(t *testing.T, n network, name string) string {
	t.Helper()
	made, _, err := c.vpc.CreateInstanceWithContext(t.Context(), &vpcv1.CreateInstanceOptions{InstancePrototype: &vpcv1.InstancePrototypeInstanceByImage{
		Name: &name, ResourceGroup: &vpcv1.ResourceGroupIdentityByID{ID: &n.group}, Profile: &vpcv1.InstanceProfileIdentityByName{Name: new("bx2-4x16")}, Zone: &vpcv1.ZoneIdentityByName{Name: new(region + "-1")},
		VPC: &vpcv1.VPCIdentityByID{ID: &n.vpc}, Image: &vpcv1.ImageIdentityByID{ID: new("r014-image")},
		PrimaryNetworkInterface: &vpcv1.NetworkInterfacePrototype{Subnet: &vpcv1.SubnetIdentityByID{ID: &n.subnet}},
	}})
	require.NoError(t, err)
	require.Equal(t, "pending", *made.Status)
	return *made.ID
}

func TestWhatIsInUseCannotBeDeletedAndDeletionsEndLater(t *testing.T) {
	c := start(t, ibmcloud.Config{})
	ctx := t.Context()
	n := c.network(t, "demo-x1y2z")
	machine := c.machine(t, n, "demo-x1y2z-master-0")
	balancer, _, err := c.vpc.CreateLoadBalancerWithContext(ctx, &vpcv1.CreateLoadBalancerOptions{
		Name: new("demo-x1y2z-api"), IsPublic: new(true), Subnets: []vpcv1.SubnetIdentityIntf{&vpcv1.SubnetIdentityByID{ID: &n.subnet}}, ResourceGroup: &vpcv1.ResourceGroupIdentityByID{ID: &n.group},
	})
	require.NoError(t, err)
	require.Equal(t, "create_pending", *balancer.ProvisioningStatus)
	c.wait()

	code := func(body map[string]any) any { return body["errors"].([]any)[0].(map[string]any)["code"] }
	resp, err := c.vpc.DeleteVPCWithContext(ctx, &vpcv1.DeleteVPCOptions{ID: &n.vpc})
	require.Equal(t, "vpc_in_use", code(status(t, http.StatusConflict, resp, err)))
	resp, err = c.vpc.DeleteSubnetWithContext(ctx, &vpcv1.DeleteSubnetOptions{ID: &n.subnet})
	require.Equal(t, "subnet_in_use_network_interface_exists", code(status(t, http.StatusConflict, resp, err)))
	resp, err = c.vpc.DeletePublicGatewayWithContext(ctx, &vpcv1.DeletePublicGatewayOptions{ID: &n.gateway})
	require.Equal(t, "public_gateway_in_use", code(status(t, http.StatusConflict, resp, err)))
	resp, err = c.groups.DeleteResourceGroupWithContext(ctx, &resourcemanagerv2.DeleteResourceGroupOptions{ID: &n.group})
	require.Contains(t, status(t, http.StatusInternalServerError, resp, err)["message"], "active instances can't be deleted")

	stop := &vpcv1.CreateInstanceActionOptions{InstanceID: &machine, Type: new("stop")}
	_, _, err = c.vpc.CreateInstanceActionWithContext(ctx, stop)
	require.NoError(t, err)
	found, _, err := c.vpc.GetInstanceWithContext(ctx, &vpcv1.GetInstanceOptions{ID: &machine})
	require.NoError(t, err)
	require.Equal(t, "stopping", *found.Status)
	require.NotNil(t, found.BootVolumeAttachment)
	c.wait()
	_, err = c.vpc.DeleteInstanceWithContext(ctx, &vpcv1.DeleteInstanceOptions{ID: &machine})
	require.NoError(t, err)
	_, err = c.vpc.DeleteLoadBalancerWithContext(ctx, &vpcv1.DeleteLoadBalancerOptions{ID: balancer.ID})
	require.NoError(t, err)
	found, _, err = c.vpc.GetInstanceWithContext(ctx, &vpcv1.GetInstanceOptions{ID: &machine})
	require.NoError(t, err)
	require.Equal(t, "deleting", *found.Status)
	c.wait()
	_, resp, err = c.vpc.GetInstanceWithContext(ctx, &vpcv1.GetInstanceOptions{ID: &machine})
	require.Equal(t, "not_found", code(status(t, http.StatusNotFound, resp, err)))
	for _, del := range []func() error{
		func() error {
			_, err := c.vpc.DeleteSubnetWithContext(ctx, &vpcv1.DeleteSubnetOptions{ID: &n.subnet})
			return err
		},
		func() error {
			_, err := c.vpc.DeletePublicGatewayWithContext(ctx, &vpcv1.DeletePublicGatewayOptions{ID: &n.gateway})
			return err
		},
		func() error {
			_, err := c.vpc.DeleteVPCWithContext(ctx, &vpcv1.DeleteVPCOptions{ID: &n.vpc})
			return err
		},
		func() error {
			_, err := c.groups.DeleteResourceGroupWithContext(ctx, &resourcemanagerv2.DeleteResourceGroupOptions{ID: &n.group})
			return err
		},
	} {
		require.NoError(t, del())
		c.wait()
	}
	require.Empty(t, c.Resources(""), "the boot volume, the gateway's address and what came with the VPC are gone too")
}

func TestListsOfVPCAreShortAndBeginWithIBMsOwnImages(t *testing.T) {
	c := start(t, ibmcloud.Config{})
	ctx := t.Context()
	_, err := c.Plant(ibmcloud.Resource{Service: "is", Type: "image", Name: "demo-x1y2z-rhcos"})
	require.NoError(t, err)
	for i := range 55 {
		_, err := c.Plant(ibmcloud.Resource{Service: "is", Type: "load-balancer", Name: fmt.Sprintf("kube-demo-%d", i)})
		require.NoError(t, err)
	}
	page, _, err := c.vpc.ListImagesWithContext(ctx, &vpcv1.ListImagesOptions{})
	require.NoError(t, err)
	require.Len(t, page.Images, 50)
	for _, image := range page.Images {
		require.Equal(t, "public", *image.Visibility)
	}
	page, _, err = c.vpc.ListImagesWithContext(ctx, &vpcv1.ListImagesOptions{Visibility: new("private")})
	require.NoError(t, err)
	require.Len(t, page.Images, 1)
	balancers, _, err := c.vpc.ListLoadBalancersWithContext(ctx, &vpcv1.ListLoadBalancersOptions{})
	require.NoError(t, err)
	require.Len(t, balancers.LoadBalancers, 50)
	pager, err := c.vpc.NewLoadBalancersPager(&vpcv1.ListLoadBalancersOptions{Limit: new(int64(20))})
	require.NoError(t, err)
	all, err := pager.GetAllWithContext(ctx)
	require.NoError(t, err)
	require.Len(t, all, 55)

	region, _, err := c.vpc.GetRegionWithContext(ctx, &vpcv1.GetRegionOptions{Name: new("eu-de")})
	require.NoError(t, err)
	require.Equal(t, c.URL("vpc", "eu-de"), *region.Endpoint+"/v1")
}

func TestVolumesOfPodsStayAndAreFoundByGroup(t *testing.T) {
	c := start(t, ibmcloud.Config{})
	ctx := t.Context()
	n := c.network(t, "demo-x1y2z")
	machine := c.machine(t, n, "demo-x1y2z-worker-1-abcde")
	volume, err := c.Plant(ibmcloud.Resource{Service: "is", Type: "volume", Name: "pvc-1", Group: n.group, Attrs: map[string]string{"attached": machine, "capacity": "20"}})
	require.NoError(t, err)
	resp, err := c.vpc.DeleteVolumeWithContext(ctx, &vpcv1.DeleteVolumeOptions{ID: &volume.ID})
	status(t, http.StatusConflict, resp, err)
	_, err = c.vpc.DeleteInstanceWithContext(ctx, &vpcv1.DeleteInstanceOptions{ID: &machine})
	require.NoError(t, err)
	c.wait()
	left, _, err := c.vpc.ListVolumesWithContext(ctx, &vpcv1.ListVolumesOptions{})
	require.NoError(t, err)
	require.Len(t, left.Volumes, 1)
	require.Equal(t, "unattached", *left.Volumes[0].AttachmentState)
	tagged, _, err := c.vpc.ListVolumesWithContext(ctx, &vpcv1.ListVolumesOptions{Tag: new("kubernetes-io-cluster-demo-x1y2z:owned")})
	require.NoError(t, err)
	require.Empty(t, tagged.Volumes)
	inGroup, _, err := c.rc.ListResourceInstancesWithContext(ctx, &resourcecontrollerv2.ListResourceInstancesOptions{ResourceGroupID: &n.group})
	require.NoError(t, err)
	types := map[string]bool{}
	for _, r := range inGroup.Resources {
		require.Equal(t, "resource_instance", *r.Type)
		types[*r.ResourceID] = true
	}
	require.True(t, types["is.volume"] && types["is.vpc"] && types["is.floating-ip"])
}

func TestQuotasRefuseWhatIsTooMuch(t *testing.T) {
	c := start(t, ibmcloud.Config{Limits: ibmcloud.RealLimits()})
	require.NoError(t, c.SetLimit("vpcs", 1))
	require.Error(t, c.SetLimit("elephants", 1))
	n := c.network(t, "demo")
	_, resp, err := c.vpc.CreateVPCWithContext(t.Context(), &vpcv1.CreateVPCOptions{Name: new("second"), ResourceGroup: &vpcv1.ResourceGroupIdentityByID{ID: &n.group}})
	body := status(t, http.StatusBadRequest, resp, err)
	require.Equal(t, "over_quota", body["errors"].([]any)[0].(map[string]any)["code"])
	require.Equal(t, 1, c.Exceeded())
}

func TestAnImageNeedsAnObjectAndAnAuthorizationToReadIt(t *testing.T) {
	c := start(t, ibmcloud.Config{})
	ctx := t.Context()
	group := c.group(t, "demo")
	cos, _, err := c.rc.CreateResourceInstanceWithContext(ctx, &resourcecontrollerv2.CreateResourceInstanceOptions{Name: new("demo-cos"), Target: new("Global"), ResourceGroup: &group, ResourcePlanID: new(cosPlan)})
	require.NoError(t, err)
	bucket, err := c.Plant(ibmcloud.Resource{Service: "cloud-object-storage", Type: "bucket", ID: "demo-vsi-image", Name: "demo-vsi-image", Parent: *cos.GUID, Region: region})
	require.NoError(t, err)
	_, err = c.Plant(ibmcloud.Resource{Service: "cloud-object-storage", Type: "object", Name: "rhcos.qcow2", Parent: bucket.ID})
	require.NoError(t, err)
	create := func() (*vpcv1.Image, int, error) {
		image, resp, err := c.vpc.CreateImageWithContext(ctx, &vpcv1.CreateImageOptions{ImagePrototype: &vpcv1.ImagePrototypeImageByFile{
			Name: new("demo-rhcos"), File: &vpcv1.ImageFilePrototype{Href: new("cos://" + region + "/demo-vsi-image/rhcos.qcow2")},
			OperatingSystem: &vpcv1.OperatingSystemIdentityByName{Name: new("rhel-coreos-stable-amd64")}, ResourceGroup: &vpcv1.ResourceGroupIdentityByID{ID: &group},
		}})
		return image, resp.StatusCode, err
	}
	_, code, err := create()
	require.Error(t, err)
	require.Equal(t, http.StatusBadRequest, code)
	_, _, err = c.policies.CreateV2PolicyWithContext(ctx, authorization(*cos.GUID))
	require.NoError(t, err)
	image, _, err := create()
	require.NoError(t, err)
	require.Equal(t, "pending", *image.Status)
	resp, err := c.vpc.DeleteImageWithContext(ctx, &vpcv1.DeleteImageOptions{ID: image.ID})
	status(t, http.StatusConflict, resp, err)
}

// authorization lets VPC's images read an Object Storage instance, as the installer asks for it.
func authorization(guid string) *iampolicymanagementv1.CreateV2PolicyOptions {
	is := func(key, value string) (string, string, string) { return key, "stringEquals", value }
	subject := func(key, value string) iampolicymanagementv1.V2PolicySubjectAttribute {
		k, op, v := is(key, value)
		return iampolicymanagementv1.V2PolicySubjectAttribute{Key: &k, Operator: &op, Value: v}
	}
	resource := func(key, value string) iampolicymanagementv1.V2PolicyResourceAttribute {
		k, op, v := is(key, value)
		return iampolicymanagementv1.V2PolicyResourceAttribute{Key: &k, Operator: &op, Value: v}
	}
	return &iampolicymanagementv1.CreateV2PolicyOptions{
		Type: new("authorization"),
		Subject: &iampolicymanagementv1.V2PolicySubject{Attributes: []iampolicymanagementv1.V2PolicySubjectAttribute{
			subject("serviceName", "is"), subject("accountId", account), subject("resourceType", "image"),
		}},
		Resource: &iampolicymanagementv1.V2PolicyResource{Attributes: []iampolicymanagementv1.V2PolicyResourceAttribute{
			resource("serviceName", "cloud-object-storage"), resource("accountId", account), resource("serviceInstance", guid),
		}},
		Control: &iampolicymanagementv1.Control{Grant: &iampolicymanagementv1.Grant{Roles: []iampolicymanagementv1.Roles{{RoleID: new("crn:v1:bluemix:public:iam::::serviceRole:Reader")}}}},
	}
}
