package lifecycle

import (
	"slices"
	"time"
)

// worksElsewhere is this test's own reading of whether anything goes before a ready cluster's tags.
func worksElsewhere(n Cluster, f Facts) bool {
	step := stepOf(n)
	from := step.Add(-15 * time.Minute)
	looks := !step.IsZero() && !f.Now.Before(from) && f.Now.Before(step) && n.Work[Observe].DoneAt.Before(from)
	if failed := !n.Work[Observe].RetryAt.Before(from.Add(limits.RetryBase)); failed && (n.Work[Observe].Failures >= 2 || f.Now.Before(n.Work[Observe].RetryAt)) {
		looks = false
	}
	for k, other := range n.Work { // also of kinds that a test adds
		if !slices.Contains(Kinds(), k) && other.Wanted > other.Done {
			return true
		}
	}
	return looks || n.SleepWanted || n.Power != Awake || n.WorkersWanted != nil || n.Work[Configure].Wanted > n.Work[Configure].Done || owed(n, f) > 0
}

// worthTags is this test's own reading of whether scans saw something that is to get its tags now.
func worthTags(n Cluster, f Facts) bool {
	for _, u := range f.Untagged {
		if slices.Contains([]int{1, 2, 4, 8, 16, 32, 64, 128, 256}, u.Sights) && u.At.After(n.ReadyAt) && u.At.After(n.Work[Tag].DoneAt) {
			return true
		}
	}
	return false
}

// pauses reports that the last attempt at the tags was stopped right now.
func pauses(f Facts) bool {
	a := f.Last
	return a != nil && a.Kind == Tag && (a.Outcome == Stopped || a.Outcome == Cancelled) && f.Now.Before(a.ClosedAt.Add(limits.RetryBase))
}

// Rule 4 of tags: they are attached only while the cluster is ready, wanted and awake, beside no other attempt, and that spends no try.
func taggingIsOfReady(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	running := f.Open != nil && f.Open.Kind == Tag
	switch {
	case d.Open == Tag && (n.Status != Ready || n.Desired != Present || f.Open != nil || n.Power != Awake || n.SleepWanted):
		return "tags are attached to a cluster that is not ready and awake"
	case d.Open == Tag && d.OpenJob != JobTag:
		return "the attaching of tags is shown as something else"
	case (d.Open == Tag || running) && (n.Tries != c.Tries || n.DestroyFailures != c.DestroyFailures):
		return "the attaching of tags spends a try"
	case running && n.Desired == Present && n.Status != Ready:
		return "a cluster that gets tags is not ready"
	}
	return ""
}

// Tags are attached when a scan saw something without them, the more seldom the longer that stays so, and at no other time.
func taggingIsDue(_ *world, _ Cluster, f Facts, d Decision) string {
	n := d.Next
	wanted := worthTags(n, f) && !pauses(f)
	waits := f.Open != nil || d.Open != "" || d.Wait != nil || len(f.Beside) > 0 || n.Status != Ready || n.Desired != Present || worksElsewhere(n, f) || n.Work[Prepare].IsRequested() ||
		!runnersFree(Tag, f.Slot) || othersFirst(Tag, f.Slot) > 0
	switch {
	case d.Open == Tag && !wanted:
		return "tags are attached and there is no need"
	case wanted && !waits:
		return "a scan saw something without tags, and nobody attaches them"
	}
	return ""
}

// An attempt counts for what scans had seen when it began, however it ended, unless it was stopped.
func taggingCountsOnce(_ *world, c Cluster, f Facts, d Decision) string {
	n, a := d.Next, f.Last
	counts := f.Open == nil && a != nil && a.Kind == Tag && a.Number > seenOf(c, a) && a.Outcome != Stopped && a.Outcome != Cancelled
	if counts != !n.Work[Tag].DoneAt.Equal(c.Work[Tag].DoneAt) || counts && !n.Work[Tag].DoneAt.Equal(a.OpenedAt) {
		return "an attempt at the tags is not accounted for, or another one is"
	}
	return ""
}

// Tags hold up nothing: other work does not wait for them, and stops them.
func taggingGoesLast(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	if d.Open == Tag && (worksElsewhere(n, f) || othersFirst(Tag, f.Slot) > 0) {
		return "tags are attached before other work"
	}
	a := f.Open
	if a == nil || a.Kind != Tag || a.ClaimedAt.IsZero() || d.Close != nil || c.Status != Ready || !worksElsewhere(n, f) {
		return ""
	}
	if !slices.Contains(d.Effects, Effect{StopRunner, a.Number}) || !a.StopAsked && !d.StopNow {
		return "other work waits until the tags are attached"
	}
	return ""
}

// Rule 8 of tags: what waits for something else is looked at again.
func taggingGoesOn(_ *world, _ Cluster, f Facts, d Decision) string {
	n := d.Next
	if n.Status == Ready && n.Desired == Present && f.Open == nil && d.Open == "" && worthTags(n, f) && !worksElsewhere(n, f) && !n.Work[Prepare].IsRequested() && n.WakeAt.After(f.Now.Add(limits.LookAgain)) {
		return "nobody decides when tags are to be attached"
	}
	return ""
}
