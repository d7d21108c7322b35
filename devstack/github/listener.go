package github

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/github/runs"
	"github.com/ocpctl/ocpctl/devstack/github/workflow"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// listener turns the lines of a job that runs into its state and its log. Its engine calls it with one line after the other.
type listener struct {
	s     *Server
	job   openJob
	logs  *jobLog
	masks []string
	inner int                  // step whose composite action wrote a summary, which the step writes again; 0: none
	wrong string               // the last problem, which the action around a step says again
	late  map[string]time.Time // steps before and after a job's own that began and have said nothing yet
}

const canceled = "The operation was canceled."

const maxAnnotations = 10 // of each level and step, as GitHub keeps them

// mask hides a value from now on, line by line.
func (l *listener) mask(value string) {
	for one := range strings.SplitSeq(strings.ReplaceAll(value, "\r", "\n"), "\n") {
		if one = strings.TrimSpace(one); one != "" && !slices.Contains(l.masks, one) {
			l.masks = append(l.masks, one)
		}
	}
	// The longest first, so that no rest of a value stays that has another one in it.
	slices.SortStableFunc(l.masks, func(a, b string) int { return len(b) - len(a) })
}

func (l *listener) masked(text string) string {
	for _, one := range l.masks {
		text = strings.ReplaceAll(text, one, "***")
	}
	return text
}

// hear handles one line. Nothing is stored before the masks are applied.
func (l *listener) hear(line workflow.Line) {
	if line.Kind == workflow.Command && line.Params["command"] == "add-mask" {
		l.mask(line.Text)
		return
	}
	line.Text = l.masked(line.Text)
	for name, value := range line.Params {
		line.Params[name] = l.masked(value)
	}
	switch line.Kind {
	case workflow.Began, workflow.Ended:
		if !line.Inner {
			l.step(line)
		}
	case workflow.Output, workflow.Remark:
		l.write(line, "", line.Text)
	case workflow.Problem:
		l.problem(line)
	case workflow.Command:
		l.command(line)
	case workflow.Summary:
		l.summary(line)
	case workflow.Done:
		l.done(line)
	}
}

// write adds lines to the log of the step that the line is of.
func (l *listener) write(line workflow.Line, kind, text string) {
	number := 0
	l.change(func(j *Job) bool {
		step := current(j, line)
		began, late := l.late[stepName(j, line)]
		late = late && step == nil
		if late {
			step = appear(j, line, began)
		}
		if step != nil {
			number = step.Number
		}
		return late
	})
	for one := range strings.SplitSeq(text, "\n") {
		l.logs.add(LogLine{At: line.At, Step: number, Kind: kind, Text: strings.TrimRight(one, "\r")})
	}
}

// change changes the job; fn reports whether it did.
func (l *listener) change(fn func(j *Job) bool) {
	_ = l.s.change(func(w *world) ([]Event, error) {
		repo := w.repoByID(l.job.repo)
		must.EndIf(repo == nil, errNothing)
		_, j := repo.jobByID(l.job.job)
		must.EndIf(j == nil || !fn(j), errNothing)
		return nil, nil
	})
}

// current returns the step that a line is of; nil: none yet.
func current(j *Job, line workflow.Line) *Step {
	name := stepName(j, line)
	for i := range j.Steps {
		if at := &j.Steps[i]; line.Step >= 0 && line.Stage == "Main" && i == line.Step+1 || (line.Step < 0 || line.Stage != "Main") && at.Name == name {
			return at
		}
	}
	return nil
}

// stepName is the name of the step that a line is of, as GitHub shows it.
func stepName(j *Job, line workflow.Line) string {
	switch {
	case line.Step == -1:
		return "Set up job"
	case line.Step == -2:
		return "Complete job"
	}
	name := ""
	if line.Step+1 < len(j.Steps) {
		name = j.Steps[line.Step+1].Name
	}
	if line.Stage == "Post" {
		return "Post " + name
	}
	return "Pre " + name
}

// appear adds a step that is not in the workflow's file.
func appear(j *Job, line workflow.Line, began time.Time) *Step {
	j.Steps = append(j.Steps, Step{Number: len(j.Steps) + 1, Name: stepName(j, line), Status: runs.InProgress, StartedAt: &began})
	return &j.Steps[len(j.Steps)-1]
}

