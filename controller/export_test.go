package controller

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/ocpctl/ocpctl/internal/queue"
)

// Work runs the worker of a job as River does, for a job that was inserted at since.
func (c *Controller) Work(ctx context.Context, args river.JobArgs, since time.Time) error {
	row := &rivertype.JobRow{CreatedAt: since}
	switch a := args.(type) {
	case queue.ReconcileArgs:
		return (&reconcileWorker{c: c}).Work(ctx, &river.Job[queue.ReconcileArgs]{JobRow: row, Args: a})
	case queue.LaunchArgs:
		return (&launchWorker{c: c}).Work(ctx, &river.Job[queue.LaunchArgs]{JobRow: row, Args: a})
	case queue.StopArgs:
		return (&stopWorker{c: c}).Work(ctx, &river.Job[queue.StopArgs]{JobRow: row, Args: a})
	case queue.PublishArgs:
		return (&publishWorker{c: c}).Work(ctx, &river.Job[queue.PublishArgs]{JobRow: row, Args: a})
	case queue.ReplyArgs:
		return (&replyWorker{c: c}).Work(ctx, &river.Job[queue.ReplyArgs]{JobRow: row, Args: a})
	case queue.EffectArgs:
		return (&effectWorker{c: c}).Work(ctx, &river.Job[queue.EffectArgs]{JobRow: row, Args: a})
	case queue.CapacityQueueArgs:
		return (&capacityQueueWorker{c: c}).Work(ctx, &river.Job[queue.CapacityQueueArgs]{JobRow: row, Args: a})
	case queue.TurnsArgs:
		return (&turnsWorker{c: c}).Work(ctx, &river.Job[queue.TurnsArgs]{JobRow: row, Args: a})
	case queue.WakeArgs:
		return (&wakeWorker{c: c}).Work(ctx, &river.Job[queue.WakeArgs]{JobRow: row, Args: a})
	case queue.RemoveArgs:
		return (&removeWorker{c: c}).Work(ctx, &river.Job[queue.RemoveArgs]{JobRow: row, Args: a})
	case queue.ArchivesArgs:
		return (&archivesWorker{c: c}).Work(ctx, &river.Job[queue.ArchivesArgs]{JobRow: row, Args: a})
	case queue.CleanupArgs:
		return (&cleanupWorker{c: c}).Work(ctx, &river.Job[queue.CleanupArgs]{JobRow: row, Args: a})
	case queue.RunScansArgs:
		return (&runScansWorker{c: c}).Work(ctx, &river.Job[queue.RunScansArgs]{JobRow: row, Args: a})
	case queue.LaunchScanArgs:
		return (&launchScanWorker{c: c}).Work(ctx, &river.Job[queue.LaunchScanArgs]{JobRow: row, Args: a})
	case queue.JudgeScanArgs:
		return (&judgeScanWorker{c: c}).Work(ctx, &river.Job[queue.JudgeScanArgs]{JobRow: row, Args: a})
	case queue.FindingsArgs:
		return (&findingsWorker{c: c}).Work(ctx, &river.Job[queue.FindingsArgs]{JobRow: row, Args: a})
	}
	return fmt.Errorf("no worker for %T", args)
}
