package controller

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/store"
)

// turnsEvery is how often turns are given though nothing asked for it: whatever frees a place asks for a pass itself.
const turnsEvery = time.Minute

type turnsWorker struct {
	river.WorkerDefaults[store.TurnsArgs]
	c *Controller
}

// Work gives everybody their turn for whom there is room, and tells the others where they stand.
func (w *turnsWorker) Work(ctx context.Context, _ *river.Job[store.TurnsArgs]) error {
	n, err := w.c.Store.Turns(ctx)
	if n > 0 {
		w.c.Log.Info("turns given", "clusters", n)
	}
	return err
}
