package lifecycle

import (
	"fmt"
	"slices"
	"time"
)

// leaked is what a scan saw of a released cluster, once its removal was allowed.
type leaked struct {
	at     time.Time // the newest sight
	nameOf string    // the cluster that has the name by now
}

// mostLeaks is how often something of one cluster comes to light.
const mostLeaks = 2

// leak is that something of the released cluster comes to light and may be removed: under a name that it recorded, or one that nobody
// recorded and that is added now. Now and then the only sight is older than the release, and nothing is there any more.
func (w *world) leak() {
	if w.row.Phase != Released || w.leaks != nil || w.row.Reopened >= mostLeaks {
		return
	}
	w.leaks, w.reconcileAsked = &leaked{at: w.now.Add(time.Second)}, true
	if w.chance(4) {
		w.leaks.at = w.row.ReleasedAt
		w.note("a sight from before the release is looked at")
		return
	}
	name := fmt.Sprintf("late-%d", len(w.identities))
	if len(w.identities) > 0 && !w.chance(3) {
		name = w.identities[w.pick(len(w.identities))]
	}
	if !slices.Contains(w.identities, name) {
		w.identities = append(w.identities, name)
		w.attempts = append(w.attempts, &attempt{Attempt: Attempt{
			Number: len(w.attempts) + 1, Kind: Create, OpenedAt: w.now, ClaimedAt: w.now, Recorded: true, ClosedAt: w.now, Outcome: Lost, Message: "it was found in the cloud",
		}})
		w.row.Seen = len(w.attempts)
	}
	w.cloud[name] = append(w.cloud[name], thing{stubborn: w.chance(6)})
	w.owed = true
	w.note("something of it is found under %s", name)
}

// takeName is that another cluster gets the name of the released one, or gives it back.
func (w *world) takeName() {
	if w.leaks == nil || w.row.Phase != Released {
		return
	}
	w.leaks.nameOf, w.reconcileAsked = map[string]string{"": "clu_2"}[w.leaks.nameOf], true
}

// leakFact is what store.Load reads of a leak.
func (w *world) leakFact() *Leak {
	if w.row.Phase != Released || w.leaks == nil {
		return nil
	}
	return &Leak{SeenAt: w.leaks.at, Resources: []string{"vpc-1"}, NameOf: w.leaks.nameOf}
}

// isLeak is this test's own reading of rule 13.
func isLeak(c Cluster, f Facts) bool {
	return c.Phase == Released && f.Leaked != nil && f.Leaked.NameOf == "" && f.Leaked.SeenAt.After(c.ReleasedAt)
}

// over reports that the cluster is released and nothing of it waits to be removed.
func (w *world) over() bool { return w.row.Phase == Released && !isLeak(w.row, w.facts(false)) }

// Rule 13: a released cluster is left alone, but for a leak, which has its teardown done again. Not while another cluster has its name.
func onlyALeakReopens(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	switch {
	case isLeak(c, f):
		if n.Status != Destroying || !n.ReleasedAt.IsZero() || !n.ReopenedAt.Equal(f.Now) || n.Reopened != c.Reopened+1 || n.Desired != Absent {
			return "something was left of a released cluster, and its teardown is not done again"
		}
	case c.Phase == Released && (!same(c, n) || d.Open != "" || len(d.Effects)+len(d.Jobs) > 0):
		return "a released cluster moved"
	case n.Reopened != c.Reopened || !n.ReopenedAt.Equal(c.ReopenedAt):
		return "a cluster that was not released is opened again"
	}
	return ""
}

var leakMutants = []mutant{
	{13, true, "released is final", func(c Cluster, f Facts, l Limits) Decision {
		f.Leaked = nil
		return Decide(c, f, l)
	}},
	{13, false, "a teardown is done again beside a cluster of the same name", func(c Cluster, f Facts, l Limits) Decision {
		if f.Leaked != nil {
			f.Leaked = &Leak{SeenAt: f.Leaked.SeenAt}
		}
		return Decide(c, f, l)
	}},
	{13, false, "what was seen before the release is a leak", func(c Cluster, f Facts, l Limits) Decision {
		if f.Leaked != nil {
			f.Leaked = &Leak{SeenAt: f.Now.Add(time.Hour), NameOf: f.Leaked.NameOf}
		}
		return Decide(c, f, l)
	}},
	{3, false, "any reconcile of a released cluster does its teardown again", func(c Cluster, f Facts, l Limits) Decision {
		if c.Phase == Released && f.Leaked == nil {
			f.Leaked = &Leak{SeenAt: f.Now.Add(time.Hour)}
		}
		return Decide(c, f, l)
	}},
	{13, true, "the proof from before a leak counts after it", func(c Cluster, f Facts, l Limits) Decision {
		f.Last = altered(f.Last, func(a *Attempt) { a.OpenedAt = f.Now })
		return Decide(c, f, l)
	}},
}
