package ibmcloud

import (
	"cmp"
	"context"
	"time"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/IBM/vpc-go-sdk/vpcv1"
)

// object is what is needed of a resource of the VPC service, whatever its kind.
type object struct {
	kind kind

	ID      string `json:"id"`
	CRN     string `json:"crn"`
	Name    string `json:"name"`
	Group   named  `json:"resource_group"`
	VPC     named  `json:"vpc"`
	Zone    named  `json:"zone"`
	Profile named  `json:"profile"`

	Created time.Time `json:"created_at"`

	Status       string                           `json:"status"`
	Reasons      []struct{ Code, Message string } `json:"status_reasons"` // of instances
	Lifecycle    string                           `json:"lifecycle_state"`
	Provisioning string                           `json:"provisioning_status"`

	Hostname string  `json:"hostname"` // of load balancers
	Subnets  []named `json:"subnets"`  // of load balancers
	Target   target  `json:"target"`   // of floating IPs
}

type named struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type target struct {
	ID   string `json:"id"`
	Type string `json:"resource_type"`
}

// stateOf is the state of an object; the kinds name it differently.
func (o object) stateOf() string { return cmp.Or(o.Provisioning, o.Status, o.Lifecycle) }

// isGoing reports that the object is being deleted.
func (o object) isGoing() bool {
	switch o.stateOf() {
	case "deleting", "delete_pending", "pending_deletion", "deleted":
		return true
	}
	return false
}

func (o object) String() string { return o.kind.name + " " + o.ID + " (" + o.Name + ")" }

// kind is a kind of resource of the VPC service.
type kind struct {
	name, array string
	list        func(context.Context, *vpcv1.VpcV1, *string) (any, *core.DetailedResponse, error)
	remove      func(context.Context, *vpcv1.VpcV1, string) (*core.DetailedResponse, error)
}

