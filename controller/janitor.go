package controller

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/robfig/cron/v3"

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

// Periodic returns the controller's periodic jobs on robfig/cron schedules. River's leader enqueues each once per period.
func (c *Controller) Periodic() []*river.PeriodicJob {
	return []*river.PeriodicJob{
		river.NewPeriodicJob(every(c.Wake), func() (river.JobArgs, *river.InsertOpts) {
			return store.WakeArgs{}, nil
		}, &river.PeriodicJobOpts{RunOnStart: true, ID: "wake"}),
	}
}

// every is robfig/cron's "@every" schedule, which knows whole seconds.
func every(d time.Duration) cron.Schedule { return cron.Every(d) }
