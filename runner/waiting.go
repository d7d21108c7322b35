package runner

import (
	"context"
	"time"

	"github.com/ocpctl/ocpctl/runner/installer"
)

// isLate reports whether an install ended with a running cluster whose operators are not ready.
func isLate(e installer.Exit) bool { return e.Code == 6 || e.Code == 7 }

// waitForInstall gives a cluster with late operators the rest of the create's deadline: an hour's work is not discarded for some minutes. If
// that does not help, it returns the first exit, whose message says what was late.
func (a *attempt) waitForInstall(ctx context.Context, first installer.Exit, began time.Time) (installer.Exit, error) {
	left := time.Duration(0) // no deadline
	if a.spec.CreateDeadline > 0 {
		if left = a.spec.CreateDeadline - time.Since(began); left <= 0 {
			return first, nil
		}
	}
	a.noteLine("the cluster is up, but its operators are late (exit code %d); waiting until the deadline", first.Code)
	a.say.Step(0, "the operators are late; still waiting")
	exit, err := a.tool.Run(ctx, installer.Command{
		Args: []string{"wait-for", "install-complete", "--dir", a.dir, "--log-level=info"}, Deadline: left,
		OnLine: func(line string) {
			a.hearInstaller(line)
			a.reportProgress(line, nil)
		},
	})
	a.cfg.Log.Info("waiting ended", "code", exit.Code, "stopped", exit.Stopped)
	if err != nil || exit.Code == 0 {
		return exit, err
	}
	first.At = exit.At
	return first, nil
}
