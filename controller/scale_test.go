package controller_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/reports"
)

var origin = clusters.Origin{Actor: "github:maya", Source: "api"}

// scalable is a ready cluster of three workers that may have one to five.
func (h *fixture) scalable(name string) clusters.Row {
	h.t.Helper()
	row, open := h.install(h.acceptAs(name, func(a *store.Judgement) {
		a.Row.Nodes, a.Row.WorkersBase, a.Row.WorkersLeast, a.Row.WorkersMost = 6, new(3), new(1), new(5)
	}))
	_, err := h.store.Attempts.Result(h.ctx, open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded, Outputs: &clusters.Outputs{KubeconfigRef: "s3://b/operate/k"}})
	require.NoError(h.t, err)
	h.reconcile(row.ID)
	require.Equal(h.t, lifecycle.PhaseReady, h.cluster(row.ID).Phase)
	return row
}

// scaling has somebody ask for another number, and a runner claim the attempt.
func (h *fixture) scaling(row clusters.Row, to int) (job string, open attempts.LaunchSpec) {
	h.t.Helper()
	job, err := h.store.Scale(h.ctx, row.ID, to, origin)
	require.NoError(h.t, err)
	h.reconcile(row.ID)
	open = h.open(row.ID)
	require.Equal(h.t, lifecycle.Scale, open.Kind)
	h.work(queue.LaunchArgs{Cluster: row.ID, Attempt: open.Number})
	lease, err := h.store.Attempts.Claim(h.ctx, open.Attempt, open.Token, "pod-2")
	require.NoError(h.t, err)
	require.Empty(h.t, lease.Stop)
	return job, open
}

func (h *fixture) ends(open attempts.LaunchSpec, r attempts.ResultRow) {
	h.t.Helper()
	_, err := h.store.Attempts.Result(h.ctx, open.Attempt, open.Token, r)
	require.NoError(h.t, err)
	h.reconcile(open.Cluster)
}

func (h *fixture) job(id string) reports.Job {
	h.t.Helper()
	job, err := h.store.Reports.Job(h.ctx, id)
	require.NoError(h.t, err)
	return job
}

// scaled is the condition that says whether the workers that were asked for are there.
func (h *fixture) scaled(id string) (status, reason, message string) {
	h.t.Helper()
	err := h.store.Pool().QueryRow(h.ctx, `SELECT status, reason, message FROM conditions WHERE cluster_id = $1 AND type = 'Scaled'`, id).
		Scan(&status, &reason, &message)
	require.NoError(h.t, err)
	return status, reason, message
}

func TestWorkersAreScaledBesideAReadyCluster(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.scalable("shop")
	job, open := h.scaling(row, 1)
	require.Equal(t, "scale", h.yard.starts()[len(h.yard.starts())-1].Kind)
	spec, err := h.store.Attempts.AttemptSpec(h.ctx, open.Attempt)
	require.NoError(t, err)
	require.Equal(t, []any{1, job, "s3://b/operate/k"}, []any{spec.Workers, spec.Job, spec.Row.Outputs.KubeconfigRef})
	require.Equal(t, lifecycle.JobRunning, h.job(job).Status)
	require.Equal(t, []any{lifecycle.Ready, "scaling from 3 to 1 worker"}, []any{h.cluster(row.ID).Status, h.cluster(row.ID).Why.String()})
	status, reason, _ := h.scaled(row.ID)
	require.Equal(t, []string{"False", "Scaling"}, []string{status, reason})

	_, err = h.store.Attempts.Report(h.ctx, open.Attempt, open.Token, attempts.ReportRow{Seq: 1, Phase: lifecycle.Scaling, Percent: 50, Step: "2 of 1 worker ready"})
	require.NoError(t, err)
	h.reconcile(row.ID)
	require.Equal(t, lifecycle.PhaseReady, h.cluster(row.ID).Phase, "the attempt's phase is its own")
	h.ends(open, attempts.ResultRow{Outcome: lifecycle.Succeeded, Workers: new(1)})
	got := h.cluster(row.ID)
	require.Equal(t, []any{lifecycle.ScaledDown, 1, "it runs with 1 of its profile's 3 workers"}, []any{got.Phase, *got.Workers, got.Why.String()})
	require.Nil(t, got.WorkersWanted)
	require.Equal(t, lifecycle.JobSucceeded, h.job(job).Status)
	status, reason, _ = h.scaled(row.ID)
	require.Equal(t, []string{"True", "Counted"}, []string{status, reason})
	attempts, err := h.store.Attempts.List(h.ctx, row.ID)
	require.NoError(t, err)
	require.Equal(t, []any{1, 1}, []any{*attempts[1].WorkersWanted, *attempts[1].WorkersSeen})
	_, err = h.store.Attempts.OpenAttempt(h.ctx, row.ID)
	require.ErrorIs(t, err, db.ErrNotFound)
}