var (
	instances = kind{"instance", "instances", func(ctx context.Context, api *vpcv1.VpcV1, start *string) (any, *core.DetailedResponse, error) {
		return api.ListInstancesWithContext(ctx, &vpcv1.ListInstancesOptions{Start: start, Limit: full})
	}, func(ctx context.Context, api *vpcv1.VpcV1, id string) (*core.DetailedResponse, error) {
		return api.DeleteInstanceWithContext(ctx, &vpcv1.DeleteInstanceOptions{ID: &id})
	}}
	loadBalancers = kind{"load balancer", "load_balancers", func(ctx context.Context, api *vpcv1.VpcV1, start *string) (any, *core.DetailedResponse, error) {
		return api.ListLoadBalancersWithContext(ctx, &vpcv1.ListLoadBalancersOptions{Start: start, Limit: full})
	}, func(ctx context.Context, api *vpcv1.VpcV1, id string) (*core.DetailedResponse, error) {
		return api.DeleteLoadBalancerWithContext(ctx, &vpcv1.DeleteLoadBalancerOptions{ID: &id})
	}}
	snapshots = kind{"snapshot", "snapshots", func(ctx context.Context, api *vpcv1.VpcV1, start *string) (any, *core.DetailedResponse, error) {
		return api.ListSnapshotsWithContext(ctx, &vpcv1.ListSnapshotsOptions{Start: start, Limit: full})
	}, func(ctx context.Context, api *vpcv1.VpcV1, id string) (*core.DetailedResponse, error) {
		return api.DeleteSnapshotWithContext(ctx, &vpcv1.DeleteSnapshotOptions{ID: &id})
	}}
	endpointGateways = kind{"endpoint gateway", "endpoint_gateways", func(ctx context.Context, api *vpcv1.VpcV1, start *string) (any, *core.DetailedResponse, error) {
		return api.ListEndpointGatewaysWithContext(ctx, &vpcv1.ListEndpointGatewaysOptions{Start: start, Limit: full})
	}, func(ctx context.Context, api *vpcv1.VpcV1, id string) (*core.DetailedResponse, error) {
		return api.DeleteEndpointGatewayWithContext(ctx, &vpcv1.DeleteEndpointGatewayOptions{ID: &id})
	}}
	interfaces = kind{"virtual network interface", "virtual_network_interfaces", func(ctx context.Context, api *vpcv1.VpcV1, start *string) (any, *core.DetailedResponse, error) {
		return api.ListVirtualNetworkInterfacesWithContext(ctx, &vpcv1.ListVirtualNetworkInterfacesOptions{Start: start, Limit: full})
	}, func(ctx context.Context, api *vpcv1.VpcV1, id string) (*core.DetailedResponse, error) {
		_, response, err := api.DeleteVirtualNetworkInterfacesWithContext(ctx, &vpcv1.DeleteVirtualNetworkInterfacesOptions{ID: &id})
		return response, err
	}}
	volumes = kind{"volume", "volumes", func(ctx context.Context, api *vpcv1.VpcV1, start *string) (any, *core.DetailedResponse, error) {
		return api.ListVolumesWithContext(ctx, &vpcv1.ListVolumesOptions{Start: start, Limit: full})
	}, func(ctx context.Context, api *vpcv1.VpcV1, id string) (*core.DetailedResponse, error) {
		return api.DeleteVolumeWithContext(ctx, &vpcv1.DeleteVolumeOptions{ID: &id})
	}}
	subnets = kind{"subnet", "subnets", func(ctx context.Context, api *vpcv1.VpcV1, start *string) (any, *core.DetailedResponse, error) {
		return api.ListSubnetsWithContext(ctx, &vpcv1.ListSubnetsOptions{Start: start, Limit: full})
	}, func(ctx context.Context, api *vpcv1.VpcV1, id string) (*core.DetailedResponse, error) {
		return api.DeleteSubnetWithContext(ctx, &vpcv1.DeleteSubnetOptions{ID: &id})
	}}
	publicGateways = kind{"public gateway", "public_gateways", func(ctx context.Context, api *vpcv1.VpcV1, start *string) (any, *core.DetailedResponse, error) {
		return api.ListPublicGatewaysWithContext(ctx, &vpcv1.ListPublicGatewaysOptions{Start: start, Limit: full})
	}, func(ctx context.Context, api *vpcv1.VpcV1, id string) (*core.DetailedResponse, error) {
		return api.DeletePublicGatewayWithContext(ctx, &vpcv1.DeletePublicGatewayOptions{ID: &id})
	}}
	floatingIPs = kind{"floating IP", "floating_ips", func(ctx context.Context, api *vpcv1.VpcV1, start *string) (any, *core.DetailedResponse, error) {
		return api.ListFloatingIpsWithContext(ctx, &vpcv1.ListFloatingIpsOptions{Start: start, Limit: full})
	}, func(ctx context.Context, api *vpcv1.VpcV1, id string) (*core.DetailedResponse, error) {
		return api.DeleteFloatingIPWithContext(ctx, &vpcv1.DeleteFloatingIPOptions{ID: &id})
	}}
	securityGroups = kind{"security group", "security_groups", func(ctx context.Context, api *vpcv1.VpcV1, start *string) (any, *core.DetailedResponse, error) {
		return api.ListSecurityGroupsWithContext(ctx, &vpcv1.ListSecurityGroupsOptions{Start: start, Limit: full})
	}, func(ctx context.Context, api *vpcv1.VpcV1, id string) (*core.DetailedResponse, error) {
		return api.DeleteSecurityGroupWithContext(ctx, &vpcv1.DeleteSecurityGroupOptions{ID: &id})
	}}
	images = kind{"image", "images", func(ctx context.Context, api *vpcv1.VpcV1, start *string) (any, *core.DetailedResponse, error) {
		return api.ListImagesWithContext(ctx, &vpcv1.ListImagesOptions{Start: start, Limit: full, Visibility: core.StringPtr(vpcv1.ListImagesOptionsVisibilityPrivateConst)})
	}, func(ctx context.Context, api *vpcv1.VpcV1, id string) (*core.DetailedResponse, error) {
		return api.DeleteImageWithContext(ctx, &vpcv1.DeleteImageOptions{ID: &id})
	}}
	sshKeys = kind{"SSH key", "keys", func(ctx context.Context, api *vpcv1.VpcV1, start *string) (any, *core.DetailedResponse, error) {
		return api.ListKeysWithContext(ctx, &vpcv1.ListKeysOptions{Start: start, Limit: full})
	}, func(ctx context.Context, api *vpcv1.VpcV1, id string) (*core.DetailedResponse, error) {
		return api.DeleteKeyWithContext(ctx, &vpcv1.DeleteKeyOptions{ID: &id})
	}}
	vpcs = kind{"VPC", "vpcs", func(ctx context.Context, api *vpcv1.VpcV1, start *string) (any, *core.DetailedResponse, error) {
		return api.ListVpcsWithContext(ctx, &vpcv1.ListVpcsOptions{Start: start, Limit: full})
	}, func(ctx context.Context, api *vpcv1.VpcV1, id string) (*core.DetailedResponse, error) {
		return api.DeleteVPCWithContext(ctx, &vpcv1.DeleteVPCOptions{ID: &id})
	}}
)

var full = core.Int64Ptr(pageSize)

// kinds are all kinds that a cluster has, in the order in which they can be deleted. What is missing here and in the cluster's resource group
// is found there by the resource controller.
var kinds = []kind{instances, loadBalancers, snapshots, endpointGateways, interfaces, volumes, subnets, publicGateways, floatingIPs, securityGroups, images, sshKeys, vpcs}

// objectsIn lists every object of a kind in a region, everybody's: load balancers and volumes have no filter, and a name none but an exact one.
func (c *Client) objectsIn(ctx context.Context, region string, k kind) ([]object, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	api, err := c.vpcIn(ctx, region)
	if err != nil {
		return nil, err
	}
	all, err := readAll[object](list{
		what: k.name + "s of " + region, array: k.array, next: startsAfter,
		get: func(cursor string) (any, *core.DetailedResponse, error) {
			return k.list(ctx, api, optionalCursor(cursor))
		},
	})
	for i := range all {
		all[i].kind = k
	}
	return all, err
}
