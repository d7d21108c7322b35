// Package pipeline speaks the protocol between a step and the GitHub Actions runner that executes it: the step's inputs, the files for
// outputs, variables and the summary, and the commands in the log for masks, groups and annotations. It knows no cluster.
//
// Whatever it is given may come from strangers: a name, a log line or an error cannot become a command or another output. A secret must
// be passed to Mask before it is written anywhere.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
package pipeline

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

// Runner is the runner that executes this step.
type Runner struct {
	env func(string) string
	mu  sync.Mutex
	out io.Writer // the step's log
}

// New returns the runner that started this program with the environment, and reads the output.
func New(env func(string) string, out io.Writer) *Runner { return &Runner{env: env, out: out} }

// writeCommand writes one command. The properties are name and value by turns.
func (r *Runner) writeCommand(name, text string, properties ...string) {
	var with []string
	for i := 0; i+1 < len(properties); i += 2 {
		if properties[i+1] != "" {
			with = append(with, properties[i]+"="+escapeProperty(properties[i+1]))
		}
	}
	if len(with) > 0 {
		name += " " + strings.Join(with, ",")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, "::%s::%s\n", name, escapeText(text))
}

// escapeText and escapeProperty escape as the runner's own library does:
// https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts
func escapeText(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

func escapeProperty(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(text)
}

// leastMask is the length from which a text is masked: the runner replaces it everywhere in the log, also within words.
const leastMask = 4

// Mask has the runner replace the secrets in everything that is logged from now on, each line of a secret by itself, because a log is
// masked line by line.
func (r *Runner) Mask(secrets ...string) {
	for _, secret := range secrets {
		for line := range strings.FieldsFuncSeq(secret, func(c rune) bool { return c == '\n' || c == '\r' }) {
			line = strings.TrimSpace(line)
			if len(line) >= leastMask && !strings.HasPrefix(line, "-----") { // the first and last line of a PEM block
				r.writeCommand("add-mask", line)
			}
		}
	}
}

// Error, Warning and Notice annotate the run with one line of text; line ends become spaces.
func (r *Runner) Error(title, text string)   { r.annotateRun("error", title, text) }
func (r *Runner) Warning(title, text string) { r.annotateRun("warning", title, text) }
func (r *Runner) Notice(title, text string)  { r.annotateRun("notice", title, text) }

func (r *Runner) annotateRun(kind, title, text string) {
	r.writeCommand(kind, strings.Join(strings.Fields(text), " "), "title", strings.Join(strings.Fields(title), " "))
}

// Group folds what is logged until end is called, below a title.
func (r *Runner) Group(title string) (end func()) {
	r.writeCommand("group", strings.Join(strings.Fields(title), " "))
	return func() { r.writeCommand("endgroup", "") }
}

// Log returns a writer for texts that may come from others: no line of it is a command for the runner. It writes whole lines; Close
// writes the last one.
func (r *Runner) Log() io.WriteCloser { return &log{runner: r} }

type log struct {
	runner *Runner
	line   []byte
}

// Write implements io.Writer.
func (l *log) Write(p []byte) (int, error) {
	l.runner.mu.Lock()
	defer l.runner.mu.Unlock()
	l.line = append(l.line, p...)
	for {
		line, rest, whole := bytes.Cut(l.line, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		if _, err := fmt.Fprintln(l.runner.out, disarmLine(string(line))); err != nil {
			return 0, err
		}
		l.line = rest
	}
}

// Close writes a last line without an end.
func (l *log) Close() error {
	if len(l.line) == 0 {
		return nil
	}
	_, err := l.Write([]byte("\n"))
	return err
}

// disarmLine changes a line that the runner would take for a command: one that begins with :: after white space, or one with ##[ anywhere,
// the older form. A carriage return begins a line, too.
func disarmLine(line string) string {
	parts := strings.Split(line, "\r")
	for i, part := range parts {
		part = strings.ReplaceAll(part, "##[", "## [")
		if strings.HasPrefix(strings.TrimSpace(part), "::") {
			part = strings.Replace(part, "::", ": :", 1)
		}
		parts[i] = part
	}
	return strings.Join(parts, "\r")
}
