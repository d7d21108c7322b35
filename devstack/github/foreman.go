package github

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/devstack/github/runs"
	"github.com/ocpctl/ocpctl/devstack/github/workflow"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// Engine reads workflow files and executes jobs. Package actions has the one that uses nektos/act.
type Engine interface {
	Triggers(ctx context.Context, order workflow.TriggersOrder) ([]workflow.Trigger, error)
	Plan(ctx context.Context, order workflow.PlanOrder) (workflow.Plan, error)
	Ready(ctx context.Context, order workflow.ReadyOrder) (workflow.Ready, error)
	Outputs(ctx context.Context, order workflow.OutputsOrder) (workflow.Outputs, error)
	// Start starts a job with a commit's files. hear gets each line that it writes, one after the other; the last one is Done.
	Start(ctx context.Context, id string, order workflow.JobOrder, files map[string]string, hear func(workflow.Line)) (Execution, error)
	// Repositories returns the folders of what workflows use from elsewhere, by owner/name.
	Repositories() map[string]string
}

// Execution is a job that runs.
type Execution interface {
	Cancel()               // as a person's cancel: the job may clean up
	Kill()                 // at once
	Done() <-chan struct{} // closed after the last line
}

const atOnce = 4 // jobs that run at the same time

// rouse tells the foreman that there may be something to do. Called with s.mu held or not.
func (s *Server) rouse() {
	select {
	case s.work <- struct{}{}:
	default: // it was told already
	}
}

// foreman starts the workflows of events, decides about jobs, and lets them run. It returns when ctx has ended and no job runs.
func (s *Server) foreman(ctx context.Context) {
	s.loseRunning()
	s.rouse()
	tick := time.NewTicker(time.Second) // for timeouts, and after an error
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			s.executions.stop()
			return
		case <-s.work:
		case <-tick.C:
		}
		for s.pass(ctx) && ctx.Err() == nil {
		}
	}
}

// pass does one round of work and reports whether something changed.
func (s *Server) pass(ctx context.Context) (changed bool) {
	for _, step := range []func(context.Context) bool{s.startRuns, s.decideJobs, s.returnCalls, s.moveUp, s.startJobs} {
		changed = step(ctx) || changed
	}
	s.executions.expire(s.now())
	return changed
}

// trouble remembers an error of the engine, for the pages, and reports whether there is one.
func (s *Server) trouble(err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastTrouble = ""
	if err != nil {
		s.lastTrouble = err.Error()
	}
	return err != nil
}

// Trouble says why workflows do not go on; empty: they do.
func (s *Server) Trouble() (why string) {
	s.look(func(*world) { why = s.lastTrouble })
	return why
}

// loseRunning fails the jobs that ran when the stand-in was stopped: their runner is gone.
func (s *Server) loseRunning() {
	_ = s.change(func(w *world) ([]Event, error) {
		var events []Event
		for _, repo := range w.Repos {
			for _, run := range repo.Runs {
				for _, j := range run.Current() {
					if run.Planned && j.Status == runs.InProgress {
						j.Annotations = append(j.Annotations, runs.Annotation{Level: "failure", Message: "The runner has received a shutdown signal. This can happen when the runner service is stopped, or a manually started runner is canceled."})
						events = append(events, s.complete(w, repo, run, j, runs.Failure)...)
						events = append(events, s.advance(w, repo, run)...)
					}
				}
			}
		}
		return events, nil
	})
}

// startRuns starts a run for each workflow that the oldest event starts.
func (s *Server) startRuns(ctx context.Context) bool {
	var o *occasion
	var files map[string]string
	s.look(func(w *world) {
		if len(w.Occasions) > 0 {
			o = w.Occasions[0]
			if repo := w.repoByID(o.Repo); repo != nil {
				files = repo.workflowFiles(o.SHA)
			}
		}
	})
	if o == nil {
		return false
	}
	triggers, err := s.triggered(ctx, o, files)
	if s.trouble(err) {
		return false // asked again later
	}
	var made []*Run
	for _, t := range triggers {
		run, err := s.plan(ctx, o, files, t)
		if s.trouble(err) {
			return false
		}
		made = append(made, run)
	}
	err = s.change(func(w *world) ([]Event, error) {
		w.Occasions = slices.DeleteFunc(w.Occasions, func(other *occasion) bool { return other == o })
		repo := w.repoByID(o.Repo)
		if repo == nil {
			return nil, nil
		}
		var events []Event
		for _, run := range made {
			events = append(events, s.admit(w, repo, run)...)
		}
		return events, nil
	})
	return err == nil
}

