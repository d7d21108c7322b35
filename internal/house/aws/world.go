package aws

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"
)

// Resource is one thing in the account, whatever its service.
type Resource struct {
	Seq     int64               `json:"seq"` // order of creation
	Account string              `json:"account"`
	Service string              `json:"service"` // ec2, elasticloadbalancing, iam, route53
	Type    string              `json:"type"`    // as in an ARN where it has one: vpc, instance, loadbalancer, role …
	ID      string              `json:"id"`      // vpc-0…, a load balancer's ARN, an IAM name, a zone's id
	Name    string              `json:"name,omitempty"`
	Region  string              `json:"region,omitempty"` // empty: global
	VPC     string              `json:"vpc,omitempty"`
	Parent  string              `json:"parent,omitempty"` // ends with it and is no obstacle to its deletion
	Uses    []string            `json:"uses,omitempty"`   // what cannot be deleted while this exists
	State   string              `json:"state,omitempty"`
	Next    string              `json:"next,omitempty"` // the state it is on its way to, reached at NextAt
	NextAt  time.Time           `json:"nextAt,omitzero"`
	Tags    map[string]string   `json:"tags,omitempty"`
	Attrs   map[string]string   `json:"attrs,omitempty"`
	Values  map[string][]string `json:"values,omitempty"`
	Created time.Time           `json:"created"`
	Gone    time.Time           `json:"gone,omitzero"`     // a tombstone: deleted then, still told of for a while
	Stands  bool                `json:"stands,omitempty"`  // part of the world at the start, never a leftover
	Secrets map[string]string   `json:"secrets,omitempty"` // in the state file alone: no copy that is handed out has them
}

// Alive says that the resource exists and is no tombstone.
func (r *Resource) Alive() bool { return r.Gone.IsZero() }

// ARN is the resource's name across services: its ID where that is one, as it is for every service this package does
// not know; empty for types that have none.
func (r *Resource) ARN() string {
	if strings.HasPrefix(r.ID, "arn:") {
		return r.ID
	}
	switch r.Service {
	case "ec2":
		if r.Type == "placement-group" {
			return fmt.Sprintf("arn:aws:ec2:%s:%s:%s/%s", r.Region, r.Account, r.Type, r.Name)
		}
		return fmt.Sprintf("arn:aws:ec2:%s:%s:%s/%s", r.Region, r.Account, r.Type, r.ID)
	case "iam":
		return fmt.Sprintf("arn:aws:iam::%s:%s/%s", r.Account, r.Type, r.Name)
	case "route53":
		if r.Type == "hostedzone" {
			return "arn:aws:route53:::hostedzone/" + r.ID
		}
	}
	return ""
}

// arnParts are the service, the region, the account and the kind in an ARN: arn:aws:rds:us-east-1:123456789012:db:name.
func arnParts(arn string) (service, region, account, kind string) {
	parts := append(strings.SplitN(arn, ":", 6), make([]string, 6)...)
	kind, _, _ = strings.Cut(parts[5], "/")
	kind, _, _ = strings.Cut(kind, ":")
	return parts[2], parts[3], parts[4], kind
}

func (r *Resource) vals(name string) []string { return r.Values[name] }

// clone is a copy to hand out, without what is secret.
func (r *Resource) clone() Resource {
	out := *r
	out.Tags, out.Attrs, out.Uses = maps.Clone(r.Tags), maps.Clone(r.Attrs), slices.Clone(r.Uses)
	out.Values = maps.Clone(r.Values)
	out.Secrets = nil
	return out
}

// world is everything there is, in order of creation. The server's mutex guards it.
type world struct {
	Account   string          `json:"account"` // the one the caller is in: what belongs to others is not visible
	LastSeq   int64           `json:"lastSeq"`
	Resources []*Resource     `json:"resources"`
	Pinned    map[string]bool `json:"pinned,omitempty"` // ids whose deletion is refused
	Limits    map[string]int  `json:"limits,omitempty"` // by quota code, where one was set
	Changed   int64           `json:"-"`                // rises with every change

	settle    time.Duration
	tombstone time.Duration
	now       func() time.Time
}

