package aws

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ocpctl/ocpctl/devstack/standin"
)

// load reads the state file, or creates a new world with the base domain's public zone.
func (s *Server) load() error {
	w := &world{tombstone: s.cfg.Tombstone, disabled: map[string]bool{}}
	w.Settle, w.Now, w.Tombstone, w.ClusterOf = s.cfg.Settle, s.cfg.Now, w.tombstoneOf, w.clusterOf
	s.world, s.Control = w, &standin.Control[map[string]string, *Resource, Resource]{
		World: &w.World, Mutex: &s.mu, Copy: (*Resource).clone, Ways: slices.Sorted(maps.Keys(protections)),
	}
	found, err := s.Open(s.cfg.StatePath, s.cfg.Account)
	if err != nil {
		return fmt.Errorf("start the aws stand-in: %w", err)
	}
	if !found {
		w.furnish(s.cfg.Zone)
	}
	return w.File.Save(true) // an incomplete last line is removed before new lines are added
}

// furnish puts into a new world what an account in use has: the base domain's public zone, and the role that AWS creates with the
// first load balancer.
func (w *world) furnish(zone string) {
	z := w.zone(zone+".", "standing", "", false)
	z.Stands = true
	for _, r := range w.Every(func(r *Resource) bool { return r.Parent == z.ID }) {
		r.Stands = true
	}
	const balancers = "AWSServiceRoleForElasticLoadBalancing"
	w.Add(&Resource{
		Service: "iam", Type: role.typ, ID: role.typ + "/" + balancers, Name: balancers, Stands: true,
		Attrs: map[string]string{"path": "/aws-service-role/elasticloadbalancing.amazonaws.com/", "uniqueId": newUpper(role.prefix, 17)},
	})
}