func (s *Server) triggered(ctx context.Context, o *occasion, files map[string]string) ([]workflow.Trigger, error) {
	if o.Only != "" {
		files = map[string]string{o.Only: files[o.Only]}
	}
	if len(files) == 0 {
		return nil, nil
	}
	return s.engine.Triggers(ctx, workflow.TriggersOrder{Files: files, Event: o.Event})
}

// plan makes the run of one workflow.
func (s *Server) plan(ctx context.Context, o *occasion, files map[string]string, t workflow.Trigger) (*Run, error) {
	now := s.moment()
	run := &Run{
		Attempt: 1, Planned: true, Workflow: t.Name, Path: t.Path, Event: o.Event.Name, Ref: o.Ref, SHA: o.SHA, HeadBranch: o.HeadBranch,
		HeadSHA: o.HeadSHA, HeadOwner: o.HeadOwner, Pull: o.Pull, Title: o.Title, Actor: o.Actor, Triggering: o.Actor, Status: runs.Queued,
		Payload: o.Payload, CreatedAt: now, StartedAt: now, UpdatedAt: now, Problem: t.Error,
	}
	if run.Problem != "" {
		return run, nil
	}
	var scope workflow.Scope
	s.look(func(w *world) {
		if repo := w.repoByID(o.Repo); repo != nil {
			scope = s.scope(w, repo, run, files)
		}
	})
	plan, err := s.engine.Plan(ctx, workflow.PlanOrder{Scope: scope})
	if err != nil {
		return nil, err
	}
	run.Title, run.Concurrency, run.Problem = cmp.Or(plan.Title, run.Title, run.Workflow), plan.Concurrency, plan.Error
	for _, j := range plan.Jobs {
		run.Jobs = append(run.Jobs, &Job{Key: j.Key, Name: j.Name, Needs: j.Needs, Labels: []string{}, Attempt: 1, CreatedAt: now})
	}
	return run, nil
}

// admit adds a run to its repository.
func (s *Server) admit(w *world, repo *repository, run *Run) []Event {
	run.ID, run.Number = w.id(), repo.nextRun(run.Path)
	for _, j := range run.Jobs {
		j.ID = w.id()
		run.Now = append(run.Now, j.ID)
	}
	repo.Runs = append(repo.Runs, run)
	s.forget(repo)
	events := []Event{s.runEvent(w, repo, "requested", run, run.Actor)}
	if run.Problem != "" {
		run.Status, run.Conclusion, run.Jobs, run.Now = runs.Completed, runs.StartupFailure, nil, nil
		return append(events, s.runEvent(w, repo, runs.Completed, run, run.Actor))
	}
	return append(append(events, s.enter(w, repo, run)...), s.advance(w, repo, run)...)
}

const keptRuns = 60 // of a repository: each has its event, and all are written with every change

// forget deletes the oldest completed runs of a repository that has too many.
func (s *Server) forget(repo *repository) {
	for over := len(repo.Runs) - keptRuns; over > 0; over-- {
		i := slices.IndexFunc(repo.Runs, func(r *Run) bool { return r.Status == runs.Completed })
		if i < 0 {
			return
		}
		for _, j := range repo.Runs[i].Jobs {
			s.logs.drop(j.ID)
		}
		repo.Runs = slices.Delete(repo.Runs, i, i+1)
	}
}

// scope is what the expressions of a run may refer to. Called with s.mu held.
func (s *Server) scope(w *world, repo *repository, run *Run, files map[string]string) workflow.Scope {
	return workflow.Scope{
		Path: run.Path, Files: files, Repositories: s.engine.Repositories(), Actor: run.Actor, Event: run.Event, Payload: run.Payload,
		Env: w.scene(s, repo).environment(*run),
	}
}

// openJob is a job of a planned run for which there is something to do.
type openJob struct {
	repo, run, job int64
	scope          workflow.Scope
	place          workflow.Place
	cancelled      bool
}

