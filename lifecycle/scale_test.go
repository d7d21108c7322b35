package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// scalable is a world whose cluster has three workers and may have one to five, and is ready.
func scalable(t *testing.T) *world {
	t.Helper()
	w := kindWorld()
	w.reach(t, PhaseReady)
	require.Equal(t, []int{3, 1, 5}, []int{*w.row.WorkersBase, *w.row.WorkersLeast, *w.row.WorkersMost})
	return w
}

// ends ends the running attempt the way its runner says.
func (w *world) ends(how Attempt) {
	w.until(func() bool { return w.open() != nil && w.busy() })
	w.some(func(r *runner) {
		a := w.open()
		r.claimed, r.installing, a.pod, a.ClaimedAt = true, false, r.pod, w.now
		r.result = &how
	})
	n := len(w.attempts)
	w.until(func() bool { return seenOf(w.row, &w.attempts[n-1].Attempt) == n })
}

// The number of a request and its number of workers stand in two columns.
func TestARequestToScaleWithoutANumberDecidesNothing(t *testing.T) {
	w := scalable(t)
	w.touch(func(c *Cluster) { c.AskWork(Scale) })
	w.reconcile(false)
	require.Equal(t, []any{PhaseReady, []publicJob{{JobCreate, JobSucceeded}}}, []any{w.row.Phase, w.jobs})
}

func TestAClusterIsScaledDownAndUpAgainAndStaysReady(t *testing.T) {
	w := scalable(t)
	w.rescale(1)
	w.reconcile(false)
	require.Equal(t, []any{Ready, PhaseReady, "scaling from 3 to 1 worker"}, []any{w.row.Status, w.row.Phase, w.row.Why})
	require.Equal(t, []publicJob{{JobCreate, JobSucceeded}, {JobScale, JobRunning}}, w.jobs)
	w.reach(t, ScaledDown)
	require.Equal(t, "it runs with 1 of its profile's 3 workers", w.row.Why)
	require.Nil(t, w.row.WorkersWanted)
	require.Equal(t, JobSucceeded, w.jobs[1].status)

	w.rescale(5)
	w.reach(t, PhaseReady)
	require.Equal(t, []any{5, "it has 5 workers again"}, []any{*w.row.Workers, w.row.Why})
	w.rescale(5)
	w.until(func() bool { return w.row.WorkersWanted == nil && w.open() == nil })
	require.Equal(t, "it has 5 workers now", w.row.Why, "what is there already is counted all the same")
	require.Equal(t, []Phase{PhaseReady, ScaledDown, PhaseReady}, w.path[len(w.path)-3:])
}

func TestAScalingThatFailsIsTriedThreeTimesAndForgotten(t *testing.T) {
	w := scalable(t)
	w.rescale(5)
	for failures := range 3 {
		require.Equal(t, failures, w.row.Work[Scale].Failures)
		w.ends(Attempt{Outcome: Failure, Reason: "WorkersNotReady", Message: "one never came up", Retryable: true, WorkersSeen: new(4)})
		if failures < 2 {
			require.Equal(t, w.now.Add(limits.backoff(failures+1)), w.row.Work[Scale].RetryAt)
			require.Equal(t, JobRetrying, w.jobs[1].status)
		}
	}
	require.Equal(t, []any{PhaseReady, 4, "scaling to 5 workers failed: one never came up"}, []any{w.row.Phase, *w.row.Workers, w.row.Why})
	require.Nil(t, w.row.WorkersWanted)
	require.Equal(t, JobFailed, w.jobs[1].status)
	tried := len(w.attempts)
	w.tick(time.Hour)
	w.reconcile(false)
	require.Len(t, w.attempts, tried)
}

func TestAScalingThatNoRetryCanMendIsForgottenAtOnce(t *testing.T) {
	w := scalable(t)
	w.rescale(5)
	w.ends(Attempt{Outcome: Failure, Reason: "ScaleRefused", Message: "there is no machine set"})
	require.Nil(t, w.row.WorkersWanted)
	require.Equal(t, JobFailed, w.jobs[1].status)
}

func TestAnotherNumberStopsTheScalingThatRuns(t *testing.T) {
	w := scalable(t)
	w.rescale(5)
	w.until(func() bool { return w.installing() })
	w.rescale(2)
	w.reach(t, ScaledDown)
	require.Equal(t, []Outcome{Stopped, Succeeded}, []Outcome{w.attempts[1].Outcome, w.attempts[2].Outcome})
	require.Equal(t, []publicJob{{JobCreate, JobSucceeded}, {JobScale, JobSucceeded}}, w.jobs)
	require.Equal(t, 2, *w.row.Workers)
}

