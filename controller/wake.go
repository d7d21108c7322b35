package controller

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/store"
)

const (
	// wakeBatch bounds what one look takes on; what is left is due at the next one.
	wakeBatch = 500
	// pruneEvery is how often what served its time is removed, and defaultKeep how long that is.
	pruneEvery  = time.Hour
	defaultKeep = 30 * 24 * time.Hour
)

type wakeWorker struct {
	river.WorkerDefaults[store.WakeArgs]
	c *Controller
}

// Work finds what is due and was lost on the way: clusters past their wake time, places that show an old state,
// deliveries nobody worked, answers nobody posted. It only inserts jobs; each of them decides for itself.
func (w *wakeWorker) Work(ctx context.Context, _ *river.Job[store.WakeArgs]) error {
	n, err := w.c.Store.WakeDue(ctx, wakeBatch)
	if err != nil {
		return fmt.Errorf("wake what is due: %w", err)
	}
	if n > 0 {
		w.c.Log.Debug("woken", "jobs", n)
	}
	return nil
}

type lineWorker struct {
	river.WorkerDefaults[store.LineArgs]
	c *Controller
}

// Work has a look taken at everybody in line for room in an account and region. Each of them decides for itself.
func (w *lineWorker) Work(ctx context.Context, job *river.Job[store.LineArgs]) error {
	n, err := w.c.Store.MoveUp(ctx, job.Args.Account, job.Args.Region)
	if n > 0 {
		w.c.Log.Debug("line moved up", "account", job.Args.Account, "region", job.Args.Region, "waiting", n)
	}
	return err
}

type pruneWorker struct {
	river.WorkerDefaults[store.PruneArgs]
	c *Controller
}

// Work removes rows that served their time. What proves anything stays.
func (w *pruneWorker) Work(ctx context.Context, _ *river.Job[store.PruneArgs]) error {
	n, err := w.c.Store.Prune(ctx, w.c.Keep)
	if n > 0 {
		w.c.Log.Info("pruned", "rows", n, "keep", w.c.Keep.String())
	}
	return err
}
