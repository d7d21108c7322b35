package github

import (
	"cmp"
	"slices"
	"time"
)

// Runs are the workflow runs of a repository.
type Runs struct{ at Place }

// Runs returns the repository's workflow runs.
func (p Place) Runs() Runs { return Runs{p} }

// NewRun describes a run to start. Empty fields get the values of a push to the default branch.
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
		run, err := n.run(repo, r.at.s.now())
		if err != nil {
			return nil, err
		}
		run.ID = w.id()
		repo.Runs = append(repo.Runs, run)
		for _, j := range n.Jobs {
			run.add(w, j)
		}
		events := []Event{r.at.s.runEvent(w, repo, "requested", run, run.Actor)}
		if n.Conclusion != "" {
			run.Status, run.Conclusion = completed, n.Conclusion
			events = append(events, r.at.s.runEvent(w, repo, completed, run, run.Actor))
		} else {
			events = append(events, r.at.s.advance(w, repo, run)...)
		}
		out = copyRun(run)
		return events, nil
	})
	return out, err
}

// run makes the run and fills in what was left empty.
func (n *NewRun) run(repo *repository, now time.Time) (*Run, error) {
	now = now.UTC().Truncate(time.Second)
	run := &Run{
		Attempt: 1, Workflow: cmp.Or(n.Workflow, "e2e"), Path: cmp.Or(n.Path, ".github/workflows/e2e.yml"), Pull: n.Pull,
		Event: n.Event, HeadBranch: cmp.Or(n.Branch, Branch), Title: n.Title, Actor: cmp.Or(n.Actor, "maya"), Status: queued,
		CreatedAt: now, StartedAt: now, UpdatedAt: now,
	}
	run.Triggering, run.Ref = run.Actor, "refs/heads/"+run.HeadBranch
	run.SHA = repo.resolve(run.HeadBranch)
	run.HeadSHA = run.SHA
	if n.Pull != 0 {
		pr := repo.pull(n.Pull)
		if pr == nil {
			return nil, errNotFound
		}
		run.Event, run.Title = cmp.Or(run.Event, "pull_request"), cmp.Or(run.Title, pr.Title)
		run.HeadBranch, run.HeadSHA = pr.HeadRef, pr.HeadSHA
		if run.Event == "pull_request" { // every other event runs what the default branch says
			run.SHA, run.Ref = pr.HeadSHA, "refs/pull/"+itoa(int64(n.Pull))+"/merge"
		}
		if pr.Fork() {
			run.HeadOwner = pr.HeadOwner
		}
	}
	if run.SHA == "" {
		return nil, errNotFound
	}
	run.Event = cmp.Or(run.Event, "push")
	run.Title = cmp.Or(run.Title, run.Workflow)
	for _, other := range repo.Runs {
		if other.Path == run.Path {
			run.Number = max(run.Number, other.Number)
		}
	}
	run.Number++
	if len(n.Jobs) == 0 && n.Conclusion == "" {
		n.Jobs = []NewJob{{Key: "e2e"}}
	}
	return run, nil
}

func (r *Run) add(w *world, n NewJob) {
	r.Jobs = append(r.Jobs, &Job{
		ID: w.id(), Attempt: r.Attempt, Key: n.Key, Name: cmp.Or(n.Name, n.Key), Needs: n.Needs, Labels: []string{"ubuntu-latest"},
		Environment: n.Environment, CreatedAt: r.StartedAt, StartedAt: r.StartedAt,
	})
}

// Begin lets a runner take a queued job.
func (r Runs) Begin(job int64) error {
	return r.onJob(job, func(w *world, repo *repository, run *Run, j *Job) ([]Event, error) {
		if j.Status != queued {
			return nil, errInvalid
		}
		now := r.at.s.now().UTC().Truncate(time.Second)
		j.Status, j.StartedAt, run.UpdatedAt = inProgress, now, now
		var events []Event
		if run.Status != inProgress {
			run.Status = inProgress
			events = append(events, r.at.s.runEvent(w, repo, inProgress, run, run.Triggering))
		}
		return append(events, r.at.s.jobEvent(w, repo, inProgress, run, j)), nil
	})
}

// Complete completes a job. With the last one its run is completed.
func (r Runs) Complete(job int64, conclusion string) error {
	return r.onJob(job, func(w *world, repo *repository, run *Run, j *Job) ([]Event, error) {
		if j.Status == completed || j.Status == "" || !slices.Contains(conclusions, conclusion) {
			return nil, errInvalid
		}
		events := []Event{r.at.s.complete(w, repo, run, j, conclusion)}
		return append(events, r.at.s.advance(w, repo, run)...), nil
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
		if run.Status == completed {
			return nil, errInvalid
		}
		run.Cancelled = true
		return r.at.s.finish(w, repo, run, cancelled), nil
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
		if run.Status != completed || run.Attempt >= maxAttempts {
			return nil, errInvalid
		}
		again := run.again(failed)
		if len(again) == 0 {
			return nil, errInvalid
		}
		now := r.at.s.now().UTC().Truncate(time.Second)
		run.Past = append(run.Past, PastTurn{run.Triggering, run.Conclusion, run.StartedAt, run.UpdatedAt})
		run.Attempt, run.Triggering, run.Status, run.Conclusion, run.Cancelled = run.Attempt+1, as, queued, "", false
		run.StartedAt, run.UpdatedAt = now, now
		for _, j := range again {
			run.add(w, NewJob{Key: j.Key, Name: j.Name, Needs: j.Needs, Environment: j.Environment})
		}
		return r.at.s.advance(w, repo, run), nil
	})
}

