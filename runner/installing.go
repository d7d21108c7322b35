package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/installer"
	"github.com/ocpctl/ocpctl/runner/status"
)

// installCluster runs the installer. Besides ccoctl, it is the only place where a create changes a cloud, and it is reached only after
// the record was acknowledged.
func (a *attempt) installCluster(ctx context.Context) error {
	if err := a.limitRoles(ctx); err != nil {
		return err
	}
	if a.api.LeaseOver() {
		a.api.Stop(status.ErrLeaseOver)
		return status.ErrLeaseOver
	}
	images := installer.ImageCache{Shared: a.cfg.ImageCache, Home: a.tool.Home}
	if err := images.Take(); err != nil {
		a.cfg.Log.WarnContext(ctx, "the shared images of machines cannot be used", "err", err) // the installer downloads its own
	}
	moments, stopSnapshots := a.snapshotAtMoments(ctx)
	began := time.Now()
	exit, err := a.createCluster(ctx, moments)
	if err == nil && isLate(exit) && ctx.Err() == nil {
		exit, err = a.waitForInstall(ctx, exit, began)
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
	limited := a.limitRoles(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		a.keepBundles(ctx)
		return a.explainFailure(hopeless.Failure, "stopped early because it kept retrying")
	case exit.Code == 0 && limited != nil:
		return limited
	case exit.Code == 0:
		if err := images.Share(a.cfg.Attempt); err != nil {
			a.cfg.Log.WarnContext(ctx, "the image of the machines was not shared", "err", err)
		}
		return nil
	}
	if limited != nil { // the install's own failure says more
		a.noteLine("%v", limited)
	}
	a.hearMachines(ctx, exit)
	log := a.logTail()
	a.showLog(log)
	a.gatherLogs(ctx, exit)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return a.explainFailure(installer.Explain(exit, append(log, a.heard...)...), fmt.Sprintf("exit code %d", exit.Code))
}

// createCluster runs the installer's create. It stops it early if it keeps repeating an error that it can never get past; the error
// is then noUse.
func (a *attempt) createCluster(ctx context.Context, moments chan<- installer.Moment) (installer.Exit, error) {
	run, stop := context.WithCancelCause(ctx)
	var owned sync.WaitGroup
	owned.Go(func() { a.followLog(run, stop) })
	defer owned.Wait()
	defer stop(nil)
	watch := a.watchInstaller()
	exit, err := a.tool.Run(run, installer.Command{
		Args:     []string{"create", "cluster", "--dir", a.dir, "--log-level=info", "--skip-password-print"},
		Deadline: a.spec.CreateDeadline,
		OnLine: func(line string) {
			a.hearInstaller(line)
			a.reportProgress(line, moments)
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

// followLog reads the installer's own log while it grows: only there Cluster API's controllers report errors, and the cluster's
// operators report progress.
func (a *attempt) followLog(ctx context.Context, stop context.CancelCauseFunc) {
	watch := a.watchInstaller()
	a.tool.Follow(ctx, a.dir, a.cfg.Timings.LogPoll, func(line string) {
		if f, fatal := watch.Line(time.Now(), line); fatal {
			stop(noUse{f})
		}
		if p, ok := installer.ReadOperators(line); ok {
			a.say.Step(p.Percent, p.Step)
		}
	})
}

func (a *attempt) watchInstaller() *installer.Watch {
	return installer.NewWatch(a.cfg.Timings.FatalTimes, a.cfg.Timings.FatalOver)
}

// reportProgress interprets a line. It runs between two lines of output and must not block.
func (a *attempt) reportProgress(line string, moments chan<- installer.Moment) {
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
		default: // the previous snapshot is still being made and contains almost the same
		}
	}
}

// snapshotAtMoments archives the directory beside the running installer, one moment after the other. stop ends it, including an
// archive in progress, and waits.
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
				a.saveSnapshot(ctx, string(moment), a.cfg.Timings.LastSave)
			}
		}
	})
	return queue, func() { cancel(); owned.Wait() }
}

// lastSnapshot archives the directory after the installer ended, even if the attempt is being stopped: then it is needed most.
func (a *attempt) lastSnapshot(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.cfg.Timings.LastSave)
	defer cancel()
	a.saveSnapshot(ctx, "installer ended", a.cfg.Timings.LastSave/2)
}

// saveSnapshot archives and reports. If a later archive fails, the acknowledged one is still enough for a teardown, so it fails nothing.
func (a *attempt) saveSnapshot(ctx context.Context, why string, patience time.Duration) {
	saved, err := a.saveWithin(ctx, patience)
	if err != nil {
		a.cfg.Log.Warn("snapshot not taken", "why", why, "err", err.Error())
		return
	}
	a.cfg.Log.Info("snapshot taken", "why", why)
	a.say.Fact(contract.Report{Snapshots: saved})
}
