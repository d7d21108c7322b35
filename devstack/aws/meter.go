package aws

import (
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

// bills are the lines of a bill that a resource causes. For is how many of each.
func bills(r *Resource) []meter.Used {
	switch r.Type {
	case "instance":
		return meter.One("instance", r.Attrs["instance-type"])
	case "volume":
		return meter.One("volume", r.Attrs["type"]+" "+r.Attrs["size"])
	case "natgateway":
		return meter.One("nat-gateway", "")
	case "elastic-ip":
		return meter.One("address", "")
	case "hostedzone":
		return meter.One("hosted-zone", "")
	case "loadbalancer":
		return append(meter.One("load-balancer", r.Attrs["type"]), publicly(r)...)
	case "classic":
		return append(meter.One("classic-load-balancer", ""), publicly(r)...)
	}
	return nil
}

// publicly are the public addresses of a load balancer, one in each zone.
func publicly(r *Resource) []meter.Used {
	if r.Attrs["scheme"] == "internal" {
		return nil
	}
	return []meter.Used{{Kind: "address", For: time.Duration(max(1, len(r.vals("zones"))))}}
}

// clusterOf returns whose a resource is.
func (w *world) clusterOf(r *Resource) string {
	for _, of := range append([]*Resource{r}, w.Resources...) {
		if id := of.Tags[tagkey.ClusterID]; id != "" && of.Account == r.Account && (of == r || of.ID != "" && (of.ID == r.Parent || of.ID == r.VPC)) {
			return id
		}
	}
	return ""
}
