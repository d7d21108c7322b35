package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/queue"
)

const (
	// wakeBatch limits what one pass takes; the rest is due at the next one.
	wakeBatch = 500
	// pruneEvery is how often old rows are removed, and defaultKeep how long they are kept.
	pruneEvery  = time.Hour
	defaultKeep = 30 * 24 * time.Hour
)

type wakeWorker struct {
	river.WorkerDefaults[queue.WakeArgs]
	c *Controller
}

// Work finds what is due but got lost: clusters past their wake time, subscribers that show an old state, unprocessed deliveries,
// unposted answers. It only inserts jobs; each of them decides for itself. Then it folds the changes of what is used.
func (w *wakeWorker) Work(ctx context.Context, _ *river.Job[queue.WakeArgs]) error {
	n, err := w.c.Store.WakeDue(ctx, wakeBatch)
	if err != nil {
		return fmt.Errorf("wake what is due: %w", err)
	}
	if n > 0 {
		w.c.Log.DebugContext(ctx, "woken", "jobs", n)
	}
	_, err = w.c.Store.FoldUsage(ctx) // after the waking, which must not wait for it
	return err
}

type capacityQueueWorker struct {
	river.WorkerDefaults[queue.CapacityQueueArgs]
	c *Controller
}

// Work wakes every cluster in the queue for capacity in an account and region. Each of them decides for itself.
func (w *capacityQueueWorker) Work(ctx context.Context, job *river.Job[queue.CapacityQueueArgs]) error {
	n, err := w.c.Store.Attempts.AdvanceCapacityQueue(ctx, job.Args.Account, job.Args.Region)
	if n > 0 {
		w.c.Log.DebugContext(ctx, "queue advanced", "account", job.Args.Account, "region", job.Args.Region, "waiting", n)
	}
	return err
}

type pruneWorker struct {
	river.WorkerDefaults[queue.PruneArgs]
	c *Controller
}

// Work removes old rows, but none that prove something, compares what is kept of usage with the clusters, and lets what was used before count less.
func (w *pruneWorker) Work(ctx context.Context, _ *river.Job[queue.PruneArgs]) error {
	tidied := w.c.tidy(ctx) // first, because it finds nothing of an attempt that has no row
	n, err := w.c.Store.Prune(ctx, w.c.Keep)
	if n > 0 {
		w.c.Log.InfoContext(ctx, "pruned", "rows", n, "keep", w.c.Keep.String())
	}
	wrong, problem := w.c.Store.CorrectUsage(ctx)
	if len(wrong) > 0 { // an error, so that it is logged and counted as a failed job
		problem = fmt.Errorf("the usage that was kept of %s differed from the clusters; it is corrected", strings.Join(wrong, ", "))
	}
	return errors.Join(tidied, err, problem, w.c.Store.KeepRecentUsage(ctx))
}
