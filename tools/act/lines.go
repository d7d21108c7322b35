package main

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nektos/act/pkg/model"
	"github.com/sirupsen/logrus"

	"github.com/ocpctl/ocpctl/devstack/github/workflow"
)

// drain is how long act may still read the output of a step that failed: it goes on before it has read all.
const drain = 50 * time.Millisecond

// lines writes what act logs as lines of JSON.
type lines struct {
	mu    sync.Mutex
	out   *json.Encoder
	index map[string]int  // step id → index
	step  func(int)       // hears which step begins
	held  []workflow.Line // the end of a step that failed, and what came after it, while its output is still read
}

func newLines(out io.Writer, steps []*model.Step, step func(int)) *lines {
	l := &lines{out: json.NewEncoder(out), index: map[string]int{}, step: step}
	for i, s := range steps {
		if s.ID == "" {
			s.ID = strconv.Itoa(i) // as act numbers them
		}
		l.index[s.ID] = i
	}
	return l
}

// WithJobLogger makes act log here.
func (l *lines) WithJobLogger() *logrus.Logger {
	logger := logrus.New()
	logger.SetOutput(io.Discard)
	logger.SetLevel(logrus.DebugLevel) // skipped steps are logged at this level
	logger.SetFormatter(l)
	return logger
}

// Format writes the line of an entry; logrus gets nothing to write.
func (l *lines) Format(entry *logrus.Entry) ([]byte, error) {
	if line, ok := l.line(entry); ok {
		l.write(line)
	}
	return nil, nil
}

func (l *lines) write(line workflow.Line) {
	if line.Kind == workflow.Began && !line.Inner && line.Step >= 0 {
		l.step(line.Step)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if line.At.IsZero() {
		line.At = time.Now().UTC()
	}
	switch {
	case len(l.held) > 0 && (line.Kind != workflow.Output || line.Step != l.held[0].Step):
		l.held = append(l.held, line)
	case line.Kind == workflow.Ended && line.Result == "failure" && line.Step >= 0:
		l.held = append(l.held, line)
		time.AfterFunc(drain, l.release)
	default:
		_ = l.out.Encode(line) // nobody reads any more
	}
}

// release writes what was held.
func (l *lines) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.held {
		_ = l.out.Encode(line) // nobody reads any more
	}
	l.held = nil
}

const (
	setUp   = -1
	windUp  = -2
	star    = "⭐ Run "
	noColon = "command" // name of the parameter with a command's name
)

// line says what an entry of act's log means; most of those for debugging mean nothing.
func (l *lines) line(e *logrus.Entry) (line workflow.Line, ok bool) {
	line = workflow.Line{At: e.Time.UTC(), Text: strings.TrimRight(e.Message, "\r\n")}
	line.Stage, _ = e.Data["stage"].(string)
	ids, _ := e.Data["stepID"].([]string)
	name, _ := e.Data["step"].(string)
	switch {
	case len(ids) > 0:
		line.Step, line.Inner = l.index[ids[0]], len(ids) > 1
	case name == "Complete job":
		line.Step = windUp
	default:
		line.Step = setUp
	}
	command, _ := e.Data["command"].(string)
	result := e.Data["stepResult"]
	switch {
	case result != nil:
		line.Kind, line.Text, line.Result = workflow.Ended, name, fmt.Sprint(result)
	case command == "summary":
		line.Kind = workflow.Summary
		line.Text, _ = e.Data["content"].(string)
	case command == "ignored", e.Data["raw_output"] == true:
		line.Kind = workflow.Output
		if raw, is := e.Data["raw"].(string); is {
			line.Text = strings.TrimRight(raw, "\r\n")
		}
	case e.Data["raw"] != nil:
		raw, _ := e.Data["raw"].(string)
		line.Kind = workflow.Command
		line.Params, line.Text = parameters(strings.TrimRight(raw, "\r\n"))
	case command != "": // a file's content that becomes an output or a variable
		return line, false
	case strings.HasPrefix(e.Message, star):
		line.Kind, line.Text = workflow.Began, name
	case e.Level <= logrus.ErrorLevel:
		line.Kind = workflow.Problem
	case e.Level == logrus.WarnLevel:
		line.Kind = workflow.Remark
	default:
		return line, false
	}
	return line, true
}

var command = regexp.MustCompile(`^::([^ :]+)(?: ([^:]*(?::[^:]+)*?))?::(.*)$`)

// parameters reads a workflow command: ::name key=value,key=value::data
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
func parameters(raw string) (map[string]string, string) {
	m := command.FindStringSubmatch(raw)
	if m == nil {
		return map[string]string{noColon: "unknown"}, raw
	}
	out := map[string]string{}
	for pair := range strings.SplitSeq(m[2], ",") {
		if key, value, ok := strings.Cut(pair, "="); ok {
			out[strings.TrimSpace(key)] = strings.NewReplacer("%3A", ":", "%2C", ",", "%0D", "\r", "%0A", "\n", "%25", "%").Replace(value)
		}
	}
	out[noColon] = m[1]
	return out, strings.NewReplacer("%0D", "\r", "%0A", "\n", "%25", "%").Replace(m[3])
}
