package inventory

import (
	"context"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// thing is one EC2 resource as a list shows it.
type thing struct {
	id, name string
	tags     map[string]string
	in       []string // ids of what it is a part of: VPCs, its instance, its interface
	holds    []string // ids of what belongs to it and does not say so itself
	madeAt   *time.Time
	detail   string
	stopped  bool
	gone     bool // it no longer exists, or ends with what it is in
}

// ec2Kind is one kind of EC2 resource.
type ec2Kind struct {
	noun string // as in a leftover
	arn  string // as in an ARN
	list func(context.Context, *ec2.Client, func([]thing) error) error
}

// ec2Kinds are listed in this order: what others belong to comes before them.
var ec2Kinds = []ec2Kind{
	vpcs,
	{"subnet", "subnet", listSubnets},
	{"instance", "instance", listInstances},
	{"nat-gateway", "natgateway", listNATGateways},
	{"network-interface", "network-interface", listInterfaces},
	{"address", "elastic-ip", listAddresses},
	{"volume", "volume", listVolumes},
	{"image", "image", listImages},
	{"snapshot", "snapshot", listSnapshots},
	{"vpc-endpoint", "vpc-endpoint", listEndpoints},
	{"security-group", "security-group", listSecurityGroups},
	{"route-table", "route-table", listRouteTables},
	{"internet-gateway", "internet-gateway", listInternetGateways},
	{"egress-only-gateway", "egress-only-internet-gateway", listEgressGateways},
	{"carrier-gateway", "carrier-gateway", listCarrierGateways},
	{"peering-connection", "vpc-peering-connection", listPeerings},
	{"dhcp-options", "dhcp-options", listDHCPOptions},
	{"launch-template", "launch-template", listLaunchTemplates},
	{"placement-group", "placement-group", listPlacementGroups},
}

var vpcs = ec2Kind{"vpc", "vpc", listVPCs}

// listEC2 lists a region's EC2 resources. One refused list does not hide the others.
func (c *Client) listEC2(ctx context.Context, region string, emit Emit) error {
	api := c.ec2In(region)
	reported := map[string]string{} // ARNs, by id
	inside := map[string]string{}   // ARN of what holds it, by id
	all := listsOf(ctx)
	for _, kind := range ec2Kinds {
		all.Run(func(ctx context.Context) error {
			return kind.list(ctx, api, func(page []thing) error {
				var seen []contract.SeenResource
				for _, t := range page {
					if s, ok := c.judge(region, kind, t, reported, inside); ok {
						seen = append(seen, s)
					}
				}
				return emit(seen)
			})
		})
	}
	return all.Err()
}

// judge reports whether a thing may belong to a cluster, and remembers that others may belong to it.
func (c *Client) judge(region string, kind ec2Kind, t thing, reported, inside map[string]string) (contract.SeenResource, bool) {
	within := inside[t.id]
	for _, place := range t.in {
		if within == "" {
			within = reported[place]
		}
	}
	if t.gone || !tagged(t.tags) && !named(t.name) && within == "" {
		return contract.SeenResource{}, false
	}
	id := c.arnOf("ec2", region, kind.arn+"/"+t.id)
	reported[t.id] = id
	for _, held := range t.holds {
		inside[held] = id
	}
	return contract.SeenResource{
		ID: id, Type: kind.noun, Region: region, Name: t.name, Within: within, Tags: t.tags, MadeAt: awssdk.ToTime(t.madeAt).UTC(),
		Detail: t.detail, Stopped: t.stopped,
	}, true
}

// vpcsIn returns the ARNs of the VPCs of a region that are reported, by id, for the parts whose resources are in them.
func (c *Client) vpcsIn(ctx context.Context, where string) (map[string]string, error) {
	c.mu.Lock()
	if c.regions[where] == nil {
		c.regions[where] = &region{}
	}
	known := c.regions[where]
	c.mu.Unlock()
	known.listing.Lock()
	defer known.listing.Unlock()
	if known.vpcs != nil {
		return known.vpcs, nil
	}
	found := map[string]string{}
	err := vpcs.list(ctx, c.ec2In(where), func(page []thing) error {
		for _, t := range page {
			c.judge(where, vpcs, t, found, nil)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	known.vpcs = found
	return found, nil
}

func ec2Tags(tags []types.Tag) map[string]string {
	return tagsOf(tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value })
}

// nameOr returns the Name tag, or another name.
func nameOr(tags []types.Tag, name *string) string {
	if tag := ec2Tags(tags)["Name"]; tag != "" {
		return tag
	}
	return awssdk.ToString(name)
}

// each converts a page.
func each[T any](items []T, convert func(T) thing) []thing {
	out := make([]thing, 0, len(items))
	for _, item := range items {
		out = append(out, convert(item))
	}
	return out
}

// ids returns what is not empty.
func ids(of ...*string) []string {
	var out []string
	for _, id := range of {
		if awssdk.ToString(id) != "" {
			out = append(out, *id)
		}
	}
	return out
}