func TestAScalingThatFailsIsGivenUpAfterThreeTries(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.scalable("shop")
	job, open := h.scaling(row, 5)
	for try := 1; ; try++ {
		h.ends(open, attempts.ResultRow{
			Outcome: lifecycle.Failure, Reason: "WorkersNotReady", Message: "4 of 5 workers were ready", Whose: contract.WhoseCloud, Retryable: true, Workers: new(4),
		})
		if try == 3 {
			break
		}
		require.Equal(t, []any{lifecycle.JobRetrying, "WorkersNotReady"}, []any{h.job(job).Status, h.job(job).ErrorCode})
		h.pass(limits.RetryBase * 4)
		h.reconcile(row.ID)
		open = h.open(row.ID)
		_, err := h.store.Attempts.Claim(h.ctx, open.Attempt, open.Token, "pod")
		require.NoError(t, err)
	}
	got := h.cluster(row.ID)
	require.Equal(t, []any{lifecycle.PhaseReady, 4, 0}, []any{got.Phase, *got.Workers, got.Work[lifecycle.Scale].Failures})
	require.Nil(t, got.WorkersWanted)
	require.Equal(t, []any{lifecycle.JobFailed, "4 of 5 workers were ready"}, []any{h.job(job).Status, h.job(job).ErrorMessage})
	status, reason, message := h.scaled(row.ID)
	require.Equal(t, []string{"False", "WorkersNotReady", "4 of 5 workers were ready"}, []string{status, reason, message})
	h.pass(time.Hour)
	h.reconcile(row.ID)
	require.Len(t, h.attempts(row.ID), 4, "nothing is tried for ever")
}

func TestADestroyDuringAScalingStopsItFirst(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.scalable("shop")
	job, open := h.scaling(row, 5)
	_, err := h.store.Destroy(h.ctx, row.ID, origin)
	require.NoError(t, err)
	h.reconcile(row.ID)
	require.Equal(t, []string{"create succeeded", "scale open"}, h.attempts(row.ID))
	require.Equal(t, lifecycle.Stopping, h.cluster(row.ID).Phase)
	lease, err := h.store.Attempts.Report(h.ctx, open.Attempt, open.Token, attempts.ReportRow{Seq: 1})
	require.NoError(t, err)
	require.Equal(t, h.cluster(row.ID).DesiredWhy.String(), lease.Stop)
	h.work(queue.StopArgs{Cluster: row.ID, Attempt: open.Number})
	require.Equal(t, []string{open.Attempt}, h.yard.stopped)

	h.ends(open, attempts.ResultRow{Outcome: lifecycle.Stopped, Reason: "StopAsked", Message: "stopped"})
	require.Equal(t, []string{"create succeeded", "scale stopped", "destroy open"}, h.attempts(row.ID), "at once: a scaling's wait is none of a teardown's")
	require.Equal(t, []any{lifecycle.JobFailed, "Cancelled"}, []any{h.job(job).Status, h.job(job).ErrorCode})
	require.Nil(t, h.cluster(row.ID).WorkersWanted)
}

func TestAnUnwantedScalingIsNotEvenClaimed(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.scalable("shop")
	_, err := h.store.Scale(h.ctx, row.ID, 5, origin)
	require.NoError(t, err)
	h.reconcile(row.ID)
	open := h.open(row.ID)
	_, err = h.store.Destroy(h.ctx, row.ID, origin)
	require.NoError(t, err)
	lease, err := h.store.Attempts.Claim(h.ctx, open.Attempt, open.Token, "pod")
	require.NoError(t, err)
	require.NotEmpty(t, lease.Stop)
	h.reconcile(row.ID)
	require.Equal(t, []string{"create succeeded", "scale cancelled", "destroy open"}, h.attempts(row.ID))
}

func TestAnotherNumberTakesOverTheJob(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.scalable("shop")
	job, open := h.scaling(row, 5)
	again, err := h.store.Scale(h.ctx, row.ID, 2, origin)
	require.NoError(t, err)
	require.Equal(t, job, again)
	h.reconcile(row.ID)
	lease, err := h.store.Attempts.Report(h.ctx, open.Attempt, open.Token, attempts.ReportRow{Seq: 1})
	require.NoError(t, err)
	require.Equal(t, "another number of workers was requested", lease.Stop)
	h.ends(open, attempts.ResultRow{Outcome: lifecycle.Stopped, Reason: "StopAsked", Message: lease.Stop})
	spec, err := h.store.Attempts.AttemptSpec(h.ctx, h.open(row.ID).Attempt)
	require.NoError(t, err)
	require.Equal(t, []any{2, job}, []any{spec.Workers, spec.Job})
}

