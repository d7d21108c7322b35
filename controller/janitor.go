package controller

import (
	"context"
	"fmt"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/store"
)

// wakeBatch bounds what one look takes on; what is left is due at the next one.
const wakeBatch = 500

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
