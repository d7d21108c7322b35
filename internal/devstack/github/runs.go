package github

import (
	"slices"
	"time"
)

// Run is a workflow run with the jobs of all its attempts.
type Run struct {
	ID         int64      `json:"id"`
	Number     int        `json:"number"`   // run_number: counts the runs of one workflow
	Attempt    int        `json:"attempt"`  // starts at 1
	Workflow   string     `json:"workflow"` // its name
	Path       string     `json:"path"`     // of its file
	Event      string     `json:"event"`
	Ref        string     `json:"ref"`                 // refs/heads/main, refs/pull/41/merge
	SHA        string     `json:"sha"`                 // of the commit that is checked out
	HeadBranch string     `json:"headBranch"`          // without refs/heads/
	HeadSHA    string     `json:"headSha"`             // of a pull request's head, or SHA
	HeadOwner  string     `json:"headOwner,omitempty"` // of a fork; empty: the repository's
	Pull       int        `json:"pull,omitempty"`      // number of the pull request; 0: none
	Title      string     `json:"title"`
	Actor      string     `json:"actor"`      // started the first attempt; its rights apply to all
	Triggering string     `json:"triggering"` // started the current attempt
	Status     string     `json:"status"`     // queued, in_progress, waiting, completed
	Conclusion string     `json:"conclusion"` // when completed
	Cancelled  bool       `json:"cancelled"`  // somebody asked for it
	CreatedAt  time.Time  `json:"createdAt"`
	StartedAt  time.Time  `json:"startedAt"` // of the current attempt
	UpdatedAt  time.Time  `json:"updatedAt"`
	Jobs       []*Job     `json:"jobs"`
	Past       []PastTurn `json:"past,omitempty"` // earlier attempts, oldest first
}

// PastTurn is what stays of an earlier attempt beside its jobs.
type PastTurn struct {
	Triggering string    `json:"triggering"`
	Conclusion string    `json:"conclusion"`
	StartedAt  time.Time `json:"startedAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
}

// Job is one execution of a job of a workflow. Its ID is also that of its check run.
type Job struct {
	ID          int64      `json:"id"`
	Attempt     int        `json:"attempt"` // in which it was executed; a re-run of the failed jobs keeps the others
	Key         string     `json:"key"`     // in the workflow's file
	Name        string     `json:"name"`
	Needs       []string   `json:"needs,omitempty"` // keys
	Labels      []string   `json:"labels"`          // of runs-on
	Environment string     `json:"environment,omitempty"`
	Status      string     `json:"status"` // empty until its needs are completed; then queued, waiting, in_progress, completed
	Conclusion  string     `json:"conclusion"`
	CreatedAt   time.Time  `json:"createdAt"`
	StartedAt   time.Time  `json:"startedAt"`
	CompletedAt *time.Time `json:"completedAt,omitempty"`
	Steps       []Step     `json:"steps,omitempty"`
}

// Step is a step of a job.
type Step struct {
	Number      int        `json:"number"`
	Name        string     `json:"name"`
	Status      string     `json:"status"`
	Conclusion  string     `json:"conclusion"`
	StartedAt   *time.Time `json:"startedAt,omitempty"`
	CompletedAt *time.Time `json:"completedAt,omitempty"`
}

// The states and conclusions of runs, jobs and steps that the stand-in itself sets.
const (
	queued     = "queued"
	inProgress = "in_progress"
	completed  = "completed"
	success    = "success"
	failure    = "failure"
	cancelled  = "cancelled"
	skipped    = "skipped"
)

// Latest returns the newest execution of each job as of an attempt, in the order of the workflow's file.
func (r *Run) Latest(attempt int) []*Job {
	var out []*Job
	for _, j := range r.Jobs {
		if j.Attempt > attempt {
			continue
		}
		if i := slices.IndexFunc(out, func(o *Job) bool { return o.Name == j.Name }); i >= 0 {
			out[i] = j
		} else {
			out = append(out, j)
		}
	}
	return out
}

// job returns the newest execution of a job by its key.
func (r *Run) job(key string) []*Job {
	return slices.DeleteFunc(r.Latest(r.Attempt), func(j *Job) bool { return j.Key != key })
}

// jobByID returns a job and its run.
func (r *repository) jobByID(id int64) (*Run, *Job) {
	for _, run := range r.Runs {
		for _, j := range run.Jobs {
			if j.ID == id {
				return run, j
			}
		}
	}
	return nil, nil
}

func (r *repository) run(id int64) *Run {
	for _, run := range r.Runs {
		if run.ID == id {
			return run
		}
	}
	return nil
}

// readiness says what becomes of a job whose needs have changed: it waits for them, runs, or is skipped because one of them did not
// succeed.
func (r *Run) readiness(j *Job) string {
	state := queued
	for _, key := range j.Needs {
		for _, before := range r.job(key) {
			if before.Status != completed {
				return ""
			}
			if before.Conclusion != success {
				state = skipped
			}
		}
	}
	return state
}

// conclude returns the conclusion of the current attempt; empty: a job is not completed yet.
func (r *Run) conclude() string {
	count := map[string]int{}
	jobs := r.Latest(r.Attempt)
	for _, j := range jobs {
		if j.Status != completed {
			return ""
		}
		count[j.Conclusion]++
	}
	switch {
	case count["timed_out"] > 0:
		return "timed_out"
	case count[failure] > 0:
		return failure
	case count[cancelled] > 0:
		return cancelled
	case count[skipped] == len(jobs):
		return skipped
	}
	return success
}

func copyRun(r *Run) Run {
	out := *r
	out.Jobs = nil
	for _, j := range r.Jobs {
		one := *j
		one.Steps = slices.Clone(j.Steps)
		out.Jobs = append(out.Jobs, &one)
	}
	return out
}
