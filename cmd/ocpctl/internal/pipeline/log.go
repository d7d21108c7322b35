package pipeline

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

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
