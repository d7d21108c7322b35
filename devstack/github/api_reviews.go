package github

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/github/runs"
)

func (s *Server) reviewCalls() []endpoint {
	return []endpoint{
		{"GET", "/actions/runs/{id}/pending_deployments", "actions:read", true, s.listPending},
		{"POST", "/actions/runs/{id}/deployment_protection_rule", "deployments:write", false, s.postReview},
	}
}

// listPending returns the environments for which jobs of the run wait.
func (s *Server) listPending(w http.ResponseWriter, r *http.Request, c caller) {
	run, _ := s.runIn(r, c)
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

// postReview is a decision of the App's protection rule, or a report without one, of which there can be ten.
// https://docs.github.com/rest/actions/workflow-runs#review-custom-deployment-protection-rules-for-a-workflow-run
func (s *Server) postReview(w http.ResponseWriter, r *http.Request, c caller) {
	var body struct {
		Environment string  `json:"environment_name"`
		State       string  `json:"state"`
		Comment     *string `json:"comment"`
	}
	decodeBody(r, &body)
	decided := body.State == runs.Approved || body.State == runs.Rejected
	endUnlessApp(c)
	endInvalid(body.Environment == "", "DeploymentProtectionRule", "environment_name", "missing_field")
	endInvalid(!decided && (body.State != "" || or(body.Comment, "") == ""), "DeploymentProtectionRule", "state", "invalid")
	err := c.at.Runs().on(id(r, "id"), func(world *world, repo *repository, run *Run) ([]Event, error) {
		return s.review(world, repo, run, review{body.Environment, body.State, or(body.Comment, ""), c.login, rule.app})
	})
	endIf(errors.Is(err, errInvalid), http.StatusUnprocessableEntity,
		fmt.Sprintf("There are no pending deployment requests to approve or reject for %s, or its rule has reported too often.", body.Environment))
	endOnError(err, "DeploymentProtectionRule", "id")
	w.WriteHeader(http.StatusNoContent)
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
