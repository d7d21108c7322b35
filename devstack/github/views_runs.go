package github

import (
	"cmp"
	"regexp"
	"time"

	"github.com/ocpctl/ocpctl/devstack/github/runs"
)

// jobView is a job as a page shows it.
type jobView struct {
	Job
	Took  string
	Steps []stepView
	Note  string // why it is not running
	Open  bool
}

// stepView is a step with its log.
type stepView struct {
	Step
	Took  string
	Lines []lineView
	Over  int // lines that are not shown
	Open  bool
}

// lineView is a line of a log, or a group with the lines in it.
type lineView struct {
	LogLine
	Number int
	Group  []lineView
}

const shownLines = 1000 // of a step's log

func (s *Server) jobView(j *Job) jobView {
	v := jobView{Job: j.Copy(), Note: note(j), Took: s.took(j.StartedAt, j.CompletedAt)}
	v.Open = j.Status == runs.InProgress || j.Conclusion == runs.Failure
	lines := map[int][]LogLine{}
	for _, line := range s.logs.of(j.ID).snapshot() {
		lines[line.Step] = append(lines[line.Step], line)
	}
	for _, step := range v.Job.Steps {
		one := stepView{Step: step, Open: step.Status == runs.InProgress || step.Conclusion == runs.Failure}
		if step.StartedAt != nil {
			one.Took = s.took(*step.StartedAt, step.CompletedAt)
		}
		own := lines[step.Number]
		one.Over = max(0, len(own)-shownLines)
		one.Lines, _ = grouped(own[one.Over:], one.Over, false)
		v.Steps = append(v.Steps, one)
	}
	return v
}

// note says in one line why a job does not run.
func note(j *Job) string {
	switch j.Status {
	case "":
		return "waits for the jobs that it needs"
	case runs.Waiting:
		return "waits for the protection rules of " + j.Environment
	case runs.Pending:
		return "waits for another one of its concurrency group"
	case runs.Queued:
		return "waits for a runner"
	}
	return ""
}

// grouped folds the lines between group and endgroup, and returns how many it used. GitHub does not nest groups.
func grouped(lines []LogLine, before int, inside bool) ([]lineView, int) {
	var out []lineView
	for i := 0; i < len(lines); i++ {
		line := lineView{LogLine: lines[i], Number: before + i + 1}
		line.Text = plain(line.Text)
		switch {
		case line.Kind == "endgroup" && inside, line.Kind == "group" && inside:
			return out, i
		case line.Kind == "endgroup":
			continue
		case line.Kind == "group":
			var used int
			line.Group, used = grouped(lines[i+1:], before+i+1, true)
			i += used
		}
		out = append(out, line)
	}
	return out, len(lines)
}

var control = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f]")

// plain removes what steers a terminal.
func plain(text string) string { return control.ReplaceAllString(text, "") }

// ended returns when a run's current attempt ended; nil: it has not.
func ended(run *Run) *time.Time {
	if run.Status != runs.Completed {
		return nil
	}
	return &run.UpdatedAt
}

// took says how long something took, or takes so far.
func (s *Server) took(from time.Time, to *time.Time) string {
	if from.IsZero() {
		return ""
	}
	until := s.now()
	if to != nil {
		until = *to
	}
	return max(0, until.Sub(from)).Round(time.Second).String()
}

// face is the class of an icon: the conclusion, or the state.
func face(status, conclusion string) string {
	return cmp.Or(conclusion, status, "blank")
}

// stateText says a run's or job's state for people.
func stateText(status, conclusion string) string {
	switch word := cmp.Or(conclusion, status); word {
	case "":
		return "not started"
	case runs.Pending:
		return "waits for its concurrency group"
	default:
		return spaced(word)
	}
}
