//go:build act

package actions_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/github/actions"
	"github.com/ocpctl/ocpctl/devstack/github/runs"
)

// TestEachEventStartsTheWorkflowsThatListen raises every event that a page or the App can, and looks at what the job saw of it.
func TestEachEventStartsTheWorkflowsThatListen(t *testing.T) {
	s := standIn(t)
	require.NoError(t, s.Commit(".github/workflows/all.yml", `
name: all
on:
  push: {branches: [never]}
  pull_request: {types: [labeled]}
  pull_request_target: {types: [labeled]}
  schedule: [{cron: "0 3 * * *"}]
  merge_group: null
  workflow_dispatch: {inputs: {profile: {type: string, default: small}, dry: {type: boolean, default: true}}}
  repository_dispatch: {types: [ocpctl_cluster_ready]}
  deployment_status: null
  issue_comment: {types: [created]}
jobs:
  show:
    runs-on: ubuntu-latest
    outputs: {seen: "${{ steps.a.outputs.seen }}"}
    steps:
      - id: a
        env: {MORE: "${{ github.event.client_payload.cluster || github.event.deployment_status.state || github.event.comment.body || inputs.profile || github.event.merge_group.base_ref || github.event.label.name }}"}
        run: echo "seen=$GITHUB_EVENT_NAME $GITHUB_REF $MORE" >> "$GITHUB_OUTPUT"
`))
	next := 0
	see := func(want string) {
		t.Helper()
		next++
		run := until(t, s, next, want, finished)
		require.Equal(t, want, run.Jobs[0].Outputs["seen"])
	}
	require.NoError(t, s.Label(41, "bug", "maya"))
	see("pull_request refs/pull/41/merge bug") // the merge has the workflow, although the head is older
	see("pull_request_target refs/heads/main bug")
	n, err := s.Open("Try the workflow", "will")
	require.NoError(t, err)
	require.NoError(t, s.Label(n, "bug", "maya"))
	see("pull_request refs/pull/50/merge bug")
	see("pull_request_target refs/heads/main bug")
	require.NoError(t, s.Schedule())
	see("schedule refs/heads/main ")
	require.NoError(t, s.Queue(n, "maya"))
	next++
	queued := until(t, s, next, "the merge queue's run", finished)
	require.Contains(t, queued.Ref, "refs/heads/gh-readonly-queue/main/pr-50-")
	require.Equal(t, "merge_group "+queued.Ref+" refs/heads/main", queued.Jobs[0].Outputs["seen"])
	require.NoError(t, s.StartWorkflow(".github/workflows/all.yml", "main", map[string]any{"profile": "big"}, "ada"))
	see("workflow_dispatch refs/heads/main big")
	require.NoError(t, s.Dispatch("ocpctl_cluster_ready", json.RawMessage(`{"cluster":"cl_7"}`), github.Bot))
	see("repository_dispatch refs/heads/main cl_7")
	require.NoError(t, s.Dispatch("something_else", nil, github.Bot))
	_, err = s.Comment(n, "/ocp status", "maya")
	require.NoError(t, err)
	see("issue_comment refs/heads/main /ocp status")
	require.Len(t, s.Runs().List(), next, "what nobody listens to starts nothing")
}

func TestAWorkflowThatCannotBeReadFailsAtOnce(t *testing.T) {
	s := standIn(t)
	require.NoError(t, s.Commit(file, "on: push\njobs: {e2e: {runs-on: ubuntu-latest, step: []}}\n"))
	run := until(t, s, 1, "it fails", finished)
	require.Equal(t, runs.StartupFailure, run.Conclusion)
	require.Contains(t, run.Problem, "step")
	require.NoError(t, s.Commit(file, "on: push\njobs: {e2e: {needs: nobody, runs-on: ubuntu-latest, steps: [{run: echo}]}}\n"))
	run = until(t, s, 2, "it fails", finished)
	require.Contains(t, run.Problem, `needs job "nobody"`)
}

func TestAJobWaitsForItsEnvironmentAndEndsInTime(t *testing.T) {
	s := standIn(t)
	require.NoError(t, s.Protect("ocp/aws", true, "maya"))
	require.NoError(t, s.Commit(file, `
on: push
jobs:
  e2e: {environment: ocp/aws, runs-on: ubuntu-latest, steps: [{run: echo on}]}
  slow: {runs-on: ubuntu-latest, timeout-minutes: 0.02, steps: [{run: exec sleep 60}]}
  container: {runs-on: ubuntu-latest, container: alpine, steps: [{run: echo never}]}
`))
	waits := func(run github.Run) bool { return len(run.Jobs) == 3 && run.Jobs[0].Status == runs.Waiting }
	run := until(t, s, 1, "it waits", waits)
	require.NoError(t, s.Runs().Review(run.ID, "ocp/aws", runs.Approved, "go on", "maya"))
	require.Error(t, s.Runs().Review(run.ID, "ocp/aws", runs.Approved, "go on", "will"), "he is no reviewer")
	run = until(t, s, 1, "the others end", func(run github.Run) bool {
		return run.Jobs[1].Status == runs.Completed && run.Jobs[2].Status == runs.Completed
	})
	require.True(t, waits(run), "the App has not decided")
	require.Contains(t, run.Jobs[1].Annotations[0].Message, "exceeded the maximum execution time")
	require.Equal(t, runs.Cancelled, run.Jobs[1].Conclusion)
	require.Contains(t, run.Jobs[2].Annotations[0].Message, "asks for a container")
	require.NoError(t, s.Runs().Cancel(run.ID, "maya"))
	until(t, s, 1, "it ends", finished)
}

func TestAJobIsLostWithItsRunner(t *testing.T) {
	engine, err := actions.New(actions.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	cfg := github.Config{Engine: engine, StatePath: filepath.Join(t.TempDir(), "github.json")}
	first, err := github.Start(t.Context(), cfg)
	require.NoError(t, err)
	require.NoError(t, first.Commit(file, "on: push\njobs: {e2e: {runs-on: ubuntu-latest, steps: [{run: \"echo on; exec sleep 600\"}]}}\n"))
	run := until(t, first, 1, "it runs", func(run github.Run) bool { return len(first.Runs().Log(run.Jobs[0].ID)) > 0 })
	require.NoError(t, first.Stop(), "it ends, because the job that runs is killed")
	second, err := github.Start(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, second.Stop()) })
	again := until(t, second, 1, "it is lost", finished)
	require.Equal(t, runs.Failure, again.Conclusion)
	require.Equal(t, first.Runs().Log(run.Jobs[0].ID), second.Runs().Log(run.Jobs[0].ID), "the log is kept")
}
