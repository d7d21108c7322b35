// Package runs is the state of workflow runs and their jobs in the stand-in GitHub, and the rules by which they change: what a job waits
// for, what becomes of it, how a run ends, what is run again, and who comes next in a concurrency group.
//
// It computes with values alone; it must never start anything or send anything.
package runs

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/devstack/github/workflow"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// Run is a workflow run with the jobs of all its attempts.
type Run struct {
	ID         int64  `json:"id"`
	Number     int    `json:"number"`   // run_number: counts the runs of one workflow
	Attempt    int    `json:"attempt"`  // starts at 1
	Workflow   string `json:"workflow"` // its name
	Path       string `json:"path"`     // of its file
	Event      string `json:"event"`
	Ref        string `json:"ref"`                 // refs/heads/main, refs/pull/41/merge; empty: a commit without a ref
	SHA        string `json:"sha"`                 // of the commit that is checked out
	HeadBranch string `json:"headBranch"`          // without refs/heads/
	HeadSHA    string `json:"headSha"`             // of a pull request's head, or SHA
	HeadOwner  string `json:"headOwner,omitempty"` // of a fork; empty: the repository's
	Pull       int    `json:"pull,omitempty"`      // number of the pull request; 0: none
	Title      string `json:"title"`
	Actor      string `json:"actor"`      // started the first attempt; its rights apply to all
	Triggering string `json:"triggering"` // started the current attempt
	Status     string `json:"status"`     // queued, pending, waiting, in_progress, completed
	Conclusion string `json:"conclusion"` // when completed
	Cancelled  bool   `json:"cancelled"`  // somebody asked for it
	OnlyFailed bool   `json:"onlyFailed"` // the current attempt runs the failed jobs again

	// Planned runs come from a workflow file, and their jobs are executed. The others do what they are told.
	Planned     bool                 `json:"planned,omitempty"`
	Payload     json.RawMessage      `json:"payload,omitempty"` // github.event
	Concurrency workflow.Concurrency `json:"concurrency,omitzero"`
	Problem     string               `json:"problem,omitempty"` // why it could not start

	CreatedAt time.Time `json:"createdAt"`
	StartedAt time.Time `json:"startedAt"` // of the current attempt
	UpdatedAt time.Time `json:"updatedAt"`
	Jobs      []*Job    `json:"jobs"`           // of all attempts
	Now       []int64   `json:"now"`            // jobs of the current attempt, also those that were kept from earlier ones
	Past      []Past    `json:"past,omitempty"` // earlier attempts, oldest first
}

