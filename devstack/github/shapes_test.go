package github

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/github/runs"
)

func TestEveryWebhookHasGitHubsShape(t *testing.T) {
	sent := map[string]bool{}
	for _, e := range everyEvent() {
		body, err := Payload(e)
		require.NoError(t, err, e.Name+"."+e.Action)
		if err := checkWebhook(e.Name, e.Action, body); err != nil {
			t.Errorf("%s.%s: %s", e.Name, e.Action, shorter(err))
		}
		for _, foreign := range []string{"Codertocat", "Octocoders", "Hello-World", "octocat"} {
			require.NotContains(t, string(body), foreign, e.Name)
		}
		name := strings.ReplaceAll(strings.TrimSuffix(e.Name+"-"+e.Action, "-"), "_", "-")
		if e.Name == "repository_dispatch" {
			name = "repository-dispatch-sample.collected"
		}
		sent[name] = true
	}
	for _, name := range describedWebhooks() {
		require.True(t, sent[name], "no %s was tried", name)
	}
}

// everyEvent is one event of each kind, of a repository that is not the first.
func everyEvent() []Event {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	pr := startRepos()[1].pulls(now)[0]
	pr.Labels = []string{"ocp/aws-standard"}
	closed := pr
	closed.Open, closed.Merged, closed.ClosedAt, closed.MergeSHA = false, true, &now, pr.HeadSHA
	run := Check{ID: 7, Head: pr.HeadSHA, Name: "ocpctl", Status: "queued", StartedAt: now}
	done := run
	done.Status, done.Conclusion, done.CompletedAt, done.Title, done.Summary = "completed", "success", &now, "Ready", "words"
	deploy := Deployment{
		ID: 9, SHA: pr.HeadSHA, Ref: pr.HeadRef, Task: "deploy", Environment: "ocp/x", Payload: object{}, Creator: Bot, CreatedAt: now, UpdatedAt: now,
		Statuses: []DeploymentStatus{{ID: 10, State: "success", Environment: "ocp/x", Creator: Bot, CreatedAt: now}},
	}
	repo := RepoRef{ID: 1002, Name: SecondRepo}
	out := []Event{
		{Name: "ping"},
		{Name: "check_run", Action: "created", Check: run, OnHead: []PullRequest{pr}},
		{Name: "check_run", Action: "completed", Check: done, OnHead: []PullRequest{pr}},
		{Name: "check_run", Action: "rerequested", Check: done},
		{Name: "check_run", Action: "requested_action", Check: done, Button: "extend"},
		{Name: "check_suite", Action: "rerequested", Check: done, OnHead: []PullRequest{pr}},
		{Name: "deployment_status", Action: "created", Deploy: deploy},
		{Name: "merge_group", Action: "checks_requested", Group: QueueEntry{Number: 7, Base: Branch, BaseAt: pr.BaseSHA, Head: pr.HeadSHA, Ref: "gh-readonly-queue/main/pr-7-x"}, At: now},
		{Name: "merge_group", Action: "destroyed", Reason: "merged", Group: QueueEntry{Number: 7, Base: Branch, BaseAt: pr.BaseSHA, Head: pr.HeadSHA, Ref: "gh-readonly-queue/main/pr-7-x"}, At: now},
		{Name: "repository_dispatch", Action: "create_ephemeral_cluster", Client: json.RawMessage(`{"profile":"aws-standard"}`)},
		{Name: "repository", Action: "renamed", OldName: "orders"},
		{Name: "repository", Action: "transferred", OldName: "acme/api"},
		{Name: "repository", Action: "archived"}, {Name: "repository", Action: "deleted"},
	}
	for _, action := range []string{"opened", "edited", "labeled", "unlabeled", "synchronize", "reopened", "converted_to_draft", "ready_for_review"} {
		draft := pr
		draft.Draft = action == "converted_to_draft"
		out = append(out, Event{Name: "pull_request", Action: action, PR: draft, Label: "ocp/aws-standard", Before: commitID(SecondRepo, 7, 2), OldTitle: "old"})
	}
	out = append(out, Event{Name: "pull_request", Action: "closed", PR: closed})
	for _, action := range []string{"created", "edited", "deleted"} {
		comment := Comment{ID: 77, Number: pr.Number, Author: Bot, Body: "words", CreatedAt: now, UpdatedAt: now}
		out = append(out, Event{Name: "issue_comment", Action: action, PR: pr, Comment: comment, OldBody: "before"})
	}
	written := Comment{ID: 78, Number: pr.Number, Author: "will", Body: "words", CreatedAt: now, UpdatedAt: now}
	out = append(out, Event{Name: "pull_request_review", Action: "submitted", PR: pr, Comment: written, ReviewState: "commented"},
		Event{Name: "pull_request_review_comment", Action: "created", PR: pr, Comment: written})
	for _, action := range []string{"created", "deleted", "suspend", "unsuspend"} {
		e := Event{Name: "installation", Action: action, Repos: []RepoRef{repo}}
		if action == "suspend" {
			e.in = &installation{ID: Installation, CreatedAt: now, SuspendedAt: &now, SuspendedBy: "maya"}
		}
		out = append(out, e)
	}
	for _, action := range []string{"added", "removed"} {
		out = append(out, Event{Name: "installation_repositories", Action: action, Repos: []RepoRef{repo}})
	}
	out = append(out, runEvents(now, pr)...)
	for i := range out {
		out[i].Sender, out[i].Repo = "maya", repo
	}
	return out
}

