package lifecycle

import (
	"strings"
	"time"
)

// stepOf is this test's own reading of when something follows next from that nobody uses the cluster; zero: nothing does.
func stepOf(n Cluster) (step time.Time) {
	if !watched(n) {
		return time.Time{}
	}
	unused, idle := lastUsed(n)
	sooner := func(at time.Time) {
		if step.IsZero() || at.Before(step) {
			step = at
		}
	}
	told := n.IdleTold.After(idle)
	if !told {
		sooner(idle.Add(n.Idle.TellAfter))
	}
	if n.Idle.EndAfter > 0 && !n.IdleTold.After(unused) {
		sooner(unused.Add(n.Idle.EndAfter - restWarning))
	}
	if told && n.Idle.SleepAfter > 0 && n.SleepMode != "" {
		at := idle.Add(n.Idle.SleepAfter)
		for _, other := range []time.Time{n.IdleTold.Add(restWarning), n.AwakeUntil, n.Ends.Hold} {
			if other.After(at) {
				at = other
			}
		}
		if n.Ends.DestroyAt().Sub(at) >= leastRest {
			sooner(at)
		}
	}
	if n.Ends.IsIdle() {
		sooner(n.Ends.DestroyAt())
	}
	return step
}

// Rule 4 of looks: a cluster is looked into only while it is ready, wanted and awake, beside no other attempt, and that spends no try.
func observingIsOfReady(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	running := f.Open != nil && f.Open.Kind == Observe
	switch {
	case d.Open == Observe && (n.Status != Ready || n.Desired != Present || f.Open != nil || n.Idle == Idle{} || n.Power != Awake || n.SleepWanted):
		return "a cluster is looked into that is not ready and awake, or for which no use matters"
	case d.Open == Observe && d.OpenJob != JobObserve:
		return "a look is shown as something else"
	case (d.Open == Observe || running) && (n.Tries != c.Tries || n.DestroyFailures != c.DestroyFailures):
		return "a look spends a try"
	case running && n.Desired == Present && n.Status != Ready:
		return "a cluster that is looked into is not ready"
	}
	return ""
}

// A cluster is looked into right before something follows from that nobody uses it, and at no other time: once, or twice if that fails.
func observingIsBeforeAStep(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	step := stepOf(n)
	from := step.Add(-15 * time.Minute)
	now := !step.IsZero() && !f.Now.Before(from) && f.Now.Before(step)
	seen := !n.Work[Observe].DoneAt.Before(from)
	failed := 0
	if !c.Work[Observe].RetryAt.Before(from.Add(limits.RetryBase)) {
		failed = c.Work[Observe].Failures
	}
	if d.Open == Observe && (!now || seen || failed >= 2) {
		return "a cluster is looked into, and there is no need"
	}
	waits := f.Open != nil || d.Open != "" || d.Wait != nil || len(f.Beside) > 0 || n.Status != Ready || n.Power != Awake || n.SleepWanted ||
		!runnersFree(Observe, f.Slot) || othersFirst(Observe, f.Slot) > 0
	fails := n.Work[Observe].Failures > 0 && !n.Work[Observe].RetryAt.Before(from.Add(limits.RetryBase))
	if now && !seen && !waits && (!fails || n.Work[Observe].Failures < 2 && !f.Now.Before(n.Work[Observe].RetryAt)) {
		return "something follows from that nobody uses a cluster, and nobody looks into it"
	}
	return ""
}

// A look counts when it was answered, and a failed one is counted, and says nothing about use.
func observingCountsWhenAnswered(_ *world, c Cluster, f Facts, d Decision) string {
	n, a := d.Next, f.Last
	over := f.Open == nil && a != nil && a.Kind == Observe && a.Number > seenOf(c, a)
	answered := over && a.Outcome == Succeeded
	switch {
	case answered && !n.Work[Observe].DoneAt.Equal(a.ClosedAt), !answered && !n.Work[Observe].DoneAt.Equal(c.Work[Observe].DoneAt):
		return "a look counts that was not answered, or the other way round"
	case over && !answered && n.Work[Observe].Failures <= c.Work[Observe].Failures && d.Open != Observe:
		return "a look that failed is not counted"
	case n.Work[Observe].Failures < c.Work[Observe].Failures && !answered && d.Open != Observe:
		return "failed looks are forgotten"
	case (n.Work[Observe].Failures == 0) != n.Work[Observe].RetryAt.IsZero():
		return "failed looks are counted and nobody knows when they were"
	}
	return ""
}

// Rule 2 of looks: what follows from that nobody uses a cluster says so if nobody could look inside it.
func unobservedIsSaid(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	awake := !c.SleepWanted && c.Power == Awake
	says := func(why string) bool { return strings.Contains(why, "is unknown") }
	old := func(seen time.Time) bool { return f.Now.Sub(seen) > 30*time.Minute }
	ends := c.Desired == Present && n.Desired == Absent && n.DesiredWhy.Code == ReasonIdle
	switch {
	case n.SleepWanted && !c.SleepWanted && n.PowerBy == ByIdle && says(n.SleepWhy) != old(n.Work[Observe].DoneAt):
		return "a cluster is put to sleep, and what is said of looks into it is not so"
	case ends && n.DesiredWhy.Unobserved != (awake && old(c.Work[Observe].DoneAt)):
		return "a cluster ends, and what is said of looks into it is not so"
	case d.Unobserved && !d.TellIdle:
		return "people are told of a look, and of nothing else"
	case d.TellIdle && awake && !n.SleepWanted && n.Work[Observe].DoneAt.Equal(c.Work[Observe].DoneAt) && d.Unobserved != old(n.Work[Observe].DoneAt):
		return "people are told that nobody uses it, and what is said of looks into it is not so"
	}
	return ""
}

// Rule 8 of looks: somebody decides when it is time for one.
func observingIsLookedAt(_ *world, _ Cluster, f Facts, d Decision) string {
	n := d.Next
	at := stepOf(n).Add(-15 * time.Minute)
	if !stepOf(n).IsZero() && at.After(f.Now) && n.Power == Awake && !n.SleepWanted && n.WakeAt.After(at) {
		return "nobody decides when a cluster is to be looked into"
	}
	return ""
}
