package runner

import (
	"github.com/ocpctl/ocpctl/runner/installer"
)

const (
	shownLines = 40  // of the installer's own log, in the log people see
	heardLines = 400 // of its output, kept to explain how it ended
)

// noUse ends an install that repeats what it can never get past.
type noUse struct{ installer.Failure }

func (n noUse) Error() string { return n.Reason + ": " + n.Line }

// explained gives a class of failure the form every failure of an attempt has. The installer's own words come along.
func explained(f installer.Failure, how string) failure {
	message := f.Words + " (openshift-install create cluster, " + how + ")"
	if f.Line != "" {
		message += ". The installer said: " + f.Line
	}
	return failure{Reason: f.Reason, Message: message, Whose: f.Whose, Next: f.Next, Retryable: f.Retryable}
}

// hear takes a line of the installer that its end may be explained by.
func (a *attempt) hear(line string) {
	a.line(line)
	if len(a.heard) >= 2*heardLines {
		a.heard = append(a.heard[:0], a.heard[heardLines:]...)
	}
	a.heard = append(a.heard, line)
}

// logTail is the end of the installer's own log, which says more than it prints.
func (a *attempt) logTail() []string {
	lines, err := a.tool.Tail(a.dir)
	if err != nil {
		a.cfg.Log.Warn("installer log not read", "err", err.Error())
	}
	return lines
}

// show shows the last lines of the installer's own log.
func (a *attempt) show(log []string) {
	if len(log) > 0 {
		a.note("the last lines of the installer's own log:")
	}
	for _, line := range log[max(len(log)-shownLines, 0):] {
		a.line(line)
	}
}
