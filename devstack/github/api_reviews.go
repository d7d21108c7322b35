package github

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/github/runs"
)

func (s *Server) reviewCalls() []endpoint {
	return []endpoint{
		{"GET", "/actions/runs/{id}/pending_deployments", "actions:read", true, s.listPending},
		{"POST", "/actions/runs/{id}/pending_deployments", "deployments:write", false, s.postPending},
		{"POST", "/actions/runs/{id}/deployment_protection_rule", "deployments:write", false, s.postReview},
		{"POST", "/actions/workflows/{workflow}/dispatches", "actions:write", false, s.postStart},
		{"GET", "/actions/jobs/{id}/logs", "actions:read", true, s.getLog},
	}
}

// listPending returns the environments for which jobs of the run wait.
func (s *Server) listPending(w http.ResponseWriter, r *http.Request, c caller) {
	run, _, ok := s.runIn(w, r, c)
	if !ok {
		return
	}
	out := []object{}
	c.at.look(func(world *world, repo *repository) {
		sc := world.scene(s, repo)
		for _, name := range waitsFor(&run.Run) {
			out = append(out, sc.pending(repo.environment(world, name), c.login))
		}
	})
	answer(w, http.StatusOK, out)
}

// waitsFor are the environments for which jobs of a run wait.
func waitsFor(run *Run) []string {
	var out []string
	for _, j := range run.Current() {
		if j.Status == runs.Waiting && !slices.Contains(out, j.Environment) {
			out = append(out, j.Environment)
		}
	}
	return out
}

func (sc scene) pending(e *environment, as string) object {
	reviewers, may := []object{}, false
	for _, rule := range e.Rules {
		for _, login := range rule.Reviewers {
			reviewers = append(reviewers, object{"type": "User", "reviewer": sc.user(login)})
			may = may || login == as
		}
	}
	return object{
		"environment": object{
			"id": e.ID, "node_id": nodeID("EN", e.ID), "name": e.Name, "url": sc.repoAPI() + "/environments/" + e.Name,
			"html_url": sc.web() + sc.repo.Name + "/deployments/activity_log?environments_filter=" + e.Name,
		},
		"wait_timer": 0, "wait_timer_started_at": nil, "current_user_can_approve": may, "reviewers": reviewers,
	}
}

// postPending is a decision of a person who is a reviewer.
func (s *Server) postPending(w http.ResponseWriter, r *http.Request, c caller) {
	var body struct {
		Environments []int64 `json:"environment_ids"`
		State        string  `json:"state"`
		Comment      string  `json:"comment"`
	}
	if !decode(w, r, &body) {
		return
	}
	if body.State != runs.Approved && body.State != runs.Rejected || len(body.Environments) == 0 {
		invalid(w, "Deployment", "state", "invalid")
		return
	}
	var names []string
	c.at.look(func(_ *world, repo *repository) {
		for _, e := range repo.Environments {
			if slices.Contains(body.Environments, e.ID) {
				names = append(names, e.Name)
			}
		}
	})
	for _, name := range names {
		if err := c.at.Runs().Review(id(r, "id"), name, body.State, body.Comment, c.login); err != nil {
			refuseReview(w, err, name)
			return
		}
	}
	sc, out := s.sceneOf(c.at.repo), []object{}
	for _, d := range c.at.Deployments() {
		if slices.Contains(names, d.Environment) {
			out = append(out, sc.deployment(d))
		}
	}
	answer(w, http.StatusOK, out)
}

// postReview is a decision of the App's protection rule, or a report without one, of which there can be ten.
// https://docs.github.com/rest/actions/workflow-runs#review-custom-deployment-protection-rules-for-a-workflow-run
func (s *Server) postReview(w http.ResponseWriter, r *http.Request, c caller) {
	var body struct {
		Environment string  `json:"environment_name"`
		State       string  `json:"state"`
		Comment     *string `json:"comment"`
	}
	if !decode(w, r, &body) {
		return
	}
	decided := body.State == runs.Approved || body.State == runs.Rejected
	switch {
	case !forApps(w, c):
		return
	case body.Environment == "":
		invalid(w, "DeploymentProtectionRule", "environment_name", "missing_field")
		return
	case !decided && (body.State != "" || or(body.Comment, "") == ""):
		invalid(w, "DeploymentProtectionRule", "state", "invalid")
		return
	}
	err := c.at.Runs().on(id(r, "id"), func(world *world, repo *repository, run *Run) ([]Event, error) {
		return s.review(world, repo, run, review{body.Environment, body.State, or(body.Comment, ""), c.login, rule.app})
	})
	if err != nil {
		refuseReview(w, err, body.Environment)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func refuseReview(w http.ResponseWriter, err error, environment string) {
	if errors.Is(err, errInvalid) {
		complain(w, http.StatusUnprocessableEntity, fmt.Sprintf("There are no pending deployment requests to approve or reject for %s, or its rule has reported too often.", environment))
		return
	}
	fail(w, err, "DeploymentProtectionRule", "id")
}

// postStart starts a workflow by hand. The workflow is named by its number or its file's name.
func (s *Server) postStart(w http.ResponseWriter, r *http.Request, c caller) {
	var body struct {
		Ref    string         `json:"ref"`
		Inputs map[string]any `json:"inputs"`
	}
	if !decode(w, r, &body) {
		return
	}
	if !c.may("write") {
		complain(w, http.StatusForbidden, "Must have admin rights to Repository.")
		return
	}
	file := ""
	c.at.look(func(_ *world, repo *repository) {
		for _, one := range repo.dispatchable() {
			if path.Base(one) == r.PathValue("workflow") || itoa(workflowID(one)) == r.PathValue("workflow") {
				file = one
			}
		}
	})
	switch err := c.at.StartWorkflow(file, body.Ref, body.Inputs, c.login); {
	case file == "":
		complain(w, http.StatusUnprocessableEntity, "Workflow does not have 'workflow_dispatch' trigger")
	case body.Ref == "" || errors.Is(err, errNotFound):
		complain(w, http.StatusUnprocessableEntity, "No ref found for: "+body.Ref)
	case err != nil:
		fail(w, err, "WorkflowDispatch", "ref")
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// getLog leads to a job's log, as GitHub does.
func (s *Server) getLog(w http.ResponseWriter, r *http.Request, c caller) {
	there := false
	c.at.look(func(_ *world, repo *repository) {
		_, j := repo.jobByID(id(r, "id"))
		there = j != nil && j.Status == runs.Completed
	})
	if !there {
		notFound(w)
		return
	}
	w.Header().Set("Location", s.base+"/playground/logs/"+r.PathValue("id"))
	w.WriteHeader(http.StatusFound)
}

// playLog shows a job's log as a text, as GitHub's archive has it.
func (s *Server) playLog(w http.ResponseWriter, r *http.Request) {
	var out strings.Builder
	for _, line := range s.logs.of(id(r, "job")).snapshot() {
		kind := ""
		if line.Kind != "" {
			kind = "##[" + line.Kind + "]"
		}
		fmt.Fprintf(&out, "%s %s%s\n", line.At.UTC().Format("2006-01-02T15:04:05.0000000Z"), kind, line.Text)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(out.String())) // the reader disconnected
}
