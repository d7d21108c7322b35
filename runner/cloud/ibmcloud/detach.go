package ibmcloud

import (
	"context"
	"errors"
	"slices"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

// Detach removes the cluster's VPCs from the networks that may ask private zones, and the authorizations of its storage, and returns what it
// removed. Call it before the installer's destroy, which deletes the VPCs and the storage: afterwards nobody can tell whose those were. No
// cluster needs them any more: an authorization serves the import of the boot image.
func (c *Client) Detach(ctx context.Context, t cloud.Target) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, removalTimeout)
	defer cancel()
	s, err := c.newRemoval(ctx, t)
	if err != nil {
		return nil, err
	}
	s.detachNetworks(ctx, t)
	s.findStorage(ctx)
	policies, err := s.policiesOf(ctx, s.account)
	s.AddError("look for authorizations", err)
	for _, p := range policies {
		if p.importGUID() != "" && s.ownsPolicy(ctx, p, nil, false) {
			s.deletePolicy(ctx, p)
		}
	}
	return s.Deleted, errors.Join(s.Errs...)
}

func (s *removal) detachNetworks(ctx context.Context, t cloud.Target) {
	var found []regional
	for _, region := range t.Regions() {
		all, err := s.objectsIn(ctx, region, vpcs)
		s.AddError("look for VPCs", err)
		ours := slices.DeleteFunc(all, func(obj object) bool { return !s.owner.isOwn(obj) })
		found = append(found, regional{region, map[string][]object{vpcs.name: ours}})
	}
	private, err := s.privateZones(ctx)
	s.AddError("look for private zones", err)
	for _, z := range private {
		s.removePermitted(ctx, z, found)
	}
}
