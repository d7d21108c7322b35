// Package workflow is what the stand-in GitHub and the program tools/act tell each other about workflow files: which of them an event
// starts, which jobs they have, what becomes of a job, and what happens while it runs.
//
// The program alone reads workflow files and evaluates expressions, with nektos/act. The stand-in keeps the state and decides in which
// order jobs run; it must never read a workflow file itself.
package workflow

import (
	"encoding/json"
	"time"
)

// Event is something that happened in a repository and may start workflows.
type Event struct {
	Name    string   `json:"name"`   // push, pull_request, …
	Action  string   `json:"action"` // the activity, or the type of a repository_dispatch
	Branch  string   `json:"branch"` // pushed to; of a pull request: its base
	Paths   []string `json:"paths"`  // changed
	Default string   `json:"default"`
}

// TriggersOrder asks which workflow files an event starts.
type TriggersOrder struct {
	Files map[string]string `json:"files"` // path → content
	Event Event             `json:"event"`
}

// Trigger is a workflow file that the event starts. One that cannot be read is started too, and fails.
type Trigger struct {
	Path  string `json:"path"`
	Name  string `json:"name"`  // of the workflow; without one the path
	Error string `json:"error"` // what is wrong with the file
}

// Scope is what expressions may refer to in a run.
type Scope struct {
	Path         string            `json:"path"`         // of the workflow file
	Files        map[string]string `json:"files"`        // path → content of the commit's workflow files
	Repositories map[string]string `json:"repositories"` // owner/name → folder, for what is used from elsewhere
	Actor        string            `json:"actor"`
	Event        string            `json:"event"`   // its name
	Payload      json.RawMessage   `json:"payload"` // github.event
	Env          map[string]string `json:"env"`     // GITHUB_…
}

// Need is a completed job that another one needs, directly or not.
type Need struct {
	Result  string            `json:"result"`
	Outputs map[string]string `json:"outputs"`
}

// Concurrency is a group of which one member runs at a time.
type Concurrency struct {
	Group  string `json:"group,omitempty"`
	Cancel bool   `json:"cancel,omitempty"` // cancel-in-progress
}

// PlanOrder asks for the jobs of a workflow.
type PlanOrder struct{ Scope }

// Plan is a workflow as it starts.
type Plan struct {
	Title       string      `json:"title"` // run-name; may be empty
	Concurrency Concurrency `json:"concurrency"`
	Jobs        []PlanJob   `json:"jobs"` // in the order of the file
	Error       string      `json:"error"`
}

// PlanJob is a job before anything of it is evaluated.
type PlanJob struct {
	Key   string   `json:"key"`
	Name  string   `json:"name"` // as written, or the key
	Needs []string `json:"needs"`
}

// Place says which job of a run is meant. A job of a reusable workflow has a Caller.
type Place struct {
	Key    string          `json:"key"`
	Matrix map[string]any  `json:"matrix,omitempty"`
	Index  int             `json:"index,omitempty"` // among the jobs of its matrix
	Total  int             `json:"total,omitempty"` // of them; 0: not known yet
	Needs  map[string]Need `json:"needs,omitempty"`
	Caller *Place          `json:"caller,omitempty"`
}

// ReadyOrder asks what becomes of a job whose needs are completed.
type ReadyOrder struct {
	Scope
	Place
	Cancelled bool `json:"cancelled"` // the run was cancelled
}

// Ready is what becomes of a job.
type Ready struct {
	Run         bool       `json:"run"` // false: skipped
	Instances   []Instance `json:"instances"`
	FailFast    bool       `json:"failFast"`
	MaxParallel int        `json:"maxParallel"` // 0: no limit
	Calls       []PlanJob  `json:"calls"`       // the jobs of the reusable workflow that it uses
	Error       string     `json:"error"`
}

// Instance is one job of a matrix, or the only one.
type Instance struct {
	Name        string         `json:"name"`
	Matrix      map[string]any `json:"matrix"`
	Labels      []string       `json:"labels"` // of runs-on
	Environment string         `json:"environment"`
	Concurrency Concurrency    `json:"concurrency"`
	Timeout     time.Duration  `json:"timeout"`  // timeout-minutes, or 6 h
	IDToken     bool           `json:"idToken"`  // permissions: id-token: write
	Steps       []string       `json:"steps"`    // names as they are written
	Workflow    string         `json:"workflow"` // file that has the job, e.g. owner/name/.github/workflows/x.yml@v1; empty: the run's own
}

// OutputsOrder asks for the outputs of a job that uses a reusable workflow, whose jobs are completed.
type OutputsOrder struct {
	Scope
	Place                 // the calling job
	Jobs  map[string]Need `json:"jobs"` // of the reusable workflow
}

// Outputs are a job's outputs.
type Outputs struct {
	Outputs map[string]string `json:"outputs"`
	Error   string            `json:"error"`
}

// JobOrder is a job to execute.
type JobOrder struct {
	Scope
	Place
	Source string `json:"source"` // folder with the commit's files
	Cache  string `json:"cache"`  // folder that stays between jobs
	// Env is added to what every step sees; nothing of it is ever logged.
	Private map[string]string `json:"private"`
}

// Line is one of the lines that the program writes while a job runs.
type Line struct {
	At      time.Time         `json:"at"`
	Kind    Kind              `json:"kind"`
	Step    int               `json:"step"`            // index in Instance.Steps; -1: sets up the job, -2: completes it
	Inner   bool              `json:"inner,omitempty"` // of a step inside a composite action
	Stage   string            `json:"stage,omitempty"` // Pre, Main, Post
	Text    string            `json:"text,omitempty"`
	Result  string            `json:"result,omitempty"`
	Params  map[string]string `json:"params,omitempty"`
	Outputs map[string]string `json:"outputs,omitempty"`
}

// Kind says what a Line is.
type Kind string

// The kinds of lines.
const (
	Began   Kind = "began"   // a step; Text is its name
	Ended   Kind = "ended"   // a step; with Result
	Output  Kind = "output"  // a line of a program's output
	Command Kind = "command" // a workflow command: Params has its parameters, and "command" its name
	Summary Kind = "summary" // Text is Markdown
	Remark  Kind = "remark"  // of act itself
	Problem Kind = "problem" // an error of act itself
	Done    Kind = "done"    // the job; with Result and Outputs
)
