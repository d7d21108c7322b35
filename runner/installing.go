package runner

import (
	"context"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/runner/contract"
	"github.com/ocpctl/ocpctl/runner/installer"
)

// tailLines is how much of the installer's own log is shown after a failure.
const tailLines = 40

// installing runs the installer. It is the only place where a create changes a cloud, and is reached only with the
// record's acknowledgement in hand.
func (a *attempt) installing(ctx context.Context) error {
	if a.api.leaseOver() {
		a.api.stop(errLeaseOver)
		return errLeaseOver
	}
	moments, stopSnapshots := a.snapshotAtMoments(ctx)
	exit, err := a.tool.Run(ctx, installer.Command{
		Args:     []string{"create", "cluster", "--dir", a.dir, "--log-level=info", "--skip-password-print"},
		Deadline: a.spec.CreateDeadline,
		OnLine: func(line string) {
			a.line(line)
			a.progress(line, moments)
		},
	})
	stopSnapshots()
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	a.cfg.Log.Info("installer ended", "code", exit.Code, "stopped", exit.Stopped)
	a.say.Fact(contract.Report{ToolExit: &contract.ToolExit{Code: exit.Code, At: exit.At}})
	a.lastSnapshot(ctx)
	if exit.Code == 0 {
		return nil
	}
	a.showTail()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f := installer.Explain(exit)
	if a.complaint != "" {
		f.Words += ". The installer said: " + a.complaint
	}
	return failure{Reason: f.Reason, Message: f.Words, Retryable: f.Retryable}
}

// progress reads a line's meaning. It runs between two lines of output and must not wait.
func (a *attempt) progress(line string, moments chan<- installer.Moment) {
	if url, ok := installer.ReadConsole(line); ok {
		a.console = url
	}
	if words, ok := installer.ReadComplaint(line); ok {
		a.complaint = words
	}
	p, ok := installer.ReadProgress(line)
	if !ok {
		return
	}
	a.say.Step(p.Percent, p.Step)
	if p.Moment != "" {
		select {
		case moments <- p.Moment:
		default: // the archive of an earlier moment is still being made, and holds almost the same
		}
	}
}

// snapshotAtMoments archives the directory beside the running installer, one moment after the other. stop ends it,
// an archive under way included, and waits.
func (a *attempt) snapshotAtMoments(ctx context.Context) (moments chan<- installer.Moment, stop func()) {
	queue := make(chan installer.Moment, 2)
	ctx, cancel := context.WithCancel(ctx)
	var owned sync.WaitGroup
	owned.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case moment := <-queue:
				a.snapshot(ctx, string(moment), a.cfg.Timings.LastSave)
			}
		}
	})
	return queue, func() { cancel(); owned.Wait() }
}

// lastSnapshot archives the directory after the installer ended, also when the attempt is being stopped: then above all.
func (a *attempt) lastSnapshot(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.cfg.Timings.LastSave)
	defer cancel()
	a.snapshot(ctx, "installer ended", a.cfg.Timings.LastSave/2)
}

// snapshot archives and reports. A later archive that is missing leaves the acknowledged one, which a teardown can
// do with, so it fails nothing.
func (a *attempt) snapshot(ctx context.Context, why string, patience time.Duration) {
	saved, err := a.saveWithin(ctx, patience)
	if err != nil {
		a.cfg.Log.Warn("snapshot not taken", "why", why, "err", err.Error())
		return
	}
	a.cfg.Log.Info("snapshot taken", "why", why)
	a.say.Fact(contract.Report{Snapshots: saved})
}

// showTail shows the end of the installer's own log, which says more than it prints.
func (a *attempt) showTail() {
	lines, err := a.tool.Tail(a.dir, tailLines)
	if err != nil {
		a.cfg.Log.Warn("installer log not read", "err", err.Error())
	}
	if len(lines) > 0 {
		a.note("the last lines of the installer's own log:")
	}
	for _, line := range lines {
		a.line(line)
	}
}
