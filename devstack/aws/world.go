package aws

import (
	"cmp"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/devstack/meter"
	"github.com/ocpctl/ocpctl/devstack/statefile"
)

// world is everything that exists, in order of creation. The server's mutex guards it.
type world struct {
	Account   string            `json:"account"` // the caller's account: resources of others are invisible
	LastSeq   int64             `json:"lastSeq"`
	Resources []*Resource       `json:"resources"`           // living resources
	Dead      []*Resource       `json:"dead,omitempty"`      // tombstones, in order of deletion
	Protected map[string]string `json:"protected,omitempty"` // by id or name: how; see Protect
	Pinned    map[string]bool   `json:"pinned,omitempty"`    // ids whose deletion is refused
	Limits    map[string]int    `json:"limits,omitempty"`    // by quota code, if one was set
	Meter     meter.Meter       `json:"meter,omitzero"`

	settle    time.Duration
	tombstone time.Duration
	lag       Lag
	disabled  map[string]bool // regions that SetRegion disabled
	file      *statefile.File[*Resource]
	reading   bool // a call only reads: what it finds is not changed
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
	if r.Type != "instance" || r.State == "running" { // a machine is counted while it runs
		w.meter(&r, w.now())
	}
	w.touch(&r)
	return &r
}

// touch says that whoever found a resource may change it.
func (w *world) touch(r *Resource) {
	if !w.reading {
		w.file.Touch(r)
	}
}

func (w *world) first(match func(*Resource) bool) *Resource {
	for _, r := range w.Resources {
		if match(r) {
			w.touch(r)
			return r
		}
	}
	return nil
}

func (w *world) all(match func(*Resource) bool) []*Resource {
	var out []*Resource
	for _, r := range w.Resources {
		if match(r) {
			w.touch(r)
			out = append(out, r)
		}
	}
	return out
}

// user returns a living resource that prevents the deletion of id.
func (w *world) user(id string) *Resource {
	return w.first(func(r *Resource) bool {
		return r.ID != id && slices.Contains(r.Uses, id)
	})
}

// move sends a resource to a state, reached after the world's settling time.
func (w *world) move(r *Resource, through, to string) {
	if r.Type == "instance" {
		w.unmeter(r, w.now())
	}
	r.State, r.Next, r.NextAt = through, to, w.now().Add(w.settle)
}

// ended are the final states.
var ended = map[string]bool{"terminated": true, "deleted": true, "gone": true}

// leavesTombstone are the types that are listed for a while after their deletion: all by the tagging API, some by their own describe
// call too, as in AWS.
var leavesTombstone = map[string]bool{"instance": true, "natgateway": true, "volume": true, "vpc-endpoint": true, "targetgroup": true,
	"vpc-peering-connection": true}

// mostDead limits memory and state file of a long run: the oldest tombstones are dropped first.
const mostDead = 2000

// tick applies the passing of time: due states are reached, old tombstones are dropped.
func (w *world) tick() {
	now := w.now()
	var over []*Resource
	for _, r := range w.Resources {
		if r.Next != "" && !now.Before(r.NextAt) {
			r.State, r.Next = r.Next, ""
			if r.Type == "instance" && r.State == "running" {
				w.meter(r, r.NextAt)
			}
			w.touch(r)
			if ended[r.State] {
				over = append(over, r)
			}
		}
	}
	for _, r := range over {
		w.end(r, r.NextAt)
	}
	w.Dead = slices.DeleteFunc(w.Dead, func(r *Resource) bool { return now.After(r.Until) })
	w.Dead = w.Dead[max(0, len(w.Dead)-mostDead):]
}

// remove deletes a resource and everything that ends with it, at once.
func (w *world) remove(r *Resource) { w.end(r, w.now()) }

func (w *world) end(r *Resource, at time.Time) {
	if !r.Alive() {
		return
	}
	w.unmeter(r, at)
	r.Gone = at
	w.touch(r)
	for _, kid := range w.all(func(k *Resource) bool { return k.Parent == r.ID && k.Account == r.Account }) {
		w.end(kid, at)
	}
	w.Resources = slices.DeleteFunc(w.Resources, func(o *Resource) bool { return o == r })
	keep := w.lag.Delete
	if r.Service == "iam" {
		keep = max(keep, w.lag.IAM)
	}
	if leavesTombstone[r.Type] {
		keep = max(keep, w.tombstone)
	}
	if keep > 0 {
		r.Until, r.Secrets = r.Gone.Add(keep), nil
		w.Dead = append(w.Dead, r)
	}
}

// leftovers returns the living resources of every account that mention text, and what is inside those (children, members of their
// VPCs). Empty text: all. The world's initial resources never count.
func (w *world) leftovers(text string) []*Resource {
	in := map[string]bool{}
	var out []*Resource
	for again := true; again; {
		again = false
		for _, r := range w.Resources {
			if r.Stands || in[r.Account+r.ID] {
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
