package standin

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/devstack/meter"
	"github.com/ocpctl/ocpctl/devstack/statefile"
)

// Resource is one resource of an account, of any service. Each cloud has a type of its own with these fields.
type Resource[Tags any] struct {
	Seq     int64               `json:"seq"` // order of creation
	Account string              `json:"account"`
	Service string              `json:"service"` // as in its ARN or CRN: ec2, iam; is, cloud-object-storage, iam-identity …
	Type    string              `json:"type"`    // as in its ARN or CRN, if it has one: vpc, instance, loadbalancer, role, serviceid …
	ID      string              `json:"id"`      // vpc-0…, a load balancer's ARN, an IAM name; r014-…, ServiceId-…
	Name    string              `json:"name,omitempty"`
	Group   string              `json:"group,omitempty"`  // ID of its resource group; only IBM Cloud
	Region  string              `json:"region,omitempty"` // empty: global
	Zone    string              `json:"zone,omitempty"`   // only IBM Cloud
	VPC     string              `json:"vpc,omitempty"`
	Parent  string              `json:"parent,omitempty"` // it ends with its parent and does not block the parent's deletion
	Uses    []string            `json:"uses,omitempty"`   // resources that cannot be deleted while this one exists
	State   string              `json:"state,omitempty"`
	Next    string              `json:"next,omitempty"` // the next state, reached at NextAt
	NextAt  time.Time           `json:"nextAt,omitzero"`
	Tags    Tags                `json:"tags,omitempty"` // on IBM Cloud user tags, in lower case
	Attrs   map[string]string   `json:"attrs,omitempty"`
	Values  map[string][]string `json:"values,omitempty"`
	Created time.Time           `json:"created"`
	Gone    time.Time           `json:"gone,omitzero"`     // a tombstone: deleted at that time, still listed for a while
	Until   time.Time           `json:"until,omitzero"`    // when the tombstone is forgotten
	Metered time.Time           `json:"metered,omitzero"`  // since when it is counted by the meter, on the meter's clock; zero: it is not
	Stands  bool                `json:"stands,omitempty"`  // part of the initial world, never a leftover
	Secret  string              `json:"secret,omitempty"`  // an API key; only in the state file, never in copies that are handed out
	Secrets map[string]string   `json:"secrets,omitempty"` // likewise
}

// Record is a cloud's resource, by pointer.
type Record[Tags any] interface {
	statefile.Record
	Base() *Resource[Tags]
	Prepare()             // makes the maps that handlers write to
	Bills() []meter.Used  // the lines of a bill that it causes; For is how many of each
	Mentions(string) bool // the text occurs in any field that a person would search
	IsMachine() bool      // it is counted only while it runs
	IsEnded(string) bool  // the state is a final one
}

// World is everything that exists, in order of creation. A mutex of the stand-in guards it.
type World[Tags any, R Record[Tags]] struct {
	Account   string            `json:"account"` // the caller's: resources of others are invisible
	LastSeq   int64             `json:"lastSeq"`
	Resources []R               `json:"resources"`           // living resources
	Dead      []R               `json:"dead,omitempty"`      // tombstones, in order of deletion
	Protected map[string]string `json:"protected,omitempty"` // by id or name: how; see Protect
	Pinned    map[string]bool   `json:"pinned,omitempty"`    // ids and names whose deletion is refused
	Limits    map[string]int    `json:"limits,omitempty"`    // by code or name, if one was set
	Meter     meter.Meter       `json:"meter,omitzero"`

	Lag       Lag                   `json:"-"`
	Settle    time.Duration         `json:"-"` // how long it takes to reach a state
	Tombstone func(R) time.Duration `json:"-"` // how long a deleted resource is still listed
	ClusterOf func(R) string        `json:"-"` // whose a resource is
	Reading   bool                  `json:"-"` // a call only reads: what it finds is not changed
	Now       func() time.Time      `json:"-"`
	File      *statefile.File[R]    `json:"-"`
}

// Add puts a resource into the caller's account, unless it names another one.
func (w *World[T, R]) Add(r R) R {
	w.LastSeq++
	b := r.Base()
	b.Seq, b.Account = w.LastSeq, cmp.Or(b.Account, w.Account)
	if b.Created.IsZero() {
		b.Created = w.Now()
	}
	r.Prepare()
	w.Resources = append(w.Resources, r)
	w.File.Touch(r)
	if !r.IsMachine() || b.State == "running" {
		w.count(r, w.Now())
	}
	return r
}

// Touch says that whoever found a resource may change it.
func (w *World[T, R]) Touch(r R) {
	if !w.Reading {
		w.File.Touch(r)
	}
}

// First returns the oldest living resource that matches; nil: there is none.
func (w *World[T, R]) First(match func(R) bool) (none R) {
	i := slices.IndexFunc(w.Resources, match)
	if i < 0 {
		return none
	}
	w.Touch(w.Resources[i])
	return w.Resources[i]
}

// Every returns the living resources that match.
func (w *World[T, R]) Every(match func(R) bool) []R {
	var out []R
	for _, r := range w.Resources {
		if match(r) {
			w.Touch(r)
			out = append(out, r)
		}
	}
	return out
}