const maxAttempts = 51 // GitHub allows 50 re-runs

// again returns the jobs of the next attempt.
func (r *Run) again(failed bool) []*Job {
	var out []*Job
	keys := map[string]bool{}
	for _, j := range r.Latest(r.Attempt) {
		needed := slices.ContainsFunc(j.Needs, func(key string) bool { return keys[key] })
		if !failed || needed || j.Conclusion != success && j.Conclusion != skipped {
			keys[j.Key] = true
			out = append(out, j)
		}
	}
	return out
}

// Delete deletes a completed run. GitHub sends no event.
func (r Runs) Delete(run int64) error {
	return r.on(run, func(_ *world, repo *repository, run *Run) ([]Event, error) {
		if run.Status != completed {
			return nil, errInvalid
		}
		repo.Runs = slices.DeleteFunc(repo.Runs, func(other *Run) bool { return other == run })
		return nil, nil
	})
}

// Get returns a run; ok is false if there is none.
func (r Runs) Get(run int64) (out Run, ok bool) {
	r.at.look(func(_ *world, repo *repository) {
		if found := repo.run(run); found != nil {
			out, ok = copyRun(found), true
		}
	})
	return out, ok
}

// List returns all runs, oldest first.
func (r Runs) List() []Run {
	var out []Run
	r.at.look(func(_ *world, repo *repository) {
		for _, run := range repo.Runs {
			out = append(out, copyRun(run))
		}
	})
	return out
}

func (r Runs) on(id int64, fn func(w *world, repo *repository, run *Run) ([]Event, error)) error {
	return r.at.do(func(w *world, repo *repository) ([]Event, error) {
		run := repo.run(id)
		if run == nil {
			return nil, errNotFound
		}
		return fn(w, repo, run)
	})
}

func (r Runs) onJob(id int64, fn func(w *world, repo *repository, run *Run, j *Job) ([]Event, error)) error {
	return r.at.do(func(w *world, repo *repository) ([]Event, error) {
		run, j := repo.jobByID(id)
		if j == nil || j.Attempt != run.Attempt {
			return nil, errNotFound
		}
		return fn(w, repo, run, j)
	})
}

// advance queues or skips the jobs whose needs are completed, and completes the run after its last job.
func (s *Server) advance(w *world, repo *repository, run *Run) []Event {
	var events []Event
	for changed := true; changed; {
		changed = false
		for _, j := range run.Latest(run.Attempt) {
			if j.Status != "" {
				continue
			}
			switch run.readiness(j) {
			case queued:
				j.Status, j.CreatedAt, j.StartedAt = queued, s.now().UTC().Truncate(time.Second), s.now().UTC().Truncate(time.Second)
				events = append(events, s.jobEvent(w, repo, queued, run, j))
				changed = true
			case skipped:
				events = append(events, s.complete(w, repo, run, j, skipped))
				changed = true
			}
		}
	}
	if conclusion := run.conclude(); conclusion != "" && run.Status != completed {
		run.Status, run.Conclusion = completed, conclusion
		run.UpdatedAt = s.now().UTC().Truncate(time.Second)
		events = append(events, s.runEvent(w, repo, completed, run, run.Triggering))
	}
	return events
}

func (s *Server) complete(w *world, repo *repository, run *Run, j *Job, conclusion string) Event {
	now := s.now().UTC().Truncate(time.Second)
	j.Status, j.Conclusion, j.CompletedAt, run.UpdatedAt = completed, conclusion, &now, now
	return s.jobEvent(w, repo, completed, run, j)
}

// finish completes every open job of a run with one conclusion.
func (s *Server) finish(w *world, repo *repository, run *Run, conclusion string) []Event {
	var events []Event
	for _, j := range run.Latest(run.Attempt) {
		if j.Status != completed {
			events = append(events, s.complete(w, repo, run, j, conclusion))
		}
	}
	return append(events, s.advance(w, repo, run)...)
}

func (s *Server) runEvent(w *world, repo *repository, action string, run *Run, as string) Event {
	return Event{Name: "workflow_run", Action: action, Sender: as, Run: copyRun(run), OnHead: w.ofRun(repo, run), scene: w.scene(s, repo)}
}

func (s *Server) jobEvent(w *world, repo *repository, action string, run *Run, j *Job) Event {
	one := *j
	one.Steps = slices.Clone(j.Steps)
	return Event{Name: "workflow_job", Action: action, Sender: run.Triggering, Run: copyRun(run), Job: one, scene: w.scene(s, repo)}
}

// ofRun returns the open pull requests from the run's branch. Those from forks are never among them, as on GitHub.
func (w *world) ofRun(repo *repository, run *Run) []PullRequest {
	if run.HeadOwner != "" {
		return nil
	}
	return w.onHead(repo, run.HeadSHA)
}
