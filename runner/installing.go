package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/installer"
)

// installing runs the installer. It is the only place where a create changes a cloud, and is reached only with the
// record's acknowledgement in hand.
func (a *attempt) installing(ctx context.Context) error {
	if a.api.leaseOver() {
		a.api.stop(errLeaseOver)
		return errLeaseOver
	}
	moments, stopSnapshots := a.snapshotAtMoments(ctx)
	began := time.Now()
	exit, err := a.createCluster(ctx, moments)
	if err == nil && late(exit) && ctx.Err() == nil {
		exit, err = a.waiting(ctx, exit, began)
	}
	stopSnapshots()
	if ctx.Err() != nil && err != nil {
		return context.Cause(ctx)
	}
	var hopeless noUse
	if err != nil && !errors.As(err, &hopeless) {
		return err
	}
	a.say.Fact(contract.Report{ToolExit: &contract.ToolExit{Code: exit.Code, At: exit.At}})
	a.lastSnapshot(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		a.keepBundles(ctx)
		return explained(hopeless.Failure, "stopped early because it went on trying")
	case exit.Code == 0:
		return nil
	}
	log := a.logTail()
	a.show(log)
	a.gathering(ctx, exit)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return explained(installer.Explain(exit, append(log, a.heard...)...), fmt.Sprintf("exit code %d", exit.Code))
}

// createCluster runs the installer's create. It is stopped early for what it says again and again and can never get
// past; then the error is noUse.
func (a *attempt) createCluster(ctx context.Context, moments chan<- installer.Moment) (installer.Exit, error) {
	run, stop := context.WithCancelCause(ctx)
	var owned sync.WaitGroup
	owned.Go(func() { a.followLog(run, stop) })
	defer owned.Wait()
	defer stop(nil)
	watch := a.watch()
	exit, err := a.tool.Run(run, installer.Command{
		Args:     []string{"create", "cluster", "--dir", a.dir, "--log-level=info", "--skip-password-print"},
		Deadline: a.spec.CreateDeadline,
		OnLine: func(line string) {
			a.hear(line)
			a.progress(line, moments)
			if f, fatal := watch.Line(time.Now(), line); fatal {
				stop(noUse{f})
			}
		},
	})
	a.cfg.Log.Info("installer ended", "code", exit.Code, "stopped", exit.Stopped)
	var hopeless noUse
	if ctx.Err() == nil && exit.Code != 0 && errors.As(context.Cause(run), &hopeless) {
		return exit, hopeless
	}
	return exit, err
}

// followLog reads the installer's own log while it grows: Cluster API's controllers complain there and nowhere else, and
// the cluster's operators tell there how far they are.
func (a *attempt) followLog(ctx context.Context, stop context.CancelCauseFunc) {
	watch := a.watch()
	a.tool.Follow(ctx, a.dir, a.cfg.Timings.LogPoll, func(line string) {
		if f, fatal := watch.Line(time.Now(), line); fatal {
			stop(noUse{f})
		}
		if p, ok := installer.ReadOperators(line); ok {
			a.say.Step(p.Percent, p.Step)
		}
	})
}

func (a *attempt) watch() *installer.Watch {
	return installer.NewWatch(a.cfg.Timings.FatalTimes, a.cfg.Timings.FatalOver)
}

// progress reads a line's meaning. It runs between two lines of output and must not wait.
func (a *attempt) progress(line string, moments chan<- installer.Moment) {
	if url, ok := installer.ReadConsole(line); ok {
		a.console = url
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
