sOurs (nil: everything) says what of the answer is the cluster's./
package count
sOurs (nil: everything) says what of the answer is the cluster's./

sOurs (nil: everything) says what of the answer is the cluster's./
import (
sOurs (nil: everything) says what of the answer is the cluster's./
	"context"
sOurs (nil: everything) says what of the answer is the cluster's./
	"fmt"
sOurs (nil: everything) says what of the answer is the cluster's./
	"slices"
sOurs (nil: everything) says what of the answer is the cluster's./
	"strings"
sOurs (nil: everything) says what of the answer is the cluster's./

sOurs (nil: everything) says what of the answer is the cluster's./
	"github.com/ocpctl/ocpctl/runner/cloud/aws/kinds"
sOurs (nil: everything) says what of the answer is the cluster's./
)
sOurs (nil: everything) says what of the answer is the cluster's./

sOurs (nil: everything) says what of the answer is the cluster's./
// balancingQuestion queries one kind of load balancing.
sOurs (nil: everything) says what of the answer is the cluster's./
func (c *Client) balancingQuestion(region string, kind kinds.Balancing, asked string, which kinds.Which, isOurs func(kinds.Resource) bool) question {
sOurs (nil: everything) says what of the answer is the cluster's./
	return question{
sOurs (nil: everything) says what of the answer is the cluster's./
		service: "elasticloadbalancing", call: kind.Call, region: region, asked: asked,
sOurs (nil: everything) says what of the answer is the cluster's./
		ask: func(ctx context.Context) ([]thing, error) {
sOurs (nil: everything) says what of the answer is the cluster's./
			found, err := kind.Find(ctx, kinds.NewBalancingAPI(c.cfg, region), which)
sOurs (nil: everything) says what of the answer is the cluster's./
			return balancingThings(region, kind, slices.DeleteFunc(found, func(r kinds.Resource) bool { return isOurs != nil && !isOurs(r) })), err
sOurs (nil: everything) says what of the answer is the cluster's./
		},
sOurs (nil: everything) says what of the answer is the cluster's./
	}
sOurs (nil: everything) says what of the answer is the cluster's./
}
sOurs (nil: everything) says what of the answer is the cluster's./

sOurs (nil: everything) says what of the answer is the cluster's./
func balancingThings(region string, kind kinds.Balancing, found []kinds.Resource) []thing {
sOurs (nil: everything) says what of the answer is the cluster's./
	return each(found, func(r kinds.Resource) thing {
sOurs (nil: everything) says what of the answer is the cluster's./
		return thing{kind: kind.Noun, Resource: r, free: fmt.Sprintf("an administrator of the account: aws %s %s --region %s", kind.Delete, r.ID, region)}
sOurs (nil: everything) says what of the answer is the cluster's./
	})
sOurs (nil: everything) says what of the answer is the cluster's./
}
sOurs (nil: everything) says what of the answer is the cluster's./

sOurs (nil: everything) says what of the answer is the cluster's./
// balancerByName queries one load balancer by its exact name.
sOurs (nil: everything) says what of the answer is the cluster's./
func (c *Client) balancerByName(region, name string) question {
sOurs (nil: everything) says what of the answer is the cluster's./
	return c.balancingQuestion(region, kinds.LoadBalancer, "name="+name, kinds.Which{Names: []string{name}}, nil)
sOurs (nil: everything) says what of the answer is the cluster's./
}
sOurs (nil: everything) says what of the answer is the cluster's./

sOurs (nil: everything) says what of the answer is the cluster's./
// balancingInVPC queries every load balancer and target group of the VPCs: workloads create them under unknown names.
sOurs (nil: everything) says what of the answer is the cluster's./
func (c *Client) balancingInVPC(region string, vpcs []string) (qs []question) {
sOurs (nil: everything) says what of the answer is the cluster's./
	for _, kind := range kinds.AllBalancing {
sOurs (nil: everything) says what of the answer is the cluster's./
		asked := "vpc=" + strings.Join(vpcs, ",")
sOurs (nil: everything) says what of the answer is the cluster's./
		if kind.Noun == kinds.ClassicBalancer.Noun {
sOurs (nil: everything) says what of the answer is the cluster's./
			asked = "classic, " + asked
sOurs (nil: everything) says what of the answer is the cluster's./
		}
sOurs (nil: everything) says what of the answer is the cluster's./
		qs = append(qs, c.balancingQuestion(region, kind, asked, kinds.Which{}, func(r kinds.Resource) bool {
sOurs (nil: everything) says what of the answer is the cluster's./
			return slices.ContainsFunc(r.In, func(id string) bool { return slices.Contains(vpcs, id) })
sOurs (nil: everything) says what of the answer is the cluster's./
		}))
sOurs (nil: everything) says what of the answer is the cluster's./
	}
sOurs (nil: everything) says what of the answer is the cluster's./
	return qs
sOurs (nil: everything) says what of the answer is the cluster's./
}
sOurs (nil: everything) says what of the answer is the cluster's./

