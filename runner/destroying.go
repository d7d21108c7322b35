package runner

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/ocpctl/ocpctl/runner/contract"
	"github.com/ocpctl/ocpctl/runner/installer"
)

// destroying runs the installer's destroy for every identity, the newest last, and then removes by exact name what it
// is known to leave behind. How it ends decides nothing: an exit code is not a count.
func (a *attempt) destroying(ctx context.Context, dirs []string) error {
	var last contract.ToolExit
	for i, dir := range dirs {
		exit, err := a.destroyOne(ctx, dir, a.spec.DestroyDeadline/time.Duration(len(dirs)))
		if err != nil {
			return err
		}
		last = contract.ToolExit{Code: exit.Code, At: exit.At}
		a.cfg.Log.Info("destroyer ended", "code", exit.Code, "stopped", exit.Stopped)
		switch {
		case ctx.Err() != nil:
		case exit.TimedOut:
			a.note("destroy did not finish within its deadline and was stopped; what is left is counted")
		case exit.Code != 0:
			a.note("destroy ended with exit code %d; what is left is counted", exit.Code)
		}
		a.say.Step(10+60*(i+1)/len(dirs), fmt.Sprintf("the installer removed what it knows of (%d of %d)", i+1, len(dirs)))
		if ctx.Err() != nil {
			break
		}
	}
	if len(dirs) > 0 {
		a.say.Fact(contract.Report{ToolExit: &last})
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a.sweep(ctx)
	return nil
}

// destroyOne works on a copy: a destroy that succeeds deletes the metadata it worked by.
func (a *attempt) destroyOne(ctx context.Context, dir string, deadline time.Duration) (installer.Exit, error) {
	work := dir + "-work"
	if err := os.CopyFS(work, os.DirFS(dir)); err != nil {
		return installer.Exit{}, fmt.Errorf("copy the restored directory: %w", err)
	}
	exit, err := a.tool.Run(ctx, installer.Command{
		Args: []string{"destroy", "cluster", "--dir", work, "--log-level=debug"}, Deadline: deadline, OnLine: a.line,
	})
	if err != nil && ctx.Err() != nil {
		return exit, context.Cause(ctx)
	}
	return exit, err
}

// sweep deletes what the installer cannot find, by exact name. What it cannot do, verification counts.
func (a *attempt) sweep(ctx context.Context) {
	if len(a.spec.Identities) == 0 {
		return // nothing was recorded, so no name is known to be ours
	}
	deleted, err := a.cloud.Sweep(ctx, a.target())
	for _, name := range deleted {
		a.note("removed by its exact name: %s", name)
	}
	if err != nil {
		a.note("not everything could be removed by name: %v", err)
	}
}
