package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// opened is a world whose cluster is ready, and whoever asked for it has access.
func opened(t *testing.T) *world {
	t.Helper()
	w := kindWorld()
	w.reach(t, PhaseReady)
	require.Equal(t, []*grant{{number: 1, begun: true, made: true}}, w.access)
	w.reconcile(false)
	require.Equal(t, []any{1, 1}, []any{w.row.Work[Access].Wanted, w.row.Work[Access].Done})
	require.Equal(t, []publicJob{{JobCreate, JobSucceeded}}, w.jobs, "the create gave it, without a runner of its own")
	return w
}

// settledAccess waits until nothing is owed, and nothing runs.
func (w *world) settledAccess() {
	w.until(func() bool {
		return w.row.Work[Access].Wanted == w.row.Work[Access].Done && w.accessWork() == AccessWork{} && w.settled()
	})
}

func TestSomebodyGetsAccessAndLosesItAndTheClusterShowsNothingOfIt(t *testing.T) {
	w := opened(t)
	shown, why := len(w.path), w.row.Why.String()
	w.askAccess()
	w.reconcile(false)
	require.Equal(t, Access, w.open().Kind)
	require.Equal(t, publicJob{JobAccess, JobRunning}, w.jobs[1])
	w.settledAccess()
	require.True(t, w.access[1].made)
	require.Equal(t, publicJob{JobAccess, JobSucceeded}, w.jobs[1])
	w.revokeAccess()
	w.settledAccess()
	require.Equal(t, grant{number: 1, begun: true, made: true, revoked: true, removed: true}, *w.access[0])
	require.False(t, w.access[1].revoked)
	require.Equal(t, []any{shown, why, PhaseReady}, []any{len(w.path), w.row.Why.String(), w.row.Phase})
	tried := len(w.attempts)
	w.tick(time.Hour)
	w.reconcile(false)
	require.Len(t, w.attempts, tried, "nothing is owed")
}

func TestOneMoreAttemptIsEnoughForAllThatComeWhileOneRuns(t *testing.T) {
	w := opened(t)
	w.askAccess()
	w.until(func() bool { return w.open() != nil && w.open().Phase == Accessing })
	w.askAccess()
	w.askAccess()
	w.revokeAccess()
	w.settledAccess()
	require.Equal(t, []int{2, 5}, []int{w.attempts[1].Request, w.attempts[2].Request})
	require.Len(t, w.attempts, 3)
}

func TestARunnerThatOnlySaysSoHasDoneNothing(t *testing.T) {
	w := opened(t)
	w.askAccess()
	w.ends(Attempt{Outcome: Succeeded})
	require.Equal(t, []any{1, JobRetrying}, []any{w.row.Work[Access].Failures, w.jobs[1].status})
	require.Equal(t, w.now.Add(limits.RetryBase), w.row.Work[Access].RetryAt)
}

func TestAccessThatFailsIsGivenUpAndRevokingIsNot(t *testing.T) {
	w := opened(t)
	fails := Attempt{Outcome: Failure, Reason: "ClusterUnreachable", Message: "the cluster's API did not answer", Retryable: true}
	w.askAccess()
	for range workTries {
		w.ends(fails)
	}
	require.Equal(t, []any{2, 2, 0, JobFailed}, []any{w.row.Work[Access].Wanted, w.row.Work[Access].Done, w.row.Work[Access].Failures, w.jobs[1].status})
	require.Equal(t, []any{Ready, PhaseReady}, []any{w.row.Status, w.row.Phase})

	w.revokeAccess()
	for try := 1; try <= 12; try++ {
		w.ends(fails)
		require.Equal(t, []any{try, JobRetrying}, []any{w.row.Work[Access].Failures, w.jobs[2].status})
		require.Equal(t, w.now.Add(min(limits.backoff(try), accessRetryMost)), w.row.Work[Access].RetryAt)
	}
	w.settledAccess()
	require.True(t, w.access[0].removed)
	require.Equal(t, JobSucceeded, w.jobs[2].status)
}

func TestAccessThatNoRetryCanGiveIsGivenUpAtOnce(t *testing.T) {
	w := opened(t)
	w.askAccess()
	w.ends(Attempt{Outcome: Failure, Reason: "KubeconfigMissing", Message: "no kubeconfig was kept"})
	require.Equal(t, []any{w.row.Work[Access].Wanted, JobFailed}, []any{w.row.Work[Access].Done, w.jobs[1].status})
	w.askAccess()
	w.settledAccess()
	require.Equal(t, JobSucceeded, w.jobs[2].status, "a new request tries again")
	require.False(t, w.access[1].made, "and not for the one that was given up")
}

func TestACreateThatGaveNoAccessIsReadyAndItIsTriedAgain(t *testing.T) {
	w := kindWorld()
	w.row.Addons = nil
	w.ends(Attempt{Outcome: Succeeded})
	require.Equal(t, []any{Ready, "installed on attempt 1 of 2"}, []any{w.row.Status, w.row.Why.String()})
	require.Equal(t, []publicJob{{JobCreate, JobSucceeded}, {JobAccess, JobRetrying}}, w.jobs)
	w.settledAccess()
	require.True(t, w.access[0].made)
}

func TestRevokingWaitsNeitherForAFailedScalingNorForARunningRefresh(t *testing.T) {
	w := opened(t)
	w.rescale(5)
	w.ends(Attempt{Outcome: Failure, Reason: "WorkersNotReady", Message: "one worker never came up", Retryable: true})
	require.True(t, w.row.Work[Scale].RetryAt.After(w.now))
	w.revokeAccess()
	w.reconcile(false)
	require.Equal(t, Access, w.open().Kind)
	w.settledAccess()

	w.until(func() bool { return w.row.WorkersWanted == nil })
	w.refresh()
	w.until(func() bool { return w.installing() })
	w.askAccess()
	w.pick = func(n int) int { return n - 1 } // its runner sees to access while it waits
	w.until(func() bool { return w.row.Work[Access].Done == w.row.Work[Access].Wanted })
	require.Equal(t, Configure, w.open().Kind, "and goes on")
}

func TestADestroyStopsAChangeOfAccessFirst(t *testing.T) {
	w := opened(t)
	w.askAccess()
	w.until(func() bool { return w.open() != nil && w.open().Phase == Accessing })
	w.destroy()
	w.reach(t, Released)
	require.Equal(t, []publicJob{{JobCreate, JobSucceeded}, {JobAccess, JobFailed}, {JobDestroy, JobSucceeded}}, w.jobs)
	require.Equal(t, w.row.Work[Access].Wanted, w.row.Work[Access].Done)
}
