package controller

import (
	"context"
	"errors"
	"fmt"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/dispatch"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/db"
)

type launchWorker struct {
	river.WorkerDefaults[queue.LaunchArgs]
	c *Controller
}

// Work starts the attempt's runner, if the attempt is still the open one and no runner has claimed it. The runners of this release cannot do what
// it does not know: servers that do ask again for the start.
func (w *launchWorker) Work(ctx context.Context, job *river.Job[queue.LaunchArgs]) error {
	open, err := w.c.stillOpen(ctx, job.Args.Cluster, job.Args.Attempt)
	if err != nil || open == nil || open.Claimed || !w.c.Limits.Knows(open.Kind) {
		return err
	}
	raw, err := w.c.Signer.Sign(open.Attempt, open.Token, w.c.Now())
	if err != nil {
		return fmt.Errorf("sign the token of attempt %s: %w", open.Attempt, err)
	}
	err = w.c.Dispatcher.Start(ctx, dispatch.Job{
		Attempt: open.Attempt, Number: open.Number, Cluster: open.Cluster, Kind: string(open.Kind), Token: raw,
		Job: open.Job, Team: open.Team, Profile: open.Profile, Platform: open.Platform, Deadline: open.Deadline, ServiceAccounts: open.ServiceAccounts,
	})
	var refusal *dispatch.Refusal
	if errors.As(err, &refusal) {
		err = errors.Join(err, w.c.Store.Attempts.LaunchRefused(ctx, open.Attempt, lifecycle.Trouble(refusal.Trouble)))
	}
	if err != nil {
		return fmt.Errorf("launch attempt %s: %w", open.Attempt, err)
	}
	if err := w.c.Store.Attempts.Launched(ctx, open.Attempt); err != nil {
		return err
	}
	w.c.Log.InfoContext(ctx, "launched", "cluster", open.Cluster, "attempt", open.Attempt, "effect", "launch")
	return nil
}

type stopWorker struct {
	river.WorkerDefaults[queue.StopArgs]
	c *Controller
}

// Work asks the attempt's runner to end, also that of a closed attempt. The runner also learns it from the next response of the Status API.
func (w *stopWorker) Work(ctx context.Context, job *river.Job[queue.StopArgs]) error {
	attempt, err := w.c.Store.Attempts.Numbered(ctx, job.Args.Cluster, job.Args.Attempt)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := w.c.Dispatcher.Stop(ctx, attempt); err != nil {
		return fmt.Errorf("stop attempt %s: %w", attempt, err)
	}
	return nil
}

// stillOpen returns the cluster's open attempt if it has that number; an effect of another attempt is obsolete.
func (c *Controller) stillOpen(ctx context.Context, cluster string, number int) (*attempts.LaunchSpec, error) {
	open, err := c.Store.Attempts.OpenAttempt(ctx, cluster)
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if open.Number != number {
		return nil, nil
	}
	return &open, nil
}
