package aws

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ocpctl/ocpctl/devstack/meter"
	"github.com/ocpctl/ocpctl/devstack/statefile"
)

// meta is everything of a world that is no resource and was not used.
type meta struct {
	Account   string            `json:"account"`
	Pinned    map[string]bool   `json:"pinned"`
	Protected map[string]string `json:"protected,omitempty"`
	Limits    map[string]int    `json:"limits"`
}

func (w *world) meta() meta { return meta{w.Account, w.Pinned, w.Protected, w.Limits} }

// load reads the state file, or creates a new world with the base domain's public zone.
func (s *Server) load() error {
	w := &world{Account: s.cfg.Account, Pinned: map[string]bool{}, Protected: map[string]string{}, disabled: map[string]bool{}, Limits: map[string]int{}}
	w.settle, w.tombstone, w.now = s.cfg.Settle, s.cfg.Tombstone, s.cfg.Now
	all := func() []*Resource { return slices.Concat(w.Resources, w.Dead) }
	w.file = statefile.New(s.cfg.StatePath, &s.mu, func() (any, []*Resource) { return w, all() })
	s.world = w
	records, found, err := w.file.Read(w, all, w.other)
	if err != nil {
		return fmt.Errorf("start the aws stand-in: %w", err)
	}
	if !found {
		w.furnish(s.cfg.Zone)
		return w.file.Save(true)
	}
	w.Resources, w.Dead = nil, nil
	for _, r := range records {
		w.LastSeq = max(w.LastSeq, r.Seq)
		if r.Alive() {
			w.Resources = append(w.Resources, r)
		} else {
			w.Dead = append(w.Dead, r)
		}
	}
	slices.SortStableFunc(w.Dead, func(a, b *Resource) int { return a.Gone.Compare(b.Gone) })
	return w.file.Save(true) // an incomplete last line is removed before new lines are added
}

// other reads a change that is no resource.
func (w *world) other(rest, used json.RawMessage) error {
	if used != nil {
		var u meter.Used
		err := json.Unmarshal(used, &u)
		w.Meter.Add(u)
		return err
	}
	var m meta
	err := json.Unmarshal(rest, &m)
	w.Account, w.Pinned, w.Limits = m.Account, m.Pinned, m.Limits
	w.Protected = map[string]string{}
	maps.Copy(w.Protected, m.Protected)
	return err
}

// furnish puts into a new world what an account in use has: the base domain's public zone, and the role that AWS creates with the
// first load balancer.
func (w *world) furnish(zone string) {
	z := w.zone(zone+".", "standing", "", false)
	z.Stands = true
	for _, r := range w.all(func(r *Resource) bool { return r.Parent == z.ID }) {
		r.Stands = true
	}
	const balancers = "AWSServiceRoleForElasticLoadBalancing"
	w.add(Resource{
		Service: "iam", Type: role.typ, ID: role.typ + "/" + balancers, Name: balancers, Stands: true,
		Attrs: map[string]string{"path": "/aws-service-role/elasticloadbalancing.amazonaws.com/", "uniqueId": newUpper(role.prefix, 17)},
	})
}