func TestALostScalingNeedsNoTeardown(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.scalable("shop")
	job, open := h.scaling(row, 5)
	h.pass(lease + limits.LeaseGrace + time.Second)
	h.reconcile(row.ID)
	require.Equal(t, []string{"create succeeded", "scale lost"}, h.attempts(row.ID))
	require.Equal(t, []any{lifecycle.PhaseReady, 1}, []any{h.cluster(row.ID).Phase, h.cluster(row.ID).Work[lifecycle.Scale].Failures})
	require.Equal(t, lifecycle.JobRetrying, h.job(job).Status)
	h.pass(limits.RetryBase)
	h.reconcile(row.ID)
	next := h.open(row.ID)
	require.Equal(t, open.Number+1, next.Number)
	_, err := h.store.Attempts.Claim(h.ctx, next.Attempt, next.Token, "pod")
	require.NoError(t, err)
	h.spool(next.Attempt, "result", contract.Result{Outcome: "succeeded", Workers: new(5)})
	h.pass(lease + limits.LeaseGrace + time.Second)
	h.reconcile(row.ID)
	require.Equal(t, 5, *h.cluster(row.ID).Workers, "what a runner could not tell is read from the spool")
}

func TestOnlyAScalingCountsWorkersAndItRecordsNothing(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, create := h.installing("other")
	_, err := h.store.Attempts.Result(h.ctx, create.Attempt, create.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded, Workers: new(3)})
	require.ErrorIs(t, err, db.ErrConflict)
	_, open := h.scaling(h.scalable("shop"), 5)
	_, err = h.store.Record(h.ctx, open.Attempt, open.Token, attempts.IdentityRow{InfraID: "shop-zzzzz", Account: "123456789012", Region: "us-east-1"}, nil)
	require.ErrorIs(t, err, db.ErrConflict)
	_, err = h.store.Attempts.Report(h.ctx, open.Attempt, open.Token, attempts.ReportRow{Seq: 1, Pass: &attempts.PassRow{Number: 1}})
	require.ErrorIs(t, err, db.ErrConflict)
}

func TestAClusterNobodyApprovesInTimeIsGoneThen(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.acceptAs("shop", func(a *store.Judgement) {
		a.Approval = &store.ApprovalAsk{Why: []string{"it costs more than 100 USD"}, Needs: 1, By: "requester", For: 2 * time.Hour, Asked: strings.Repeat("a", 64)}
	})
	h.reconcile(row.ID)
	got := h.cluster(row.ID)
	require.Equal(t, []any{lifecycle.AwaitingApproval, h.now().Add(2 * time.Hour)}, []any{got.Phase, got.ApproveBy.UTC()})
	require.Equal(t, got.ApproveBy.UTC(), got.WakeAt.UTC())
	h.pass(2 * time.Hour)
	h.reconcile(row.ID)
	got = h.cluster(row.ID)
	require.Equal(t, []any{lifecycle.Released, "nobody approved it by 14:00 UTC on 20 November"}, []any{got.Phase, got.DesiredWhy.String()})
	require.Empty(t, h.attempts(row.ID))
}

func TestATurnIsWaitedForAndItsPlaceIsShown(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.acceptAs("shop", func(a *store.Judgement) {
		a.Turn = &store.TurnAsk{Words: "team platform has 5 of 5 clusters", Position: 3}
	})
	h.reconcile(row.ID)
	got := h.cluster(row.ID)
	require.Equal(t, []any{lifecycle.AwaitingCapacity, 3, "waiting in the queue: team platform has 5 of 5 clusters"}, []any{got.Phase, got.Position, got.Why.String()})
	require.Equal(t, h.now(), got.WaitsSince.UTC())
	version := got.Version
	h.pass(time.Minute)
	h.reconcile(row.ID)
	require.Equal(t, version, h.cluster(row.ID).Version, "time alone is no news")
	require.Empty(t, h.attempts(row.ID))

	granted, err := h.store.Turns(h.ctx)
	require.NoError(t, err)
	require.Equal(t, 1, granted)
	h.reconcile(row.ID)
	got = h.cluster(row.ID)
	require.Equal(t, []any{lifecycle.Preflight, 0, "attempt 1 of 2 begins"}, []any{got.Phase, got.Position, got.Why.String()})
	require.Equal(t, []string{"create open"}, h.attempts(row.ID))
}

func TestAHoldIsTheEndThatTheTableReckons(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.scalable("shop")
	require.NoError(t, h.store.SetEnd(h.ctx, row.ID, clusters.EndPRClosed, new(h.now().Add(time.Hour)), lifecycle.Reason{}, "github:maya"))
	d := origin
	d.Why = "a demo on Friday"
	_, err := h.store.Hold(h.ctx, row.ID, h.now().Add(3*time.Hour), d)
	require.NoError(t, err)
	got := h.cluster(row.ID)
	require.Equal(t, h.now().Add(3*time.Hour), got.DestroyAt.UTC())
	require.Equal(t, got.DestroyAt, got.Ends.DestroyAt(), "the controller and the table calculate the same end")
	require.Equal(t, []string{"a demo on Friday", "the pull request was closed, postponed by a hold"}, []string{got.HoldWhy, got.Ends.Reason().String()})
	h.pass(2 * time.Hour)
	h.reconcile(row.ID)
	require.Equal(t, lifecycle.Present, h.cluster(row.ID).Desired)
	h.pass(time.Hour)
	h.reconcile(row.ID)
	require.Equal(t, "the pull request was closed, postponed by a hold", h.cluster(row.ID).DesiredWhy.String())
}
