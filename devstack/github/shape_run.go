package github

import (
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/github/runs"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// run returns a workflow run as of an attempt, as the API and the webhooks do.
func (sc scene) run(r Run, attempt int, prs []PullRequest) object {
	repo := sc.repository()
	triggering, status, conclusion, started, updated := r.Triggering, r.Status, r.Conclusion, r.StartedAt, r.UpdatedAt
	if attempt < r.Attempt {
		past := r.Past[attempt-1]
		triggering, status, conclusion, started, updated = past.Triggering, runs.Completed, past.Conclusion, past.StartedAt, past.UpdatedAt
	}
	api, web, suite := sc.repoAPI()+"/actions/runs/"+itoa(r.ID), sc.runPage(r.ID), runSuite(r.ID)
	out := object{
		"id": r.ID, "name": r.Workflow, "node_id": nodeID("WFR", r.ID), "check_suite_id": suite, "check_suite_node_id": nodeID("CS", suite),
		"head_branch": r.HeadBranch, "head_sha": r.HeadSHA, "path": r.Path, "display_title": r.Title, "run_number": r.Number,
		"event": r.Event, "status": status, "conclusion": orNil(conclusion), "workflow_id": workflowID(r.Path), "url": api, "html_url": web,
		"pull_requests": sc.shortPulls(prs), "created_at": stamp(r.CreatedAt), "updated_at": stamp(updated), "run_started_at": stamp(started),
		"actor": sc.user(r.Actor), "triggering_actor": sc.user(triggering), "run_attempt": attempt, "referenced_workflows": []any{},
		"jobs_url": api + "/jobs", "logs_url": api + "/logs", "check_suite_url": sc.repoAPI() + "/check-suites/" + itoa(suite),
		"artifacts_url": api + "/artifacts", "cancel_url": api + "/cancel", "rerun_url": api + "/rerun", "previous_attempt_url": nil,
		"workflow_url": sc.repoAPI() + "/actions/workflows/" + itoa(workflowID(r.Path)),
		"head_commit":  headCommit(r.HeadSHA, r.Title, r.CreatedAt), "repository": lite(repo), "head_repository": sc.headRepo(r, repo),
	}
	if attempt > 1 {
		out["previous_attempt_url"] = api + "/attempts/" + itoa(int64(attempt-1))
	}
	return out
}

// headRepo returns the repository of the run's head: the repository itself, or a fork.
func (sc scene) headRepo(r Run, repo object) object {
	if r.HeadOwner == "" {
		return lite(repo)
	}
	fork := sc.repository()
	sc.patchRepo(fork, sc.head(PullRequest{HeadOwner: r.HeadOwner}))
	return lite(fork)
}

func (sc scene) runPage(id int64) string {
	return sc.web() + sc.repo.Name + "/actions/runs/" + itoa(id)
}

// runSuite is the number of a run's check suite, which GitHub Actions makes for it.
func runSuite(run int64) int64 { return run + 1_000_000_000 }

// workflowID is the number of a workflow, the same in every world.
func workflowID(path string) int64 { return suiteID(path) + 100_000_000 }

func headCommit(sha, title string, at time.Time) object {
	who := object{"name": "will", "email": "will@example.com"}
	return object{"id": sha, "tree_id": sha, "message": title, "timestamp": stamp(at), "author": who, "committer": who}
}

// lite keeps the fields of a repository that GitHub embeds in a run.
func lite(repo object) object {
	out := object{}
	for k, v := range repo {
		s, text := v.(string)
		if text && strings.HasSuffix(k, "_url") && s != "" && k != "clone_url" && k != "git_url" && k != "ssh_url" && k != "svn_url" && k != "mirror_url" {
			out[k] = v
		}
	}
	for _, k := range []string{"id", "node_id", "name", "full_name", "private", "owner", "description", "fork", "url"} {
		out[k] = repo[k]
	}
	return out
}

// workflow returns a run's workflow, as the webhooks do.
func (sc scene) workflow(r Run) object {
	id := workflowID(r.Path)
	return object{
		"id": id, "node_id": nodeID("W", id), "name": r.Workflow, "path": r.Path, "state": "active",
		"created_at": stamp(installedAt), "updated_at": stamp(installedAt), "url": sc.repoAPI() + "/actions/workflows/" + itoa(id),
		"html_url":  sc.web() + sc.repo.Name + "/blob/" + Branch + "/" + r.Path,
		"badge_url": sc.web() + sc.repo.Name + "/workflows/" + r.Workflow + "/badge.svg",
	}
}

// job returns a job as the API does.
func (sc scene) job(r Run, j Job) object {
	steps := pick.Map(j.Steps, func(s runs.Step) any {
		return object{
			"name": s.Name, "status": s.Status, "conclusion": orNil(s.Conclusion), "number": s.Number,
			"started_at": stampOrNil(s.StartedAt), "completed_at": stampOrNil(s.CompletedAt),
		}
	})
	run := sc.repoAPI() + "/actions/runs/" + itoa(r.ID)
	begun := j.StartedAt
	if begun.IsZero() {
		begun = j.CreatedAt
	}
	out := object{
		"id": j.ID, "run_id": r.ID, "workflow_name": r.Workflow, "head_branch": r.HeadBranch, "run_url": run, "run_attempt": j.Attempt,
		"node_id": nodeID("CR", j.ID), "head_sha": r.HeadSHA, "url": sc.repoAPI() + "/actions/jobs/" + itoa(j.ID),
		"html_url": sc.runPage(r.ID) + "/job/" + itoa(j.ID), "status": j.Status, "conclusion": orNil(j.Conclusion),
		"created_at": stamp(j.CreatedAt), "started_at": stamp(begun), "completed_at": stampOrNil(j.CompletedAt), "name": j.Name,
		"steps": steps, "check_run_url": sc.repoAPI() + "/check-runs/" + itoa(j.ID), "labels": j.Labels,
		"runner_id": nil, "runner_name": nil, "runner_group_id": nil, "runner_group_name": nil,
	}
	if j.Status == runs.InProgress || j.Status == runs.Completed && !j.StartedAt.IsZero() {
		out["runner_id"], out["runner_name"], out["runner_group_id"], out["runner_group_name"] = 1, "GitHub Actions 1", 0, "GitHub Actions"
	}
	return out
}

// jobInEvent returns a job as the webhooks do: a job that runs has at least the step that sets it up.
func (sc scene) jobInEvent(r Run, j Job) object {
	out := sc.job(r, j)
	if j.Status == runs.InProgress && len(j.Steps) == 0 {
		out["steps"] = []any{object{
			"name": "Set up job", "status": runs.InProgress, "conclusion": nil, "number": 1, "started_at": stamp(j.StartedAt), "completed_at": nil,
		}}
	}
	return out
}
