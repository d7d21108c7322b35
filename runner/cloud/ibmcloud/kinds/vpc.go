package kinds

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/IBM/vpc-go-sdk/vpcv1"

	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
)

// Resource is one resource as the list of a region shows it.
type Resource struct {
	ID, CRN, Name string
	Group         string // id of its resource group
	GroupName     string
	VPC           string   // id of the VPC that it is in
	VPCCRN        string   // its CRN
	Subnets       []string // ids of those that a load balancer is in
	In            []string // CRNs of what else it is a part of
	Tags          []string // user tags, as far as its list has them
	MadeAt        time.Time
	Detail        string // what its price depends on
	Stopped       bool
}

// VPC is one kind of resource that a region lists.
type VPC struct {
	Noun   string // as in a leftover, in contract.SeenResource and in a CRN
	Call   string
	Delete string // the command that deletes one, followed by its id
	Hint   string // what has to be known before that
	Holds  bool   // others are in it
	list   func(context.Context, *vpcv1.VpcV1, Take) error
}

// Take takes what one page showed. An error of it ends the list.
type Take func([]Resource) error

// The nouns of what others are in.
const (
	NounVPC    = "vpc"
	NounSubnet = "subnet"
)

// AllVPC lists the kinds in the order of queries and reports: what keeps others from being deleted comes first. Every list is of the
// whole region: load balancers have no filter, volumes none for a resource group, and a filter that is misspelt would hide a leftover.
var AllVPC = []VPC{
	{"instance", "ListInstances", "instance-delete", "", false, listInstances},
	{"load-balancer", "ListLoadBalancers", "load-balancer-delete", "made by a service of the cluster, or by the installer", false, listLoadBalancers},
	{"endpoint-gateway", "ListEndpointGateways", "endpoint-gateway-delete", "", false, listEndpointGateways},
	{"virtual-network-interface", "ListVirtualNetworkInterfaces", "virtual-network-interface-delete", "first delete what uses it", false, listInterfaces},
	{"volume", "ListVolumes", "volume-delete", volumeHint, false, listVolumes},
	{"snapshot", "ListSnapshots", "snapshot-delete", volumeHint, false, listSnapshots},
	{"floating-ip", "ListFloatingIps", "floating-ip-release", "the address of a public gateway goes with its gateway", false, listFloatingIPs},
	{"image", "ListImages", "image-delete", "", false, listImages},
	{"key", "ListKeys", "key-delete", "", false, listKeys},
	{"security-group", "ListSecurityGroups", "security-group-delete", "first delete what uses it; a VPC's default group goes with its VPC", false, listSecurityGroups},
	{NounSubnet, "ListSubnets", "subnet-delete", "after everything in it is gone", true, listSubnets},
	{"public-gateway", "ListPublicGateways", "public-gateway-delete", "after its subnets are gone", true, listPublicGateways},
	{NounVPC, "ListVpcs", "vpc-delete", "after everything in it is gone", true, listVPCs},
}

const volumeHint = "made by a workload's persistent volume; ask its owner whether the data may go"

// FindVPC returns the kind of a noun.
func FindVPC(noun string) (kind VPC, known bool) {
	for _, k := range AllVPC {
		if k.Noun == noun {
			return k, true
		}
	}
	return VPC{}, false
}

// List gives everything of the kind in one region to take, page by page.
func (k VPC) List(ctx context.Context, api *vpcv1.VpcV1, take Take) error {
	return k.list(ctx, api, take)
}

// convertPages converts the pages of a list. made is the error of making the pager.
func convertPages[T any](ctx context.Context, p answer.Pager[T], made error, resourceOf func(T) Resource, take Take) error {
	return answer.Pages(ctx, p, made, func(page []T) error {
		all := make([]Resource, 0, len(page))
		for _, item := range page {
			all = append(all, resourceOf(item))
		}
		return take(all)
	})
}

