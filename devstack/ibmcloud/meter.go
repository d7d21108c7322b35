package ibmcloud

import (
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/meter"
	"github.com/ocpctl/ocpctl/internal/tagkey"
)

// Meter returns everything that was used until now.
func (s *Server) Meter() []meter.Used {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.world
	w.tick()
	var still []meter.Used
	for _, r := range w.Resources {
		still = append(still, w.used(r, w.now())...)
	}
	return w.Meter.With(still)
}

// Elapse lets time pass for the meter alone: everything that exists is used for that much longer.
func (s *Server) Elapse(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.world.tick()
	s.world.Meter.Elapse(d)
}

// meter begins to count a resource, at a time.
func (w *world) meter(r *Resource, at time.Time) {
	if len(bills(r)) > 0 {
		r.Metered = w.Meter.Clock(at)
	}
}

// unmeter counts a resource until a time.
func (w *world) unmeter(r *Resource, at time.Time) {
	for _, u := range w.used(r, at) {
		w.Meter.Add(u)
		w.file.Used(u)
	}
	r.Metered = time.Time{}
}

// used is what a resource used since it is counted.
func (w *world) used(r *Resource, until time.Time) []meter.Used {
	if r.Metered.IsZero() || r.Stands {
		return nil
	}
	return w.Meter.Since(r.Metered, until, bills(r), w.clusterOf(r), r.Region)
}

// bills are the lines of a bill that a resource causes. A public gateway is free, its address is not, and neither are those of load
// balancers.
func bills(r *Resource) []meter.Used {
	if r.Service != "is" {
		return nil
	}
	switch r.Type {
	case "instance":
		return meter.One("instance", r.Attrs["profile"])
	case "volume":
		return meter.One("volume", r.Attrs["profile"]+" "+r.Attrs["capacity"])
	case "load-balancer":
		return meter.One("load-balancer", r.family())
	case "floating-ip":
		return meter.One("address", "")
	}
	return nil
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
