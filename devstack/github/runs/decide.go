package runs

import (
	"time"

	"github.com/ocpctl/ocpctl/devstack/github/workflow"
)

// Decide applies what becomes of a job whose needs are completed. It returns the jobs that are to be opened now, which are the job
// itself and the others of its matrix, or the conclusion with which the job ends at once. id makes numbers.
func (r *Run) Decide(j *Job, ready workflow.Ready, id func() int64, now time.Time) (open []*Job, conclusion string) {
	switch {
	case ready.Error != "":
		return nil, j.fail(ready.Error)
	case !ready.Run && r.Cancelled:
		return nil, Cancelled
	case !ready.Run || len(ready.Instances) == 0:
		return nil, Skipped
	}
	return r.expand(j, ready, id, now)
}

func (j *Job) fail(why string) string {
	j.Annotations = append(j.Annotations, Annotation{Level: "failure", Message: why})
	return Failure
}

// expand gives the job its first combination and adds a job for each other one.
func (r *Run) expand(j *Job, ready workflow.Ready, id func() int64, now time.Time) ([]*Job, string) {
	prefix := ""
	if caller := r.Job(j.Caller); caller != nil {
		prefix = caller.Name + " / "
	}
	if j.Instance { // one of a matrix that is run again alone
		for i, one := range ready.Instances {
			if prefix+one.Name == j.Name {
				j.Index, j.Total = i, len(ready.Instances)
				j.fill(one, ready, prefix)
				return r.opened(j, ready, id, now), ""
			}
		}
		return nil, j.fail("The matrix has no such job any more.")
	}
	var out []*Job
	last := j
	for i, one := range ready.Instances {
		next := j
		if i > 0 {
			next = &Job{ID: id(), Key: j.Key, Needs: j.Needs, Caller: j.Caller, CreatedAt: now}
			r.Add(next, last.ID)
		}
		next.Index, next.Total = i, len(ready.Instances)
		next.fill(one, ready, prefix)
		last = next
		out = append(out, r.opened(next, ready, id, now)...)
	}
	return out, ""
}

// opened returns the job, or makes the jobs of the reusable workflow that it uses.
func (r *Run) opened(j *Job, ready workflow.Ready, id func() int64, now time.Time) []*Job {
	if len(ready.Calls) == 0 {
		return []*Job{j}
	}
	j.Calls, j.Status = true, Calling
	last := j.ID
	for _, inner := range ready.Calls {
		next := &Job{
			ID: id(), Key: inner.Key, Name: j.Name + " / " + inner.Name, Needs: inner.Needs, Caller: j.ID, CreatedAt: now, Labels: []string{},
		}
		r.Add(next, last)
		last = next.ID
	}
	return nil
}

func (j *Job) fill(one workflow.Instance, ready workflow.Ready, prefix string) {
	j.Name, j.Matrix, j.Labels, j.Environment, j.Instance = prefix+one.Name, one.Matrix, one.Labels, one.Environment, true
	j.Options = Options{
		Concurrency: one.Concurrency, Timeout: one.Timeout, IDToken: one.IDToken, Workflow: one.Workflow,
		FailFast: ready.FailFast, MaxParallel: ready.MaxParallel,
	}
	j.Steps = nil
	add := func(name string) {
		j.Steps = append(j.Steps, Step{Number: len(j.Steps) + 1, Name: name, Status: Queued})
	}
	add("Set up job")
	for _, name := range one.Steps {
		add(name)
	}
}

// Complete completes a job and its steps.
func (j *Job) Complete(conclusion string, now time.Time) {
	j.Status, j.Conclusion, j.CompletedAt = Completed, conclusion, &now
	for i := range j.Steps {
		step := &j.Steps[i]
		switch step.Status {
		case Queued:
			step.Conclusion = Skipped
		case InProgress:
			step.Conclusion, step.CompletedAt = conclusion, &now
		}
		step.Status = Completed
	}
}

// Room reports whether the job's matrix allows one more of its jobs to run.
func (r *Run) Room(j *Job) bool {
	if j.MaxParallel == 0 {
		return true
	}
	running := 0
	for _, o := range r.Siblings(j) {
		if o.Status == InProgress {
			running++
		}
	}
	return running < j.MaxParallel
}

// Hopeless returns the open jobs of a matrix that end because this one failed.
func (r *Run) Hopeless(j *Job) []*Job {
	var out []*Job
	if j.FailFast && j.Conclusion == Failure {
		for _, o := range r.Siblings(j) {
			if o.Status != Completed && o.Attempt == r.Attempt {
				out = append(out, o)
			}
		}
	}
	return out
}
