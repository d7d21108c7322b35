package runs

import (
	"maps"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/devstack/github/workflow"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// Job is one execution of a job of a workflow. Its ID is also that of its check run.
type Job struct {
	ID          int64    `json:"id"`
	Attempt     int      `json:"attempt"` // in which it was executed; a re-run of the failed jobs keeps the others
	Key         string   `json:"key"`     // in the workflow's file
	Name        string   `json:"name"`
	Needs       []string `json:"needs,omitempty"` // keys
	Labels      []string `json:"labels"`          // of runs-on
	Environment string   `json:"environment,omitempty"`
	Status      string   `json:"status"`
	Conclusion  string   `json:"conclusion"`

	Caller   int64          `json:"caller,omitempty"`   // job that uses the reusable workflow which has this one; 0: none
	Calls    bool           `json:"calls,omitempty"`    // uses a reusable workflow
	Instance bool           `json:"instance,omitempty"` // its matrix and name are known
	Matrix   map[string]any `json:"matrix,omitempty"`
	Index    int            `json:"index,omitempty"` // among the jobs of its matrix
	Total    int            `json:"total,omitempty"` // of them
	Options

	Outputs     map[string]string `json:"outputs,omitempty"`
	Deployment  int64             `json:"deployment,omitempty"` // for its environment
	Reviews     []Review          `json:"reviews,omitempty"`    // by the rules of its environment
	Steps       []Step            `json:"steps,omitempty"`
	Annotations []Annotation      `json:"annotations,omitempty"`

	CreatedAt   time.Time  `json:"createdAt"`
	StartedAt   time.Time  `json:"startedAt"` // zero: never
	CompletedAt *time.Time `json:"completedAt,omitempty"`
}

// Options are what the workflow's file says about how the job is executed.
type Options struct {
	Concurrency workflow.Concurrency `json:"concurrency,omitzero"`
	Timeout     time.Duration        `json:"timeout,omitempty"`
	IDToken     bool                 `json:"idToken,omitempty"`  // permissions: id-token: write
	Workflow    string               `json:"workflow,omitempty"` // the reusable workflow that has the job
	FailFast    bool                 `json:"failFast,omitempty"`
	MaxParallel int                  `json:"maxParallel,omitempty"`
}

// Step is a step of a job.
type Step struct {
	Number      int        `json:"number"`
	Name        string     `json:"name"`
	Status      string     `json:"status"`
	Conclusion  string     `json:"conclusion"`
	Summary     string     `json:"summary,omitempty"` // Markdown
	StartedAt   *time.Time `json:"startedAt,omitempty"`
	CompletedAt *time.Time `json:"completedAt,omitempty"`
}

// Annotation is what a job says about itself or a file.
type Annotation struct {
	Level   string `json:"level"` // notice, warning, failure
	Title   string `json:"title,omitempty"`
	Message string `json:"message"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
}

// Review is what became of one protection rule of the job's environment.
type Review struct {
	Rule     int64    `json:"rule"`
	State    string   `json:"state"` // empty, approved, rejected
	Comments []string `json:"comments,omitempty"`
	By       string   `json:"by,omitempty"`
}

// The states of a review.
const (
	Approved = "approved"
	Rejected = "rejected"
)

// MaxComments is how often a rule may report without a decision.
// https://docs.github.com/actions/how-tos/deploy/configure-and-manage-deployments/create-custom-protection-rules
const MaxComments = 10

// Reviewed reports whether every rule approved, and whether one rejected.
func (j *Job) Reviewed() (approved, rejected bool) {
	approved = true
	for _, one := range j.Reviews {
		approved = approved && one.State == Approved
		rejected = rejected || one.State == Rejected
	}
	return approved, rejected
}

// Shown reports whether GitHub shows the job: its needs are completed.
func (j *Job) Shown() bool { return j.Status != "" && !j.Calls }

func (j *Job) failed() bool {
	return j.Status == Completed && j.Conclusion != Success && j.Conclusion != Skipped
}

// Copy returns a copy that the original does not change.
func (j *Job) Copy() Job {
	out := *j
	out.Steps, out.Annotations, out.Outputs = slices.Clone(j.Steps), slices.Clone(j.Annotations), maps.Clone(j.Outputs)
	out.Reviews = slices.Clone(j.Reviews)
	return out
}

// again returns the job as it starts again. Of a matrix, one that failed is run again alone.
func (j *Job) again(id int64, alone bool, now time.Time) *Job {
	out := &Job{ID: id, Key: j.Key, Name: j.Name, Needs: j.Needs, Labels: j.Labels, CreatedAt: now, Environment: j.Environment}
	if alone && j.Instance {
		out.Instance, out.Matrix = true, j.Matrix
	} else if j.Instance {
		out.Name, out.Environment = j.Key, ""
	}
	return out
}

// before returns the jobs that a job needs.
func (r *Run) before(j *Job) []*Job {
	return pick.Every(r.Current(), func(o *Job) bool { return o.Caller == j.Caller && slices.Contains(j.Needs, o.Key) })
}

// Undecided returns the jobs whose needs are completed and of which nothing is known yet.
func (r *Run) Undecided() []*Job {
	var out []*Job
	for _, j := range r.Current() {
		open := func(o *Job) bool { return o.Status != Completed }
		if j.Status == "" && !slices.ContainsFunc(r.before(j), open) {
			out = append(out, j)
		}
	}
	return out
}

// Succeeded reports whether every job that a job needs succeeded.
func (r *Run) Succeeded(j *Job) bool {
	return !slices.ContainsFunc(r.before(j), func(o *Job) bool { return o.Conclusion != Success })
}

// Place returns what expressions of the job may refer to.
func (r *Run) Place(j *Job) workflow.Place {
	out := workflow.Place{Key: j.Key, Matrix: j.Matrix, Index: j.Index, Total: j.Total, Needs: r.results(j.Caller)}
	if caller := r.Job(j.Caller); caller != nil {
		place := r.Place(caller)
		out.Caller = &place
	}
	return out
}

// results are those of all completed jobs of one workflow file. The result of a matrix is that of all its jobs, and its outputs are
// those of the last one that has them.
func (r *Run) results(caller int64) map[string]workflow.Need {
	byKey := map[string][]*Job{}
	out := map[string]workflow.Need{}
	for _, j := range r.Current() {
		if j.Caller != caller || j.Status != Completed {
			continue
		}
		byKey[j.Key] = append(byKey[j.Key], j)
		outputs := out[j.Key].Outputs
		if outputs == nil {
			outputs = map[string]string{}
		}
		for name, value := range j.Outputs {
			if value != "" || outputs[name] == "" {
				outputs[name] = value
			}
		}
		result := conclusion(byKey[j.Key])
		if result == TimedOut {
			result = Failure
		}
		out[j.Key] = workflow.Need{Result: result, Outputs: outputs}
	}
	return out
}

// Called returns the jobs of the reusable workflow that a job uses.
func (r *Run) Called(caller *Job) []*Job {
	return pick.Every(r.Current(), func(j *Job) bool { return j.Caller == caller.ID })
}

// Returned returns the results of a reusable workflow; ok is false until its last job is completed.
func (r *Run) Returned(caller *Job) (result string, jobs map[string]workflow.Need, ok bool) {
	all := r.Called(caller)
	if slices.ContainsFunc(all, func(j *Job) bool { return j.Status != Completed }) {
		return "", nil, false
	}
	return conclusion(all), r.results(caller.ID), true
}

// Siblings returns the other jobs of a job's matrix.
func (r *Run) Siblings(j *Job) []*Job {
	return slices.DeleteFunc(r.Current(), func(o *Job) bool { return o == j || o.Key != j.Key || o.Caller != j.Caller })
}
