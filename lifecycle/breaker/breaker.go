// Package breaker decides when creates that keep failing wait, which of them is tried, and when all go on.
//
// It is pure: the store reads the facts and writes the changes under one lock, so that two servers never choose two probes.
package breaker

import (
	"cmp"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Limits say when a breaker opens, and for how long.
type Limits struct {
	After int           // so many failed creates in a row open it; 0: none ever opens
	Pause time.Duration // until the first probe; doubled after each that fails
	Most  time.Duration // the longest pause
}

// Window is how long ago a create may have failed that counts.
const Window = 24 * time.Hour

// leastClusters is how many clusters have to fail: one alone may be its own problem.
const leastClusters = 2

// Try is a create that ended.
type Try struct {
	Cluster string
	lifecycle.Place
	Began, At time.Time // At: its end
	Outcome   lifecycle.Outcome
	Code      string // reason of a failure
	Whose     string // whose problem that was
}

// State is a breaker that opened.
type State struct {
	ID       string // filled by the store
	Where    lifecycle.Place
	Code     string // of the failures that opened it
	Whose    string
	Failures int
	Since    time.Time
	Until    time.Time // from when one is tried
	Probes   int       // that failed, in a row
	Probe    string    // the cluster that is tried; empty: none
	ProbeAt  time.Time // when it was chosen
	ClosedAt time.Time // zero: it is open
}

// Waiter is a cluster whose create waits for a brake.
type Waiter struct {
	Cluster string
	lifecycle.Place
	Brake string // that it shows: of several, the one that holds longest
	Since time.Time
}

// Probing is what is known of a cluster that is tried.
type Probing struct {
	Wanted bool
	Runs   bool // a create of it runs
}

// Facts is what is known at one moment.
type Facts struct {
	Now     time.Time
	States  []State // those that are open or closed within the window
	Tries   []Try   // that ended within the window
	Waiting []Waiter
	Probing map[string]Probing // by cluster
}

// Event says what happened to a breaker.
type Event string

// The events.
const (
	Opened      Event = "opened"
	Probes      Event = "probes"      // a cluster was chosen to be tried
	ProbeFailed Event = "failed"      // it stays open for longer
	Withdrawn   Event = "withdrawn"   // the one that was chosen says nothing; another is
	Succeeded   Event = "succeeded"   // closed: a create succeeded
	NobodyWaits Event = "nobody_left" // closed: its time passed, and nobody waits, not for another brake either
)

// Change is a breaker as it is to be stored, and what happened to it.
type Change struct {
	Event
	State
}

// Decide returns what changes now. Applied twice, it changes nothing the second time.
func Decide(f Facts, l Limits) (changes []Change) {
	f.Tries = slices.SortedStableFunc(slices.Values(f.Tries), func(a, b Try) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Cluster, b.Cluster))
	})
	for i := range f.States {
		if s := f.States[i]; s.ClosedAt.IsZero() {
			if event := f.advance(&s, l); event != "" {
				changes = append(changes, Change{event, s})
			}
		}
	}
	if len(changes) > 0 { // what follows from these is seen with the next facts
		return changes
	}
	for l.After > 0 {
		s, opens := f.firstToOpen(l)
		if !opens {
			break
		}
		f.States = append(f.States, s)
		changes = append(changes, Change{Opened, s})
	}
	return changes
}

// advance moves an open breaker on by one event; empty: nothing happens.
func (f Facts) advance(s *State, l Limits) Event {
	if slices.ContainsFunc(f.Tries, func(t Try) bool {
		return t.Outcome == lifecycle.Succeeded && t.At.After(s.Since) && s.Where.Covers(t.Place)
	}) {
		s.ClosedAt = f.Now
		return Succeeded
	}
	if s.Probe != "" {
		return f.watchProbe(s, l)
	}
	if f.Now.Before(s.Until) {
		return ""
	}
	var next *Waiter
	for i, w := range f.Waiting {
		if w.Brake == s.ID && (next == nil || cmp.Or(w.Since.Compare(next.Since), cmp.Compare(w.Cluster, next.Cluster)) < 0) {
			next = &f.Waiting[i]
		}
	}
	switch {
	case next != nil:
		s.Probe, s.ProbeAt = next.Cluster, f.Now
		return Probes
	case !f.Now.Before(s.Until.Add(l.pause(s.Probes))) && !slices.ContainsFunc(f.Waiting, func(w Waiter) bool { return s.Where.Covers(w.Place) }):
		s.ClosedAt = f.Now
		return NobodyWaits
	}
	return ""
}

