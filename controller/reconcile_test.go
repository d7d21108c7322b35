package controller_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/dispatch"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

func TestANewClusterIsOpenedAndLaunched(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.accept("shop")
	h.reconcile(row.ID)
	require.Equal(t, lifecycle.Preflight, h.cluster(row.ID).Phase)
	open := h.open(row.ID)
	require.Len(t, h.jobs("launch"), 1)
	h.reconcile(row.ID)
	require.Equal(t, []string{"create open"}, h.attempts(row.ID), "looking again opens nothing more")
	require.Len(t, h.jobs("launch"), 1)

	h.work(queue.LaunchArgs{Cluster: row.ID, Attempt: open.Number})
	started := h.yard.starts()
	require.Len(t, started, 1)
	require.Equal(t, dispatch.Job{Attempt: open.Attempt, Number: 1, Cluster: row.ID, Kind: "create", Token: started[0].Token,
		Job: open.Job, Team: "platform", Profile: "aws-minimal-test", Platform: "aws"}, started[0])
	claims, err := h.signer.Verify(started[0].Token, h.now())
	require.NoError(t, err)
	require.Equal(t, open.Attempt, claims.Attempt)
	require.Equal(t, open.Token, claims.TokenID)
	require.Len(t, h.log.lines(t, "decided"), 1)
	require.Equal(t, "create", h.log.lines(t, "decided")[0]["opens"])
}

func TestALaunchAskedForAgainStartsOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.accept("shop")
	h.reconcile(row.ID)
	h.work(queue.LaunchArgs{Cluster: row.ID, Attempt: 1})
	h.work(queue.LaunchArgs{Cluster: row.ID, Attempt: 1})
	require.Len(t, h.yard.starts(), 1)

	open := h.open(row.ID)
	_, err := h.store.Attempts.Claim(h.ctx, open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	h.yard.started = nil // as after the loss of the machine
	h.work(queue.LaunchArgs{Cluster: row.ID, Attempt: 1})
	require.Empty(t, h.yard.starts(), "a claimed attempt is never launched again")
	h.work(queue.LaunchArgs{Cluster: row.ID, Attempt: 2})
	require.Empty(t, h.yard.starts(), "nor is one that is not open")
}

func TestALaunchThatFailedIsAskedForAgain(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.accept("shop")
	h.reconcile(row.ID)
	h.yard.away = true
	require.ErrorIs(t, h.Work(h.ctx, queue.LaunchArgs{Cluster: row.ID, Attempt: 1}, h.now()), errAway)
	_, err := h.store.Pool().Exec(h.ctx, `DELETE FROM river_job`) // River gave it up
	require.NoError(t, err)
	h.pass(limits.LookAgain)
	h.work(queue.WakeArgs{})
	require.Len(t, h.jobs("reconcile"), 1)
	h.reconcile(row.ID)
	require.Len(t, h.jobs("launch"), 1)
	require.Equal(t, []string{"create open"}, h.attempts(row.ID))
}

func TestARunnerThatIsNotKnownDecidesNothing(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row, open := h.installing("shop")
	h.yard.away = true
	h.pass(lease)
	h.reconcile(row.ID)
	require.Equal(t, open.Attempt, h.open(row.ID).Attempt, "its lease may still run")
	h.pass(limits.LeaseGrace + time.Second)
	h.reconcile(row.ID)
	require.Equal(t, []string{"create lost"}, h.attempts(row.ID))
	require.Equal(t, lifecycle.Cleaning, h.cluster(row.ID).Phase, "what it made is removed before the next try")
}

func TestARunnerThatEndedWithoutAResultIsLostAndItsWorkTriedAgain(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row, open := h.installing("shop")
	h.yard.show(open.Attempt, dispatch.Ended)
	h.reconcile(row.ID)
	require.Equal(t, []string{"create lost"}, h.attempts(row.ID))
	h.pass(limits.RetryBase)
	h.reconcile(row.ID)
	require.Equal(t, []string{"create lost", "destroy open"}, h.attempts(row.ID))
	require.Equal(t, 1, h.bucket.read)
}

