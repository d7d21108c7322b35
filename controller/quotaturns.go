package controller

import (
	"context"
	"sync"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/queue"
)

// turnsEvery is how often turns are given without a trigger: whatever frees a place triggers a pass itself.
const turnsEvery = time.Minute

type turnsWorker struct {
	river.WorkerDefaults[queue.TurnsArgs]
	c *Controller

	mu    sync.Mutex
	began time.Time // of the newest pass of this process
}

// Work gives a turn to everybody for whom there is a place, and free runners to those who come next, and updates the positions of
// the others.
//
// A job that waited for another pass of this process is done if that began after the job came: it saw what the job is about. If it fails,
// it is tried again.
func (w *turnsWorker) Work(ctx context.Context, _ *river.Job[queue.TurnsArgs]) error {
	came := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.began.After(came) {
		return nil
	}
	w.began = time.Now()
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
