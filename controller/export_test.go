package controller

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/ocpctl/ocpctl/store"
)

// Work runs the worker of a job as River does, for a job that was inserted at since.
func (c *Controller) Work(ctx context.Context, args river.JobArgs, since time.Time) error {
	row := &rivertype.JobRow{CreatedAt: since}
	switch a := args.(type) {
	case store.ReconcileArgs:
		return (&reconcileWorker{c: c}).Work(ctx, &river.Job[store.ReconcileArgs]{JobRow: row, Args: a})
	case store.LaunchArgs:
		return (&launchWorker{c: c}).Work(ctx, &river.Job[store.LaunchArgs]{JobRow: row, Args: a})
	case store.StopArgs:
		return (&stopWorker{c: c}).Work(ctx, &river.Job[store.StopArgs]{JobRow: row, Args: a})
	case store.PublishArgs:
		return (&publishWorker{c: c}).Work(ctx, &river.Job[store.PublishArgs]{JobRow: row, Args: a})
	case store.ReplyArgs:
		return (&replyWorker{c: c}).Work(ctx, &river.Job[store.ReplyArgs]{JobRow: row, Args: a})
	case store.EffectArgs:
		return (&effectWorker{c: c}).Work(ctx, &river.Job[store.EffectArgs]{JobRow: row, Args: a})
	case store.CapacityQueueArgs:
		return (&capacityQueueWorker{c: c}).Work(ctx, &river.Job[store.CapacityQueueArgs]{JobRow: row, Args: a})
	case store.TurnsArgs:
		return (&turnsWorker{c: c}).Work(ctx, &river.Job[store.TurnsArgs]{JobRow: row, Args: a})
	case store.WakeArgs:
		return (&wakeWorker{c: c}).Work(ctx, &river.Job[store.WakeArgs]{JobRow: row, Args: a})
	case store.RemoveArgs:
		return (&removeWorker{c: c}).Work(ctx, &river.Job[store.RemoveArgs]{JobRow: row, Args: a})
	case store.SweepArgs:
		return (&sweepWorker{c: c}).Work(ctx, &river.Job[store.SweepArgs]{JobRow: row, Args: a})
	}
	return fmt.Errorf("no worker for %T", args)
}
