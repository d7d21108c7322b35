package github

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/devstack/github/runs"
	"github.com/ocpctl/ocpctl/devstack/github/workflow"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

var errNothing = errors.New("nothing changed")

// cleanUp is how long a cancelled job may still run: GitHub ends it after five minutes.
const cleanUp = 5 * time.Minute

// executions are the jobs that run. Their lines come from goroutines of the engine, which stop waits for.
type executions struct {
	mu      sync.Mutex
	running map[int64]*execution
}

type execution struct {
	Execution
	deadline time.Time // after which the job is cancelled, and then killed
	stopping bool
	expired  bool
}

// room reports whether one more job may run.
func (e *executions) room() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.running) < atOnce
}

func (e *executions) add(job int64, one Execution, deadline time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running == nil {
		e.running = map[int64]*execution{}
	}
	e.running[job] = &execution{Execution: one, deadline: deadline}
}

func (e *executions) remove(job int64) (expired bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if one := e.running[job]; one != nil {
		expired = one.expired
	}
	delete(e.running, job)
	return expired
}

// expire cancels the jobs whose time is over, and kills those that had their time to clean up.
func (e *executions) expire(now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, one := range e.running {
		switch {
		case now.Before(one.deadline):
		case one.stopping:
			one.Kill()
		default:
			one.expired, one.stopping, one.deadline = true, true, now.Add(cleanUp)
			one.Cancel()
		}
	}
}

// stop kills every job and waits for its end.
func (e *executions) stop() {
	e.mu.Lock()
	running := maps.Clone(e.running)
	e.mu.Unlock()
	for _, one := range running {
		one.Kill()
	}
	for _, one := range running {
		<-one.Done()
	}
}

// interrupt cancels a job that runs; it reports whether one does.
func (s *Server) interrupt(job int64) bool {
	s.executions.mu.Lock()
	defer s.executions.mu.Unlock()
	one := s.executions.running[job]
	if one == nil {
		return false
	}
	if !one.stopping {
		one.stopping, one.deadline = true, s.now().Add(cleanUp)
		one.Cancel()
	}
	return true
}

// end kills a job that runs.
func (s *Server) end(job int64) {
	s.executions.mu.Lock()
	defer s.executions.mu.Unlock()
	if one := s.executions.running[job]; one != nil {
		one.Kill()
	}
}

// startJobs lets queued jobs run as long as there is room.
func (s *Server) startJobs(ctx context.Context) (changed bool) {
	queued := s.openJobs(func(_ *world, _ *repository, run *Run) []*Job {
		return pick.Every(run.Current(), func(j *Job) bool { return j.Status == runs.Queued && run.Room(j) })
	})
	for _, o := range queued {
		if !s.executions.room() {
			return changed
		}
		changed = s.startJob(ctx, o) || changed
	}
	return changed
}

// startJob lets one job run: it is in progress before anything of it happens.
func (s *Server) startJob(ctx context.Context, o openJob) bool {
	var files map[string]string
	var timeout time.Duration
	order := workflow.JobOrder{Scope: o.scope, Place: o.place, Private: map[string]string{}}
	listener := &listener{s: s, job: o, logs: s.logs.of(o.job)}
	begun := s.apply(o, runs.Queued, func(w *world, repo *repository, run *Run, j *Job) []Event {
		if !run.Room(j) {
			return nil
		}
		if files, timeout = repo.Commits[run.SHA], j.Timeout; files == nil {
			j.Annotations = append(j.Annotations, runs.Annotation{Level: "failure", Message: "The commit " + run.SHA + " is gone."})
			return s.complete(w, repo, run, j, runs.Failure)
		}
		if mayIdentify(*run, *j) {
			var token string
			order.Private, token = s.idTokenAccess(j.ID)
			listener.mask(token)
		}
		return s.begin(w, repo, run, j)
	})
	if !begun || files == nil {
		return false
	}
	one, err := s.engine.Start(ctx, itoa(o.job), order, files, listener.hear)
	if err != nil {
		listener.hear(workflow.Line{Kind: workflow.Problem, Step: -1, At: s.now(), Text: err.Error()})
		listener.hear(workflow.Line{Kind: workflow.Done, Step: -2, At: s.now(), Result: runs.Failure})
		return true
	}
	s.executions.add(o.job, one, s.now().Add(timeout))
	select {
	case <-one.Done(): // it was quicker than this line
		s.executions.remove(o.job)
	default:
	}
	return true
}
