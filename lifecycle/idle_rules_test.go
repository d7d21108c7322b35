package lifecycle

import (
	"time"
)

// lastUsed returns since when nobody has used the cluster, and since when it has been awake as well.
func lastUsed(c Cluster) (unused, idle time.Time) {
	if unused = c.ReadyAt; c.ActiveAt.After(unused) {
		unused = c.ActiveAt
	}
	if idle = unused; c.AwakeSince.After(idle) {
		idle = c.AwakeSince
	}
	return unused, idle
}

// watched reports that it matters for the cluster whether somebody uses it.
func watched(n Cluster) bool {
	return n.Idle != Idle{} && n.Status == Ready && n.Desired == Present && !(n.SleepWanted && n.PowerBy == ByPerson)
}

// idleOver reports that the sleep of a cluster that nobody used is over.
func idleOver(c, n Cluster, f Facts) bool {
	_, idle := lastUsed(n)
	return c.PowerBy == ByIdle && (f.Now.Before(idle.Add(n.Idle.SleepAfter)) || f.Now.Before(n.AwakeUntil))
}

// A cluster is put to sleep because nobody uses it only if its profile says so, after all that time, and half an hour after its people were
// told, and not while somebody holds it or keeps it awake. And then it is.
func idleSleepIsDue(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	_, idle := lastUsed(n)
	due := watched(n) && n.Idle.SleepAfter > 0 && n.SleepMode != "" && !f.Now.Before(idle.Add(n.Idle.SleepAfter)) && n.IdleTold.After(idle) &&
		!f.Now.Before(n.IdleTold.Add(restWarning)) && !n.AwakeUntil.After(f.Now) && !n.Ends.Hold.After(f.Now)
	switch {
	case n.SleepWanted && !c.SleepWanted && n.PowerBy == ByIdle && !due:
		return "a cluster is put to sleep that somebody uses, or of which nobody was told that it is idle"
	case due && !n.SleepWanted && n.Power == Awake && f.Open == nil && c.Status == Ready && len(f.Beside) == 0 && n.Ends.DestroyAt().Sub(f.Now) >= leastRest:
		return "nobody uses a cluster and it stays awake"
	}
	return ""
}

// Use wakes what was put to sleep because nobody used it.
func idleSleepEndsWithUse(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	if n.SleepWanted && n.PowerBy == ByIdle && n.Desired == Present && n.Status == Ready && idleOver(c, n, f) && len(f.Beside) == 0 {
		return "somebody uses a cluster and it sleeps on"
	}
	return ""
}

// Rule 11 of idleness: a cluster ends for it only if its profile says so, that long after its last use, and half an hour after its people were told.
func idleEndFollowsFromUse(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	unused, _ := lastUsed(n)
	var want time.Time
	if watched(n) && n.Idle.EndAfter > 0 {
		if want = unused.Add(n.Idle.EndAfter); n.IdleTold.After(unused) && n.IdleTold.Add(restWarning).After(want) {
			want = n.IdleTold.Add(restWarning)
		}
	}
	switch {
	case n.Desired == Present && !n.Ends.Idle.Equal(want):
		return "its last use says something else than the end that follows from it"
	case c.Desired == Present && n.Desired == Absent && n.DesiredWhy.Code == ReasonIdle && (f.Now.Before(unused.Add(n.Idle.EndAfter)) || n.Idle.EndAfter == 0):
		return "a cluster ends that somebody uses"
	case c.Desired == Present && n.Desired == Absent && n.DesiredWhy.Code == ReasonIdle && (!c.IdleTold.After(unused) || f.Now.Sub(c.IdleTold) < restWarning):
		return "a cluster ends and nobody was told that it is idle"
	}
	return ""
}

// Rule 12 of idleness: people are told once that nobody uses their cluster, in time, and before it falls asleep or ends.
func idleIsTold(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	unused, idle := lastUsed(n)
	awake := watched(n) && !n.SleepWanted && n.Power == Awake
	switch {
	case d.TellIdle && (n.Idle == Idle{} || n.Desired == Absent && c.Desired == Absent):
		return "people are told of a cluster that need not be used"
	case d.TellIdle != (!n.IdleTold.IsZero() && !n.IdleTold.Equal(c.IdleTold)):
		return "people were told that nobody uses it, and that is not noted, or the other way round"
	case d.TellIdle && (c.IdleTold.After(idle) && !(c.SleepWanted && c.PowerBy == ByPerson) || f.Now.Before(unused.Add(n.Idle.TellAfter))):
		return "people are told twice, or too early, that nobody uses their cluster"
	case awake && !f.Now.Before(idle.Add(n.Idle.TellAfter)) && !n.IdleTold.After(idle):
		return "people are not told that nobody uses their cluster"
	}
	return ""
}

// Rule 2 of idleness: while no use is known, it counts from when the cluster became ready, and before that nothing follows from it.
func unknownUseDecidesNothing(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	if !n.ActiveAt.IsZero() || c.Desired != Present {
		return ""
	}
	early := func(after time.Duration) bool { return n.ReadyAt.IsZero() || f.Now.Before(n.ReadyAt.Add(after)) }
	switch {
	case d.TellIdle && early(n.Idle.TellAfter),
		n.SleepWanted && !c.SleepWanted && n.PowerBy == ByIdle && early(n.Idle.SleepAfter),
		n.Desired == Absent && n.DesiredWhy.Code == ReasonIdle && early(n.Idle.EndAfter):
		return "that no use is known counts as that there was none"
	}
	return ""
}

// Rule 8 of idleness: a cluster is looked at when its people are to be told, and when it is to fall asleep.
func idleIsLookedAt(_ *world, _ Cluster, f Facts, d Decision) string {
	n := d.Next
	_, idle := lastUsed(n)
	if !watched(n) || n.SleepWanted || n.Power != Awake {
		return ""
	}
	if at := idle.Add(n.Idle.TellAfter); at.After(f.Now) && !n.IdleTold.After(idle) && n.WakeAt.After(at) {
		return "nobody looks when people are to be told that a cluster is idle"
	}
	at := idle.Add(n.Idle.SleepAfter)
	for _, other := range []time.Time{n.IdleTold.Add(restWarning), n.AwakeUntil, n.Ends.Hold} {
		if other.After(at) {
			at = other
		}
	}
	if n.Idle.SleepAfter > 0 && n.SleepMode != "" && n.IdleTold.After(idle) && at.After(f.Now) && n.WakeAt.After(at) && n.Ends.DestroyAt().Sub(at) >= leastRest {
		return "nobody looks when an idle cluster is to fall asleep"
	}
	return ""
}