// add puts a resource into the caller's account.
func (w *world) add(r Resource) *Resource {
	w.LastSeq++
	r.Seq, r.Account = w.LastSeq, cmp.Or(r.Account, w.Account)
	if r.Created.IsZero() {
		r.Created = w.now()
	}
	if r.Tags == nil {
		r.Tags = map[string]string{}
	}
	if r.Attrs == nil {
		r.Attrs = map[string]string{}
	}
	if r.Values == nil {
		r.Values = map[string][]string{}
	}
	w.Resources = append(w.Resources, &r)
	return &r
}

func (w *world) first(match func(*Resource) bool) *Resource {
	for _, r := range w.Resources {
		if match(r) {
			return r
		}
	}
	return nil
}

func (w *world) all(match func(*Resource) bool) []*Resource {
	var out []*Resource
	for _, r := range w.Resources {
		if match(r) {
			out = append(out, r)
		}
	}
	return out
}

// user is a living resource that keeps id from being deleted.
func (w *world) user(id string) *Resource {
	return w.first(func(r *Resource) bool {
		return r.Alive() && r.ID != id && slices.Contains(r.Uses, id)
	})
}

// move sends a resource towards a state, reached after the world's settling time.
func (w *world) move(r *Resource, through, to string) {
	r.State, r.Next, r.NextAt = through, to, w.now().Add(w.settle)
}

// ended are the states from which nothing returns.
var ended = map[string]bool{"terminated": true, "deleted": true, "gone": true}

// leavesTombstone are the types the tagging API goes on telling about for a while, as the real one does.
var leavesTombstone = map[string]bool{"instance": true, "natgateway": true, "volume": true, "vpc-endpoint": true, "targetgroup": true,
	"vpc-peering-connection": true}

// tick lets time pass: states that were on their way are reached, old tombstones are forgotten.
func (w *world) tick() {
	now := w.now()
	for _, r := range slices.Clone(w.Resources) {
		if r.Next != "" && !now.Before(r.NextAt) {
			r.State, r.Next = r.Next, ""
			if ended[r.State] {
				w.remove(r)
			}
		}
	}
	w.Resources = slices.DeleteFunc(w.Resources, func(r *Resource) bool {
		return !r.Alive() && now.Sub(r.Gone) > w.tombstone
	})
}

// remove ends a resource and everything that ends with it, at once.
func (w *world) remove(r *Resource) {
	if !r.Alive() {
		return
	}
	r.Gone = w.now()
	for _, kid := range w.all(func(k *Resource) bool { return k.Alive() && k.Parent == r.ID && k.Account == r.Account }) {
		w.remove(kid)
	}
	if !leavesTombstone[r.Type] {
		w.Resources = slices.DeleteFunc(w.Resources, func(o *Resource) bool { return o == r })
	}
}

// newID is prefix and seventeen hexadecimal digits, as EC2 makes them.
func newID(prefix string) string {
	var b [9]byte
	_, _ = rand.Read(b[:]) // crypto/rand never fails
	return prefix + hex.EncodeToString(b[:])[:17]
}

// newUpper is an upper-case id as IAM and Route 53 make them.
func newUpper(prefix string, n int) string {
	var b [20]byte
	_, _ = rand.Read(b[:])
	return prefix + strings.ToUpper(hex.EncodeToString(b[:]))[:n]
}

// newRequestID is a UUID, as every service puts into its answers.
func newRequestID() string {
	h := newID("") + newID("")
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:32]
}

func hash(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // a hash never refuses
	return h.Sum32()
}

// mentions says whether text occurs anywhere in what a person would look at.
func (r *Resource) mentions(text string) bool {
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

// leftovers are the living resources, of every account, that mention text, and what lies inside those (children,
// members of their VPCs). Empty text: all. The world's own furniture never counts.
func (w *world) leftovers(text string) []*Resource {
	in := map[string]bool{}
	var out []*Resource
	for again := true; again; {
		again = false
		for _, r := range w.Resources {
			if r.Stands || !r.Alive() || in[r.Account+r.ID] {
				continue
			}
			inside := (r.Parent != "" && in[r.Account+r.Parent]) || (r.VPC != "" && in[r.Account+r.VPC])
			if inside || r.mentions(text) {
				in[r.Account+r.ID] = true
				out = append(out, r)
				again = true
			}
		}
	}
	slices.SortFunc(out, func(a, b *Resource) int { return cmp.Compare(a.Seq, b.Seq) })
	return out
}