// watchProbe follows the cluster that is tried. What says nothing about the cloud or about us gives its place to the next: it ended, its create was
// stopped, failed for its requester's fault, or did not begin for a whole pause.
func (f Facts) watchProbe(s *State, l Limits) Event {
	ended := slices.IndexFunc(f.Tries, func(t Try) bool { return t.Cluster == s.Probe && !t.Began.Before(s.ProbeAt) })
	now := f.Probing[s.Probe]
	switch {
	case ended >= 0 && f.Tries[ended].counts():
		s.Probes++
		s.Failures++
		s.Until, s.Probe, s.ProbeAt = f.Now.Add(l.pause(s.Probes)), "", time.Time{}
		return ProbeFailed
	case ended >= 0, !now.Wanted, !now.Runs && !f.Now.Before(s.ProbeAt.Add(l.pause(s.Probes))):
		s.Probe, s.ProbeAt = "", time.Time{}
		return Withdrawn
	}
	return ""
}

// pause is how long it waits after that many probes that failed.
func (l Limits) pause(failed int) time.Duration {
	wait := l.Pause
	for range failed {
		if wait *= 2; wait >= l.Most {
			return l.Most
		}
	}
	return wait
}

// counts reports a failure that is not its requester's. One for want of spot machines says nothing about creates, whose last try needs none.
func (t Try) counts() bool {
	return (t.Outcome == lifecycle.Failure || t.Outcome == lifecycle.Lost) && t.Code != "" && t.Code != lifecycle.SpotUnavailable && len(t.keys()) > 0
}

// keys are the places whose creates wait if this one keeps failing: what the cloud or a quota caused, in the account and region; what the installer
// or ocpctl caused, for the profile, or for the version if profiles share it.
func (t Try) keys() []lifecycle.Place {
	switch t.Whose {
	case "cloud", "quota":
		return []lifecycle.Place{{Platform: t.Platform, Account: t.Account, Region: t.Region}}
	case "installer", "ocpctl":
		return []lifecycle.Place{{Profile: t.Profile}, {Platform: t.Platform, Version: t.Version}}
	}
	return nil
}

// isExplained reports that a breaker opened because of this failure, or while it was open.
func (f Facts) isExplained(t Try) bool {
	return slices.ContainsFunc(f.States, func(s State) bool {
		return s.Code == t.Code && s.Where.Covers(t.Place) && (s.ClosedAt.IsZero() || !t.At.After(s.ClosedAt))
	})
}

// isOpen reports that there is an open breaker for exactly this place.
func (f Facts) isOpen(where lifecycle.Place) bool {
	return slices.ContainsFunc(f.States, func(s State) bool { return s.Where == where && s.ClosedAt.IsZero() })
}

// firstToOpen returns the breaker that the failures open first. Failures of one class in a row count, with no success at the place between them.
func (f Facts) firstToOpen(l Limits) (State, bool) {
	type class struct {
		where lifecycle.Place
		code  string
	}
	failed := map[class][]string{} // the clusters that failed
	for _, t := range f.Tries {
		if t.At.Before(f.Now.Add(-Window)) {
			continue
		}
		if t.Outcome == lifecycle.Succeeded {
			for c := range failed {
				if c.where.Covers(t.Place) {
					delete(failed, c)
				}
			}
			continue
		}
		if !t.counts() || f.isExplained(t) {
			continue
		}
		for _, where := range t.keys() {
			c := class{where, t.Code}
			failed[c] = append(failed[c], t.Cluster)
			distinct := len(slices.Compact(slices.Sorted(slices.Values(failed[c]))))
			if len(failed[c]) >= l.After && distinct >= leastClusters && !f.isOpen(where) {
				return State{Where: where, Code: t.Code, Whose: t.Whose, Failures: len(failed[c]), Since: f.Now, Until: f.Now.Add(l.Pause)}, true
			}
		}
	}
	return State{}, false
}