func TestARunnerThatEndedBeforeItBeganIsTriedAgain(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.accept("shop")
	h.reconcile(row.ID)
	h.yard.show(h.open(row.ID).Attempt, dispatch.Ended)
	h.reconcile(row.ID)
	h.pass(limits.RetryBase)
	h.reconcile(row.ID)
	require.Equal(t, []string{"create lost", "create open"}, h.attempts(row.ID))
	require.Zero(t, h.bucket.read, "who never claimed has nothing to say")
}

// done is what a runner says at the end of a good create.
var done = contract.Result{Outcome: "succeeded", Outputs: &contract.Outputs{
	APIURL: "https://api.shop.labs.example.com:6443", ConsoleURL: "https://console.shop.labs.example.com", StoredAt: time.Date(2025, 3, 1, 11, 0, 0, 0, time.UTC),
}}

func TestAResultInTheSpoolIsNotLost(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row, open := h.installing("shop")
	h.spool(open.Attempt, "report", contract.Report{Seq: 7, Phase: "configuring", Percent: 95, Log: "almost\n"})
	h.spool(open.Attempt, "result", done)
	h.yard.show(open.Attempt, dispatch.Ended)
	h.reconcile(row.ID)
	require.Equal(t, []string{"create succeeded"}, h.attempts(row.ID))
	got := h.cluster(row.ID)
	require.Equal(t, lifecycle.PhaseReady, got.Phase)
	require.Equal(t, "https://api.shop.labs.example.com:6443", got.APIURL)
	lines, err := h.store.Attempts.LogTail(h.ctx, row.JobID, 10)
	require.NoError(t, err)
	require.Equal(t, []string{"almost"}, lines)
}

func TestASpoolIsReadBeforeASilentRunnerIsGivenUp(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row, open := h.installing("shop")
	h.spool(open.Attempt, "result", done)
	h.yard.away = true // the machine went, the bucket did not
	h.pass(lease)
	h.reconcile(row.ID)
	require.Zero(t, h.bucket.read)
	h.pass(limits.LeaseGrace + time.Second)
	h.reconcile(row.ID)
	require.Equal(t, []string{"create succeeded"}, h.attempts(row.ID))
}

func TestReportsAloneKeepNoAttemptAlive(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row, open := h.installing("shop")
	h.spool(open.Attempt, "report", contract.Report{Seq: 7, Phase: "installing", Percent: 40})
	h.yard.away = true
	h.pass(lease + limits.LeaseGrace + time.Second)
	h.reconcile(row.ID)
	require.Equal(t, []string{"create lost"}, h.attempts(row.ID))
}

func TestASpoolThatDoesNotAnswerHoldsTheDecisionForTheLeaseAndNoLonger(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row, open := h.installing("shop")
	h.spool(open.Attempt, "result", done)
	h.yard.show(open.Attempt, dispatch.Ended)
	h.bucket.away = true
	h.reconcile(row.ID)
	require.Equal(t, []string{"create open"}, h.attempts(row.ID))
	h.bucket.away = false
	h.reconcile(row.ID)
	require.Equal(t, []string{"create succeeded"}, h.attempts(row.ID))

	h = newFixture(t)
	row, open = h.installing("shop")
	h.yard.show(open.Attempt, dispatch.Ended)
	h.bucket.away = true
	h.pass(lease + limits.LeaseGrace + time.Second)
	h.reconcile(row.ID)
	require.Equal(t, []string{"create lost"}, h.attempts(row.ID))
}

