package ibmcloud

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/tagkey"
)

// Used says for how long something existed that IBM Cloud bills by the hour. A machine counts while it does not stand still.
type Used struct {
	Cluster      string        `json:"cluster,omitempty"` // the ClusterId tag of it, of its VPC, or of anything in its resource group; empty: none
	Group        string        `json:"group,omitempty"`   // ID of its resource group
	Kind, Detail string        // instance bx2-4x16, volume "general-purpose 100", load-balancer, address
	Region       string        `json:"region,omitempty"`
	For          time.Duration // of all of its kind together
}

// Meter returns everything that was used until now, by the times at which resources came, changed their state and went. It knows nothing
// of those who asked for them.
func (s *Server) Meter() []Used {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.world
	w.tick()
	all := maps.Clone(w.Meter)
	for _, r := range w.Resources {
		for _, u := range w.used(r, w.now()) {
			all = sum(all, u)
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b Used) int { return strings.Compare(a.key(), b.key()) })
}

// Elapse lets time pass for the meter alone: everything that exists is used for that much longer.
func (s *Server) Elapse(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.world.tick()
	s.world.ahead += d
}

func (u Used) key() string {
	return strings.Join([]string{u.Cluster, u.Group, u.Kind, u.Region, u.Detail}, "|")
}

func sum(all map[string]Used, u Used) map[string]Used {
	if all == nil {
		all = map[string]Used{}
	}
	u.For += all[u.key()].For
	all[u.key()] = u
	return all
}

// meter begins to count a resource, at a time.
func (w *world) meter(r *Resource, at time.Time) {
	if kind, _ := bill(r); kind != "" {
		r.Metered = at.Add(w.ahead)
	}
}

// unmeter counts a resource until a time.
func (w *world) unmeter(r *Resource, at time.Time) {
	for _, u := range w.used(r, at) {
		w.Meter = sum(w.Meter, u)
		w.file.Used(u)
	}
	r.Metered = time.Time{}
}

// used is what a resource used since it is counted.
func (w *world) used(r *Resource, until time.Time) []Used {
	if r.Metered.IsZero() || r.Stands {
		return nil
	}
	kind, detail := bill(r)
	return []Used{{Cluster: w.clusterOf(r), Group: r.Group, Kind: kind, Detail: detail, Region: r.Region, For: max(0, until.Add(w.ahead).Sub(r.Metered))}}
}

// bill is the line of a bill that a resource causes; an empty kind: none. A public gateway is free, its address is not.
func bill(r *Resource) (kind, detail string) {
	if r.Service != "is" {
		return "", ""
	}
	switch r.Type {
	case "instance":
		return "instance", r.Attrs["profile"]
	case "volume":
		return "volume", r.Attrs["profile"] + " " + r.Attrs["capacity"]
	case "load-balancer":
		return "load-balancer", r.Attrs["profile"]
	case "floating-ip":
		return "address", ""
	}
	return "", ""
}

// clusterOf returns whose a resource is.
func (w *world) clusterOf(r *Resource) string {
	key := strings.ToLower(tagkey.ClusterID) + ":"
	mark := func(of *Resource) string {
		for _, tag := range of.Tags {
			if id, ours := strings.CutPrefix(tag, key); ours {
				return id
			}
		}
		return ""
	}
	if id := mark(r); id != "" {
		return id
	}
	for _, of := range w.Resources {
		near := r.VPC != "" && of.ID == r.VPC || r.Group != "" && of.Group == r.Group
		if id := mark(of); id != "" && near && of.Account == r.Account {
			return id
		}
	}
	return ""
}
