package aws

import (
	"time"

	"github.com/ocpctl/ocpctl/devstack/meter"
	"github.com/ocpctl/ocpctl/internal/tagkey"
)

// Bills are the lines of a bill that a resource causes. For is how many of each.
func (r *Resource) Bills() []meter.Used {
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
