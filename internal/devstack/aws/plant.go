package aws

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// SetAccount makes the caller's key belong to another account. What belongs to the former one is then not visible,
// and there again when the account is set back.
func (s *Server) SetAccount(id string) error {
	return s.change(func(w *world) { w.Account = id })
}

// Account is the one GetCallerIdentity answers.
func (s *Server) Account() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.world.Account
}

// Plant puts a resource into the world as it is given. Service and Type are needed; an EC2 id, the account, the region
// (the first one) and the time of creation are made when they are missing. Any service's resource can be planted with an
// ARN as its ID, which then says the rest: with tags, the tagging API tells of it until Free.
func (s *Server) Plant(r Resource) (Resource, error) {
	if strings.HasPrefix(r.ID, "arn:") {
		service, region, account, kind := arnParts(r.ID)
		r.Service, r.Type = cmp.Or(r.Service, service), cmp.Or(r.Type, kind)
		r.Region, r.Account = cmp.Or(r.Region, region), cmp.Or(r.Account, account)
	}
	if r.Service == "" || r.Type == "" {
		return Resource{}, fmt.Errorf("plant a resource: it needs a service and a type")
	}
	var out Resource
	err := s.change(func(w *world) {
		if k, ok := kinds[r.Type]; ok && r.Service == "ec2" {
			r.ID = cmp.Or(r.ID, newID(k.prefix))
			r.State = cmp.Or(r.State, k.state)
		}
		if r.Service == "iam" {
			r.ID = cmp.Or(r.ID, r.Type+"/"+r.Name)
		}
		if r.Service == "ec2" || r.Service == "elasticloadbalancing" {
			r.Region = cmp.Or(r.Region, s.cfg.Regions[0])
		}
		out = w.add(r).clone()
	})
	return out, err
}

// Pin makes every deletion of a resource (by id or name) fail as if something still used it.
func (s *Server) Pin(id string) error { return s.change(func(w *world) { w.Pinned[id] = true }) }

// Unpin ends Pin.
func (s *Server) Unpin(id string) error { return s.change(func(w *world) { delete(w.Pinned, id) }) }

// Free unpins a resource and removes it with everything inside it, whatever the rules of deletion say.
func (s *Server) Free(id string) error {
	return s.change(func(w *world) {
		delete(w.Pinned, id)
		inside := map[string]bool{}
		for _, r := range slices.Clone(w.Resources) {
			if !r.Stands && (r.ID == id || r.Name == id) {
				delete(w.Pinned, r.ID)
				inside[r.ID] = true
			}
		}
		for _, r := range slices.Clone(w.Resources) {
			if !r.Stands && (inside[r.ID] || inside[r.VPC]) {
				w.remove(r)
			}
		}
	})
}

// Resources is the stand-in's own count: every living resource of every account that mentions text (an infraID, a
// name, a domain, a tag) and what lies inside those. Empty text: everything. Tombstones and the world's own furniture,
// such as the base domain's zone, never count.
func (s *Server) Resources(text string) []Resource {
	return s.look(func(w *world) []*Resource { return w.leftovers(text) })
}

// All is everything, tombstones, furniture and other accounts included.
func (s *Server) All() []Resource {
	return s.look(func(w *world) []*Resource {
		all := append(slices.Clone(w.Resources), w.Dead...)
		slices.SortFunc(all, func(a, b *Resource) int { return cmp.Compare(a.Seq, b.Seq) })
		return all
	})
}

func (s *Server) look(pick func(*world) []*Resource) []Resource {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.world.tick()
	out := []Resource{}
	for _, r := range pick(s.world) {
		out = append(out, r.clone())
	}
	return out
}

func (s *Server) change(do func(*world)) error {
	s.mu.Lock()
	s.world.tick()
	do(s.world)
	s.world.Changed++
	err := s.world.note()
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return s.save(false)
}
