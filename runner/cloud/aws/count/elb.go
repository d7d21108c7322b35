package count

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/runner/cloud/aws/kinds"
)

// balancingQuestion queries one kind of load balancing. isOurs says what of the answer is the cluster's; nil: all of it.
func (c *Client) balancingQuestion(region string, kind kinds.Balancing, asked string, which kinds.Which, isOurs func(kinds.Resource) bool) question {
	return question{
		service: "elasticloadbalancing", call: kind.Call, region: region, asked: asked,
		ask: func(ctx context.Context) ([]thing, error) {
			found, err := kind.Find(ctx, kinds.NewBalancingAPI(c.cfg, region), which)
			return balancingThings(region, kind, slices.DeleteFunc(found, func(r kinds.Resource) bool { return isOurs != nil && !isOurs(r) })), err
		},
	}
}

func balancingThings(region string, kind kinds.Balancing, found []kinds.Resource) []thing {
	return convertEach(found, func(r kinds.Resource) thing {
		return thing{kind: kind.Noun, Resource: r, free: administrator, command: fmt.Sprintf("aws %s %s --region %s", kind.Delete, r.ID, region)}
	})
}

// balancerByName queries one load balancer by its exact name.
func (c *Client) balancerByName(region, name string) question {
	return c.balancingQuestion(region, kinds.LoadBalancer, "name="+name, kinds.Which{Names: []string{name}}, nil)
}

// balancingInVPC queries every load balancer and target group of the VPCs: workloads create them under unknown names.
func (c *Client) balancingInVPC(region string, vpcs []string) (qs []question) {
	for _, kind := range kinds.AllBalancing {
		asked := "vpc=" + strings.Join(vpcs, ",")
		if kind.Noun == kinds.ClassicBalancer.Noun {
			asked = "classic, " + asked
		}
		qs = append(qs, c.balancingQuestion(region, kind, asked, kinds.Which{}, func(r kinds.Resource) bool {
			return slices.ContainsFunc(r.In, func(id string) bool { return slices.Contains(vpcs, id) })
		}))
	}
	return qs
}

// targetGroups queries the target groups named <infraID>-… without another cluster's tags.
func (c *Client) targetGroups(region string, id identity) question {
	prefixes := addSuffix(id.infraIDs, "-")
	return c.askTaggedBalancing(region, kinds.TargetGroup, "name="+strings.Join(prefixes, "*,")+"*",
		func(r kinds.Resource) bool { return hasAnyPrefix(r.Name, prefixes) },
		func(r kinds.Resource) bool { return id.ownershipOf(r.Tags) != anothers })
}

// askClassics queries every classic load balancer with the cluster's tags.
func (c *Client) askClassics(region string, id identity) question {
	return c.askTaggedBalancing(region, kinds.ClassicBalancer, fmt.Sprintf("classic, tags of %v %s", id.infraIDs, id.cluster),
		func(kinds.Resource) bool { return true },
		func(r kinds.Resource) bool { return id.ownershipOf(r.Tags) == ours })
}

// askTaggedBalancing reads the tags of what is likely the cluster's, and decides by them.
func (c *Client) askTaggedBalancing(region string, kind kinds.Balancing, asked string, isLikely, isOurs func(kinds.Resource) bool) question {
	return question{
		service: "elasticloadbalancing", call: kind.Call, region: region, asked: asked,
		ask: func(ctx context.Context) ([]thing, error) {
			api := kinds.NewBalancingAPI(c.cfg, region)
			all, err := kind.Find(ctx, api, kinds.Which{})
			if err != nil {
				return nil, err
			}
			likely := slices.DeleteFunc(all, func(r kinds.Resource) bool { return !isLikely(r) })
			if err := kind.AddTags(ctx, api, likely); err != nil {
				return nil, err
			}
			return balancingThings(region, kind, slices.DeleteFunc(likely, func(r kinds.Resource) bool { return !isOurs(r) })), nil
		},
	}
}

func hasAnyPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// convertEach converts a slice.
func convertEach[T, Ours any](items []T, oursOf func(T) Ours) []Ours {
	out := make([]Ours, 0, len(items))
	for _, item := range items {
		out = append(out, oursOf(item))
	}
	return out
}
