package lifecycle

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// kindWorld is a world in which everything works; the scenarios disturb it at one place each.
func kindWorld() *world {
	w := newWorld(Decide, func(int) int { return 0 })
	w.fair, w.row.MaxTries = true, 2
	return w
}

// reach goes on until the cluster shows the phase.
func (w *world) reach(t *testing.T, p Phase) {
	t.Helper()
	b := caught(func() { w.until(func() bool { return w.row.Phase == p }) })
	if b != nil {
		require.Failf(t, "it never became "+string(p), "%s\n%s", b.what, w.historyText())
	}
	require.Contains(t, Phases[w.row.Status], p)
}

// installFails ends the running install with an error.
func (w *world) installFails(t *testing.T, retryable bool) {
	t.Helper()
	w.reach(t, Installing)
	w.some(func(r *runner) {
		r.installing = false
		r.result = &Attempt{Outcome: Failure, Reason: "BootstrapFailed", Message: "the bootstrap never came up", Retryable: retryable}
	})
}

// plant puts a thing into the cloud that no destroyer can remove.
func (w *world) plant() { w.cloud["infra-1"] = append(w.cloud["infra-1"], thing{stubborn: true}) }

// stayUnreleased lets two days pass in which nothing but zero could end it.
func (w *world) stayUnreleased(t *testing.T) {
	t.Helper()
	later := w.now.Add(48 * time.Hour)
	w.until(func() bool { return w.now.After(later) || w.row.Phase == Released })
	require.NotEqual(t, Released, w.row.Phase)
}

func TestAPullRequestsClusterIsReadyAndGoneAfterItCloses(t *testing.T) {
	w := kindWorld()
	w.reach(t, PhaseReady)
	require.Equal(t, "installed on attempt 1 of 2", w.row.Why.String())
	require.Equal(t, w.now.UTC(), w.row.ReadyAt)
	w.tick(2 * time.Hour)
	w.setEnd(prClosed, w.now.Add(endGrace))
	w.reach(t, Released)
	require.Equal(t, []Phase{
		Preflight, Claiming, Rendering, Recording, Installing, Configuring, PhaseReady, Expiring,
		Restoring, DestroyingRuns, Verifying, Released,
	}, w.path)
	require.Equal(t, "the pull request was closed; nothing of it is left in the cloud", w.row.Why.String())
	require.Equal(t, []publicJob{{JobCreate, JobSucceeded}, {JobJanitorDestroy, JobSucceeded}}, w.jobs)
	require.Len(t, w.attempts, 2)
}

func TestAReopenedPullRequestKeepsItsCluster(t *testing.T) {
	w := kindWorld()
	w.reach(t, PhaseReady)
	w.setEnd(prClosed, w.now.Add(endGrace))
	w.reach(t, Expiring)
	w.setEnd(prClosed, time.Time{})
	w.reach(t, PhaseReady)
	require.Equal(t, "its end was postponed", w.row.Why.String())
	require.Equal(t, Present, w.row.Desired)
}

func TestAnInstallIsStoppedBeforeItsTeardownBegins(t *testing.T) {
	w := kindWorld()
	w.reach(t, Installing)
	w.destroy()
	w.reach(t, Stopping)
	require.True(t, w.installing(), "the install still runs, so nothing else may begin")
	require.Len(t, w.attempts, 1)
	require.Equal(t, "somebody asked for its end; the running install is stopped first", w.row.Why.String())
	w.reach(t, Released)
	require.Equal(t, Stopped, w.attempts[0].Outcome)
	require.Equal(t, []publicJob{{JobCreate, JobFailed}, {JobDestroy, JobSucceeded}}, w.jobs)
	require.True(t, w.row.ReadyAt.IsZero(), "it never was ready")
}

func TestACutOffInstallIsWaitedForUntilItsLeaseRanOut(t *testing.T) {
	w := kindWorld()
	w.reach(t, Installing)
	w.some(func(r *runner) { r.cut = true })
	w.destroy()
	silent := w.now
	w.reach(t, Restoring)
	require.GreaterOrEqual(t, w.now.Sub(silent), lease)
	require.Equal(t, Lost, w.attempts[0].Outcome)
	w.reach(t, Released)
}

func TestAFailedInstallIsCleanedUpAndTriedAgain(t *testing.T) {
	w := kindWorld()
	w.installFails(t, true)
	w.reach(t, Cleaning)
	require.Equal(t, "BootstrapFailed", w.row.FailReason)
	require.Equal(t, []publicJob{{JobCreate, JobRetrying}}, w.jobs)
	w.reach(t, PhaseReady)
	require.Equal(t, []Kind{Create, Destroy, Create}, []Kind{w.attempts[0].Kind, w.attempts[1].Kind, w.attempts[2].Kind})
	require.Equal(t, []string{"infra-1", "infra-3"}, w.identities, "a retry is a new identity")
	require.Empty(t, w.cloud["infra-1"])
	require.Empty(t, w.row.FailReason)
	require.Equal(t, []publicJob{{JobCreate, JobSucceeded}}, w.jobs)
}

