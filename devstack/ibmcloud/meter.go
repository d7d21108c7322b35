package ibmcloud

import (
	"strings"

	"github.com/ocpctl/ocpctl/devstack/meter"
	"github.com/ocpctl/ocpctl/internal/tagkey"
)

// Bills are the lines of a bill that a resource causes. A public gateway is free, its address is not, and neither are those of load
// balancers.
func (r *Resource) Bills() []meter.Used {
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
