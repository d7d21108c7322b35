package inventory

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/IBM/vpc-go-sdk/vpcv1"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
)

// vpcKinds are the types that a region's part lists, as in a CRN.
var vpcKinds = map[string]bool{
	"vpc": true, "subnet": true, "public-gateway": true, "instance": true, "load-balancer": true, "endpoint-gateway": true, "virtual-network-interface": true,
	"volume": true, "snapshot": true, "floating-ip": true, "image": true, "key": true, "security-group": true,
}

// places are the CRNs of a region's VPCs; true: it is reported.
type places map[string]bool

// vpcsIn lists a region's VPCs once.
func (l *listing) vpcsIn(ctx context.Context, region string) (places, error) {
	l.mu.Lock()
	of := l.vpcs[region]
	if of == nil {
		of = &once[places]{}
		l.vpcs[region] = of
	}
	l.mu.Unlock()
	return of.get(func() (places, error) {
		found := places{}
		err := l.eachVPC(ctx, region, func(page []thing) error {
			for _, t := range page {
				found[t.ID] = l.judge(&t)
			}
			return nil
		})
		return found, err
	})
}

// base is what every list of the VPC service shows.
type base struct {
	kind          string
	crn, id, name *string
	group         *vpcv1.ResourceGroupReference
	vpc           *vpcv1.VPCReference
	at            time.Time
}

func (b base) thing(region string) thing {
	t := thing{taggable: true, SeenResource: contract.SeenResource{ID: answer.Text(b.crn, b.id), Type: b.kind, Name: answer.Text(b.name), Region: region, MadeAt: b.at}}
	if b.group != nil {
		t.group = answer.Text(b.group.ID)
	}
	if b.vpc != nil {
		t.in = append(t.in, answer.Text(b.vpc.CRN))
	}
	return t
}

// each converts the pages of a list.
func each[T any](ctx context.Context, p answer.Pager[T], made error, thingOf func(T) thing, take func([]thing) error) error {
	return answer.Pages(ctx, p, made, func(page []T) error {
		all := make([]thing, 0, len(page))
		for _, item := range page {
			all = append(all, thingOf(item))
		}
		return take(all)
	})
}

func (c *Client) eachVPC(ctx context.Context, region string, take func([]thing) error) error {
	api, err := c.vpcIn(region)
	if err != nil {
		return err
	}
	p, err := api.NewVpcsPager(&vpcv1.ListVpcsOptions{Limit: answer.Hundred()})
	return each(ctx, p, err, func(v vpcv1.VPC) thing {
		return base{"vpc", v.CRN, v.ID, v.Name, v.ResourceGroup, nil, made(v.CreatedAt)}.thing(region)
	}, take)
}

// listVPC lists everything of one region. What others are in comes first.
func (l *listing) listVPC() {
	api, err := l.vpcIn(l.region)
	if err != nil {
		l.run("VPC", func(context.Context) error { return err })
		return
	}
	r := &vpcRegion{listing: l, api: api, subnets: map[string]string{}}
	l.run("ListVpcs", func(ctx context.Context) error { return l.eachVPC(ctx, l.region, l.report) })
	l.run("ListSubnets", r.listSubnets)
	l.run("ListPublicGateways", r.gateways)
	l.run("ListSecurityGroups", r.securityGroups)
	l.run("ListEndpointGateways", r.endpoints)
	l.run("ListVirtualNetworkInterfaces", r.interfaces)
	l.run("ListInstances", r.instances)
	l.run("ListLoadBalancers", r.balancers)
	l.run("ListVolumes", r.volumes)
	l.run("ListSnapshots", r.snapshots)
	l.run("ListFloatingIps", r.addresses)
	l.run("ListImages", r.images)
	l.run("ListKeys", r.keys)
}

// vpcRegion is one region while it is listed.
type vpcRegion struct {
	*listing
	api     *vpcv1.VpcV1
	subnets map[string]string // CRNs of VPCs, by id of the subnet
}

func (r *vpcRegion) listSubnets(ctx context.Context) error {
	p, err := r.api.NewSubnetsPager(&vpcv1.ListSubnetsOptions{Limit: answer.Hundred()})
	return each(ctx, p, err, func(s vpcv1.Subnet) thing {
		if s.VPC != nil {
			r.subnets[answer.Text(s.ID)] = answer.Text(s.VPC.CRN)
		}
		return base{"subnet", s.CRN, s.ID, s.Name, s.ResourceGroup, s.VPC, made(s.CreatedAt)}.thing(r.region)
	}, r.report)
}

func (r *vpcRegion) gateways(ctx context.Context) error {
	p, err := r.api.NewPublicGatewaysPager(&vpcv1.ListPublicGatewaysOptions{Limit: answer.Hundred()})
	return each(ctx, p, err, func(g vpcv1.PublicGateway) thing {
		return base{"public-gateway", g.CRN, g.ID, g.Name, g.ResourceGroup, g.VPC, made(g.CreatedAt)}.thing(r.region)
	}, r.report)
}

func (r *vpcRegion) securityGroups(ctx context.Context) error {
	p, err := r.api.NewSecurityGroupsPager(&vpcv1.ListSecurityGroupsOptions{Limit: answer.Hundred()})
	return each(ctx, p, err, func(g vpcv1.SecurityGroup) thing {
		return base{"security-group", g.CRN, g.ID, g.Name, g.ResourceGroup, g.VPC, made(g.CreatedAt)}.thing(r.region)
	}, r.report)
}

func (r *vpcRegion) endpoints(ctx context.Context) error {
	p, err := r.api.NewEndpointGatewaysPager(&vpcv1.ListEndpointGatewaysOptions{Limit: answer.Hundred()})
	return each(ctx, p, err, func(g vpcv1.EndpointGateway) thing {
		return base{"endpoint-gateway", g.CRN, g.ID, g.Name, g.ResourceGroup, g.VPC, made(g.CreatedAt)}.thing(r.region)
	}, r.report)
}

