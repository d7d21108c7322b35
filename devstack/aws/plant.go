package aws

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// SetAccount makes the caller's key belong to another account. Resources of the former account are then invisible, and visible again
// when the account is set back.
func (s *Server) SetAccount(id string) error {
	return s.change(func(w *world) { w.Account = id })
}

// Account is the account that GetCallerIdentity returns.
func (s *Server) Account() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.world.Account
}

// Plant adds a resource to the world as it is given. Service and Type are required; a missing EC2 id, account, region (the first one)
// and creation time are filled in. A resource of any service can be planted with an ARN as its ID, which determines the rest; if it
// has tags, the tagging API lists it until Free.
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
			if r.Attrs == nil {
				r.Attrs = map[string]string{"path": "/"}
			}
		}
		if r.Service == "s3" {
			r.ID = cmp.Or(r.ID, "bucket/"+r.Name)
		}
		if r.Service == "ec2" || r.Service == "elasticloadbalancing" || r.Service == "s3" {
			r.Region = cmp.Or(r.Region, s.cfg.Regions[0])
		}
		out = w.add(r).clone()
	})
	return out, err
}

// Retag sets a tag of everything for which it is true, as whoever may tag does.
func (s *Server) Retag(is func(Resource) bool, key, value string) error {
	return s.change(func(w *world) {
		for _, r := range w.all(func(r *Resource) bool { return is(*r) }) {
			r.Tags[key] = value
		}
	})
}

// Note keeps a value with a resource for the stand-ins of what runs on it, as a tag; an empty one removes it.
func (s *Server) Note(id, key, value string) error {
	return s.change(func(w *world) {
		for _, r := range w.all(func(r *Resource) bool { return r.ID == id }) {
			if r.Tags[key] = value; value == "" {
				delete(r.Tags, key)
			}
		}
	})
}

// Pin makes every deletion of a resource (by id or name) fail as if something still used it.
func (s *Server) Pin(id string) error { return s.change(func(w *world) { w.Pinned[id] = true }) }

// Protect makes every deletion of a resource (by id or name) fail in one of the ways in which the cloud refuses: see protections.
func (s *Server) Protect(id, how string) error {
	if protections[how] == nil {
		return fmt.Errorf("there is no protection %q; give %s", how, strings.Join(slices.Sorted(maps.Keys(protections)), ", "))
	}
	return s.change(func(w *world) { w.Protected[id] = how })
}

// Unpin ends Pin and Protect.
func (s *Server) Unpin(id string) error {
	return s.change(func(w *world) {
		delete(w.Pinned, id)
		delete(w.Protected, id)
	})
}

// Free unpins a resource and removes it with everything inside it, ignoring the rules of deletion.
func (s *Server) Free(id string) error {
	return s.change(func(w *world) {
		delete(w.Pinned, id)
		delete(w.Protected, id)
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

// Resources is the stand-in's own count: every living resource of every account that mentions text (an infraID, a name, a domain, a
// tag) and what is inside those. Empty text: everything. Tombstones and the world's initial resources, such as the base domain's
// zone, never count.
func (s *Server) Resources(text string) []Resource {
	return s.look(func(w *world) []*Resource { return w.leftovers(text) })
}

// All returns everything, including tombstones, initial resources and other accounts.
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
	err := s.world.file.Note(s.world.meta())
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return s.world.file.Save(false)
}
