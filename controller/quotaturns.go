package controller

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/queue"
)

// turnsEvery is how often turns are given without a trigger: whatever frees a place triggers a pass itself.
const turnsEvery = time.Minute

type turnsWorker struct {
	river.WorkerDefaults[queue.TurnsArgs]
	c *Controller
}

// Work gives a turn to everybody for whom there is a place, and free runners to those who come next, and updates the positions of
// the others.
func (w *turnsWorker) Work(ctx context.Context, _ *river.Job[queue.TurnsArgs]) error {
	n, err := w.c.Store.Turns(ctx)
	if n > 0 {
		w.c.Log.InfoContext(ctx, "quota turns assigned", "clusters", n)
	}
	if err != nil {
		return err
	}
	n, err = w.c.Store.AssignRunners(ctx)
	if n > 0 {
		w.c.Log.Info("runners assigned", "clusters", n)
	}
	return err
}
