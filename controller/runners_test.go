package controller_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/controller"
	"github.com/ocpctl/ocpctl/internal/dispatch"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
)

var unschedulable = dispatch.Trouble{Code: "RunnerUnschedulable", Message: "no node takes the runner's pod", Whose: "ocpctl", Next: "add a node"}

func TestWhyARunnerDoesNotStartIsShownAndEndsTheAttempt(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.accept("shop")
	h.reconcile(row.ID)
	open := h.open(row.ID)
	h.work(queue.LaunchArgs{Cluster: row.ID, Attempt: open.Number})
	h.yard.trouble = map[string]*dispatch.Trouble{open.Attempt: &unschedulable}
	h.reconcile(row.ID)
	require.Equal(t, unschedulable.Message, h.cluster(row.ID).Progress.Step)
	version := h.cluster(row.ID).Version
	h.reconcile(row.ID)
	require.Equal(t, version, h.cluster(row.ID).Version, "the same trouble is no news")

	h.pass(limits.LaunchPatience)
	h.reconcile(row.ID)
	list, err := h.store.Attempts.List(h.ctx, row.ID)
	require.NoError(t, err)
	require.Equal(t, "no runner claimed it within 10m0s: no node takes the runner's pod", list[0].Message)
	require.Equal(t, []string{"RunnerUnschedulable", "ocpctl", "add a node"}, []string{list[0].Reason, list[0].Whose, list[0].Next})
	require.Empty(t, h.cluster(row.ID).Progress.Step)
}

func TestAStartThatIsRefusedSaysWhyUntilOneSucceeds(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.accept("shop")
	h.reconcile(row.ID)
	open := h.open(row.ID)
	launch := queue.LaunchArgs{Cluster: row.ID, Attempt: open.Number}
	h.yard.refuses = &dispatch.Refusal{Trouble: unschedulable, Err: errors.New("403")}
	for range 2 {
		require.ErrorContains(t, h.Work(h.ctx, launch, h.now()), "no node takes the runner's pod: 403")
		h.reconcile(row.ID)
		require.Equal(t, unschedulable.Message, h.cluster(row.ID).Progress.Step)
	}
	require.False(t, h.open(row.ID).Launched)

	h.yard.refuses = nil
	h.work(launch)
	require.True(t, h.open(row.ID).Launched)
	h.reconcile(row.ID)
	require.Empty(t, h.cluster(row.ID).Progress.Step)
}

func TestARunnerThatIsNowhereWasNeverStartedOrIsGone(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.accept("shop")
	h.reconcile(row.ID)
	open := h.open(row.ID)
	deleted := dispatch.Trouble{Code: "RunnerDeleted", Message: "the runner's Job was deleted", Whose: "ocpctl", Next: "find out who did"}
	h.yard.trouble = map[string]*dispatch.Trouble{open.Attempt: &deleted}
	h.yard.show(open.Attempt, dispatch.Missing)
	h.reconcile(row.ID)
	require.Equal(t, []string{"create open"}, h.attempts(row.ID))
	require.Empty(t, h.cluster(row.ID).Progress.Step, "it is to be started")

	h.work(queue.LaunchArgs{Cluster: row.ID, Attempt: open.Number})
	h.reconcile(row.ID)
	require.Equal(t, "create lost", h.attempts(row.ID)[0])
	list, err := h.store.Attempts.List(h.ctx, row.ID)
	require.NoError(t, err)
	require.Equal(t, "the runner ended before it began: the runner's Job was deleted", list[0].Message)
	require.Equal(t, 1, len(h.yard.starts()), "it is not started again")
}

func TestATeardownWaitsForALivingRunnerOfAnEarlierAttempt(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row, open := h.installing("shop")
	h.yard.living = []int{open.Number}
	_, err := h.store.Attempts.Result(h.ctx, open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "InstallFailed", Message: "no quota"})
	require.NoError(t, err)
	h.reconcile(row.ID)
	h.pass(limits.RetryBase)
	h.reconcile(row.ID)
	require.Equal(t, []string{"create failed"}, h.attempts(row.ID))
	h.work(queue.StopArgs{Cluster: row.ID, Attempt: open.Number})
	require.Equal(t, []string{open.Attempt}, h.yard.stopped)
	require.NotEmpty(t, h.log.lines(t, "a start waits for runners of earlier attempts"))

	h.yard.living = nil
	h.pass(limits.LookAgain)
	h.reconcile(row.ID)
	require.Equal(t, []string{"create failed", "destroy open"}, h.attempts(row.ID))
}

// watchful is a yard that says when something changes.
type watchful struct {
	*yard
	changes []string
}

func (w watchful) Watch(_ context.Context, changed func(string)) {
	for _, cluster := range w.changes {
		changed(cluster)
	}
}

func TestAChangeThatTheDispatcherSeesIsLookedAtAtOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.accept("shop")
	h.Watch(h.ctx) // the yard watches nothing
	cfg := h.Config
	cfg.Dispatcher = watchful{h.yard, []string{row.ID, "clu_unknown"}}
	before := len(h.jobs("reconcile"))
	controller.New(cfg).Watch(h.ctx)
	require.Len(t, h.jobs("reconcile"), before+1)
	require.Empty(t, h.log.lines(t, "change of a runner not recorded"), "another installation's cluster is no error")
}