sOurs (nil: everything) says what of the answer is the cluster's./
// targetGroups queries the target groups named <infraID>-… without another cluster's tags.
sOurs (nil: everything) says what of the answer is the cluster's./
func (c *Client) targetGroups(region string, id identity) question {
sOurs (nil: everything) says what of the answer is the cluster's./
	prefixes := suffixed(id.infraIDs, "-")
sOurs (nil: everything) says what of the answer is the cluster's./
	return c.taggedBalancing(region, kinds.TargetGroup, "name="+strings.Join(prefixes, "*,")+"*",
sOurs (nil: everything) says what of the answer is the cluster's./
		func(r kinds.Resource) bool { return hasAnyPrefix(r.Name, prefixes) },
sOurs (nil: everything) says what of the answer is the cluster's./
		func(r kinds.Resource) bool { return id.whose(r.Tags) != anothers })
sOurs (nil: everything) says what of the answer is the cluster's./
}
sOurs (nil: everything) says what of the answer is the cluster's./

sOurs (nil: everything) says what of the answer is the cluster's./
// classics queries every classic load balancer with the cluster's tags.
sOurs (nil: everything) says what of the answer is the cluster's./
func (c *Client) classics(region string, id identity) question {
sOurs (nil: everything) says what of the answer is the cluster's./
	return c.taggedBalancing(region, kinds.ClassicBalancer, fmt.Sprintf("classic, tags of %v %s", id.infraIDs, id.cluster),
sOurs (nil: everything) says what of the answer is the cluster's./
		func(kinds.Resource) bool { return true },
sOurs (nil: everything) says what of the answer is the cluster's./
		func(r kinds.Resource) bool { return id.whose(r.Tags) == ours })
sOurs (nil: everything) says what of the answer is the cluster's./
}
sOurs (nil: everything) says what of the answer is the cluster's./

sOurs (nil: everything) says what of the answer is the cluster's./
// taggedBalancing reads the tags of what is likely the cluster's, and decides by them.
sOurs (nil: everything) says what of the answer is the cluster's./
func (c *Client) taggedBalancing(region string, kind kinds.Balancing, asked string, isLikely, isOurs func(kinds.Resource) bool) question {
sOurs (nil: everything) says what of the answer is the cluster's./
	return question{
sOurs (nil: everything) says what of the answer is the cluster's./
		service: "elasticloadbalancing", call: kind.Call, region: region, asked: asked,
sOurs (nil: everything) says what of the answer is the cluster's./
		ask: func(ctx context.Context) ([]thing, error) {
sOurs (nil: everything) says what of the answer is the cluster's./
			api := kinds.NewBalancingAPI(c.cfg, region)
sOurs (nil: everything) says what of the answer is the cluster's./
			all, err := kind.Find(ctx, api, kinds.Which{})
sOurs (nil: everything) says what of the answer is the cluster's./
			if err != nil {
sOurs (nil: everything) says what of the answer is the cluster's./
				return nil, err
sOurs (nil: everything) says what of the answer is the cluster's./
			}
sOurs (nil: everything) says what of the answer is the cluster's./
			likely := slices.DeleteFunc(all, func(r kinds.Resource) bool { return !isLikely(r) })
sOurs (nil: everything) says what of the answer is the cluster's./
			if err := kind.AddTags(ctx, api, likely); err != nil {
sOurs (nil: everything) says what of the answer is the cluster's./
				return nil, err
sOurs (nil: everything) says what of the answer is the cluster's./
			}
sOurs (nil: everything) says what of the answer is the cluster's./
			return balancingThings(region, kind, slices.DeleteFunc(likely, func(r kinds.Resource) bool { return !isOurs(r) })), nil
sOurs (nil: everything) says what of the answer is the cluster's./
		},
sOurs (nil: everything) says what of the answer is the cluster's./
	}
sOurs (nil: everything) says what of the answer is the cluster's./
}
sOurs (nil: everything) says what of the answer is the cluster's./

sOurs (nil: everything) says what of the answer is the cluster's./
func hasAnyPrefix(name string, prefixes []string) bool {
sOurs (nil: everything) says what of the answer is the cluster's./
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
sOurs (nil: everything) says what of the answer is the cluster's./
}
sOurs (nil: everything) says what of the answer is the cluster's./

sOurs (nil: everything) says what of the answer is the cluster's./
// each converts a slice.
sOurs (nil: everything) says what of the answer is the cluster's./
func each[T, Ours any](items []T, oursOf func(T) Ours) []Ours {
sOurs (nil: everything) says what of the answer is the cluster's./
	out := make([]Ours, 0, len(items))
sOurs (nil: everything) says what of the answer is the cluster's./
	for _, item := range items {
sOurs (nil: everything) says what of the answer is the cluster's./
		out = append(out, oursOf(item))
sOurs (nil: everything) says what of the answer is the cluster's./
	}
sOurs (nil: everything) says what of the answer is the cluster's./
	return out
sOurs (nil: everything) says what of the answer is the cluster's./
}
