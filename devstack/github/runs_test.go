package github

import (
	"testing"

	gh "github.com/google/go-github/v66/github"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/github/runs"
)

// withRuns is a stand-in whose App may read workflow runs and gets their events.
func withRuns(t *testing.T) (*Server, *inbox) {
	t.Helper()
	s, in := withInbox(t)
	m := Registered()
	m.Permissions["actions"] = "write"
	m.Events = append(m.Events, "workflow_run", "workflow_job")
	s.SetManifest(m)
	return s, in
}

// nextRun returns the next webhook about runs, as one line: what, state, conclusion, attempt.
func (in *inbox) nextRun() string {
	in.t.Helper()
	switch e := in.next().payload.(type) {
	case *gh.WorkflowRunEvent:
		r := e.WorkflowRun
		require.Equal(in.t, "acme/shop", e.GetRepo().GetFullName())
		return "run " + e.GetAction() + " " + r.GetStatus() + " " + r.GetConclusion() + " " + itoa(int64(r.GetRunAttempt()))
	case *gh.WorkflowJobEvent:
		j := e.WorkflowJob
		return j.GetName() + " " + e.GetAction() + " " + j.GetStatus() + " " + j.GetConclusion() + " " + itoa(j.GetRunAttempt())
	default:
		in.t.Fatalf("a webhook of another kind: %T", e)
		return ""
	}
}

func (in *inbox) wantRuns(want ...string) {
	in.t.Helper()
	var got []string
	for range want {
		got = append(got, in.nextRun())
	}
	require.Equal(in.t, want, got)
	require.Empty(in.t, in.got)
}

var twoJobs = []NewJob{{Key: "build"}, {Key: "e2e", Needs: []string{"build"}}}

func TestARunTellsOfEachOfItsSteps(t *testing.T) {
	s, in := withRuns(t)
	run, err := s.Runs().Start(NewRun{Pull: 41, Jobs: twoJobs})
	require.NoError(t, err)
	require.Equal(t, "refs/pull/41/merge", run.Ref)
	in.wantRuns("run requested queued  1", "build queued queued  1")
	build, e2e := run.Jobs[0].ID, run.Jobs[1].ID
	require.ErrorIs(t, s.Runs().Begin(e2e), errInvalid, "it needs the other job first")
	require.NoError(t, s.Runs().Begin(build))
	in.wantRuns("run in_progress in_progress  1", "build in_progress in_progress  1")
	require.NoError(t, s.Runs().Complete(build, runs.Success))
	in.wantRuns("build completed completed success 1", "e2e queued queued  1")
	require.NoError(t, s.Runs().Begin(e2e))
	require.NoError(t, s.Runs().Complete(e2e, runs.Failure))
	in.wantRuns("e2e in_progress in_progress  1", "e2e completed completed failure 1", "run completed completed failure 1")
}

func TestARerunOfTheFailedJobsKeepsTheOthersAndIsNotRequested(t *testing.T) {
	s, in := withRuns(t)
	run, err := s.Runs().Start(NewRun{Jobs: twoJobs, Actor: "will"})
	require.NoError(t, err)
	require.ErrorIs(t, s.Runs().Rerun(run.ID, "maya"), errInvalid, "it is not completed")
	require.NoError(t, s.Runs().Complete(run.Jobs[0].ID, runs.Success))
	require.NoError(t, s.Runs().Complete(run.Jobs[1].ID, runs.Failure))
	for range 6 {
		in.nextRun()
	}
	require.NoError(t, s.Runs().RerunFailed(run.ID, "maya"))
	in.wantRuns("e2e queued queued  2")
	again, _ := s.Runs().Get(run.ID)
	require.Equal(t, []string{"will", "maya"}, []string{again.Actor, again.Triggering})
	require.Equal(t, runs.Queued, again.Status)
	latest := again.Latest(2)
	require.Len(t, latest, 2)
	require.Equal(t, []int{1, 2}, []int{latest[0].Attempt, latest[1].Attempt})
	require.NoError(t, s.Runs().Begin(latest[1].ID))
	in.wantRuns("run in_progress in_progress  2", "e2e in_progress in_progress  2")
	require.NoError(t, s.Runs().CompleteAll(run.ID, runs.Success))
	in.wantRuns("e2e completed completed success 2", "run completed completed success 2")
	require.ErrorIs(t, s.Runs().RerunFailed(run.ID, "maya"), errInvalid, "nothing failed")

	client := asInstallation(t, s)
	first, _, err := client.Actions.GetWorkflowRunAttempt(t.Context(), "acme", "shop", run.ID, 1, nil)
	require.NoError(t, err)
	require.Equal(t, runs.Failure, first.GetConclusion())
	require.Len(t, again.Jobs, 3)
}

