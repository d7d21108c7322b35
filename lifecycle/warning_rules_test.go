package lifecycle

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// nearestDue returns the shortest of a ready cluster's warnings whose time has come; zero: none's has.
func nearestDue(c Cluster, now time.Time) (nearest time.Duration) {
	all := c.WarnBefore
	if len(all) == 0 {
		all = []time.Duration{limits.WarnBefore}
	}
	for _, before := range slices.Sorted(slices.Values(all)) {
		if left := c.Ends.DestroyAt().Sub(now); left <= before {
			return before
		}
	}
	return 0
}

// Rule 12: a warning is of a ready cluster that is wanted, is due, and was not given for this end; it is the nearest, and is remembered.
func warnsOnce(_ *world, c Cluster, f Facts, d Decision) string {
	n, end := d.Next, d.Next.Ends.DestroyAt()
	switch {
	case d.Warn == 0:
		return ""
	case n.Status != Ready || n.Desired != Present:
		return "a warning of the end of a cluster that is not ready, or not wanted"
	case d.Warn != nearestDue(n, f.Now):
		return fmt.Sprintf("a warning of %s instead of %s", d.Warn, nearestDue(n, f.Now))
	case c.WarnedEnd.Equal(end) && c.WarnedBefore <= d.Warn:
		return "the same warning twice"
	case !n.WarnedEnd.Equal(end) || n.WarnedBefore != d.Warn:
		return "a warning is given and not remembered"
	}
	return ""
}

// Rule 12: no end of a ready cluster comes without its warnings, unless it waits in a pool, where nobody has it.
func warnsOfEveryEnd(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	due := nearestDue(n, f.Now)
	if n.Status != Ready || n.Desired != Present || n.Pooled || due == 0 || c.ReadyAt.IsZero() || c.WarnedEnd.Equal(n.Ends.DestroyAt()) && c.WarnedBefore <= due {
		return ""
	}
	if d.Warn == 0 {
		return fmt.Sprintf("no warning %s before the end", due)
	}
	return ""
}

// Rule 12: it wakes for the next warning.
func wakesForTheNextWarning(_ *world, _ Cluster, f Facts, d Decision) string {
	n := d.Next
	if n.Status != Ready || n.Desired != Present {
		return ""
	}
	all := n.WarnBefore
	if len(all) == 0 {
		all = []time.Duration{limits.WarnBefore}
	}
	for _, before := range all {
		if at := n.Ends.DestroyAt().Add(-before); at.After(f.Now) && n.WakeAt.After(at) {
			return fmt.Sprintf("it sleeps past the warning %s before its end", before)
		}
	}
	return ""
}

// warningMutants are of the warnings before the end.
var warningMutants = []mutant{
	{12, false, "the warning is repeated at every look", func(c Cluster, f Facts, l Limits) Decision {
		c.WarnedEnd, c.WarnedBefore = time.Time{}, 0
		return Decide(c, f, l)
	}},
	{12, false, "only the first end is warned of", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if !c.WarnedEnd.IsZero() && !c.WarnedEnd.Equal(d.Next.WarnedEnd) {
			d.Warn = 0
		}
		return d
	}},
	{12, false, "after a long sleep the first of two warnings is given", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Warn != 0 && len(c.WarnBefore) > 0 && !c.WarnedEnd.Equal(d.Next.WarnedEnd) {
			d.Warn, d.Next.WarnedBefore = c.WarnBefore[0], c.WarnBefore[0]
		}
		return d
	}},
	{12, false, "the second warning is slept through", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Next.Phase == Expiring {
			d.Next.WakeAt = d.Next.Ends.DestroyAt()
		}
		return d
	}},
	{12, false, "one that is not wanted any more is warned of its end", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if c.Status == Ready && d.Next.Desired == Absent {
			d.Warn = 15 * time.Minute
		}
		return d
	}},
}

// warned lets a cluster live and returns when it was warned, as the time that was left.
func warned(w *world, until func() bool) (left []time.Duration) {
	decide := w.decide
	w.decide = func(c Cluster, f Facts, l Limits) Decision {
		d := decide(c, f, l)
		if d.Warn != 0 && (len(left) == 0 || c.WarnedBefore != d.Next.WarnedBefore || !c.WarnedEnd.Equal(d.Next.WarnedEnd)) {
			if gone := d.Next.Ends.DestroyAt().Sub(f.Now); !slices.Contains(left, gone) {
				left = append(left, gone)
			}
		}
		return d
	}
	w.until(until)
	return left
}

func warnedTwice() *world {
	w := kindWorld()
	w.row.WarnBefore = []time.Duration{time.Hour, 15 * time.Minute}
	return w
}

func TestAClusterIsWarnedAtEachOfItsTimes(t *testing.T) {
	w := warnedTwice()
	require.Equal(t, []time.Duration{time.Hour, 15 * time.Minute}, warned(w, func() bool { return w.row.Phase == Released }))
}

func TestAClusterWithoutTimesOfItsOwnIsWarnedAtTheLimit(t *testing.T) {
	w := kindWorld()
	w.row.WarnBefore = nil
	require.Equal(t, []time.Duration{limits.WarnBefore}, warned(w, func() bool { return w.row.Phase == Released }))
}

func TestAnEndThatMovedIsWarnedOfAgain(t *testing.T) {
	w := warnedTwice()
	w.reach(t, Expiring)
	w.extend()
	require.Equal(t, []time.Duration{time.Hour, 15 * time.Minute}, warned(w, func() bool { return w.row.Phase == Released }))
}

func TestAClusterThatIsReadyCloseToItsEndIsNotWarnedOfWhatItsNewsSays(t *testing.T) {
	c := Cluster{
		ID: "clu_1", Status: Creating, Phase: Configuring, Desired: Present, Ends: Ends{TTL: epoch.Add(40 * time.Minute), Max: epoch.Add(24 * time.Hour)},
		WarnBefore: []time.Duration{time.Hour, 15 * time.Minute}, MaxTries: 1, Tries: 1,
	}
	d := Decide(c, Facts{Now: epoch, Last: &Attempt{Number: 1, Kind: Create, Outcome: Succeeded}}, limits)
	require.Equal(t, Ready, d.Next.Status)
	require.Zero(t, d.Warn)
	require.Equal(t, epoch.Add(25*time.Minute), d.Next.WakeAt)
	d = Decide(d.Next, Facts{Now: epoch.Add(25 * time.Minute), Last: &Attempt{Number: 1, Kind: Create, Outcome: Succeeded}}, limits)
	require.Equal(t, 15*time.Minute, d.Warn)
}

func TestAfterADowntimeOnlyTheNearestWarningIsGiven(t *testing.T) {
	c := Cluster{
		ID: "clu_1", Status: Ready, Phase: PhaseReady, Desired: Present, Ends: Ends{TTL: epoch.Add(10 * time.Minute), Max: epoch.Add(24 * time.Hour)},
		WarnBefore: []time.Duration{time.Hour, 15 * time.Minute}, ReadyAt: epoch.Add(-2 * time.Hour), Seen: 1,
	}
	f := Facts{Now: epoch, Last: &Attempt{Number: 1, Kind: Create, Outcome: Succeeded}}
	d := Decide(c, f, limits)
	require.Equal(t, 15*time.Minute, d.Warn)
	require.Equal(t, Expiring, d.Next.Phase)
	require.Zero(t, Decide(d.Next, f, limits).Warn)
	require.Equal(t, c.Ends.TTL, d.Next.WakeAt)
}