// newResource is what every list of the VPC service shows.
func newResource[At fmt.Stringer](crn, id, name *string, group *vpcv1.ResourceGroupReference, vpc *vpcv1.VPCReference, at *At) Resource {
	r := Resource{ID: answer.Text(id), CRN: answer.Text(crn), Name: answer.Text(name), MadeAt: MadeAt(at)}
	if group != nil {
		r.Group, r.GroupName = answer.Text(group.ID), answer.Text(group.Name)
	}
	if vpc != nil {
		r.VPC, r.VPCCRN = answer.Text(vpc.ID), answer.Text(vpc.CRN)
	}
	return r
}

// formatSize is a size as a detail; empty: it is not known.
func formatSize(size *int64) string {
	if size == nil {
		return ""
	}
	return strconv.FormatInt(*size, 10)
}

// listInstances gives the profile as the detail: bx2-4x16.
func listInstances(ctx context.Context, api *vpcv1.VpcV1, take Take) error {
	p, err := api.NewInstancesPager(&vpcv1.ListInstancesOptions{Limit: answer.Hundred()})
	return convertPages(ctx, p, err, func(i vpcv1.Instance) Resource {
		r := newResource(i.CRN, i.ID, i.Name, i.ResourceGroup, i.VPC, i.CreatedAt)
		if i.Profile != nil {
			r.Detail = answer.Text(i.Profile.Name)
		}
		state := answer.Text(i.Status)
		r.Stopped = state == vpcv1.InstanceStatusStoppedConst || state == vpcv1.InstanceStatusStoppingConst
		return r
	}, take)
}

// listLoadBalancers gives the family as the detail: application or network.
func listLoadBalancers(ctx context.Context, api *vpcv1.VpcV1, take Take) error {
	p, err := api.NewLoadBalancersPager(&vpcv1.ListLoadBalancersOptions{Limit: answer.Hundred()})
	return convertPages(ctx, p, err, func(l vpcv1.LoadBalancer) Resource {
		r := newResource(l.CRN, l.ID, l.Name, l.ResourceGroup, nil, l.CreatedAt)
		for _, s := range l.Subnets {
			r.Subnets = append(r.Subnets, answer.Text(s.ID))
		}
		if l.Profile != nil {
			r.Detail = answer.Text(l.Profile.Family)
		}
		return r
	}, take)
}

func listEndpointGateways(ctx context.Context, api *vpcv1.VpcV1, take Take) error {
	p, err := api.NewEndpointGatewaysPager(&vpcv1.ListEndpointGatewaysOptions{Limit: answer.Hundred()})
	return convertPages(ctx, p, err, func(g vpcv1.EndpointGateway) Resource {
		return newResource(g.CRN, g.ID, g.Name, g.ResourceGroup, g.VPC, g.CreatedAt)
	}, take)
}

func listInterfaces(ctx context.Context, api *vpcv1.VpcV1, take Take) error {
	p, err := api.NewVirtualNetworkInterfacesPager(&vpcv1.ListVirtualNetworkInterfacesOptions{Limit: answer.Hundred()})
	return convertPages(ctx, p, err, func(i vpcv1.VirtualNetworkInterface) Resource {
		return newResource(i.CRN, i.ID, i.Name, i.ResourceGroup, i.VPC, i.CreatedAt)
	}, take)
}

// listVolumes gives kind and GiB as the detail: general-purpose 100.
func listVolumes(ctx context.Context, api *vpcv1.VpcV1, take Take) error {
	p, err := api.NewVolumesPager(&vpcv1.ListVolumesOptions{Limit: answer.Hundred()})
	return convertPages(ctx, p, err, func(v vpcv1.Volume) Resource {
		r := newResource(v.CRN, v.ID, v.Name, v.ResourceGroup, nil, v.CreatedAt)
		r.Tags = v.UserTags
		if v.Profile != nil && v.Capacity != nil {
			r.Detail = fmt.Sprintf("%s %d", answer.Text(v.Profile.Name), *v.Capacity)
		}
		for _, a := range v.VolumeAttachments {
			if a.Instance != nil {
				r.In = append(r.In, answer.Text(a.Instance.CRN))
			}
		}
		return r
	}, take)
}