func TestAClusterThatSomebodyDestroysWhileItIsMadeHasNoFailure(t *testing.T) {
	for name, before := range map[string]struct {
		fails bool
		at    Phase
	}{
		"the running install is stopped":       {false, Installing},
		"an earlier try failed and is removed": {true, Cleaning},
	} {
		t.Run(name, func(t *testing.T) {
			w := kindWorld()
			if before.fails {
				w.installFails(t, true)
			}
			w.reach(t, before.at)
			w.destroy()
			w.reach(t, Released)
			require.Contains(t, w.row.Why.String(), "somebody asked for its end")
			require.Equal(t, []string{"", "", "", ""}, []string{w.row.FailReason, w.row.FailMessage, w.row.FailWhose, w.row.FailNext})
		})
	}
}

func TestAClusterOutOfTriesFailsAndIsTornDownAllTheSame(t *testing.T) {
	w := kindWorld()
	w.installFails(t, true)
	w.reach(t, Cleaning)
	w.installFails(t, true)
	w.reach(t, CreateFailed)
	require.Equal(t, "attempt 2 of 2 failed: the bootstrap never came up", w.row.Why.String())
	require.Equal(t, Absent, w.row.Desired)
	require.Equal(t, []publicJob{{JobCreate, JobFailed}, {JobJanitorDestroy, JobRunning}}, w.jobs, "the teardown begins at once")
	w.reach(t, Released)
	require.Equal(t, "BootstrapFailed", w.row.FailReason, "the released row still says why it failed")
}

func TestAnErrorThatARetryCannotMendIsNotRetried(t *testing.T) {
	w := kindWorld()
	w.installFails(t, false)
	w.reach(t, CreateFailed)
	require.Equal(t, 1, w.row.Tries)
}

func TestABlockedTeardownNamesWhatIsLeftAndEndsOnceItIsFreed(t *testing.T) {
	w := kindWorld()
	w.reach(t, PhaseReady)
	w.plant()
	w.destroy()
	w.reach(t, DestroyBlocked)
	require.Equal(t, []Blocker{{Name: "vpc of infra-1"}}, w.row.Blockers)
	require.Contains(t, w.row.Why.String(), "3 teardowns left something behind; still there: vpc of infra-1. The next attempt is at ")
	tried := len(w.attempts)
	w.stayUnreleased(t)
	require.Greater(t, len(w.attempts), tried+5, "it goes on trying")
	w.freed = true
	w.reach(t, Released)
	require.Empty(t, w.row.Blockers)
}

