package ibmcloud

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

// Contested lists what a teardown of this cluster would delete although it belongs to somebody else: resources in the cluster's resource groups,
// or with one of its names, that have another cluster's tag or are older than the cluster; and, as mentions, resources with an infraID somewhere
// in their name, and records of the cluster's domain that lead to somebody else's load balancer or are older, because the installer's destroyer
// takes every name that contains it. An error means that the search was incomplete, so nothing is known.
func (c *Client) Contested(ctx context.Context, t cloud.Target) ([]cloud.Contested, error) {
	ctx, cancel := context.WithTimeout(ctx, removalTimeout)
	defer cancel()
	s, err := c.newRemoval(ctx, t)
	if err != nil {
		return nil, err
	}
	o, found := s.owner, map[string]cloud.Contested{}
	crns, err := s.findContested(ctx, t.Regions(), found)
	if err != nil {
		return nil, err
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
		if err := c.findContestedRecords(ctx, t, o, found); err != nil {
			return nil, err
		}
	}
	for id, mark := range o.older {
		found[id] = cloud.Contested{ID: id, Mark: mark}
	}
	out := make([]cloud.Contested, 0, len(found))
	for _, id := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[id])
	}
	return out, nil
}

// findContested returns the CRNs of what is in the cluster's resource groups or has one of its names, and adds what only mentions the cluster. It looks at
// everything that a teardown deletes for what is older; policies, keys and authorizations belong to what is asked here.
func (s *removal) findContested(ctx context.Context, regions []string, found map[string]cloud.Contested) ([]string, error) {
	crns, err := s.crnsIn(ctx, s.owner)
	if err != nil {
		return nil, err
	}
	s.findStorage(ctx)
	ids, err := s.serviceIDs(ctx, s.account)
	if err := errors.Join(append(s.Errs, err)...); err != nil {
		return nil, err
	}
	for _, id := range ids {
		s.owner.hasServiceID(id)
	}
	for _, region := range regions {
		for _, k := range slices.Backward(kinds) { // VPCs and subnets come first: what is in them is the cluster's
			objects, err := s.objectsIn(ctx, region, k)
			if err != nil {
				return nil, err
			}
			byPart := slices.ContainsFunc(destroyed, func(d kind) bool { return d.name == k.name })
			for _, obj := range objects {
				switch {
				case s.owner.isOwn(obj):
					s.owner.noteObject(obj)
					if s.owner.isClaimed(obj) {
						crns = appendNew(crns, obj.CRN)
					}
				case byPart && s.owner.isMentionedIn(obj.Name) && !obj.isGoing():
					id := cmp.Or(obj.CRN, obj.ID)
					found[id] = cloud.Contested{ID: id, Mark: "resource group " + cmp.Or(obj.Group.Name, obj.Group.ID, "unknown"), Mention: true}
				}
			}
		}
	}
	return crns, nil
}

// destroyed are the kinds that the installer's destroyer finds by a part of their name (openshift/installer pkg/destroy/ibmcloud).
var destroyed = []kind{instances, loadBalancers, subnets, publicGateways, floatingIPs, images, vpcs}
