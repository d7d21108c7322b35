package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// furnished is a world whose cluster has two add-ons, and is ready with them.
func furnished(t *testing.T) *world {
	t.Helper()
	w := kindWorld()
	w.reach(t, PhaseReady)
	require.Equal(t, []string{"cert-manager", "pr-namespace"}, w.row.Addons)
	require.Equal(t, []publicJob{{JobCreate, JobSucceeded}}, w.jobs)
	return w
}

// settledAddons waits until the request for the add-ons is met or given up.
func (w *world) settledAddons() {
	w.until(func() bool { return !w.row.Work[Configure].IsRequested() && w.open() == nil })
}

func TestAddonsAreBroughtAnewAndTheClusterStaysReady(t *testing.T) {
	w := furnished(t)
	shown := len(w.path)
	w.refresh()
	w.reconcile(false)
	require.Equal(t, []any{Ready, PhaseReady, "applying its add-ons again: cert-manager, pr-namespace"}, []any{w.row.Status, w.row.Phase, w.row.Why.String()})
	require.Equal(t, []publicJob{{JobCreate, JobSucceeded}, {JobConfigure, JobRunning}}, w.jobs)
	w.settledAddons()
	require.Equal(t, []any{1, 1, "its add-ons are installed: cert-manager, pr-namespace"}, []any{w.row.Work[Configure].Wanted, w.row.Work[Configure].Done, w.row.Why.String()})
	require.Equal(t, JobSucceeded, w.jobs[1].status)
	require.Len(t, w.path, shown)
	tried := len(w.attempts)
	w.tick(time.Hour)
	w.reconcile(false)
	require.Len(t, w.attempts, tried, "nobody wants more")
}

func TestAnyNumberOfRequestsThatComeMeanwhileAreMetByOneAttemptMore(t *testing.T) {
	w := furnished(t)
	w.refresh()
	w.until(func() bool { return w.installing() })
	w.refresh()
	w.refresh()
	w.refresh()
	w.settledAddons()
	require.Equal(t, []any{4, 4, 3}, []any{w.row.Work[Configure].Wanted, w.row.Work[Configure].Done, len(w.attempts)}, "the one that ran went on")
	require.Equal(t, []Outcome{Succeeded, Succeeded}, []Outcome{w.attempts[1].Outcome, w.attempts[2].Outcome})
	require.Equal(t, []int{1, 4}, []int{w.attempts[1].Request, w.attempts[2].Request})
	require.Equal(t, []publicJob{{JobCreate, JobSucceeded}, {JobConfigure, JobSucceeded}}, w.jobs)
}

func TestAddonsThatFailAreTriedThreeTimesAndGivenUpUntilSomebodyWantsThemAgain(t *testing.T) {
	w := furnished(t)
	w.refresh()
	for failures := range 3 {
		require.Equal(t, failures, w.row.Work[Configure].Failures)
		w.ends(Attempt{Outcome: Failure, Reason: "AddonsMissing", Message: "cert-manager never came up", Retryable: true, AddonsSeen: new(1)})
		if failures < 2 {
			require.Equal(t, w.now.Add(limits.backoff(failures+1)), w.row.Work[Configure].RetryAt)
			require.Equal(t, JobRetrying, w.jobs[1].status)
		}
	}
	require.Equal(t, []any{Ready, PhaseReady, "its add-ons could not be applied: cert-manager never came up. To try again, refresh the cluster"}, []any{w.row.Status, w.row.Phase, w.row.Why.String()})
	require.Equal(t, JobFailed, w.jobs[1].status)
	require.False(t, w.row.Work[Configure].IsRequested())
	w.refresh()
	w.settledAddons()
	require.Equal(t, "its add-ons are installed: cert-manager, pr-namespace", w.row.Why.String())
	require.Equal(t, publicJob{JobConfigure, JobSucceeded}, w.jobs[2])
}

func TestAddonsThatNoRetryCanMendAreGivenUpAtOnce(t *testing.T) {
	w := furnished(t)
	w.refresh()
	w.ends(Attempt{Outcome: Failure, Reason: "KubeconfigMissing", Message: "no kubeconfig was kept"})
	require.False(t, w.row.Work[Configure].IsRequested())
	require.Equal(t, JobFailed, w.jobs[1].status)
}

func TestAClusterWithoutAddonsHasNothingToBring(t *testing.T) {
	w := kindWorld()
	w.row.Addons = nil
	w.reach(t, PhaseReady)
	w.refresh()
	w.reconcile(false)
	require.Equal(t, "its add-ons could not be applied: the cluster has no add-ons. To try again, refresh the cluster", w.row.Why.String())
	require.Len(t, w.attempts, 1)
	require.Equal(t, JobFailed, w.jobs[1].status)
}

func TestAnInstallWithoutItsAddonsIsReadyAndTheyAreTriedAgain(t *testing.T) {
	for name, seen := range map[string]*int{"1 of its 2 add-ons are installed": new(1), "it is not known which of its add-ons are installed": nil} {
		w := kindWorld()
		w.row.Work, w.access = nil, nil
		w.ends(Attempt{Outcome: Succeeded, AddonsSeen: seen})
		require.Equal(t, []any{Ready, PhaseReady, "installed; " + name + "; the others will be tried again"}, []any{w.row.Status, w.row.Phase, w.row.Why.String()})
		require.Equal(t, []publicJob{{JobCreate, JobSucceeded}, {JobConfigure, JobRetrying}}, w.jobs)
		require.Equal(t, []any{1, 1, w.now.Add(limits.RetryBase)}, []any{w.row.Work[Configure].Wanted, w.row.Work[Configure].Failures, w.row.Work[Configure].RetryAt})
		w.ends(Attempt{Outcome: Failure, Reason: "AddonsMissing", Message: "not yet", Retryable: true})
		require.True(t, w.row.Work[Configure].IsRequested())
		w.ends(Attempt{Outcome: Failure, Reason: "AddonsMissing", Message: "not yet", Retryable: true})
		require.False(t, w.row.Work[Configure].IsRequested(), "the create's own try is one of the three")
	}
}

func TestADestroyStopsTheRefreshFirst(t *testing.T) {
	w := furnished(t)
	w.refresh()
	w.until(func() bool { return w.installing() })
	w.destroy()
	w.reach(t, Stopping)
	require.Equal(t, "somebody asked for its end; the running refresh is stopped first", w.row.Why.String())
	require.True(t, w.installing(), "it still works, so nothing else may begin")
	w.reach(t, Released)
	require.Equal(t, []publicJob{{JobCreate, JobSucceeded}, {JobConfigure, JobFailed}, {JobDestroy, JobSucceeded}}, w.jobs)
	require.False(t, w.row.Work[Configure].IsRequested())
}

func TestATeardownDoesNotWaitForAddonsThatFailed(t *testing.T) {
	w := furnished(t)
	w.refresh()
	w.ends(Attempt{Outcome: Lost, Message: "gone"})
	require.True(t, w.row.Work[Configure].RetryAt.After(w.now))
	w.destroy()
	w.reconcile(false)
	require.Equal(t, Destroy, w.open().Kind)
}

func TestWorkersAndAddonsAreBroughtOneAfterTheOther(t *testing.T) {
	w := furnished(t)
	w.refresh()
	w.rescale(5)
	w.until(func() bool {
		return !w.row.Work[Configure].IsRequested() && w.row.WorkersWanted == nil && w.open() == nil
	})
	require.Equal(t, []Kind{Create, Scale, Configure}, []Kind{w.attempts[0].Kind, w.attempts[1].Kind, w.attempts[2].Kind})
	require.Equal(t, 5, *w.row.Workers)
}