func TestAReasonNamesTheFirstOfManyLeftovers(t *testing.T) {
	require.Equal(t, "vpc v (shop)", nameBlockers([]Blocker{{Name: "vpc v (shop)", Free: "ask its owner", Command: "aws ec2 delete-vpc"}}))
	require.Equal(t, "a, b, c, and 2 more", nameBlockers([]Blocker{{Name: "a", Free: "x"}, {Name: "b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}}))
}

func TestAnAbandonedClusterStaysCountedUntilZero(t *testing.T) {
	w := kindWorld()
	w.reach(t, PhaseReady)
	w.plant()
	w.destroy()
	w.reach(t, DestroyBlocked)
	w.touch(func(c *Cluster) { c.Abandoned = true })
	w.reach(t, Abandoned)
	require.True(t, w.row.ReleasedAt.IsZero())
	tried := len(w.attempts)
	w.stayUnreleased(t)
	require.Greater(t, len(w.attempts), tried, "a later scan still looks")
	w.freed = true
	w.reach(t, Released)

	w.freed, w.leaks, w.reconcileAsked = false, &leaked{at: w.now.Add(time.Second)}, true
	w.plant()
	w.reach(t, DestroyBlocked) // nobody abandoned what came to light later
}

func TestNothingRunsBeforeAMaintainerApproved(t *testing.T) {
	w := kindWorld()
	w.row.NeedsApproval = true
	w.reach(t, AwaitingApproval)
	w.tick(time.Hour)
	w.reconcile(false)
	require.Empty(t, w.attempts)
	w.touch(func(c *Cluster) { c.NeedsApproval = false })
	w.reach(t, PhaseReady)
}

func TestAClusterNobodyApprovedEndsWithoutEverStarting(t *testing.T) {
	w := kindWorld()
	w.row.NeedsApproval = true
	w.reach(t, Released)
	require.Equal(t, w.row.Ends.TTL, w.now)
	require.Equal(t, "the end of its time to live; nothing was ever created, so there is nothing to remove", w.row.Why.String())
	require.Empty(t, w.attempts)
}

func TestAWarningNamesTheEndAsItIsNow(t *testing.T) {
	w := kindWorld()
	w.reach(t, Expiring)
	w.tick(15 * time.Minute)
	w.touch(func(c *Cluster) { c.Ends.TTL = c.Ends.TTL.Add(10 * time.Minute) })
	w.reconcile(false)
	require.Equal(t, Expiring, w.row.Phase)
	require.Equal(t, "it ends at 16:10 UTC on 1 January (the end of its time to live)", w.row.Why.String())
}

func TestAnExtensionTakesTheWarningBack(t *testing.T) {
	w := kindWorld()
	w.reach(t, Expiring)
	require.Equal(t, w.row.Ends.TTL.Add(-limits.WarnBefore), w.now)
	require.Equal(t, "it ends at 16:00 UTC on 1 January (the end of its time to live)", w.row.Why.String())
	w.extend()
	w.reach(t, PhaseReady)
	require.Equal(t, "its end was postponed", w.row.Why.String())
	w.reach(t, Released)
	require.WithinDuration(t, epoch.Add(12*time.Hour), w.now, 30*time.Minute)
}

func TestAFullAccountWaitsWithoutSpendingATry(t *testing.T) {
	w := kindWorld()
	w.reach(t, Preflight)
	w.until(func() bool { return w.busy() })
	w.some(func(r *runner) {
		r.claimed, w.attempts[0].pod, w.attempts[0].ClaimedAt = true, r.pod, w.now
		r.result = &Attempt{Outcome: Waiting, Reason: "NoCapacity", Message: "no elastic IP is left"}
	})
	w.reach(t, AwaitingCapacity)
	require.Equal(t, "not enough capacity in the cloud account: no elastic IP is left", w.row.Why.String())
	require.Zero(t, w.row.Tries)
	w.reach(t, PhaseReady)
}

func TestOneInTheQueueSaysItsPlaceAndGoesWhenCapacityComesFree(t *testing.T) {
	w := kindWorld()
	w.reach(t, Preflight)
	w.until(func() bool { return w.busy() })
	w.some(func(r *runner) {
		r.claimed, w.attempts[0].pod, w.attempts[0].ClaimedAt = true, r.pod, w.now
		w.answerWait(4)
		r.result = &Attempt{Outcome: Waiting, Reason: "QuotaInUse", Message: "elastic IPs: 3 are needed"}
	})
	w.reach(t, AwaitingCapacity)
	require.Equal(t, "waiting for capacity in the cloud account: the account is full", w.row.Why.String())
	require.Equal(t, []any{4, 0, "QuotaInUse"}, []any{w.row.Position, w.row.Tries, w.row.FailReason})
	require.Equal(t, w.attempts[0].ClosedAt.Add(limits.backoff(4)), w.row.WakeAt, "it looks again even if nobody tells it anything")

	w.freeCapacity()
	w.reconcile(false)
	require.Len(t, w.attempts, 1, "capacity that came free is for the next in the queue")
	w.queue.Position = 1
	w.reconcile(false)
	require.Len(t, w.attempts, 2)
	require.Equal(t, []any{AwaitingCapacity, 1, 1}, []any{w.row.Phase, w.row.Position, w.row.Tries}, "it looks, and shows that it is next")
	w.reach(t, Preflight)
	require.Zero(t, w.row.Position)
	w.reach(t, PhaseReady)
	require.Equal(t, []Phase{Preflight, AwaitingCapacity, Preflight, Claiming}, w.path[:4])
}

// waitsAtOnce has every attempt told to wait, until the world is done.
func (w *world) waitsAtOnce(place int) {
	w.some(func(r *runner) {
		if a := w.attempts[r.attempt-1]; r.kind == Create && r.claimed && r.result == nil && a.ClosedAt.IsZero() {
			w.answerWait(place)
			r.result = &Attempt{Outcome: Waiting, Reason: "QuotaInUse", Message: w.queue.For}
		}
	})
}

// A day in a full account: what people see stands still, and the looks grow rare.
func TestADayOfWaitingShowsOneFaceAndLooksEveryFiveMinutes(t *testing.T) {
	w := kindWorld()
	w.row.Ends.TTL = w.row.Ends.Max
	shown := map[string]int{}
	begun := w.now
	for w.now.Before(begun.Add(23 * time.Hour)) {
		w.waitsAtOnce(1)
		require.True(t, w.goOn())
		if len(w.path) > 1 {
			shown[fmt.Sprintf("%s %s %s %d %v", w.row.Status, w.row.Phase, w.row.Why.String(), w.row.Position, w.row.Progress)]++
		}
	}
	require.Len(t, shown, 1, "%v", shown)
	require.Equal(t, []Phase{Preflight, AwaitingCapacity}, w.path)
	require.InDelta(t, 23*12, len(w.attempts), 25, "a look every five minutes, and some more at the beginning")
	require.LessOrEqual(t, w.row.Tries, 1)
	var last time.Duration
	for i, a := range w.attempts[1:] {
		gap := a.OpenedAt.Sub(w.attempts[i].ClosedAt)
		require.GreaterOrEqual(t, gap, last-time.Second)
		require.LessOrEqual(t, gap, longestLook+limits.LookAgain)
		last = min(gap, longestLook)
	}
	w.until(func() bool { return w.row.Status == Ready })
}

// A runner that was told to wait and died before it could say so spends no try, however often.
func TestARunnerLostInLineSpendsNoTry(t *testing.T) {
	w := kindWorld()
	w.row.MaxTries = 1
	for lost := range 4 {
		w.until(func() bool { return w.busy() && w.runners[len(w.runners)-1].claimed })
		w.answerWait(1)
		w.some(kill)
		w.reconcileAsked = true
		w.until(func() bool { return w.row.Phase == AwaitingCapacity && w.row.Seen == lost+1 })
		require.Equal(t, []any{Lost, 0, 1, ""}, []any{w.attempts[lost].Outcome, w.row.Tries, w.row.Position, w.row.FailReason})
		require.Equal(t, "waiting for capacity in the cloud account: the account is full", w.row.Why.String())
	}
	w.reach(t, PhaseReady)
}

// A blocked teardown's tries show nothing but their outcome.
func TestATryOfABlockedTeardownKeepsTheFaceUntilItsOutcome(t *testing.T) {
	w := kindWorld()
	w.reach(t, PhaseReady)
	w.plant()
	w.destroy()
	w.reach(t, DestroyBlocked)
	reasons := map[string]bool{}
	path, tried := len(w.path), len(w.attempts)
	for len(w.attempts) < tried+5 {
		require.True(t, w.goOn())
		require.Equal(t, []any{Failed, DestroyBlocked}, []any{w.row.Status, w.row.Phase})
		reasons[w.row.Why.String()] = true
	}
	require.Len(t, w.path, path)
	require.LessOrEqual(t, len(reasons), 5, "the words change once per try: the time of the next")
}

func TestAFailureSaysWhoseItIsUntilTheClusterIsReady(t *testing.T) {
	w := kindWorld()
	w.reach(t, Installing)
	w.some(func(r *runner) {
		r.installing = false
		r.result = &Attempt{Outcome: Failure, Reason: "VPCLimitExceeded", Message: "too many VPCs", Whose: "quota", Next: "raise L-F678F1CE", Retryable: true}
	})
	w.reach(t, Cleaning)
	require.Equal(t, []string{"VPCLimitExceeded", "quota", "raise L-F678F1CE"}, []string{w.row.FailReason, w.row.FailWhose, w.row.FailNext})
	w.reach(t, PhaseReady)
	require.Empty(t, w.row.FailReason+w.row.FailMessage+w.row.FailWhose+w.row.FailNext)
}

func TestATeardownThatFindsTheWrongAccountSaysWhatToDoAndGoesOn(t *testing.T) {
	w := kindWorld()
	w.reach(t, PhaseReady)
	w.destroy()
	for failures := 1; failures <= limits.BlockAfter+2; failures++ {
		opened := len(w.attempts)
		w.until(func() bool { return len(w.attempts) > opened && w.busy() })
		w.some(func(r *runner) {
			a := w.attempts[len(w.attempts)-1]
			r.claimed, a.pod, a.ClaimedAt = true, r.pod, w.now
			r.result = &Attempt{Outcome: Failure, Reason: "WrongAccount", Message: "these are the keys of another account.", Next: "Give the runner the keys of 123456789012."}
		})
		w.until(func() bool { return w.row.DestroyFailures == failures })
		require.Equal(t, w.now.Add(limits.backoff(failures)), w.row.RetryAt, "an error no retry can mend is tried again all the same")
	}
	require.Equal(t, DestroyBlocked, w.row.Phase)
	require.Contains(t, w.row.Why.String(), "these are the keys of another account. Give the runner the keys of 123456789012. The next attempt is at ")
	w.reach(t, Released)
}

func TestAbandoningWhatIsStillWantedWaitsUntilItIsNot(t *testing.T) {
	w := kindWorld()
	w.installFails(t, true)
	w.plant()
	w.reach(t, DestroyBlocked)
	w.touch(func(c *Cluster) { c.Abandoned = true })
	w.reconcile(false)
	require.Equal(t, DestroyBlocked, w.row.Phase, "a person still waits for it")
	w.destroy()
	w.reconcile(false)
	require.Equal(t, Abandoned, w.row.Phase)
}
