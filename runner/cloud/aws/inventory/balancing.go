package inventory

import (
	"context"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud/aws/kinds"
)

// listBalancing lists load balancers of both APIs and target groups: by tag, by name, and in reported VPCs. Lists contain no tags, so those of
// a page are asked for before it is judged.
func (c *Client) listBalancing(ctx context.Context, region string, emit Emit) error {
	api := kinds.NewBalancingAPI(c.aws, region)
	var vpcs map[string]string
	all := listsOf(ctx)
	all.Run(func(ctx context.Context) (err error) {
		vpcs, err = c.vpcsIn(ctx, region)
		return err
	})
	for _, kind := range kinds.AllBalancing {
		all.Run(func(ctx context.Context) error {
			return kind.List(ctx, api, kinds.Which{}, func(page []kinds.Resource) error {
				if err := kind.AddTags(ctx, api, page); err != nil {
					return err
				}
				var seen []contract.SeenResource
				for _, r := range page {
					id := r.ID
					if kind.Noun == kinds.ClassicBalancer.Noun {
						id = c.arnOf(partBalancing, region, "loadbalancer/"+r.Name)
					}
					s := newSeenResource(kind.Noun, id, r)
					s.Region = region
					for _, vpc := range r.In {
						s.Within = vpcs[vpc]
					}
					if isTagged(s.Tags) || isNamed(s.Name) || s.Within != "" {
						seen = append(seen, s)
					}
				}
				return emit(seen)
			})
		})
	}
	return all.Err()
}
