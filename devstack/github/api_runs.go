package github

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
)

func (s *Server) runCalls() []endpoint {
	return []endpoint{
		{"GET", "/actions/runs", "actions:read", true, s.listRuns},
		{"GET", "/actions/runs/{id}", "actions:read", true, s.getRun},
		{"GET", "/actions/runs/{id}/attempts/{attempt}", "actions:read", true, s.getRun},
		{"GET", "/actions/jobs/{id}", "actions:read", true, s.getJob},
		{"POST", "/actions/runs/{id}/cancel", "actions:write", false, s.runAct(http.StatusAccepted, Runs.Cancel)},
		{"POST", "/actions/runs/{id}/rerun", "actions:write", false, s.runAct(http.StatusCreated, Runs.Rerun)},
		{"POST", "/actions/runs/{id}/rerun-failed-jobs", "actions:write", false, s.runAct(http.StatusCreated, Runs.RerunFailed)},
	}
}

// found is a run with what its shape shows besides.
type found struct {
	Run
	prs []PullRequest
}

// runsOf returns the runs that keep allows, newest first.
func (s *Server) runsOf(at Place, keep func(Run) bool) (out []found) {
	at.look(func(w *world, repo *repository) {
		for _, run := range slices.Backward(repo.Runs) {
			if one := run.Copy(); keep(one) {
				out = append(out, found{one, w.ofRun(repo, run)})
			}
		}
	})
	return out
}

// runIn returns the run and the attempt in a path. Without them it ends the call.
func (s *Server) runIn(r *http.Request, c caller) (found, int) {
	all := s.runsOf(c.at, func(run Run) bool { return run.ID == id(r, "id") })
	endMissing(len(all) == 0)
	attempt := all[0].Attempt
	if raw := r.PathValue("attempt"); raw != "" {
		n, err := strconv.Atoi(raw)
		endMissing(err != nil || n < 1 || n > attempt)
		attempt = n
	}
	return all[0], attempt
}

// listRuns returns the newest first.
func (s *Server) listRuns(w http.ResponseWriter, r *http.Request, c caller) {
	q := r.URL.Query()
	is := func(name string, values ...string) bool {
		return q.Get(name) == "" || slices.Contains(values, q.Get(name))
	}
	all := s.runsOf(c.at, func(run Run) bool {
		return is("actor", run.Actor) && is("branch", run.HeadBranch) && is("event", run.Event) && is("head_sha", run.HeadSHA) &&
			is("status", run.Status, run.Conclusion)
	})
	sc, shapes := s.sceneOf(c.at.repo), []object{}
	for _, run := range all {
		shapes = append(shapes, sc.run(run.Run, run.Attempt, run.prs))
	}
	page(w, r, s.base, shapes, func(part []object) any { return object{"total_count": len(shapes), "workflow_runs": part} })
}

func (s *Server) getRun(w http.ResponseWriter, r *http.Request, c caller) {
	run, attempt := s.runIn(r, c)
	answer(w, http.StatusOK, s.sceneOf(c.at.repo).run(run.Run, attempt, run.prs))
}

func (s *Server) getJob(w http.ResponseWriter, r *http.Request, c caller) {
	var shape object
	c.at.look(func(world *world, repo *repository) {
		if run, j := repo.jobByID(id(r, "id")); j != nil && j.Shown() {
			shape = world.scene(s, repo).job(*run, *j)
		}
	})
	endMissing(shape == nil)
	answer(w, http.StatusOK, shape)
}

// runAct is a call that changes a run and answers nothing.
func (s *Server) runAct(status int, act func(r Runs, run int64, as string) error) as {
	return func(w http.ResponseWriter, r *http.Request, c caller) {
		endIf(!c.may("write"), http.StatusForbidden, "Must have admin rights to Repository.")
		err := act(c.at.Runs(), id(r, "id"), c.login)
		switch {
		case errors.Is(err, errInvalid) && status == http.StatusAccepted:
			complain(w, http.StatusConflict, "Cannot cancel a workflow run that is completed.")
		case errors.Is(err, errInvalid):
			complain(w, http.StatusForbidden, "This workflow is already running, or none of its jobs can be run again.")
		case err != nil:
			fail(w, err, "WorkflowRun", "id")
		default:
			answer(w, status, object{})
		}
	}
}
