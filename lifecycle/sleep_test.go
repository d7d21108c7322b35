package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ready returns a kind world with a cluster that has just become ready, and that sleeps by stopping its machines.
func readyWorld() *world {
	w := newWorld(Decide, func(int) int { return 0 })
	w.fair = true
	w.until(func() bool { return w.row.Status == Ready && w.row.AccessDone == w.row.AccessWanted })
	return w
}

func TestAClusterSleepsUntilItsTimeAndWakesByItself(t *testing.T) {
	w := readyWorld()
	w.putToSleep(3 * time.Hour)
	w.until(func() bool { return w.row.Phase == PhaseAsleep })
	until := w.row.SleepUntil
	require.Equal(t, "it is asleep, with all machines stopped (asked for by maya)", w.row.Why)
	require.False(t, w.row.Usable())
	require.Equal(t, until, w.row.WakeAt)

	w.rescale(1)
	w.askAccess()
	w.until(func() bool { return !w.now.Before(until.Add(-time.Minute)) })
	require.Equal(t, PhaseAsleep, w.row.Phase, "neither a number of workers nor a request for access wakes it")

	w.until(func() bool { return w.row.Usable() })
	w.until(func() bool { return w.row.WorkersWanted == nil && w.row.AccessDone == w.row.AccessWanted })
	var kinds []Kind
	for _, a := range w.attempts {
		kinds = append(kinds, a.Kind)
	}
	require.Equal(t, []Kind{Create, Sleep, Wake, Access, Scale}, kinds, "what waited is done once it is awake")
	require.Contains(t, w.jobs, publicJob{JobSleep, JobSucceeded})
	require.Contains(t, w.jobs, publicJob{JobWake, JobSucceeded})
}

func TestAClusterThatCannotFallAsleepIsWokenAgain(t *testing.T) {
	w := readyWorld()
	w.putToSleep(0)
	for range sleepTries {
		w.until(func() bool { return w.open() != nil && w.open().Kind == Sleep && !w.open().ClaimedAt.IsZero() })
		a := w.open()
		w.some(func(r *runner) {
			r.installing, r.result = false, &Attempt{Outcome: Failure, Reason: "MachinesNotStopped", Message: "a machine did not stop", Retryable: true}
		})
		w.until(func() bool { return !a.ClosedAt.IsZero() && w.row.Seen == a.Number })
	}
	require.Equal(t, Waking, w.row.Phase)
	require.Contains(t, w.row.Why, "it could not be put to sleep and is woken again: a machine did not stop")
	require.Contains(t, w.jobs, publicJob{JobSleep, JobFailed})
	w.until(func() bool { return w.row.Usable() })
}

func TestAClusterThatSleepsEndsOnTime(t *testing.T) {
	w := readyWorld()
	w.putToSleep(0)
	w.until(func() bool { return w.row.Phase == Released })
	for _, a := range w.attempts {
		require.NotEqual(t, Wake, a.Kind, "it is removed as it is")
	}
	require.Equal(t, JobSucceeded, w.jobs[len(w.jobs)-1].status)
}
