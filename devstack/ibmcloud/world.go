package ibmcloud

import (
	"cmp"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/devstack/meter"
	"github.com/ocpctl/ocpctl/devstack/statefile"
)

// world is everything that exists, in order of creation. The server's mutex guards it.
type world struct {
	Account   string            `json:"account"` // that the first key belongs to
	LastSeq   int64             `json:"lastSeq"`
	Resources []*Resource       `json:"resources"`           // living resources
	Dead      []*Resource       `json:"dead,omitempty"`      // tombstones, in order of deletion
	Protected map[string]string `json:"protected,omitempty"` // by id or name: how; see Protect
	Pinned    map[string]bool   `json:"pinned,omitempty"`    // ids and names whose deletion is refused
	Limits    map[string]int    `json:"limits,omitempty"`    // by name, if one was set
	Meter     meter.Meter       `json:"meter,omitzero"`

	settle time.Duration
	lag    Lag
	file   *statefile.File[*Resource]
	quiet  bool // a call only reads: what it finds is not changed
	now    func() time.Time
}

// gone is the state in which a resource ends.
const gone = "gone"

func (w *world) add(r Resource) *Resource {
	w.LastSeq++
	r.Seq, r.Account = w.LastSeq, cmp.Or(r.Account, w.Account)
	if r.Created.IsZero() {
		r.Created = w.now()
	}
	r.prepare()
	w.Resources = append(w.Resources, &r)
	w.file.Touch(&r)
	if r.Service != "is" || r.Type != "instance" || r.State == "running" { // a machine is counted while it runs
		w.meter(&r, w.now())
	}
	return &r
}

func (w *world) first(match func(*Resource) bool) *Resource {
	i := slices.IndexFunc(w.Resources, match)
	if i < 0 {
		return nil
	}
	w.touch(w.Resources[i])
	return w.Resources[i]
}

// touch says that whoever found a resource may change it.
func (w *world) touch(r *Resource) {
	if !w.quiet {
		w.file.Touch(r)
	}
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

// users are the living resources that prevent the deletion of a resource.
func (w *world) users(of *Resource) []*Resource {
	return w.all(func(r *Resource) bool {
		return r.Account == of.Account && r.ID != of.ID && slices.Contains(r.Uses, of.ID)
	})
}

// move sends a resource to a state, reached after the world's settling time.
func (w *world) move(r *Resource, through, to string) {
	if r.Type == "instance" && r.Service == "is" {
		w.unmeter(r, w.now())
	}
	r.State, r.Next, r.NextAt = through, to, w.now().Add(w.settle)
}

// mostDead limits memory and state file of a long run: the oldest tombstones are dropped first.
const mostDead = 2000

// tick applies the passing of time: due states are reached, old tombstones are dropped.
func (w *world) tick() {
	now := w.now()
	var over []*Resource
	for _, r := range w.Resources {
		if r.Next == "" || now.Before(r.NextAt) {
			continue
		}
		r.State, r.Next = r.Next, ""
		w.file.Touch(r)
		if r.State == gone {
			over = append(over, r)
		}
		if r.Type == "instance" && r.State == "running" {
			w.meter(r, r.NextAt)
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
	w.file.Touch(r)
	for _, kid := range w.all(func(k *Resource) bool { return k.Parent == r.ID && k.Account == r.Account }) {
		w.end(kid, at)
	}
	w.Resources = slices.DeleteFunc(w.Resources, func(o *Resource) bool { return o == r })
	if w.lag.Delete > 0 {
		r.Secret, r.Until = "", at.Add(w.lag.Delete)
		w.Dead = append(w.Dead, r)
	}
}

// leftovers returns the living resources of every account that mention text, and what is inside those: children, members of their VPCs
// and resource groups. Empty text: all. The world's initial resources never count.
func (w *world) leftovers(text string) []*Resource {
	in := map[string]bool{}
	var out []*Resource
	for again := true; again; {
		again = false
		for _, r := range w.Resources {
			if r.Stands || in[r.Account+r.ID] {
				continue
			}
			inside := slices.ContainsFunc([]string{r.Parent, r.VPC, r.Group}, func(id string) bool { return id != "" && in[r.Account+id] })
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