func TestAJobIsSkippedWhenTheOneBeforeFails(t *testing.T) {
	s, in := withRuns(t)
	run, err := s.Runs().Start(NewRun{Jobs: twoJobs})
	require.NoError(t, err)
	require.NoError(t, s.Runs().Complete(run.Jobs[0].ID, runs.Failure))
	in.wantRuns("run requested queued  1", "build queued queued  1",
		"build completed completed failure 1", "e2e completed completed skipped 1", "run completed completed failure 1")
}

func TestCancellingEndsEveryJob(t *testing.T) {
	s, in := withRuns(t)
	run, err := s.Runs().Start(NewRun{Jobs: twoJobs})
	require.NoError(t, err)
	require.NoError(t, s.Runs().Begin(run.Jobs[0].ID))
	require.NoError(t, s.Runs().Cancel(run.ID, "will"))
	in.wantRuns("run requested queued  1", "build queued queued  1", "run in_progress in_progress  1", "build in_progress in_progress  1",
		"build completed completed cancelled 1", "e2e completed completed cancelled 1", "run completed completed cancelled 1")
	require.ErrorIs(t, s.Runs().Cancel(run.ID, "will"), errInvalid)
	require.NoError(t, s.Runs().Delete(run.ID))
	_, ok := s.Runs().Get(run.ID)
	require.False(t, ok)
}

func TestRunsNeedThePermissionForActions(t *testing.T) {
	s, in := withRuns(t)
	m := Registered()
	m.Permissions["actions"] = ""
	m.Events = append(m.Events, "workflow_run")
	s.SetManifest(m)
	run, err := s.Runs().Start(NewRun{})
	require.NoError(t, err)
	settled(t, s)
	require.Empty(t, in.got)
	_, answer, err := asInstallation(t, s).Actions.GetWorkflowRunByID(t.Context(), "acme", "shop", run.ID)
	require.Error(t, err)
	require.Equal(t, 403, answer.StatusCode)
}

func TestTheClaimsOfAJobAreThoseThatGitHubDocuments(t *testing.T) {
	s := start(t, Config{})
	pull, err := s.Runs().Start(NewRun{Pull: 41, Actor: "will"})
	require.NoError(t, err)
	claims, err := s.Runs().Claims(pull.Jobs[0].ID)
	require.NoError(t, err)
	head, _ := s.PullRequest(41)
	require.Equal(t, map[string]any{
		"sub": "repo:acme/shop:pull_request", "repository": "acme/shop", "repository_id": "1001", "repository_owner": "acme",
		"repository_owner_id": "1000", "repository_visibility": "public", "ref": "refs/pull/41/merge", "ref_type": "branch",
		"ref_protected": "false", "sha": pull.SHA, "head_ref": head.HeadRef, "base_ref": "main", "actor": "will", "actor_id": "2002",
		"event_name": "pull_request", "workflow": "e2e", "workflow_ref": "acme/shop/.github/workflows/e2e.yml@refs/pull/41/merge",
		"workflow_sha": pull.SHA, "job_workflow_ref": "acme/shop/.github/workflows/e2e.yml@refs/pull/41/merge", "job_workflow_sha": pull.SHA,
		"run_id": itoa(pull.ID), "run_number": "1", "run_attempt": "1", "check_run_id": itoa(pull.Jobs[0].ID), "runner_environment": "github-hosted",
	}, claims)
	for want, n := range map[string]NewRun{
		"repo:acme/shop:ref:refs/heads/main": {Pull: 41, Event: "pull_request_target"},
		"repo:acme/shop:environment:ocp/aws": {Jobs: []NewJob{{Key: "e2e", Environment: "ocp/aws"}}},
		"repo:acme/shop:environment:a%3Ab":   {Pull: 41, Jobs: []NewJob{{Key: "e2e", Environment: "a:b"}}},
	} {
		run, err := s.Runs().Start(n)
		require.NoError(t, err)
		claims, err := s.Runs().Claims(run.Jobs[0].ID)
		require.NoError(t, err)
		require.Equal(t, want, claims["sub"])
	}
}
