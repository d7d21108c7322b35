package controller_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	hub "github.com/ocpctl/ocpctl/devstack/github"
	hubruns "github.com/ocpctl/ocpctl/devstack/github/runs"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

func TestJobsOfAMatrixWaitTogetherForOneCluster(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	run := p.waits(hub.NewRun{Jobs: []hub.NewJob{
		{Key: "e2e-4.19", Name: "e2e (4.19)", Environment: environment}, {Key: "e2e-4.20", Name: "e2e (4.20)", Environment: environment},
	}})
	row := p.onlyWaited()
	require.Equal(t, []string{"2"}, p.texts(`SELECT asks::text FROM waits`))
	for _, key := range []string{"e2e-4.19", "e2e-4.20"} {
		require.Equal(t, hubruns.Waiting, p.last(run.ID, key).Status)
	}
	p.becomesReady(row)
	p.goOn()
	for _, key := range []string{"e2e-4.19", "e2e-4.20"} {
		job := p.last(run.ID, key)
		require.Equal(t, []any{hubruns.Queued, hubruns.Approved}, []any{job.Status, job.Reviews[0].State}, key)
		p.begins(job.ID)
		got := p.create(job.ID, app.RunRequest{Slot: key + "/0/", Reuse: policy.ReuseRun})
		require.Equal(t, []any{true, row.ID}, []any{got.Reused, got.Row.ID}, key)
	}
	require.Equal(t, []string{"approved"}, p.decisions())
	require.Len(t, p.waited(), 1)
}

func TestARunOfPullRequestTargetGetsAClusterOnlyForABranchOfTheRepository(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	fork, err := p.hub.OpenFork("Pay faster", "sam")
	require.NoError(t, err)
	run := p.waits(hub.NewRun{Pull: fork, Event: "pull_request_target"})
	require.Equal(t, hubruns.Rejected, p.last(run.ID, "e2e").Reviews[0].State)
	require.Contains(t, p.said(p.last(run.ID, "e2e"))[0], "The run's commit is in a fork.")
	require.Empty(t, p.waited())

	run = p.waits(hub.NewRun{Pull: 41, Event: "pull_request_target"})
	p.becomesReady(p.onlyWaited())
	p.goOn()
	require.Equal(t, hubruns.Approved, p.last(run.ID, "e2e").Reviews[0].State)
}

func TestAnEnvironmentWaitsForTheApprovalOfItsCluster(t *testing.T) {
	t.Parallel()
	for _, approves := range []bool{true, false} {
		p := newPipelineWith(t, servicetest.Careful(t, profiles.ApprovalTerms{Count: 1, By: "platform_admin", For: 4 * time.Hour}))
		run := p.waits(hub.NewRun{Actor: "will"})
		row := p.onlyWaited()
		require.Equal(t, lifecycle.AwaitingApproval, row.Phase)
		require.Equal(t, []string{row.Name + " needs an approval before it is created. If nobody approves it by 2026-11-20 16:00 UTC, the request is dropped."}, p.said(p.last(run.ID, "e2e")))
		ada := policy.Principal{ID: "saml:ada@acme.example", Name: "Ada", Seats: []policy.Seat{{Role: policy.PlatformAdmin, Team: policy.EveryTeam}}}
		_, err := p.core.Vote(p.ctx, ada, p.texts(`SELECT id FROM approvals`)[0], approves, app.Origin{Source: policy.SourceAPI, Why: "seen"})
		require.NoError(t, err)
		p.reconcile(row.ID)
		p.goOn()
		job := p.last(run.ID, "e2e")
		if !approves {
			require.Equal(t, hubruns.Rejected, job.Reviews[0].State)
			require.Contains(t, p.said(job)[1], row.Name+" will not be ready: It was destroyed before it was ready: ")
			continue
		}
		require.Contains(t, p.said(job)[1], row.Name+" waits for its turn. It is next in the queue.")
		_, err = p.store.Turns(p.ctx)
		require.NoError(t, err)
		p.becomesReady(row)
		p.goOn()
		require.Equal(t, hubruns.Approved, p.last(run.ID, "e2e").Reviews[0].State)
	}
}