// Move sends a resource to a state, reached after the world's settling time.
func (w *World[T, R]) Move(r R, through, to string) {
	if r.IsMachine() {
		w.countUntil(r, w.Now())
	}
	b := r.Base()
	b.State, b.Next, b.NextAt = through, to, w.Now().Add(w.Settle)
}

// mostDead limits memory and state file of a long run: the oldest tombstones are dropped first.
const mostDead = 2000

// Tick applies the passing of time: due states are reached, old tombstones are dropped.
func (w *World[T, R]) Tick() {
	now := w.Now()
	var over []R
	for _, r := range w.Resources {
		b := r.Base()
		if b.Next == "" || now.Before(b.NextAt) {
			continue
		}
		b.State, b.Next = b.Next, ""
		w.File.Touch(r)
		if r.IsEnded(b.State) {
			over = append(over, r)
		}
		if r.IsMachine() && b.State == "running" {
			w.count(r, b.NextAt)
		}
	}
	for _, r := range over {
		w.end(r, r.Base().NextAt)
	}
	w.Dead = slices.DeleteFunc(w.Dead, func(r R) bool { return now.After(r.Base().Until) })
	w.Dead = w.Dead[max(0, len(w.Dead)-mostDead):]
}

// Remove deletes a resource and everything that ends with it, at once.
func (w *World[T, R]) Remove(r R) { w.end(r, w.Now()) }

func (w *World[T, R]) end(r R, at time.Time) {
	b := r.Base()
	if !b.Gone.IsZero() {
		return
	}
	w.countUntil(r, at)
	b.Gone = at
	w.File.Touch(r)
	for _, kid := range w.Every(func(k R) bool { return k.Base().Parent == b.ID && k.Base().Account == b.Account }) {
		w.end(kid, at)
	}
	w.Resources = slices.DeleteFunc(w.Resources, func(o R) bool { return o == r })
	if keep := w.Tombstone(r); keep > 0 {
		b.Until, b.Secret, b.Secrets = at.Add(keep), "", nil
		w.Dead = append(w.Dead, r)
	}
}

// leftovers returns the living resources of every account that mention text, and what is inside those: children, members of their VPCs
// and resource groups. Empty text: all. The world's initial resources never count.
func (w *World[T, R]) leftovers(text string) []R {
	in := map[string]bool{}
	var out []R
	for again := true; again; {
		again = false
		for _, r := range w.Resources {
			b := r.Base()
			if b.Stands || in[b.Account+b.ID] {
				continue
			}
			inside := slices.ContainsFunc([]string{b.Parent, b.VPC, b.Group}, func(id string) bool { return id != "" && in[b.Account+id] })
			if inside || r.Mentions(text) {
				in[b.Account+b.ID] = true
				out = append(out, r)
				again = true
			}
		}
	}
	slices.SortFunc(out, byCreation)
	return out
}

func byCreation[R interface{ Number() int64 }](a, b R) int {
	return cmp.Compare(a.Number(), b.Number())
}

// count begins to count a resource by the meter, at a time.
func (w *World[T, R]) count(r R, at time.Time) {
	if len(r.Bills()) > 0 {
		r.Base().Metered = w.Meter.Clock(at)
	}
}

// countUntil ends it.
func (w *World[T, R]) countUntil(r R, at time.Time) {
	for _, u := range w.used(r, at) {
		w.Meter.Add(u)
		w.File.Used(u)
	}
	r.Base().Metered = time.Time{}
}

// used is what a resource used since it is counted.
func (w *World[T, R]) used(r R, until time.Time) []meter.Used {
	b := r.Base()
	if b.Metered.IsZero() || b.Stands {
		return nil
	}
	return w.Meter.Since(b.Metered, until, r.Bills(), w.ClusterOf(r), b.Region)
}

// ProtectionOf is how a test protects a resource; empty: it does not.
func (w *World[T, R]) ProtectionOf(r R) string {
	how := w.Protected[r.Base().ID]
	if name := r.Base().Name; how == "" && name != "" {
		how = w.Protected[name]
	}
	return how
}

// meta is everything of a world that is no resource and was not used.
type meta struct {
	Account   string            `json:"account"`
	Pinned    map[string]bool   `json:"pinned"`
	Protected map[string]string `json:"protected,omitempty"`
	Limits    map[string]int    `json:"limits"`
}

// Note converts what was changed to lines of the state file, which the next Save writes.
func (w *World[T, R]) Note() error {
	return w.File.Note(meta{w.Account, w.Pinned, w.Protected, w.Limits})
}

// replay reads a change that is no resource.
func (w *World[T, R]) replay(rest, used json.RawMessage) error {
	if used != nil {
		var u meter.Used
		err := json.Unmarshal(used, &u)
		w.Meter.Add(u)
		return err
	}
	var m meta
	err := json.Unmarshal(rest, &m)
	w.Account, w.Pinned, w.Limits = m.Account, m.Pinned, m.Limits
	w.Protected = map[string]string{}
	maps.Copy(w.Protected, m.Protected)
	return err
}
