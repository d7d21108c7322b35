package ibmcloud

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// SetAccount makes the callers without an account of their own belong to another one. Resources of the former account are then
// invisible, and visible again when the account is set back. Tokens keep the account for which they were issued.
func (s *Server) SetAccount(id string) error {
	return s.change(func(w *world) { w.Account = id })
}

// Account is the account of the first caller.
func (s *Server) Account() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.world.Account
}

// Plant adds a resource to the world as it is given. Service and Type are required; a missing id, account, region (the first one),
// resource group (the account's default), state and creation time are filled in.
func (s *Server) Plant(r Resource) (Resource, error) {
	if r.Service == "" || r.Type == "" {
		return Resource{}, fmt.Errorf("plant a resource: it needs a service and a type, as its CRN has them")
	}
	for i := range r.Tags {
		r.Tags[i] = strings.ToLower(r.Tags[i])
	}
	var out Resource
	err := s.change(func(w *world) {
		r.Account = cmp.Or(r.Account, w.Account)
		if k := s.kindOf(r.Type); r.Service == "is" && k != nil {
			r.Region = cmp.Or(r.Region, s.cfg.Regions[0])
			zone := ""
			if k.zonal {
				r.Zone = cmp.Or(r.Zone, r.Region+"-1")
				zone = r.Zone
			}
			r.ID = cmp.Or(r.ID, newVPCID(r.Region, zone))
			r.State = cmp.Or(r.State, k.ready)
		}
		if r.Service == "is" || r.Type == "instance" {
			r.Group = cmp.Or(r.Group, w.defaultGroup(r.Account))
			r.State = cmp.Or(r.State, "active")
		}
		if r.Service == identity && r.Type == "serviceid" {
			r.ID = cmp.Or(r.ID, "ServiceId-"+newUUID())
		}
		r.ID = cmp.Or(r.ID, newUUID())
		for _, tag := range r.Tags {
			w.tagged(r.Account, tag)
		}
		out = w.add(r).clone()
	})
	return out, err
}

// Retag attaches a user tag to everything for which it is true, as whoever may tag does.
func (s *Server) Retag(is func(Resource) bool, tag string) error {
	tag = strings.ToLower(tag)
	return s.change(func(w *world) {
		for _, r := range w.all(func(r *Resource) bool { return is(*r) && !contains(r.Tags, tag) }) {
			r.Tags = append(r.Tags, tag)
			w.tagged(r.Account, tag)
		}
	})
}

// Note keeps a value with a resource for the stand-ins of what runs on it; an empty one removes it. IBM Cloud does not show it.
func (s *Server) Note(id, key, value string) error {
	return s.change(func(w *world) {
		r := w.first(func(r *Resource) bool { return r.ID == id })
		if r == nil {
			return
		}
		if r.Attrs[noted+key] = value; value == "" {
			delete(r.Attrs, noted+key)
		}
	})
}

const noted = "note/"

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
		for _, r := range w.Resources {
			if !r.Stands && (r.ID == id || r.Name == id) {
				delete(w.Pinned, r.ID)
				inside[r.ID] = true
			}
		}
		for _, r := range slices.Clone(w.Resources) {
			if !r.Stands && (inside[r.ID] || inside[r.VPC] || inside[r.Group]) {
				w.remove(r)
			}
		}
	})
}

// Resources is the stand-in's own count: every living resource of every account that mentions text (an infraID, a name, a domain, a
// tag) and what is inside those. Empty text: everything. Tombstones and the world's initial resources never count.
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