// openJobs returns the jobs that pick returns of the open planned runs.
func (s *Server) openJobs(pick func(w *world, repo *repository, run *Run) []*Job) (out []openJob) {
	s.look(func(w *world) {
		for _, repo := range w.Repos {
			for _, run := range repo.Runs {
				if !run.Planned || run.Status == runs.Completed || run.Status == runs.Pending || repo.Gone {
					continue
				}
				for _, j := range pick(w, repo, run) {
					out = append(out, openJob{
						repo.ID, run.ID, j.ID, s.scope(w, repo, run, repo.workflowFiles(run.SHA)), run.Place(j), run.Cancelled,
					})
				}
			}
		}
	})
	return out
}

// apply changes a job that is still as it was when it was found.
func (s *Server) apply(o openJob, status string, fn func(w *world, repo *repository, run *Run, j *Job) []Event) bool {
	done := false
	err := s.change(func(w *world) ([]Event, error) {
		repo := w.repoByID(o.repo)
		if repo == nil {
			return nil, nil
		}
		run, j := repo.jobByID(o.job)
		must.EndIf(j == nil || j.Status != status || run.Status == runs.Completed, errNothing)
		done = true
		return append(fn(w, repo, run, j), s.advance(w, repo, run)...), nil
	})
	return done && err == nil
}

// decideJobs decides about the jobs whose needs are completed.
func (s *Server) decideJobs(ctx context.Context) (changed bool) {
	for _, o := range s.openJobs(func(_ *world, _ *repository, run *Run) []*Job { return run.Undecided() }) {
		ready, err := s.engine.Ready(ctx, workflow.ReadyOrder{Scope: o.scope, Place: o.place, Cancelled: o.cancelled})
		if s.trouble(err) {
			return changed
		}
		changed = s.apply(o, "", func(w *world, repo *repository, run *Run, j *Job) []Event {
			open, conclusion := run.Decide(j, ready, w.id, s.moment())
			if conclusion != "" {
				return s.complete(w, repo, run, j, conclusion)
			}
			var events []Event
			for _, j := range open {
				events = append(events, s.open(w, repo, run, j)...)
			}
			return events
		}) || changed
	}
	return changed
}

// returnCalls completes the jobs whose reusable workflows are completed.
func (s *Server) returnCalls(ctx context.Context) (changed bool) {
	calling := s.openJobs(func(_ *world, _ *repository, run *Run) []*Job {
		return slices.DeleteFunc(run.Current(), func(j *Job) bool {
			_, _, ok := run.Returned(j)
			return j.Status != runs.Calling || !ok
		})
	})
	for _, o := range calling {
		var jobs map[string]workflow.Need
		s.look(func(w *world) {
			if run, j := w.repoByID(o.repo).jobByID(o.job); j != nil {
				_, jobs, _ = run.Returned(j)
			}
		})
		out, err := s.engine.Outputs(ctx, workflow.OutputsOrder{Scope: o.scope, Place: o.place, Jobs: jobs})
		if s.trouble(err) {
			return changed
		}
		changed = s.apply(o, runs.Calling, func(w *world, repo *repository, run *Run, j *Job) []Event {
			result, _, _ := run.Returned(j)
			j.Outputs = maps.Clone(out.Outputs)
			return s.complete(w, repo, run, j, result)
		}) || changed
	}
	return changed
}

// moveUp lets runs and jobs go on that waited for their concurrency group.
func (s *Server) moveUp(context.Context) (changed bool) {
	_ = s.change(func(w *world) ([]Event, error) {
		var events []Event
		for _, repo := range w.Repos {
			for _, run := range repo.Runs {
				if run.Status == runs.Pending && runs.Free(repo.Runs, runs.Member{Run: run}) {
					run.Status, changed = runs.Queued, true
					events = append(events, s.advance(w, repo, run)...)
				}
				for _, j := range run.Current() {
					if j.Status == runs.Pending && runs.Free(repo.Runs, runs.Member{Run: run, Job: j}) {
						changed = true
						events = append(events, s.queue(w, repo, run, j)...)
					}
				}
			}
		}
		must.EndIf(!changed, errNothing)
		return events, nil
	})
	return changed
}
