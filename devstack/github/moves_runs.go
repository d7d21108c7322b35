package github

import (
	"slices"

	"github.com/ocpctl/ocpctl/devstack/github/runs"
)

// advance queues or skips the jobs of a run that does what it is told, whose needs are completed, and completes any run after its last
// job. The jobs of a planned run are decided by the foreman.
func (s *Server) advance(w *world, repo *repository, run *Run) []Event {
	var events []Event
	for !run.Planned {
		open := run.Undecided()
		if len(open) == 0 {
			break
		}
		for _, j := range open {
			if run.Succeeded(j) {
				events = append(events, s.open(w, repo, run, j)...)
			} else {
				events = append(events, s.complete(w, repo, run, j, runs.Skipped)...)
			}
		}
	}
	if conclusion := run.Conclude(); conclusion != "" && run.Status != runs.Completed {
		run.Status, run.Conclusion, run.UpdatedAt = runs.Completed, conclusion, s.moment()
		events = append(events, s.runEvent(w, repo, runs.Completed, run, run.Triggering))
	} else if run.Status != runs.Completed && run.Status != runs.Pending {
		run.Status = run.Phase()
	}
	s.rouse()
	return events
}

func (s *Server) queue(w *world, repo *repository, run *Run, j *Job) []Event {
	j.Status, j.CreatedAt = runs.Queued, s.moment()
	return append(s.deployJob(w, repo, run, j, "queued"), s.jobEvent(w, repo, runs.Queued, run, j))
}

// begin lets a job run.
func (s *Server) begin(w *world, repo *repository, run *Run, j *Job) []Event {
	now := s.moment()
	j.Status, j.StartedAt, run.UpdatedAt = runs.InProgress, now, now
	var events []Event
	if run.Status != runs.InProgress {
		run.Status = runs.InProgress
		events = append(events, s.runEvent(w, repo, runs.InProgress, run, run.Triggering))
	}
	return append(append(events, s.jobEvent(w, repo, runs.InProgress, run, j)), s.deployJob(w, repo, run, j, "in_progress")...)
}

// complete completes a job, and ends the others of its matrix if it failed.
func (s *Server) complete(w *world, repo *repository, run *Run, j *Job, conclusion string) []Event {
	now := s.moment()
	j.Complete(conclusion, now)
	run.UpdatedAt = now
	var events []Event
	if !j.Calls {
		events = append(events, s.jobEvent(w, repo, runs.Completed, run, j))
		events = append(events, s.deployJob(w, repo, run, j, ending(conclusion))...)
	}
	for _, other := range run.Hopeless(j) {
		events = append(events, s.cancelJob(w, repo, run, other)...)
	}
	return events
}

// ending is the state of a deployment after its job.
func ending(conclusion string) string {
	if conclusion == runs.Success {
		return "success"
	}
	return "failure"
}

// finish completes every open job of a run with one conclusion.
func (s *Server) finish(w *world, repo *repository, run *Run, conclusion string) []Event {
	var events []Event
	for _, j := range run.Current() {
		if j.Status != runs.Completed {
			events = append(events, s.complete(w, repo, run, j, conclusion)...)
		}
	}
	if run.Status == runs.Pending {
		run.Status = runs.Queued
	}
	return append(events, s.advance(w, repo, run)...)
}

// cancel cancels a run. Jobs that are executed get the time to clean up, and those that run even then are decided by the foreman.
func (s *Server) cancel(w *world, repo *repository, run *Run) []Event {
	run.Cancelled = true
	if !run.Planned || run.Status == runs.Pending || len(run.Jobs) == 0 {
		return s.finish(w, repo, run, runs.Cancelled)
	}
	var events []Event
	for _, j := range run.Current() {
		events = append(events, s.cancelJob(w, repo, run, j)...)
	}
	return append(events, s.advance(w, repo, run)...)
}

// cancelJob cancels a job that waits, or tells the one that runs.
func (s *Server) cancelJob(w *world, repo *repository, run *Run, j *Job) []Event {
	switch j.Status {
	case runs.Queued, runs.Waiting, runs.Pending:
		return s.complete(w, repo, run, j, runs.Cancelled)
	case runs.InProgress:
		if !s.interrupt(j.ID) {
			return s.complete(w, repo, run, j, runs.Cancelled)
		}
	}
	return nil
}

// enter lets a run wait for its concurrency group, and cancels those that it replaces.
func (s *Server) enter(w *world, repo *repository, run *Run) []Event {
	out, wait := runs.Enter(repo.Runs, runs.Member{Run: run})
	if wait {
		run.Status = runs.Pending
	}
	return s.replace(w, repo, out)
}

func (s *Server) replace(w *world, repo *repository, out []runs.Member) []Event {
	var events []Event
	for _, m := range out {
		if m.Job == nil {
			events = append(events, s.cancel(w, repo, m.Run)...)
			continue
		}
		events = append(events, s.cancelJob(w, repo, m.Run, m.Job)...)
		events = append(events, s.advance(w, repo, m.Run)...)
	}
	return events
}

func (s *Server) runEvent(w *world, repo *repository, action string, run *Run, as string) Event {
	return Event{Name: "workflow_run", Action: action, Sender: as, Run: run.Copy(), OnHead: w.ofRun(repo, run), scene: w.scene(s, repo)}
}

func (s *Server) jobEvent(w *world, repo *repository, action string, run *Run, j *Job) Event {
	e := Event{Name: "workflow_job", Action: action, Sender: run.Triggering, Run: run.Copy(), Job: j.Copy(), scene: w.scene(s, repo)}
	if d := repo.deployment(j.Deployment); d != nil {
		e.Deploy = *d
		e.Deploy.Statuses = slices.Clone(d.Statuses)
	}
	return e
}

// ofRun returns the open pull requests from the run's branch. Those from forks are never among them, as on GitHub.
func (w *world) ofRun(repo *repository, run *Run) []PullRequest {
	if run.HeadOwner != "" {
		return nil
	}
	return w.onHead(repo, run.HeadSHA)
}
