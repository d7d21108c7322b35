package ibmcloud

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

// Contested lists what a teardown of this cluster would delete although it belongs to somebody else: resources in the cluster's resource groups,
// or with one of its names, that have another cluster's tag; and, as mentions, resources with an infraID somewhere in their name and records of
// the cluster's domain that lead to somebody else's load balancer, because the installer's destroyer takes every name that contains it. An
// error means that the search was incomplete, so nothing is known.
func (c *Client) Contested(ctx context.Context, t cloud.Target) ([]cloud.Contested, error) {
	ctx, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	account, err := c.checkedAccount(ctx, t)
	if err != nil {
		return nil, err
	}
	o := ownerOf(t)
	if err := c.findGroups(ctx, account, o); err != nil {
		return nil, err
	}
	crns, err := c.crnsIn(ctx, o)
	if err != nil {
		return nil, err
	}
	found := map[string]cloud.Contested{}
	for _, region := range t.Regions() {
		for _, k := range destroyed {
			objects, err := c.objectsIn(ctx, region, k)
			if err != nil {
				return nil, err
			}
			for _, obj := range objects {
				switch {
				case o.owns(obj):
					crns = with(crns, obj.CRN)
				case o.mentions(obj.Name) && !obj.going():
					id := cmp.Or(obj.CRN, obj.ID)
					found[id] = cloud.Contested{ID: id, Mark: "resource group " + cmp.Or(obj.Group.Name, obj.Group.ID, "unknown"), Mention: true}
				}
			}
		}
	}
	tags, err := c.tagsOf(ctx, crns)
	if err != nil {
		return nil, err
	}
	for crn, its := range tags {
		mark, err := c.foreignMark(ctx, o, its)
		if err != nil {
			return nil, err
		}
		if mark != "" {
			found[crn] = cloud.Contested{ID: crn, Mark: mark}
		}
	}
	if len(o.infraIDs) > 0 { // without one, no destroyer runs
		if err := c.contestedRecords(ctx, t, o, found); err != nil {
			return nil, err
		}
	}
	out := make([]cloud.Contested, 0, len(found))
	for _, id := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[id])
	}
	return out, nil
}

// destroyed are the kinds that the installer's destroyer finds by a part of their name (openshift/installer pkg/destroy/ibmcloud).
var destroyed = []kind{instances, loadBalancers, subnets, publicGateways, floatingIPs, images, vpcs}