// listSnapshots gives GiB as the detail.
func listSnapshots(ctx context.Context, api *vpcv1.VpcV1, take Take) error {
	p, err := api.NewSnapshotsPager(&vpcv1.ListSnapshotsOptions{Limit: answer.Hundred()})
	return convertPages(ctx, p, err, func(s vpcv1.Snapshot) Resource {
		r := newResource(s.CRN, s.ID, s.Name, s.ResourceGroup, nil, s.CreatedAt)
		r.Tags, r.Detail = s.UserTags, formatSize(s.MinimumCapacity)
		if s.SourceVolume != nil {
			r.In = append(r.In, answer.Text(s.SourceVolume.CRN))
		}
		return r
	}, take)
}

func listFloatingIPs(ctx context.Context, api *vpcv1.VpcV1, take Take) error {
	p, err := api.NewFloatingIpsPager(&vpcv1.ListFloatingIpsOptions{Limit: answer.Hundred()})
	return convertPages(ctx, p, err, func(f vpcv1.FloatingIP) Resource {
		r := newResource(f.CRN, f.ID, f.Name, f.ResourceGroup, nil, f.CreatedAt)
		if target, ok := f.Target.(*vpcv1.FloatingIPTarget); ok {
			r.In = append(r.In, answer.Text(target.CRN))
		}
		return r
	}, take)
}

// listImages lists the account's own, with GB as the detail: the list without a filter is full of IBM's.
func listImages(ctx context.Context, api *vpcv1.VpcV1, take Take) error {
	private := vpcv1.ListImagesOptionsVisibilityPrivateConst
	p, err := api.NewImagesPager(&vpcv1.ListImagesOptions{Limit: answer.Hundred(), Visibility: &private})
	return convertPages(ctx, p, err, func(i vpcv1.Image) Resource {
		r := newResource(i.CRN, i.ID, i.Name, i.ResourceGroup, nil, i.CreatedAt)
		if i.File != nil {
			r.Detail = formatSize(i.File.Size)
		}
		return r
	}, take)
}

func listKeys(ctx context.Context, api *vpcv1.VpcV1, take Take) error {
	p, err := api.NewKeysPager(&vpcv1.ListKeysOptions{Limit: answer.Hundred()})
	return convertPages(ctx, p, err, func(k vpcv1.Key) Resource {
		return newResource(k.CRN, k.ID, k.Name, k.ResourceGroup, nil, k.CreatedAt)
	}, take)
}

func listSecurityGroups(ctx context.Context, api *vpcv1.VpcV1, take Take) error {
	p, err := api.NewSecurityGroupsPager(&vpcv1.ListSecurityGroupsOptions{Limit: answer.Hundred()})
	return convertPages(ctx, p, err, func(g vpcv1.SecurityGroup) Resource {
		return newResource(g.CRN, g.ID, g.Name, g.ResourceGroup, g.VPC, g.CreatedAt)
	}, take)
}

func listSubnets(ctx context.Context, api *vpcv1.VpcV1, take Take) error {
	p, err := api.NewSubnetsPager(&vpcv1.ListSubnetsOptions{Limit: answer.Hundred()})
	return convertPages(ctx, p, err, func(s vpcv1.Subnet) Resource {
		return newResource(s.CRN, s.ID, s.Name, s.ResourceGroup, s.VPC, s.CreatedAt)
	}, take)
}

func listPublicGateways(ctx context.Context, api *vpcv1.VpcV1, take Take) error {
	p, err := api.NewPublicGatewaysPager(&vpcv1.ListPublicGatewaysOptions{Limit: answer.Hundred()})
	return convertPages(ctx, p, err, func(g vpcv1.PublicGateway) Resource {
		return newResource(g.CRN, g.ID, g.Name, g.ResourceGroup, g.VPC, g.CreatedAt)
	}, take)
}

func listVPCs(ctx context.Context, api *vpcv1.VpcV1, take Take) error {
	p, err := api.NewVpcsPager(&vpcv1.ListVpcsOptions{Limit: answer.Hundred()})
	return convertPages(ctx, p, err, func(v vpcv1.VPC) Resource {
		return newResource(v.CRN, v.ID, v.Name, v.ResourceGroup, nil, v.CreatedAt)
	}, take)
}
