package lifecycle

import (
	"fmt"
	"strings"
	"time"
)

// waitsForCapacity reports that the newest attempt found no capacity and made nothing, or was cut short while its cluster stood in
// line, and that the cluster is still wanted.
func waitsForCapacity(f Facts, d Decision) bool {
	if f.Open != nil || f.Last == nil || f.Last.Recorded || f.Last.Kind != Create || d.Next.Desired != Present {
		return false
	}
	cut := f.Last.Outcome == Lost || f.Last.Outcome == Stopped || f.Last.Outcome == Cancelled
	return f.Last.Outcome == Waiting || (cut && f.Queue.Position > 0)
}

// An attempt that only found that it has to wait, or ended before it found capacity, spends no try.
func waitingSpendsNoTry(_ *world, c Cluster, f Facts, d Decision) string {
	if !waitsForCapacity(f, d) || f.Last.Number <= seenOf(c, f.Last) {
		return ""
	}
	want := max(c.Tries-1, 0)
	if d.Open == Create {
		want++
	}
	if d.Next.Tries != want {
		return fmt.Sprintf("waiting for capacity spent a try: %d, not %d", d.Next.Tries, want)
	}
	return ""
}

// Rule 8 in the queue: the next asks at once when capacity came free; those behind leave it the time to.
func theNextInLineGoes(_ *world, c Cluster, f Facts, d Decision) string {
	switch {
	case !waitsForCapacity(f, d) || c.NeedsApproval || len(f.Beside) > 0:
		return ""
	case d.Wait != nil || f.Brake != nil: // it begins as soon as a runner is free and no brake holds
		return ""
	case f.Queue.Position == 1 && f.Queue.FreedAt.After(f.Last.ClosedAt) && d.Open != Create:
		return "capacity came free and the next in the queue sleeps"
	case f.Queue.Position == 1 && askedAsWell(f) && f.Queue.FreedAt.After(f.Queue.AskedAt) && d.Open != Create:
		return "capacity came free while it asked and the next in the queue sleeps"
	case f.Queue.Position == 1 && askedAsWell(f) && f.Queue.Asked > 1 && d.Open != Create:
		return "it became the next in the queue and sleeps"
	case f.Queue.Position > 1 && f.Now.Before(f.Last.ClosedAt.Add(2*limits.RetryBase)) && d.Open == Create:
		return "one that waits behind asks as often as the next in the queue"
	}
	return ""
}

func askedAsWell(f Facts) bool { return !f.Queue.AskedAt.Before(f.Last.OpenedAt) }

// Rule 8 in the queue: nothing tells of a limit that was raised, so the next looks by itself: within five minutes, and yet
// less often the longer it has waited.
func theNextInLineLooksInTime(_ *world, c Cluster, f Facts, d Decision) string {
	if !waitsForCapacity(f, d) || c.NeedsApproval || len(f.Beside) > 0 || f.Queue.Position != 1 || f.Queue.FreedAt.After(f.Queue.AskedAt) || f.Queue.Asked > 1 {
		return ""
	}
	waited := f.Last.ClosedAt.Sub(f.Queue.Since)
	switch since := f.Now.Sub(f.Last.ClosedAt); {
	case d.Wait != nil || f.Brake != nil:
		return ""
	case since >= 5*time.Minute && d.Open != Create, d.Open == "" && d.Next.WakeAt.After(f.Last.ClosedAt.Add(5*time.Minute)):
		return "the next in the queue looks too late for capacity that nobody tells of"
	case since < min(waited/4, 5*time.Minute)-time.Second && d.Open == Create:
		return "one that has waited long looks as often as one that has just begun to"
	}
	return ""
}

// Rule 9 in the queue: a look for capacity that found none yet shows nothing, and nothing is shown of it.
func aLookIsNoMove(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	looking := f.Open != nil && f.Open.Phase == Preflight && c.Position > 0 && f.Queue.Position > 0
	first := f.Open == nil && (f.Last == nil || c.Why.Runner != "" || !c.Why.Brake.IsZero()) // it waited for its turn, a runner or a thaw, and begins
	if c.Phase != AwaitingCapacity || n.Desired != Present || (!looking && d.Open != Create) || first || f.Open == nil && f.Last.Number > seenOf(c, f.Last) {
		return ""
	}
	switch {
	case n.Phase != AwaitingCapacity || n.Status != Pending:
		return "a look for capacity moves the cluster"
	case looking && n.Why != c.Why:
		return "a look for capacity changes the message"
	case n.Progress != Progress{}:
		return "one that waits shows progress"
	}
	return ""
}

// Rule 9 in the queue: the place that is shown is the present one.
func placeIsReported(_ *world, _ Cluster, f Facts, d Decision) string {
	n, place := d.Next, f.Queue.Position
	if n.NeedsTurn {
		place = f.Turn.Position
	}
	switch {
	case d.Wait != nil: // see runnerWaitIsShown
		return ""
	case n.Phase != AwaitingCapacity && n.Position != 0:
		return "one that does not wait has a position in the queue"
	case n.Phase == AwaitingCapacity && n.Position != place:
		return "the position in the queue is not the present one"
	case n.Phase == AwaitingCapacity && strings.Contains(n.Why.String(), "number "):
		return "the position in the queue is told twice"
	}
	return ""
}
