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
	w.until(func() bool { return w.row.Status == Ready && w.row.Work[Access].Done == w.row.Work[Access].Wanted })
	return w
}

func TestAClusterSleepsUntilItsTimeAndWakesByItself(t *testing.T) {
	w := readyWorld()
	w.putToSleep(3 * time.Hour)
	w.until(func() bool { return w.row.Phase == PhaseAsleep })
	until := w.row.SleepUntil
	require.Equal(t, "it is asleep, with all machines stopped (asked for by maya)", w.row.Why.String())
	require.False(t, w.row.Usable())
	require.Equal(t, until, w.row.WakeAt)

	w.rescale(1)
	w.askAccess()
	w.until(func() bool { return !w.now.Before(until.Add(-time.Minute)) })
	require.Equal(t, PhaseAsleep, w.row.Phase, "neither a number of workers nor a request for access wakes it")

	w.until(func() bool { return w.row.Usable() })
	w.until(func() bool { return w.row.WorkersWanted == nil && w.row.Work[Access].Done == w.row.Work[Access].Wanted })
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
	for range workTries {
		w.end(Sleep, Attempt{Outcome: Failure, Reason: "MachinesNotStopped", Message: "a machine did not stop", Retryable: true})
	}
	require.Equal(t, Waking, w.row.Phase)
	require.Contains(t, w.row.Why.String(), "it could not be put to sleep and is woken again: a machine did not stop")
	require.Contains(t, w.jobs, publicJob{JobSleep, JobFailed})
	w.until(func() bool { return w.row.Usable() })
}

// end ends the open attempt of the kind with a result.
func (w *world) end(kind Kind, result Attempt) {
	w.until(func() bool { return w.open() != nil && w.open().Kind == kind && !w.open().ClaimedAt.IsZero() })
	a := w.open()
	w.some(func(r *runner) { r.installing, r.result = false, &result })
	w.until(func() bool { return !a.ClosedAt.IsZero() && w.row.Work[a.Kind].Seen == a.Number })
}

func TestARefusalThatDoesNotHealEndsTheSleepAtOnceAndTheClusterStaysUsable(t *testing.T) {
	w := readyWorld()
	w.putToSleep(0)
	w.end(Sleep, Attempt{
		Outcome: Failure, Reason: "DeniedByPolicy", Message: "shop-worker-a was not stopped: a policy denies it.", Next: "ask whoever owns the policy.", AsleepSeen: new(bool),
	})
	require.True(t, w.row.Usable())
	require.Equal(t, PhaseReady, w.row.Phase)
	require.Equal(t, "it could not be put to sleep and stays awake: shop-worker-a was not stopped: a policy denies it. Ask whoever owns the policy", w.row.Why.String())
	require.Contains(t, w.jobs, publicJob{JobSleep, JobFailed})
	w.until(func() bool { return w.row.Phase == Released })
	for _, a := range w.attempts {
		require.NotEqual(t, Wake, a.Kind, "there is nothing to wake")
	}
	require.Equal(t, 1, w.numberOf(Sleep), "it is not tried again")
}

// numberOf counts the attempts of a kind.
func (w *world) numberOf(kind Kind) (n int) {
	for _, a := range w.attempts {
		if a.Kind == kind {
			n++
		}
	}
	return n
}

func TestAWakeThatWasAskedForMeanwhileIsDoneIfTheClusterNeverSlept(t *testing.T) {
	w := readyWorld()
	w.putToSleep(0)
	w.until(func() bool { return w.open() != nil && w.open().Kind == Sleep && !w.open().ClaimedAt.IsZero() })
	a := w.open()
	w.some(func(r *runner) {
		r.installing, r.result = false, &Attempt{Outcome: Failure, Reason: "DeniedByPolicy", Message: "denied", AsleepSeen: new(bool)}
	})
	w.wakeUp()
	w.until(func() bool { return !a.ClosedAt.IsZero() && w.row.Work[a.Kind].Seen == a.Number })
	require.True(t, w.row.Usable())
	require.Contains(t, w.jobs, publicJob{JobWake, JobSucceeded})
}

func TestAClusterThatWakesWithoutAMachineOfItsControlPlaneIsDegradedUntilItWakesWithAll(t *testing.T) {
	w := readyWorld()
	w.putToSleep(0)
	w.until(func() bool { return w.row.Phase == PhaseAsleep })
	w.wakeUp()
	w.end(Wake, Attempt{
		Outcome: Succeeded, AsleepSeen: new(bool), Reason: ControlPlaneIncomplete, Message: "the control plane has 2 of 3 machines", Next: "replace it",
	})
	w.power = Awake
	require.Equal(t, Degraded, w.row.Phase)
	require.True(t, w.row.Usable())
	require.Equal(t, "it is awake; the control plane has 2 of 3 machines. Replace it", w.row.Why.String())
	w.rescale(1)
	w.until(func() bool { return w.row.WorkersWanted == nil })
	require.Equal(t, Degraded, w.row.Phase)

	w.putToSleep(0)
	w.until(func() bool { return w.row.Phase == PhaseAsleep })
	w.wakeUp()
	w.until(func() bool { return w.row.Usable() })
	require.Equal(t, ScaledDown, w.row.Phase)
	require.Empty(t, w.row.Degraded)
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
