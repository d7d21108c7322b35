package ibmcloud

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/meter"
	"github.com/ocpctl/ocpctl/devstack/standin"
	"github.com/ocpctl/ocpctl/internal/tagkey"
)

// Resource is one resource of an account, of any service.
type Resource standin.Resource[[]string]

// Base is the resource without what only this cloud knows.
func (r *Resource) Base() *standin.Resource[[]string] { return (*standin.Resource[[]string])(r) }

// Alive reports that the resource exists and is no tombstone.
func (r *Resource) Alive() bool { return r.Gone.IsZero() }

// Number is the order of creation.
func (r *Resource) Number() int64 { return r.Seq }

// Forgotten reports that the resource is gone without a tombstone.
func (r *Resource) Forgotten() bool { return !r.Alive() && r.Until.IsZero() }

// CRN returns the resource's Cloud Resource Name.
func (r *Resource) CRN() string {
	if crn := r.Attrs["crn"]; crn != "" {
		return crn
	}
	place := r.Region
	if r.Zone != "" && r.Service == "is" {
		place = r.Zone
	}
	switch {
	case r.Type == "instance" && r.Service != "is":
		return fmt.Sprintf("crn:v1:bluemix:public:%s:global:a/%s:%s::", r.Service, r.Account, r.ID)
	case r.Type == "bucket" || r.Type == "resource-key" || r.Type == "zone":
		return fmt.Sprintf("crn:v1:bluemix:public:%s:global:a/%s:%s:%s:%s", r.Service, r.Account, r.Parent, r.Type, r.ID)
	}
	return fmt.Sprintf("crn:v1:bluemix:public:%s:%s:a/%s::%s:%s", r.Service, place, r.Account, r.Type, r.ID)
}

// called reports that a CRN is the resource's.
func (r *Resource) called(crn string) bool {
	return r.Attrs["crn"] == crn || strings.HasSuffix(strings.TrimRight(crn, ":"), r.ID) && r.CRN() == crn
}

// Prepare makes the maps that handlers write to.
func (r *Resource) Prepare() {
	if r.Attrs == nil {
		r.Attrs = map[string]string{}
	}
	if r.Values == nil {
		r.Values = map[string][]string{}
	}
}

// clone returns a copy without the secret.
func (r *Resource) clone() Resource {
	out := *r
	out.Tags, out.Uses, out.Attrs = slices.Clone(r.Tags), slices.Clone(r.Uses), maps.Clone(r.Attrs)
	out.Values = map[string][]string{}
	for k, v := range r.Values {
		out.Values[k] = slices.Clone(v)
	}
	out.Secret = ""
	return out
}

// Mentions reports whether text occurs in any field that a person would search.
func (r *Resource) Mentions(text string) bool {
	fields := append([]string{r.ID, r.Name}, r.Tags...)
	fields = slices.AppendSeq(fields, maps.Values(r.Attrs))
	for _, vs := range r.Values {
		fields = append(fields, vs...)
	}
	return slices.ContainsFunc(fields, func(f string) bool { return strings.Contains(strings.ToLower(f), strings.ToLower(text)) })
}

// world is everything that exists. The server's mutex guards it.
type world struct {
	standin.World[[]string, *Resource]
}

// gone is the state in which a resource ends.
const gone = "gone"

// IsEnded reports that a state is the final one.
func (r *Resource) IsEnded(state string) bool { return state == gone }

// IsMachine reports that the resource is counted only while it runs.
func (r *Resource) IsMachine() bool { return r.Service == "is" && r.Type == "instance" }

// users are the living resources that prevent the deletion of a resource.
func (w *world) users(of *Resource) []*Resource {
	return w.Every(func(r *Resource) bool {
		return r.Account == of.Account && r.ID != of.ID && slices.Contains(r.Uses, of.ID)
	})
}

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

func hexes(n int) string {
	b := make([]byte, (n+1)/2)
	_, _ = rand.Read(b) // crypto/rand never fails
	return hex.EncodeToString(b)[:n]
}

func newUUID() string {
	h := hexes(32)
	return fmt.Sprintf("%s-%s-4%s-a%s-%s", h[:8], h[8:12], h[13:16], h[17:20], h[20:])
}

// newName is the name that VPC invents where a request has none.
func newName() string {
	h := hexes(12)
	return strings.Join([]string{"unnamed", h[:4], h[4:8], h[8:]}, "-")
}

// vpcPrefixes begin the ids of regional resources, as IBM numbers its regions.
var vpcPrefixes = map[string]string{"us-south": "r006", "us-east": "r014", "eu-de": "r010", "eu-gb": "r018", "jp-tok": "r022", "ca-tor": "r038"}

func newVPCID(region, zone string) string {
	if zone != "" {
		return fmt.Sprintf("%04d_%s", 700+int(zone[len(zone)-1]-'0'), newUUID())
	}
	prefix := vpcPrefixes[region]
	if prefix == "" {
		prefix = "r099"
	}
	return prefix + "-" + newUUID()
}