// runEvents are the events of a run's life.
func runEvents(now time.Time, pr PullRequest) []Event {
	run := Run{
		ID: 21, Number: 3, Attempt: 1, Workflow: "e2e", Path: ".github/workflows/e2e.yml", Event: "pull_request", Ref: "refs/pull/7/merge",
		SHA: pr.HeadSHA, HeadBranch: pr.HeadRef, HeadSHA: pr.HeadSHA, Pull: pr.Number, Title: pr.Title, Actor: "will", Triggering: "will",
		Status: runs.Queued, CreatedAt: now, StartedAt: now, UpdatedAt: now,
	}
	job := Job{ID: 22, Key: "e2e", Name: "e2e", Labels: []string{"ubuntu-latest"}, Status: runs.Queued, CreatedAt: now, StartedAt: now}
	working, done, stopped := run, run, job
	working.Status, job.Status = runs.InProgress, runs.InProgress
	done.Status, done.Conclusion, done.Attempt, done.Past = runs.Completed, runs.Cancelled, 2, []runs.Past{{Triggering: "will", Conclusion: runs.Failure, StartedAt: now, UpdatedAt: now}}
	stopped.Status, stopped.Conclusion, stopped.CompletedAt = runs.Completed, runs.Cancelled, &now
	stopped.Steps = []Step{{Number: 1, Name: "Set up job", Status: runs.Completed, Conclusion: runs.Success, StartedAt: &now, CompletedAt: &now}}
	fresh := stopped
	fresh.Status, fresh.Conclusion, fresh.CompletedAt, fresh.Steps = runs.Queued, "", nil, nil
	waits := fresh
	waits.Status, waits.Environment = runs.Waiting, "ocp/x"
	deploy := Deployment{ID: 9, SHA: pr.HeadSHA, Ref: "main", Task: "deploy", Environment: "ocp/x", Payload: object{}, Creator: actionsBot, CreatedAt: now, UpdatedAt: now}
	return []Event{
		{Name: "workflow_run", Action: "requested", Run: run, OnHead: []PullRequest{pr}},
		{Name: "workflow_run", Action: runs.InProgress, Run: working},
		{Name: "workflow_run", Action: runs.Completed, Run: done},
		{Name: "workflow_job", Action: runs.Queued, Run: run, Job: fresh},
		{Name: "workflow_job", Action: runs.InProgress, Run: working, Job: job},
		{Name: "workflow_job", Action: runs.Completed, Run: done, Job: stopped},
		{Name: "workflow_job", Action: runs.Waiting, Run: run, Job: waits, Deploy: deploy},
		{Name: "deployment_protection_rule", Action: "requested", Run: run, Job: waits, Deploy: deploy, OnHead: []PullRequest{pr}},
		{Name: "push", Branch: "topic", Before: noCommit, After: pr.HeadSHA, Message: "words", Paths: []string{"a.md"}, At: now},
	}
}

func shorter(err error) string { s := err.Error(); return s[:min(len(s), 1500)] }

// held is a transport that holds every exchange against GitHub's description, and fails the test.
func held(t *testing.T) *CheckedTransport {
	t.Helper()
	var mu sync.Mutex
	got := map[string]bool{}
	return &CheckedTransport{Report: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if text := fmt.Sprint(shorter(err)); !got[text] {
			got[text] = true
			t.Error(text)
		}
	}}
}
