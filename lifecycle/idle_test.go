package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// idleWorld is a kind world with a ready cluster of a profile that cares for idleness.
func idleWorld(idle Idle) *world {
	w := newWorld(Decide, func(int) int { return 0 })
	w.fair, w.row.Idle, w.day, w.night = true, idle, 0, 0
	w.row.Ends.TTL = w.row.Ends.Max
	w.until(func() bool { return w.row.Status == Ready && w.row.Work[Access].Done == w.row.Work[Access].Wanted })
	return w
}

var allIdle = Idle{TellAfter: time.Hour, SleepAfter: 2 * time.Hour, EndAfter: 6 * time.Hour}

func TestAnIdleClusterIsToldOfThenSleepsThenEnds(t *testing.T) {
	w := idleWorld(allIdle)
	ready := w.row.ReadyAt
	require.Equal(t, ready.Add(6*time.Hour), w.row.Ends.Idle)
	w.until(func() bool { return !w.row.IdleTold.IsZero() })
	require.WithinRange(t, w.now, ready.Add(time.Hour), ready.Add(time.Hour+time.Minute))
	require.True(t, w.row.Usable())
	w.until(func() bool { return w.row.Phase == PhaseAsleep })
	require.WithinRange(t, w.now, ready.Add(2*time.Hour), ready.Add(2*time.Hour+20*time.Minute))
	require.Equal(t, "it is asleep, with all machines stopped (nobody used it)", w.row.Why.String())
	require.Contains(t, w.jobs, publicJob{JobSleep, JobSucceeded})
	w.until(func() bool { return w.row.Desired == Absent })
	require.WithinRange(t, w.now, ready.Add(6*time.Hour), ready.Add(6*time.Hour+time.Minute))
	require.Equal(t, Reason{Code: ReasonIdle}, w.row.DesiredWhy)
	require.Equal(t, JobJanitorDestroy, w.row.Teardown)
}

func TestUseWakesAnIdleClusterAndItsTimeBeginsAnew(t *testing.T) {
	w := idleWorld(allIdle)
	w.until(func() bool { return w.row.Phase == PhaseAsleep })
	told := w.row.IdleTold
	w.use()
	used := w.now
	w.until(func() bool { return w.row.Phase == Waking })
	require.Equal(t, "it wakes up (it was used: a push to its pull request)", w.row.Why.String())
	require.Equal(t, used.Add(6*time.Hour), w.row.Ends.Idle)
	w.until(func() bool { return w.row.Usable() })
	require.Contains(t, w.jobs, publicJob{JobWake, JobSucceeded})
	w.until(func() bool { return w.row.Phase == PhaseAsleep })
	require.True(t, w.row.IdleTold.After(told), "they are told again")
	require.False(t, w.now.Before(used.Add(2*time.Hour)))
}

func TestAnIdleClusterThatIsHeldStaysAwake(t *testing.T) {
	w := idleWorld(Idle{TellAfter: time.Hour, SleepAfter: 2 * time.Hour})
	w.hold(5 * time.Hour)
	held := w.row.Ends.Hold
	w.until(func() bool { return w.row.Phase == PhaseAsleep })
	require.WithinRange(t, w.now, held, held.Add(20*time.Minute))
}

func TestNothingHappensToAnIdleClusterBeforeItsPeopleWereTold(t *testing.T) {
	w := idleWorld(allIdle)
	w.now = w.row.ReadyAt.Add(10 * time.Hour) // nobody looked for a long time
	w.until(func() bool { return !w.row.IdleTold.IsZero() })
	require.Equal(t, []any{Present, w.row.IdleTold.Add(restWarning)}, []any{w.row.Desired, w.row.Ends.Idle})
	w.until(func() bool { return w.row.Desired == Absent })
	require.False(t, w.now.Before(w.row.IdleTold.Add(restWarning)))
}

func TestWhatAPersonPutToSleepDoesNotEndBecauseNobodyUsesIt(t *testing.T) {
	w := idleWorld(allIdle)
	w.putToSleep(0)
	w.until(w.at(12 * time.Hour))
	require.Equal(t, []any{PhaseAsleep, Present}, []any{w.row.Phase, w.row.Desired})
	require.Zero(t, w.row.Ends.Idle)
	require.Zero(t, w.row.IdleTold)
}

func TestAClusterThatItsScheduleWakesIsNotPutToSleepAgainAtOnce(t *testing.T) {
	w := idleWorld(Idle{TellAfter: time.Hour, SleepAfter: 2 * time.Hour})
	w.row.OffHours, w.day, w.night = true, 2*time.Hour, 6*time.Hour
	w.reconcileAsked = true
	w.until(func() bool { return w.row.Phase == PhaseAsleep && w.row.PowerBy == ByHours })
	w.until(func() bool { return w.row.Usable() })
	woken := w.now
	w.until(func() bool { return w.row.SleepWanted })
	require.False(t, w.now.Before(woken.Add(2*time.Hour-time.Minute)), "%s", w.now.Sub(woken))
}

func TestUseMovesTheEndOfALifeThatCountsFromUse(t *testing.T) {
	w := idleWorld(Idle{})
	w.row.UseExtends, w.row.Ends.TTL = true, epoch.Add(8*time.Hour)
	w.until(w.at(5 * time.Hour))
	w.use()
	end := w.now.Add(8 * time.Hour)
	require.Equal(t, end, w.row.Ends.DestroyAt())
	w.until(func() bool { return w.row.Desired == Absent })
	require.WithinRange(t, w.now, end, end.Add(time.Minute))
}

// A person's sleep that failed makes the cluster forget that people were told, and is no use.
func TestPeopleAreToldBeforeAClusterEndsThatWokeShortlyBefore(t *testing.T) {
	w := idleWorld(Idle{TellAfter: time.Hour, EndAfter: 3 * time.Hour})
	end := w.row.ReadyAt.Add(3 * time.Hour)
	w.row.AwakeSince = end.Add(-45 * time.Minute)
	require.Equal(t, end.Add(-30*time.Minute), w.row.IdleTellAt())
	w.until(func() bool { return !w.row.IdleTold.IsZero() })
	require.WithinRange(t, w.now, end.Add(-30*time.Minute), end.Add(-29*time.Minute))
	w.until(func() bool { return w.row.Desired == Absent })
	require.WithinRange(t, w.now, end, end.Add(time.Minute))
}
