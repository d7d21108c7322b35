package controller

import (
	"context"
	"log/slog"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle/breaker"
)

type breakersWorker struct {
	river.WorkerDefaults[queue.BreakersArgs]
	c *Controller
}

// Work opens, tries and closes breakers.
func (w *breakersWorker) Work(ctx context.Context, _ *river.Job[queue.BreakersArgs]) error {
	changes, err := w.c.Store.Brakes.Advance(ctx, w.c.Breaker)
	for _, change := range changes {
		level := slog.LevelInfo
		if change.Event == breaker.Opened || change.Event == breaker.ProbeFailed {
			level = slog.LevelWarn
		}
		w.c.Log.Log(ctx, level, "breaker "+string(change.Event), "breaker", change.ID, "where", change.Where.String(), "code", change.Code, "cluster", change.Probe)
	}
	return err
}