func TestADocumentThatIsRefusedDoesNotHideTheResultBehindIt(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row, open := h.installing("shop")
	h.spool(open.Attempt, "report", contract.Report{Seq: 7, Phase: "dreaming"})
	h.spool(open.Attempt, "report", contract.Report{Seq: 8, Pass: &contract.Pass{Number: 1}}) // a create verifies nothing
	h.spool(open.Attempt, "letter", "dear server")
	h.spool(open.Attempt, "report", []int{1})
	h.spool(open.Attempt, "result", done)
	h.yard.show(open.Attempt, dispatch.Ended)
	h.reconcile(row.ID)
	require.Equal(t, []string{"create succeeded"}, h.attempts(row.ID))
	require.Len(t, h.log.lines(t, "spooled document refused"), 4)
}

func TestAResultOfAnotherTokenIsFenced(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row, open := h.installing("shop")
	_, err := h.store.Destroy(h.ctx, row.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	h.yard.show(open.Attempt, dispatch.Ended)
	h.reconcile(row.ID) // lost, and its teardown follows
	require.Equal(t, []string{"create lost", "destroy open"}, h.attempts(row.ID))
	h.spool(open.Attempt, "result", done) // came late
	next := h.open(row.ID)
	h.work(queue.LaunchArgs{Cluster: row.ID, Attempt: next.Number})
	_, err = h.store.Attempts.Claim(h.ctx, next.Attempt, next.Token, "pod-2")
	require.NoError(t, err)
	h.yard.show(next.Attempt, dispatch.Ended)
	h.reconcile(row.ID)
	require.Equal(t, []string{"create lost", "destroy lost"}, h.attempts(row.ID))
	require.Nil(t, h.cluster(row.ID).Outputs)
}

func TestAStopReachesOnlyTheAttemptItNames(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row, open := h.installing("shop")
	_, err := h.store.Destroy(h.ctx, row.ID, clusters.Origin{Actor: "github:maya", Why: "enough"})
	require.NoError(t, err)
	h.reconcile(row.ID)
	require.Equal(t, lifecycle.Stopping, h.cluster(row.ID).Phase)
	require.Len(t, h.jobs("stop"), 1)
	h.work(queue.StopArgs{Cluster: row.ID, Attempt: open.Number})
	h.work(queue.StopArgs{Cluster: row.ID, Attempt: open.Number + 1})
	require.Equal(t, []string{open.Attempt}, h.yard.stopped)

	_, err = h.store.Attempts.Result(h.ctx, open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Stopped, Reason: "StopAsked", Message: "asked"})
	require.NoError(t, err)
	h.reconcile(row.ID)
	require.Equal(t, []string{"create stopped", "destroy open"}, h.attempts(row.ID))
	h.work(queue.StopArgs{Cluster: row.ID, Attempt: open.Number})
	require.Equal(t, []string{open.Attempt, open.Attempt}, h.yard.stopped, "the teardown is not the attempt that was to stop")
}

func TestARunnerThatHangsIsKilledBeforeAnythingIsTornDown(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row, open := h.installing("shop")
	h.pass(lease)
	h.reconcile(row.ID)
	require.Empty(t, h.yard.killed, "it still has its grace")
	h.pass(limits.LeaseGrace + time.Second)
	h.reconcile(row.ID)
	require.Equal(t, []string{open.Attempt}, h.yard.killed)
	require.Equal(t, "create lost", h.attempts(row.ID)[0])
}

func TestAReleasedClusterIsLeftAlone(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.accept("shop")
	_, err := h.store.Destroy(h.ctx, row.ID, clusters.Origin{Actor: "github:maya", Why: "never mind"})
	require.NoError(t, err)
	h.reconcile(row.ID)
	require.Equal(t, lifecycle.Released, h.cluster(row.ID).Phase)
	version := h.cluster(row.ID).Version
	h.reconcile(row.ID)
	require.Equal(t, version, h.cluster(row.ID).Version)
	require.Zero(t, h.yard.asked)
	require.ErrorIs(t, h.Reconcile(h.ctx, "clu_none"), db.ErrNotFound)
}
