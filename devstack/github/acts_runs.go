package github

import (
	"cmp"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/devstack/github/runs"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// Run, Job and Step are a workflow run and its parts.
type (
	Run  = runs.Run
	Job  = runs.Job
	Step = runs.Step
)

// Runs are the workflow runs of a repository.
type Runs struct{ at Place }

// Runs returns the repository's workflow runs.
func (p Place) Runs() Runs { return Runs{p} }

// NewRun describes a run that does what it is told: nothing of it is executed. Empty fields get the values of a push to the default
// branch.
type NewRun struct {
	Path       string // of the workflow's file; empty: .github/workflows/e2e.yml
	Workflow   string // its name; empty: e2e
	Event      string // empty: push, or pull_request with a Pull
	Branch     string // empty: the default branch
	Pull       int    // number of the pull request
	Actor      string // empty: maya
	Title      string
	Conclusion string   // not empty: no job is started, e.g. startup_failure
	Jobs       []NewJob // empty: one job called e2e
}

// NewJob describes a job of a run to start.
type NewJob struct {
	Key         string
	Name        string // empty: Key
	Needs       []string
	Environment string
}

// Start starts a run. Its jobs without needs are queued at once.
func (r Runs) Start(n NewRun) (out Run, err error) {
	err = r.at.do(func(w *world, repo *repository) ([]Event, error) {
		run := must.Get(n.run(repo, r.at.s.moment()))
		run.ID = w.id()
		repo.Runs = append(repo.Runs, run)
		for _, j := range n.Jobs {
			run.Add(&Job{
				ID: w.id(), Key: j.Key, Name: cmp.Or(j.Name, j.Key), Needs: j.Needs, Labels: []string{"ubuntu-latest"},
				Environment: j.Environment, CreatedAt: run.StartedAt,
			}, 0)
		}
		events := []Event{r.at.s.runEvent(w, repo, "requested", run, run.Actor)}
		if n.Conclusion != "" {
			run.Status, run.Conclusion = runs.Completed, n.Conclusion
			events = append(events, r.at.s.runEvent(w, repo, runs.Completed, run, run.Actor))
		} else {
			events = append(events, r.at.s.advance(w, repo, run)...)
		}
		out = run.Copy()
		return events, nil
	})
	return out, err
}

// run makes the run and fills in what was left empty.
func (n *NewRun) run(repo *repository, now time.Time) (_ *Run, err error) {
	defer must.Catch(&err)
	run := &Run{
		Attempt: 1, Workflow: cmp.Or(n.Workflow, "e2e"), Path: cmp.Or(n.Path, ".github/workflows/e2e.yml"), Pull: n.Pull,
		Event: n.Event, HeadBranch: cmp.Or(n.Branch, Branch), Title: n.Title, Actor: cmp.Or(n.Actor, "maya"), Status: runs.Queued,
		CreatedAt: now, StartedAt: now, UpdatedAt: now,
	}
	run.Triggering, run.Ref = run.Actor, "refs/heads/"+run.HeadBranch
	run.SHA = repo.resolve(run.HeadBranch)
	run.HeadSHA = run.SHA
	if n.Pull != 0 {
		pr := repo.pull(n.Pull)
		must.EndIf(pr == nil, errNotFound)
		run.Event, run.Title = cmp.Or(run.Event, "pull_request"), cmp.Or(run.Title, pr.Title)
		run.HeadBranch, run.HeadSHA = pr.HeadRef, pr.HeadSHA
		if run.Event == "pull_request" { // every other event runs what the default branch says
			run.SHA, run.Ref = pr.HeadSHA, pullRef(n.Pull)
		}
		if pr.Fork() {
			run.HeadOwner = pr.HeadOwner
		}
	}
	must.EndIf(run.SHA == "", errNotFound)
	run.Event = cmp.Or(run.Event, "push")
	run.Title = cmp.Or(run.Title, run.Workflow)
	run.Number = repo.nextRun(run.Path)
	if len(n.Jobs) == 0 && n.Conclusion == "" {
		n.Jobs = []NewJob{{Key: "e2e"}}
	}
	return run, nil
}

func pullRef(number int) string { return "refs/pull/" + itoa(int64(number)) + "/merge" }

// nextRun is the number of the next run of a workflow.
func (r *repository) nextRun(path string) int {
	number := 0
	for _, other := range r.Runs {
		if other.Path == path {
			number = max(number, other.Number)
		}
	}
	return number + 1
}

// Begin lets a runner take a queued job.
func (r Runs) Begin(job int64) error {
	return r.onJob(job, func(w *world, repo *repository, run *Run, j *Job) ([]Event, error) {
		must.EndIf(j.Status != runs.Queued, errInvalid)
		return r.at.s.begin(w, repo, run, j), nil
	})
}

// Complete completes a job. With the last one its run is completed.
func (r Runs) Complete(job int64, conclusion string) error {
	return r.onJob(job, func(w *world, repo *repository, run *Run, j *Job) ([]Event, error) {
		must.EndIf(j.Status == runs.Completed || j.Status == "" || !slices.Contains(conclusions, conclusion), errInvalid)
		return append(r.at.s.complete(w, repo, run, j, conclusion), r.at.s.advance(w, repo, run)...), nil
	})
}

// CompleteAll completes every job of a run with one conclusion, in the order of their needs.
func (r Runs) CompleteAll(run int64, conclusion string) error {
	return r.on(run, func(w *world, repo *repository, run *Run) ([]Event, error) {
		return r.at.s.finish(w, repo, run, conclusion), nil
	})
}

// Cancel cancels a run as a person.
func (r Runs) Cancel(run int64, as string) error {
	return r.on(run, func(w *world, repo *repository, run *Run) ([]Event, error) {
		must.EndIf(run.Status == runs.Completed, errInvalid)
		return r.at.s.cancel(w, repo, run), nil
	})
}

// ForceCancel cancels a run without regard to jobs and steps that run even then.
func (r Runs) ForceCancel(run int64, as string) error {
	return r.on(run, func(w *world, repo *repository, run *Run) ([]Event, error) {
		must.EndIf(run.Status == runs.Completed, errInvalid)
		run.Cancelled = true
		for _, j := range run.Current() {
			r.at.s.end(j.ID)
		}
		return r.at.s.finish(w, repo, run, runs.Cancelled), nil
	})
}

// Rerun runs all jobs of a completed run again, as a person.
func (r Runs) Rerun(run int64, as string) error { return r.rerun(run, as, false) }

// RerunFailed runs the jobs that did not succeed again, and those that need them.
func (r Runs) RerunFailed(run int64, as string) error { return r.rerun(run, as, true) }

// rerun starts the next attempt. GitHub sends no workflow_run.requested for it:
// https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows#workflow_run
func (r Runs) rerun(run int64, as string, failed bool) error {
	return r.on(run, func(w *world, repo *repository, run *Run) ([]Event, error) {
		must.EndIf(!run.Rerun(failed, as, w.id, r.at.s.moment()), errInvalid)
		return append(r.at.s.enter(w, repo, run), r.at.s.advance(w, repo, run)...), nil
	})
}

// Delete deletes a completed run. GitHub sends no event.
func (r Runs) Delete(run int64) error {
	return r.on(run, func(_ *world, repo *repository, run *Run) ([]Event, error) {
		must.EndIf(run.Status != runs.Completed, errInvalid)
		repo.Runs = slices.DeleteFunc(repo.Runs, func(other *Run) bool { return other == run })
		for _, j := range run.Jobs {
			r.at.s.logs.drop(j.ID)
		}
		return nil, nil
	})
}

// Get returns a run; ok is false if there is none.
func (r Runs) Get(run int64) (out Run, ok bool) {
	r.at.look(func(_ *world, repo *repository) {
		if found := repo.run(run); found != nil {
			out, ok = found.Copy(), true
		}
	})
	return out, ok
}

// List returns all runs, oldest first.
func (r Runs) List() []Run {
	var out []Run
	r.at.look(func(_ *world, repo *repository) {
		out = pick.Map(repo.Runs, (*Run).Copy)
	})
	return out
}

func (r Runs) on(id int64, fn func(w *world, repo *repository, run *Run) ([]Event, error)) error {
	return r.at.do(func(w *world, repo *repository) ([]Event, error) {
		run := repo.run(id)
		must.EndIf(run == nil, errNotFound)
		return fn(w, repo, run)
	})
}

func (r Runs) onJob(id int64, fn func(w *world, repo *repository, run *Run, j *Job) ([]Event, error)) error {
	return r.at.do(func(w *world, repo *repository) ([]Event, error) {
		run, j := repo.jobByID(id)
		must.EndIf(j == nil || j.Attempt != run.Attempt, errNotFound)
		return fn(w, repo, run, j)
	})
}

func (r *repository) run(id int64) *Run {
	return pick.First(r.Runs, func(run *Run) bool { return run.ID == id })
}

// jobByID returns a job and its run.
func (r *repository) jobByID(id int64) (*Run, *Job) {
	for _, run := range r.Runs {
		if j := run.Job(id); j != nil {
			return run, j
		}
	}
	return nil, nil
}

// moment is now in whole seconds, as GitHub gives times.
func (s *Server) moment() time.Time { return s.now().UTC().Truncate(time.Second) }