// Past is what stays of an earlier attempt beside its jobs.
type Past struct {
	Triggering string    `json:"triggering"`
	Conclusion string    `json:"conclusion"`
	StartedAt  time.Time `json:"startedAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
	Jobs       []int64   `json:"jobs"`
}

// The states of runs, jobs and steps. A job without a state waits for the jobs that it needs; one that is Calling uses a reusable
// workflow and is not shown.
const (
	Queued     = "queued"
	Pending    = "pending" // another one of its concurrency group runs
	Waiting    = "waiting" // for the protection rules of its environment
	InProgress = "in_progress"
	Completed  = "completed"
	Calling    = "calling"
)

// The conclusions that the stand-in itself sets.
const (
	Success        = "success"
	Failure        = "failure"
	Cancelled      = "cancelled"
	Skipped        = "skipped"
	TimedOut       = "timed_out"
	StartupFailure = "startup_failure"
)

// Job returns a job of any attempt; nil: there is none.
func (r *Run) Job(id int64) *Job {
	return pick.First(r.Jobs, func(j *Job) bool { return j.ID == id })
}

// Latest returns the jobs of an attempt, those kept from earlier ones included, in the order of the workflow's file.
func (r *Run) Latest(attempt int) []*Job {
	ids := r.Now
	if attempt < r.Attempt {
		ids = r.Past[attempt-1].Jobs
	}
	var out []*Job
	for _, id := range ids {
		if j := r.Job(id); j != nil {
			out = append(out, j)
		}
	}
	return out
}

// Current returns the jobs of the current attempt.
func (r *Run) Current() []*Job { return r.Latest(r.Attempt) }

// Add adds a job to the current attempt, at the end or behind another one.
func (r *Run) Add(j *Job, behind int64) {
	j.Attempt = r.Attempt
	r.Jobs = append(r.Jobs, j)
	at := len(r.Now)
	if i := slices.Index(r.Now, behind); i >= 0 {
		at = i + 1
	}
	r.Now = slices.Insert(r.Now, at, j.ID)
}

// Conclude returns the conclusion of the current attempt; empty: a job is not completed yet.
func (r *Run) Conclude() string {
	var shown []*Job
	for _, j := range r.Current() {
		if j.Status != Completed {
			return ""
		}
		if !j.Calls {
			shown = append(shown, j)
		}
	}
	return conclusion(shown)
}

// conclusion returns that of several completed jobs.
func conclusion(jobs []*Job) string {
	count := map[string]int{}
	for _, j := range jobs {
		count[j.Conclusion]++
	}
	switch {
	case count[TimedOut] > 0:
		return TimedOut
	case count[Failure] > 0:
		return Failure
	case count[Cancelled] > 0:
		return Cancelled
	case count[Skipped] == len(jobs):
		return Skipped
	}
	return Success
}

// Phase returns the status that an open run has because of its jobs.
func (r *Run) Phase() string {
	phase := Queued
	for _, j := range r.Current() {
		switch {
		case j.Attempt == r.Attempt && (j.Status == InProgress || j.Status == Completed && !j.StartedAt.IsZero() && j.Conclusion != Skipped):
			return InProgress
		case j.Status == Waiting:
			phase = Waiting
		}
	}
	return phase
}

// next makes an attempt without jobs the current one.
func (r *Run) next(as string, now time.Time) {
	r.Past = append(r.Past, Past{r.Triggering, r.Conclusion, r.StartedAt, r.UpdatedAt, r.Now})
	r.Attempt, r.Triggering, r.Status, r.Conclusion, r.Cancelled, r.Now = r.Attempt+1, as, Queued, "", false, nil
	r.StartedAt, r.UpdatedAt = now, now
}

// MaxAttempts is the first attempt and the 50 re-runs that GitHub allows.
const MaxAttempts = 51

// Rerun starts the next attempt of a completed run, of all jobs or of those that did not succeed and those that need them. It reports
// whether there is anything to run again.
func (r *Run) Rerun(failed bool, as string, id func() int64, now time.Time) bool {
	jobs := r.Current()
	again := r.again(failed)
	if r.Status != Completed || r.Attempt >= MaxAttempts || len(again) == 0 {
		return false
	}
	r.next(as, now)
	r.OnlyFailed = failed
	for _, j := range jobs {
		switch {
		case !again[j.ID]:
			r.Now = append(r.Now, j.ID)
		case j.Caller != 0 || !failed && j.Instance && r.seen(j.Key):
			// A reusable workflow's jobs come again with the job that uses it, and a matrix's with its first one.
		default:
			r.Add(j.again(id(), failed, now), 0)
		}
	}
	return true
}

// seen reports whether the current attempt has a new job of a key.
func (r *Run) seen(key string) bool {
	return slices.ContainsFunc(r.Current(), func(j *Job) bool { return j.Key == key && j.Caller == 0 && j.Attempt == r.Attempt })
}

// again returns the jobs of the next attempt. A reusable workflow is run again as a whole.
func (r *Run) again(failed bool) map[int64]bool {
	out := map[int64]bool{}
	jobs := r.Current()
	for changed := true; changed; {
		changed = false
		for _, j := range jobs {
			if !out[j.ID] && (!failed || j.failed() || r.needsOne(j, out) || out[j.Caller] || r.calledOne(j, out)) {
				out[j.ID], changed = true, true
			}
		}
	}
	return out
}

func (r *Run) needsOne(j *Job, of map[int64]bool) bool {
	return slices.ContainsFunc(r.before(j), func(o *Job) bool { return of[o.ID] })
}

func (r *Run) calledOne(j *Job, of map[int64]bool) bool {
	return slices.ContainsFunc(r.Current(), func(o *Job) bool { return o.Caller == j.ID && of[o.ID] })
}

// Copy returns a copy that the original does not change.
func (r *Run) Copy() Run {
	out := *r
	out.Now, out.Past, out.Jobs = slices.Clone(r.Now), slices.Clone(r.Past), nil
	for _, j := range r.Jobs {
		one := j.Copy()
		out.Jobs = append(out.Jobs, &one)
	}
	return out
}