// step follows the steps. Those before and after a job's own appear when they say something: act has them for every action, GitHub for
// those that have something to do.
func (l *listener) step(line workflow.Line) {
	l.change(func(j *Job) bool {
		step := current(j, line)
		at := line.At.UTC()
		switch {
		case step != nil:
		case line.Kind == workflow.Ended:
			return false
		case line.Step >= 0:
			if l.late == nil {
				l.late = map[string]time.Time{}
			}
			l.late[stepName(j, line)] = at
			return false
		default:
			step = appear(j, line, at)
		}
		if line.Kind == workflow.Began {
			step.Status, step.StartedAt = runs.InProgress, &at
			if line.Stage == "Main" && strings.Contains(step.Name, "${{") {
				step.Name = named(step.Name, line.Text)
			}
			return true
		}
		step.Status, step.Conclusion = runs.Completed, line.Result
		if line.Result != runs.Skipped {
			step.CompletedAt = &at
		}
		return true
	})
	if line.Kind == workflow.Ended && line.Step >= 0 && line.Result == runs.Failure && l.stopping() {
		l.change(func(j *Job) bool {
			if step := current(j, line); step != nil {
				step.Conclusion = runs.Cancelled
			}
			return true
		})
	}
}

// named returns a step's name after its expressions were evaluated.
func named(written, evaluated string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(evaluated), "\n")
	if strings.HasPrefix(written, "Run ") && !strings.HasPrefix(first, "Run ") {
		return "Run " + first
	}
	return first
}

// stopping reports whether somebody cancelled the job.
func (l *listener) stopping() bool {
	l.s.executions.mu.Lock()
	defer l.s.executions.mu.Unlock()
	one := l.s.executions.running[l.job.job]
	return one != nil && one.stopping
}

// problem is an error that is no step's output: the end of a program, or a mistake in the workflow.
func (l *listener) problem(line workflow.Line) {
	if same := fmt.Sprint(line.Step, line.Text); same == l.wrong && !line.Inner {
		return
	} else {
		l.wrong = same
	}
	if l.stopping() {
		l.write(line, "error", canceled)
		return // the job says it for all its steps
	}
	text := line.Text
	if code, ok := strings.CutPrefix(text, "exit status "); ok {
		text = "Process completed with exit code " + code + "."
	}
	l.write(line, "error", text)
	l.annotate(line, runs.Annotation{Level: "failure", Message: text})
}

func (l *listener) annotate(line workflow.Line, a runs.Annotation) {
	l.change(func(j *Job) bool {
		same := 0
		for _, other := range j.Annotations {
			if other.Level == a.Level {
				same++
			}
		}
		if same >= maxAnnotations {
			return false
		}
		j.Annotations = append(j.Annotations, a)
		return true
	})
}

// command handles a workflow command.
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
func (l *listener) command(line workflow.Line) {
	switch name := line.Params["command"]; name {
	case "error", "warning", "notice":
		l.write(line, name, line.Text)
		level := name
		if name == "error" {
			level = "failure"
		}
		at, _ := strconv.Atoi(line.Params["line"])
		l.annotate(line, runs.Annotation{Level: level, Title: line.Params["title"], Message: line.Text, File: line.Params["file"], Line: at})
	case "group", "endgroup":
		l.write(line, name, line.Text)
	case "debug", "set-output", "save-state", "add-matcher", "remove-matcher", "stop-commands", "set-env", "add-path", "echo":
	default:
		l.write(line, "", "::"+name+"::"+line.Text)
	}
}

// summary keeps what a step wrote to GITHUB_STEP_SUMMARY. act reports a composite action's summary twice.
func (l *listener) summary(line workflow.Line) {
	if line.Inner {
		l.inner = line.Step + 1
	} else if l.inner == line.Step+1 {
		return
	}
	l.change(func(j *Job) bool {
		step := current(j, line)
		if step == nil || len(step.Summary)+len(line.Text) > 1<<20 {
			return false
		}
		step.Summary += line.Text
		if !strings.HasSuffix(step.Summary, "\n") {
			step.Summary += "\n"
		}
		return true
	})
}

// done completes the job.
func (l *listener) done(line workflow.Line) {
	cancelled := l.stopping()
	expired := l.s.executions.remove(l.job.job)
	l.s.forgetIDToken(l.job.job)
	l.s.apply(l.job, runs.InProgress, func(w *world, repo *repository, run *Run, j *Job) []Event {
		j.Outputs = map[string]string{}
		for name, value := range line.Outputs {
			if l.masked(value) != value {
				j.Annotations = append(j.Annotations, runs.Annotation{Level: "warning", Message: "Skip output '" + name + "' since it may contain secret."})
				continue
			}
			j.Outputs[name] = value
		}
		conclusion := cmp.Or(line.Result, runs.Failure)
		switch {
		case expired:
			j.Annotations = append(j.Annotations, runs.Annotation{Level: "failure", Message: "The job has exceeded the maximum execution time of " + j.Timeout.Round(time.Second).String() + "."})
			conclusion = runs.Cancelled
		case cancelled:
			conclusion = runs.Cancelled
		}
		if conclusion == runs.Cancelled {
			j.Annotations = append(j.Annotations, runs.Annotation{Level: "failure", Message: canceled})
		}
		return l.s.complete(w, repo, run, j, conclusion)
	})
}
