package aws

import (
	"maps"
	"slices"
	"strings"
	"time"

	prices "github.com/ocpctl/ocpctl/internal/price/list"
	"github.com/ocpctl/ocpctl/internal/tagkey"
)

// Used says for how long something existed that AWS bills by the hour. A machine counts while it runs.
type Used struct {
	Cluster      string        `json:"cluster,omitempty"` // the ClusterId tag of it, of what it belongs to or of its VPC; empty: none
	Kind, Detail string        // as package price/list takes them
	Region       string        `json:"region,omitempty"`
	For          time.Duration // of all of its kind together
}

// Cents is what it cost by a price list. Unknown: the list has no price for it.
func (u Used) Cents(l prices.List) (cents float64, known bool) {
	hourly, known := l.Resource(u.Kind, u.Region, u.Detail, false)
	return hourly * u.For.Hours(), known
}

// Meter returns everything that was used until now, by the times at which resources came, changed their state and went. It knows nothing of
// those who asked for them.
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
	var out []Used
	for _, u := range all {
		out = append(out, u)
	}
	slices.SortFunc(out, func(a, b Used) int { return strings.Compare(a.key(), b.key()) })
	return out
}

// Elapse lets time pass for the meter alone: everything that exists is used for that much longer.
func (s *Server) Elapse(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.world.tick()
	s.world.ahead += d
}

func (u Used) key() string { return strings.Join([]string{u.Cluster, u.Kind, u.Region, u.Detail}, "|") }

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
	if len(bills(r)) > 0 {
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
	all := bills(r)
	for i := range all {
		all[i].Cluster, all[i].Region = w.clusterOf(r), r.Region
		all[i].For *= max(0, until.Add(w.ahead).Sub(r.Metered))
	}
	return all
}

// bills are the lines of a bill that a resource causes. For is how many of each.
func bills(r *Resource) []Used {
	one := func(kind, detail string) []Used { return []Used{{Kind: kind, Detail: detail, For: 1}} }
	switch r.Type {
	case "instance":
		return one("instance", r.Attrs["instance-type"])
	case "volume":
		return one("volume", r.Attrs["type"]+" "+r.Attrs["size"])
	case "natgateway":
		return one("nat-gateway", "")
	case "elastic-ip":
		return one("address", "")
	case "hostedzone":
		return one("hosted-zone", "")
	case "loadbalancer":
		return append(one("load-balancer", r.Attrs["type"]), publicly(r)...)
	case "classic":
		return append(one("classic-load-balancer", ""), publicly(r)...)
	}
	return nil
}

// publicly are the public addresses of a load balancer, one in each zone.
func publicly(r *Resource) []Used {
	if r.Attrs["scheme"] == "internal" {
		return nil
	}
	return []Used{{Kind: "address", For: time.Duration(max(1, len(r.vals("zones"))))}}
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
