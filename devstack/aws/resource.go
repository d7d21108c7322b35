package aws

import (
	"crypto/rand"
	"encoding/hex"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/meter"
	"github.com/ocpctl/ocpctl/devstack/standin"
	"github.com/ocpctl/ocpctl/internal/tagkey"
)

// Resource is one resource of the account, of any service.
type Resource standin.Resource[map[string]string]

// Base is the resource without what only this cloud knows.
func (r *Resource) Base() *standin.Resource[map[string]string] {
	return (*standin.Resource[map[string]string])(r)
}

// Alive reports that the resource exists and is no tombstone.
func (r *Resource) Alive() bool { return r.Gone.IsZero() }

// Number is the order of creation.
func (r *Resource) Number() int64 { return r.Seq }

// Forgotten reports that the resource is gone without a tombstone.
func (r *Resource) Forgotten() bool { return !r.Alive() && r.Until.IsZero() }

// ARN returns the resource's ARN: its ID if that is an ARN, as for every service that this package does not know; empty for types
// without one.
func (r *Resource) ARN() string {
	if strings.HasPrefix(r.ID, "arn:") {
		return r.ID
	}
	switch r.Service {
	case "ec2":
		if r.Type == "placement-group" {
			return "arn:aws:ec2:" + r.Region + ":" + r.Account + ":" + r.Type + "/" + r.Name
		}
		return "arn:aws:ec2:" + r.Region + ":" + r.Account + ":" + r.Type + "/" + r.ID
	case "iam":
		return "arn:aws:iam::" + r.Account + ":" + r.Type + "/" + r.Name
	case "route53":
		if r.Type == "hostedzone" {
			return "arn:aws:route53:::hostedzone/" + r.ID
		}
	case "s3":
		return "arn:aws:s3:::" + r.Name
	}
	return ""
}

// arnParts returns service, region, account and kind of an ARN: arn:aws:rds:us-east-1:123456789012:db:name.
func arnParts(arn string) (service, region, account, kind string) {
	parts := append(strings.SplitN(arn, ":", 6), make([]string, 6)...)
	kind, _, _ = strings.Cut(parts[5], "/")
	kind, _, _ = strings.Cut(kind, ":")
	return parts[2], parts[3], parts[4], kind
}

// Prepare makes the maps that handlers write to.
func (r *Resource) Prepare() {
	if r.Tags == nil {
		r.Tags = map[string]string{}
	}
	if r.Attrs == nil {
		r.Attrs = map[string]string{}
	}
	if r.Values == nil {
		r.Values = map[string][]string{}
	}
}

func (r *Resource) vals(name string) []string { return r.Values[name] }

// clone returns a copy without secrets.
func (r *Resource) clone() Resource {
	out := *r
	out.Tags, out.Attrs, out.Uses = maps.Clone(r.Tags), maps.Clone(r.Attrs), slices.Clone(r.Uses)
	out.Values = maps.Clone(r.Values)
	out.Secrets = nil
	return out
}

// Mentions reports whether text occurs in any field that a person would search.
func (r *Resource) Mentions(text string) bool {
	fields := []string{r.ID, r.Name}
	for k, v := range r.Tags {
		fields = append(fields, k, v)
	}
	for _, v := range r.Attrs {
		fields = append(fields, v)
	}
	for _, vs := range r.Values {
		fields = append(fields, vs...)
	}
	return slices.ContainsFunc(fields, func(f string) bool { return strings.Contains(f, text) })
}

// world is everything that exists. The server's mutex guards it.
type world struct {
	standin.World[map[string]string, *Resource]

	tombstone time.Duration
	disabled  map[string]bool // regions that SetRegion disabled
}

// user returns a living resource that prevents the deletion of id.
func (w *world) user(id string) *Resource {
	return w.First(func(r *Resource) bool {
		return r.ID != id && slices.Contains(r.Uses, id)
	})
}

// IsEnded reports that a state is a final one.
func (r *Resource) IsEnded(state string) bool {
	return state == "terminated" || state == "deleted" || state == "gone"
}

// IsMachine reports that the resource is counted only while it runs.
func (r *Resource) IsMachine() bool { return r.Type == "instance" }

// leavesTombstone are the types that are listed for a while after their deletion: all by the tagging API, some by their own describe
// call too, as in AWS.
var leavesTombstone = map[string]bool{"instance": true, "natgateway": true, "volume": true, "vpc-endpoint": true, "targetgroup": true,
	"vpc-peering-connection": true}

// tombstoneOf is how long a deleted resource is still listed.
func (w *world) tombstoneOf(r *Resource) time.Duration {
	keep := w.Lag.Delete
	if r.Service == "iam" {
		keep = max(keep, w.Lag.IAM)
	}
	if leavesTombstone[r.Type] {
		keep = max(keep, w.tombstone)
	}
	return keep
}

// Bills are the lines of a bill that a resource causes. For is how many of each.
func (r *Resource) Bills() []meter.Used {
	switch r.Type {
	case "instance":
		return meter.One("instance", strings.TrimSpace(r.Attrs["instance-type"]+" "+r.Attrs["instance-lifecycle"]))
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

// newID returns the prefix and seventeen hexadecimal digits, like EC2's ids.
func newID(prefix string) string {
	var b [9]byte
	_, _ = rand.Read(b[:]) // crypto/rand never fails
	return prefix + hex.EncodeToString(b[:])[:17]
}

// newUpper returns an upper-case id like those of IAM and Route 53.
func newUpper(prefix string, n int) string {
	var b [20]byte
	_, _ = rand.Read(b[:])
	return prefix + strings.ToUpper(hex.EncodeToString(b[:]))[:n]
}

// newRequestID returns a UUID, as every service has it in its responses.
func newRequestID() string {
	h := newID("") + newID("")
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:32]
}

func hash(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // a hash never fails
	return h.Sum32()
}