func (r *vpcRegion) interfaces(ctx context.Context) error {
	p, err := r.api.NewVirtualNetworkInterfacesPager(&vpcv1.ListVirtualNetworkInterfacesOptions{Limit: answer.Hundred()})
	return each(ctx, p, err, func(i vpcv1.VirtualNetworkInterface) thing {
		return base{"virtual-network-interface", i.CRN, i.ID, i.Name, i.ResourceGroup, i.VPC, made(i.CreatedAt)}.thing(r.region)
	}, r.report)
}

// instances gives the profile as the detail: bx2-4x16.
func (r *vpcRegion) instances(ctx context.Context) error {
	p, err := r.api.NewInstancesPager(&vpcv1.ListInstancesOptions{Limit: answer.Hundred()})
	return each(ctx, p, err, func(i vpcv1.Instance) thing {
		t := base{"instance", i.CRN, i.ID, i.Name, i.ResourceGroup, i.VPC, made(i.CreatedAt)}.thing(r.region)
		if i.Profile != nil {
			t.Detail = answer.Text(i.Profile.Name)
		}
		state := answer.Text(i.Status)
		t.Stopped = state == vpcv1.InstanceStatusStoppedConst || state == vpcv1.InstanceStatusStoppingConst
		return t
	}, r.report)
}

// balancers gives the family as the detail: application or network.
func (r *vpcRegion) balancers(ctx context.Context) error {
	p, err := r.api.NewLoadBalancersPager(&vpcv1.ListLoadBalancersOptions{Limit: answer.Hundred()})
	return each(ctx, p, err, func(b vpcv1.LoadBalancer) thing {
		t := base{"load-balancer", b.CRN, b.ID, b.Name, b.ResourceGroup, nil, made(b.CreatedAt)}.thing(r.region)
		for _, s := range b.Subnets {
			t.in = append(t.in, r.subnets[answer.Text(s.ID)])
		}
		if b.Profile != nil {
			t.Detail = answer.Text(b.Profile.Family)
		}
		return t
	}, r.report)
}

// volumes gives kind and GiB as the detail: general-purpose 100.
func (r *vpcRegion) volumes(ctx context.Context) error {
	p, err := r.api.NewVolumesPager(&vpcv1.ListVolumesOptions{Limit: answer.Hundred()})
	return each(ctx, p, err, func(v vpcv1.Volume) thing {
		t := base{"volume", v.CRN, v.ID, v.Name, v.ResourceGroup, nil, made(v.CreatedAt)}.thing(r.region)
		t.Tags = tagsOf(v.UserTags)
		if v.Profile != nil && v.Capacity != nil {
			t.Detail = fmt.Sprintf("%s %d", answer.Text(v.Profile.Name), *v.Capacity)
		}
		for _, a := range v.VolumeAttachments {
			if a.Instance != nil {
				t.in = append(t.in, answer.Text(a.Instance.CRN))
			}
		}
		return t
	}, r.report)
}

// snapshots gives GiB as the detail.
func (r *vpcRegion) snapshots(ctx context.Context) error {
	p, err := r.api.NewSnapshotsPager(&vpcv1.ListSnapshotsOptions{Limit: answer.Hundred()})
	return each(ctx, p, err, func(s vpcv1.Snapshot) thing {
		t := base{"snapshot", s.CRN, s.ID, s.Name, s.ResourceGroup, nil, made(s.CreatedAt)}.thing(r.region)
		t.Tags = tagsOf(s.UserTags)
		if s.MinimumCapacity != nil {
			t.Detail = strconv.FormatInt(*s.MinimumCapacity, 10)
		}
		if s.SourceVolume != nil {
			t.in = append(t.in, answer.Text(s.SourceVolume.CRN))
		}
		return t
	}, r.report)
}

func (r *vpcRegion) addresses(ctx context.Context) error {
	p, err := r.api.NewFloatingIpsPager(&vpcv1.ListFloatingIpsOptions{Limit: answer.Hundred()})
	return each(ctx, p, err, func(f vpcv1.FloatingIP) thing {
		t := base{"floating-ip", f.CRN, f.ID, f.Name, f.ResourceGroup, nil, made(f.CreatedAt)}.thing(r.region)
		if target, ok := f.Target.(*vpcv1.FloatingIPTarget); ok {
			t.in = append(t.in, answer.Text(target.CRN))
		}
		return t
	}, r.report)
}

// images lists the account's own, with GB as the detail: the list without a filter is full of IBM's.
func (r *vpcRegion) images(ctx context.Context) error {
	private := vpcv1.ListImagesOptionsVisibilityPrivateConst
	p, err := r.api.NewImagesPager(&vpcv1.ListImagesOptions{Limit: answer.Hundred(), Visibility: &private})
	return each(ctx, p, err, func(i vpcv1.Image) thing {
		t := base{"image", i.CRN, i.ID, i.Name, i.ResourceGroup, nil, made(i.CreatedAt)}.thing(r.region)
		if i.File != nil && i.File.Size != nil {
			t.Detail = strconv.FormatInt(*i.File.Size, 10)
		}
		return t
	}, r.report)
}

func (r *vpcRegion) keys(ctx context.Context) error {
	p, err := r.api.NewKeysPager(&vpcv1.ListKeysOptions{Limit: answer.Hundred()})
	return each(ctx, p, err, func(k vpcv1.Key) thing {
		return base{"key", k.CRN, k.ID, k.Name, k.ResourceGroup, nil, made(k.CreatedAt)}.thing(r.region)
	}, r.report)
}
