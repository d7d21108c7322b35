package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// looks are when the cluster was looked into, as time after it became ready.
// notObserved is what a reason says if nobody could look inside the cluster right before.
const notObserved = "; whether people used its API is unknown, because it could not be asked"

func (w *world) looks() (at []time.Duration) {
	for _, a := range w.attempts {
		if a.Kind == Observe {
			at = append(at, a.OpenedAt.Sub(w.row.ReadyAt).Round(time.Minute))
		}
	}
	return at
}

func TestAClusterIsLookedIntoOnceBeforeEachStepAndAtNoOtherTime(t *testing.T) {
	for name, c := range map[string]struct {
		idle Idle
		want []time.Duration
	}{
		"told, asleep, ended while it sleeps": {allIdle, []time.Duration{45 * time.Minute, 105 * time.Minute}},
		"told and ended":                      {Idle{TellAfter: time.Hour, EndAfter: 3 * time.Hour}, []time.Duration{45 * time.Minute, 165 * time.Minute}},
		"told alone":                          {Idle{TellAfter: time.Hour}, []time.Duration{45 * time.Minute}},
		"idleness does not matter":            {Idle{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := idleWorld(c.idle)
			w.until(func() bool { return w.row.Desired == Absent })
			require.Equal(t, c.want, w.looks())
			require.NotContains(t, w.row.DesiredWhy.String(), "unknown")
			require.NotContains(t, w.row.SleepWhy, "unknown")
			require.Zero(t, w.row.Tries-1, "only the create is one")
		})
	}
}

func TestPeopleWhoWorkInsideAClusterAreSeenBeforeAnythingFollows(t *testing.T) {
	w := idleWorld(allIdle)
	w.until(w.at(40 * time.Minute))
	w.workInside()
	w.until(func() bool { return w.row.ActiveWhat != "" })
	require.Equal(t, ActivityRequests, w.row.ActiveWhat)
	require.WithinRange(t, w.row.ActiveAt, w.requested, w.now)
	require.Zero(t, w.row.IdleTold)
	w.until(func() bool { return !w.row.IdleTold.IsZero() })
	require.WithinRange(t, w.now, w.row.ActiveAt.Add(time.Hour), w.row.ActiveAt.Add(time.Hour+time.Minute))
	require.WithinRange(t, w.row.ActiveAt, w.requested, w.requested.Truncate(time.Hour).Add(time.Hour), "in the hour in which they worked")
}

func TestWhatFollowsSaysThatNobodyCouldLook(t *testing.T) {
	var told []bool
	w := idleWorld(Idle{TellAfter: time.Hour, SleepAfter: 2 * time.Hour})
	decide := w.decide
	w.decide = func(c Cluster, f Facts, l Limits) Decision {
		d := decide(c, f, l)
		if d.TellIdle && len(told) == 0 {
			told = append(told, d.Unobserved)
		}
		return d
	}
	w.unanswered = true
	w.until(func() bool { return !w.row.IdleTold.IsZero() })
	require.Equal(t, []bool{true}, told)
	require.Len(t, w.looks(), 2, "two tries for a step")
	require.Contains(t, w.jobs, publicJob{JobObserve, JobFailed})
	require.True(t, w.row.Unobserved())
	w.until(func() bool { return w.row.Phase == PhaseAsleep })
	require.Len(t, w.looks(), 4)
	require.Equal(t, "it is asleep, with all machines stopped (nobody used it; whether people used its API is unknown, because it could not be asked)", w.row.Why.String())

	ends := idleWorld(Idle{TellAfter: time.Hour, EndAfter: 2 * time.Hour})
	ends.unanswered = true
	ends.until(func() bool { return ends.row.Desired == Absent })
	require.Equal(t, "nobody used it"+notObserved, ends.row.DesiredWhy.String())
	require.WithinRange(t, ends.now, ends.row.ReadyAt.Add(2*time.Hour), ends.row.ReadyAt.Add(2*time.Hour+time.Minute), "it ends on time")
}

func TestALookThatNoRetryCanRepairIsNotTriedAgain(t *testing.T) {
	w := idleWorld(Idle{TellAfter: time.Hour})
	w.until(func() bool { return w.open() != nil && w.open().Kind == Observe })
	last := w.open().Attempt
	last.ClosedAt, last.Outcome, last.Reason = w.now, Failure, "UnknownKind"
	d := Decide(w.row, Facts{Now: w.now, Last: &last}, limits)
	require.Equal(t, []any{observeTries, Kind("")}, []any{d.Next.Work[Observe].Failures, d.Open})
	d = Decide(d.Next, Facts{Now: w.now.Add(5 * time.Minute), Last: &last}, limits)
	require.Empty(t, d.Open)
}

func TestALookIsStoppedForATeardown(t *testing.T) {
	w := idleWorld(allIdle)
	w.until(func() bool { return w.open() != nil && w.open().Kind == Observe && !w.open().ClaimedAt.IsZero() })
	w.destroy()
	w.until(func() bool { return w.row.Phase == Released })
	require.Equal(t, Destroy, w.attempts[len(w.attempts)-1].Kind)
	require.Contains(t, w.jobs, publicJob{JobObserve, JobFailed})
}

func TestALookWaitsForNoFreeRunner(t *testing.T) {
	w := idleWorld(Idle{TellAfter: time.Hour})
	w.until(func() bool { return !w.row.Work[Observe].DoneAt.IsZero() })
	c, f := w.row, w.facts(true)
	f.Open, f.Beside = nil, nil
	c.ChangeWork(Observe, func(w *Work) { w.DoneAt = time.Time{} })
	f.Slot.Everywhere.All = limits.Runners.All
	d := Decide(c, f, limits)
	require.Empty(t, d.Open)
	require.Nil(t, d.Wait)
	f.Slot.Everywhere.All = 0
	require.Equal(t, Observe, Decide(c, f, limits).Open)
}

func TestTheUseInAnHourCountsAsLateAsPossible(t *testing.T) {
	hour := time.Date(2030, 1, 1, 14, 0, 0, 0, time.UTC)
	require.Equal(t, hour.Add(time.Hour), HourUsed(hour, hour.Add(3*time.Hour)))
	require.Equal(t, hour.Add(20*time.Minute), HourUsed(hour, hour.Add(20*time.Minute)))
}

func TestPeopleWhoWereToldTooEarlyAreToldAnew(t *testing.T) {
	told := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	c := Cluster{Idle: Idle{TellAfter: time.Hour}, IdleTold: told, AwakeSince: told.Add(-2 * time.Hour)}
	require.True(t, c.ToldTooEarly(told.Add(-30*time.Minute)))
	require.False(t, c.ToldTooEarly(told.Add(-time.Hour)), "it was not used for an hour")
	c.AwakeSince = told.Add(-10 * time.Minute)
	require.False(t, c.ToldTooEarly(told.Add(-30*time.Minute)), "it slept since")
	c.IdleTold = time.Time{}
	require.False(t, c.ToldTooEarly(told), "nobody was told")
}
