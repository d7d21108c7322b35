package runner

import (
	"slices"

	"github.com/ocpctl/ocpctl/runner/installer"
)

const (
	shownLines = 40  // lines of the installer's own log in the log that people see
	heardLines = 400 // lines of its output that are kept to explain how it ended
)

// noUse ends an install that keeps repeating an error that it can never get past.
type noUse struct{ installer.Failure }

func (n noUse) Error() string { return n.Reason + ": " + n.Line }

// explainFailure converts a class of failure to an attempt's failure, with the installer's own message.
func (a *attempt) explainFailure(f installer.Failure, how string) failure {
	message := f.Message + " (openshift-install create cluster, " + how + ")"
	if f.Line != "" {
		message += ". The installer said: " + f.Line
	}
	return failure{Reason: f.Reason, Message: message, Line: f.Raw, Whose: f.Whose, Zone: a.shortZone(f), Next: f.Next, Retryable: f.Retryable}
}

// shortZone returns which zone of the install had no capacity: the one that the cloud named, or the only one. Empty: that was not it, or it is not
// known.
func (a *attempt) shortZone(f installer.Failure) string {
	switch zones := a.spec.Zones; {
	case !f.Zonal:
		return ""
	case slices.Contains(zones, f.Zone):
		return f.Zone
	case len(zones) == 1:
		return zones[0]
	}
	return ""
}

// hearInstaller keeps a line of the installer that may explain its end.
func (a *attempt) hearInstaller(line string) {
	a.addLine(line)
	if len(a.heard) >= 2*heardLines {
		a.heard = append(a.heard[:0], a.heard[heardLines:]...)
	}
	a.heard = append(a.heard, line)
}

// logTail returns the end of the installer's own log, which contains more than its output.
func (a *attempt) logTail() []string {
	lines, err := a.tool.Tail(a.dir)
	if err != nil {
		a.cfg.Log.Warn("installer log not read", "err", err.Error())
	}
	return lines
}

// showLog copies the last lines of the installer's own log to the log that people see.
func (a *attempt) showLog(log []string) {
	if len(log) > 0 {
		a.noteLine("the last lines of the installer's own log:")
	}
	for _, line := range log[max(len(log)-shownLines, 0):] {
		a.addLine(line)
	}
}
