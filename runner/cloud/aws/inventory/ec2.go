package inventory

import (
	"context"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud/aws/kinds"
)

// listEC2 lists a region's EC2 resources, VPCs first, because others are in them. One refused list does not hide the others.
func (c *Client) listEC2(ctx context.Context, region string, emit Emit) error {
	api := c.ec2In(region)
	reported := map[string]string{} // ARNs, by id
	inside := map[string]string{}   // ARN of what holds it, by id
	all := listsOf(ctx)
	run := func(kind kinds.EC2) {
		all.Run(func(ctx context.Context) error {
			return kind.List(ctx, api, func(page []kinds.Resource) error {
				var seen []contract.SeenResource
				for _, r := range page {
					if s, ok := c.judgeResource(region, kind, r, reported, inside); ok {
						seen = append(seen, s)
					}
				}
				return emit(seen)
			})
		})
	}
	run(kinds.VPC)
	for _, kind := range kinds.AllEC2 {
		if kind.Noun != kinds.VPC.Noun {
			run(kind)
		}
	}
	return all.Err()
}

// judgeResource reports whether a resource may belong to a cluster, and remembers that others may belong to it.
func (c *Client) judgeResource(region string, kind kinds.EC2, r kinds.Resource, reported, inside map[string]string) (contract.SeenResource, bool) {
	within := inside[r.ID]
	for _, id := range r.In {
		if within == "" {
			within = reported[id]
		}
	}
	if r.Gone || r.Ending || !isTagged(r.Tags) && !isNamed(r.Name) && within == "" {
		return contract.SeenResource{}, false
	}
	arn := c.arnOf("ec2", region, kind.ARN+"/"+r.ID)
	reported[r.ID] = arn
	for _, held := range r.Holds {
		inside[held.ID] = arn
	}
	s := newSeenResource(kind.Noun, arn, r)
	s.Region, s.Within = region, within
	return s, true
}

// newSeenResource converts a resource of a list.
func newSeenResource(kind, id string, r kinds.Resource) contract.SeenResource {
	return contract.SeenResource{
		ID: id, Type: kind, Name: r.Name, Tags: r.Tags, MadeAt: awssdk.ToTime(r.MadeAt).UTC(), Detail: r.Detail, Stopped: r.Stopped,
	}
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
	err := kinds.VPC.List(ctx, c.ec2In(where), func(page []kinds.Resource) error {
		for _, r := range page {
			c.judgeResource(where, kinds.VPC, r, found, nil)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	known.vpcs = found
	return found, nil
}
