package count

import (
	"context"
	"strconv"

	"github.com/IBM/vpc-go-sdk/vpcv1"

	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
)

// vpcThing is a thing in a resource group, and in a VPC if it says so.
func vpcThing(id, crn, name *string, group *vpcv1.ResourceGroupReference, vpc *vpcv1.VPCReference) thing {
	t := thing{id: answer.Text(id), crn: answer.Text(crn), name: answer.Text(name)}
	if group != nil {
		t.group, t.groupName = answer.Text(group.ID), answer.Text(group.Name)
	}
	if vpc != nil {
		t.vpc = answer.Text(vpc.ID)
	}
	return t
}

// gigabytes is a size as a detail; empty: it is not known.
func gigabytes(size *int64) string {
	if size == nil {
		return ""
	}
	return strconv.FormatInt(*size, 10)
}

func listInstances(ctx context.Context, api *vpcv1.VpcV1) ([]thing, error) {
	p, err := api.NewInstancesPager(&vpcv1.ListInstancesOptions{Limit: answer.Hundred()})
	return collect(ctx, p, err, func(i vpcv1.Instance) thing { return vpcThing(i.ID, i.CRN, i.Name, i.ResourceGroup, i.VPC) })
}

func listLoadBalancers(ctx context.Context, api *vpcv1.VpcV1) ([]thing, error) {
	p, err := api.NewLoadBalancersPager(&vpcv1.ListLoadBalancersOptions{Limit: answer.Hundred()})
	return collect(ctx, p, err, func(l vpcv1.LoadBalancer) thing {
		t := vpcThing(l.ID, l.CRN, l.Name, l.ResourceGroup, nil)
		for _, s := range l.Subnets {
			t.subnets = append(t.subnets, answer.Text(s.ID))
		}
		return t
	})
}

func listEndpointGateways(ctx context.Context, api *vpcv1.VpcV1) ([]thing, error) {
	p, err := api.NewEndpointGatewaysPager(&vpcv1.ListEndpointGatewaysOptions{Limit: answer.Hundred()})
	return collect(ctx, p, err, func(g vpcv1.EndpointGateway) thing { return vpcThing(g.ID, g.CRN, g.Name, g.ResourceGroup, g.VPC) })
}

func listInterfaces(ctx context.Context, api *vpcv1.VpcV1) ([]thing, error) {
	p, err := api.NewVirtualNetworkInterfacesPager(&vpcv1.ListVirtualNetworkInterfacesOptions{Limit: answer.Hundred()})
	return collect(ctx, p, err, func(i vpcv1.VirtualNetworkInterface) thing {
		return vpcThing(i.ID, i.CRN, i.Name, i.ResourceGroup, i.VPC)
	})
}

func listVolumes(ctx context.Context, api *vpcv1.VpcV1) ([]thing, error) {
	p, err := api.NewVolumesPager(&vpcv1.ListVolumesOptions{Limit: answer.Hundred()})
	return collect(ctx, p, err, func(v vpcv1.Volume) thing {
		t := vpcThing(v.ID, v.CRN, v.Name, v.ResourceGroup, nil)
		t.tags = v.UserTags
		return t
	})
}

func listSnapshots(ctx context.Context, api *vpcv1.VpcV1) ([]thing, error) {
	p, err := api.NewSnapshotsPager(&vpcv1.ListSnapshotsOptions{Limit: answer.Hundred()})
	return collect(ctx, p, err, func(s vpcv1.Snapshot) thing {
		t := vpcThing(s.ID, s.CRN, s.Name, s.ResourceGroup, nil)
		t.tags, t.detail = s.UserTags, gigabytes(s.MinimumCapacity)
		return t
	})
}

func listFloatingIPs(ctx context.Context, api *vpcv1.VpcV1) ([]thing, error) {
	p, err := api.NewFloatingIpsPager(&vpcv1.ListFloatingIpsOptions{Limit: answer.Hundred()})
	return collect(ctx, p, err, func(f vpcv1.FloatingIP) thing { return vpcThing(f.ID, f.CRN, f.Name, f.ResourceGroup, nil) })
}

// listImages asks for the account's own: the list without a filter is full of IBM's.
func listImages(ctx context.Context, api *vpcv1.VpcV1) ([]thing, error) {
	private := vpcv1.ListImagesOptionsVisibilityPrivateConst
	p, err := api.NewImagesPager(&vpcv1.ListImagesOptions{Limit: answer.Hundred(), Visibility: &private})
	return collect(ctx, p, err, func(i vpcv1.Image) thing {
		t := vpcThing(i.ID, i.CRN, i.Name, i.ResourceGroup, nil)
		if i.File != nil {
			t.detail = gigabytes(i.File.Size)
		}
		return t
	})
}

func listKeys(ctx context.Context, api *vpcv1.VpcV1) ([]thing, error) {
	p, err := api.NewKeysPager(&vpcv1.ListKeysOptions{Limit: answer.Hundred()})
	return collect(ctx, p, err, func(k vpcv1.Key) thing { return vpcThing(k.ID, k.CRN, k.Name, k.ResourceGroup, nil) })
}

func listSecurityGroups(ctx context.Context, api *vpcv1.VpcV1) ([]thing, error) {
	p, err := api.NewSecurityGroupsPager(&vpcv1.ListSecurityGroupsOptions{Limit: answer.Hundred()})
	return collect(ctx, p, err, func(g vpcv1.SecurityGroup) thing { return vpcThing(g.ID, g.CRN, g.Name, g.ResourceGroup, g.VPC) })
}

func listSubnets(ctx context.Context, api *vpcv1.VpcV1) ([]thing, error) {
	p, err := api.NewSubnetsPager(&vpcv1.ListSubnetsOptions{Limit: answer.Hundred()})
	return collect(ctx, p, err, func(s vpcv1.Subnet) thing { return vpcThing(s.ID, s.CRN, s.Name, s.ResourceGroup, s.VPC) })
}

func listPublicGateways(ctx context.Context, api *vpcv1.VpcV1) ([]thing, error) {
	p, err := api.NewPublicGatewaysPager(&vpcv1.ListPublicGatewaysOptions{Limit: answer.Hundred()})
	return collect(ctx, p, err, func(g vpcv1.PublicGateway) thing { return vpcThing(g.ID, g.CRN, g.Name, g.ResourceGroup, g.VPC) })
}

func listVPCs(ctx context.Context, api *vpcv1.VpcV1) ([]thing, error) {
	p, err := api.NewVpcsPager(&vpcv1.ListVpcsOptions{Limit: answer.Hundred()})
	return collect(ctx, p, err, func(v vpcv1.VPC) thing { return vpcThing(v.ID, v.CRN, v.Name, v.ResourceGroup, nil) })
}