func TestADestroyStopsTheScalingFirst(t *testing.T) {
	w := scalable(t)
	w.rescale(5)
	w.until(func() bool { return w.installing() })
	w.destroy()
	w.reach(t, Stopping)
	require.Equal(t, "somebody asked for its end; the running scaling is stopped first", w.row.Why)
	require.True(t, w.installing(), "it still scales, so nothing else may begin")
	w.reach(t, Released)
	require.Equal(t, []publicJob{{JobCreate, JobSucceeded}, {JobScale, JobFailed}, {JobDestroy, JobSucceeded}}, w.jobs)
	require.Nil(t, w.row.WorkersWanted)
}

func TestATeardownDoesNotWaitForAFailedScaling(t *testing.T) {
	w := scalable(t)
	w.rescale(5)
	w.ends(Attempt{Outcome: Lost, Message: "gone"})
	require.True(t, w.row.Work[Scale].RetryAt.After(w.now))
	w.destroy()
	w.reconcile(false)
	require.Equal(t, Destroy, w.open().Kind)
}

func TestAnEndIsNearWhateverIsScaled(t *testing.T) {
	w := scalable(t)
	w.rescale(1)
	w.reach(t, ScaledDown)
	w.reach(t, Expiring)
	require.Equal(t, "it ends at 16:00 UTC on 1 January (the end of its time to live)", w.row.Why)
	w.extend()
	w.reach(t, ScaledDown)
	require.Equal(t, "its end was postponed", w.row.Why)
}

func TestWorkersOutOfItsBoundsAreRefusedInTheJob(t *testing.T) {
	w := scalable(t)
	w.rescale(9)
	w.reconcile(false)
	require.Equal(t, "scaling to 9 workers failed: its profile allows 1 to 5 workers", w.row.Why)
	require.Len(t, w.attempts, 1)
	require.Equal(t, JobFailed, w.jobs[1].status)
}

func TestAClusterNobodyApprovesInTimeEndsThen(t *testing.T) {
	w := kindWorld()
	w.row.NeedsApproval, w.row.ApproveBy = true, epoch.Add(2*time.Hour)
	w.reach(t, Released)
	require.Equal(t, epoch.Add(2*time.Hour), w.now)
	require.Equal(t, "nobody approved it by 10:00 UTC on 1 January; nothing was ever created, so there is nothing to remove", w.row.Why)
}

func TestApprovalComesBeforeTheTurnAndTheTurnBeforeTheReservation(t *testing.T) {
	w := kindWorld()
	w.row.NeedsApproval, w.row.NeedsTurn = true, true
	w.turn = Turn{Position: 2, For: "team platform has 5 of 5 clusters", ETA: epoch.Add(time.Hour)}
	w.reach(t, AwaitingApproval)
	require.Zero(t, w.row.Position)
	w.touch(func(c *Cluster) { c.NeedsApproval = false })
	w.reach(t, AwaitingCapacity)
	why := "waiting in the queue: team platform has 5 of 5 clusters"
	require.Equal(t, []any{why, 2}, []any{w.row.Why, w.row.Position})
	w.nextTurn()
	w.turn.ETA = epoch.Add(2 * time.Hour)
	w.reconcile(false)
	require.Equal(t, []any{why, 1}, []any{w.row.Why, w.row.Position})
	require.Empty(t, w.attempts)
	w.nextTurn()
	w.reach(t, PhaseReady)
	require.Equal(t, []Phase{AwaitingApproval, AwaitingCapacity, Preflight, Claiming}, w.path[:4])
}

func TestAHoldPutsTheEndOffAndSaysSo(t *testing.T) {
	w := kindWorld()
	w.reach(t, PhaseReady)
	w.hold(12 * time.Hour)
	w.setEnd(prClosed, w.now.Add(endGrace))
	w.reach(t, Expiring)
	require.Equal(t, "it ends at 20:00 UTC on 1 January (the pull request was closed, postponed by a hold)", w.row.Why)
	w.reach(t, Restoring)
	require.Equal(t, []any{epoch.Add(12 * time.Hour), "the pull request was closed, postponed by a hold"}, []any{w.now, w.row.DesiredWhy.String()})
}
