package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
)

// keptAfter is how long the directory of a closed attempt stays: whoever looks into a failure finds the runner's own words
// there. What a killed runner left in it may hold secrets, so it is not long.
const keptAfter = time.Hour

// judged are the kinds of finding that a look at the rows alone can tell. Orphans need a look into the clouds; while
// nobody took one, nothing is said of them, neither that they are there nor that they are gone.
var judged = []lifecycle.FindingKind{lifecycle.Overdue, lifecycle.Stuck, lifecycle.Blocked, lifecycle.FailingDelivery, lifecycle.FailedJob}

type sweepWorker struct {
	river.WorkerDefaults[store.SweepArgs]
	c *Controller
}

// Work writes down what is not as it should be, and tidies up behind closed attempts. It deletes nothing in a cloud.
func (w *sweepWorker) Work(ctx context.Context, _ *river.Job[store.SweepArgs]) error {
	return errors.Join(w.c.sweep(ctx), w.c.tidy(ctx))
}

// sweep judges everything known and logs one line for each new finding.
func (c *Controller) sweep(ctx context.Context) error {
	var seen lifecycle.Seen // nobody looked into a cloud
	known, err := c.Store.Known(ctx, seen)
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	work, err := c.Store.WorkFindings(ctx)
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	found := append(lifecycle.Sweep(seen, known, c.Sweeps), work...)
	fresh, err := c.Store.SaveFindings(ctx, judged, found)
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	for _, f := range fresh {
		c.Log.Warn("found", "kind", f.Kind, "cluster", f.Cluster, "since", f.Since, "why", f.Why, "evidence", f.Evidence)
	}
	return nil
}

// tidy forgets what is left on this machine of attempts that were closed a while ago.
func (c *Controller) tidy(ctx context.Context) error {
	kept, err := c.Dispatcher.Kept(ctx)
	if err != nil {
		return fmt.Errorf("tidy up: %w", err)
	}
	closed, err := c.Store.ClosedFor(ctx, kept, keptAfter)
	if err != nil {
		return fmt.Errorf("tidy up: %w", err)
	}
	var failed []error
	for _, attempt := range closed {
		// A runner that still lives was told to stop an hour ago, and could otherwise never be forgotten.
		if err := errors.Join(c.Dispatcher.Kill(ctx, attempt), c.Dispatcher.Forget(ctx, attempt)); err != nil {
			failed = append(failed, fmt.Errorf("tidy up: %w", err))
		}
	}
	return errors.Join(failed...)
}
