package controller

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/queue"
)

// breakersEvery is how often breakers are looked at without a trigger: a create that ended triggers a look itself.
const breakersEvery = 5 * time.Second

type breakersWorker struct {
	river.WorkerDefaults[queue.BreakersArgs]
	c *Controller
}

// Work opens, tries and closes breakers.
func (w *breakersWorker) Work(ctx context.Context, _ *river.Job[queue.BreakersArgs]) error {
	changes, err := w.c.Store.Brakes.Advance(ctx, w.c.Breaker)
	for _, change := range changes {
		w.c.Log.WarnContext(ctx, "breaker", "event", change.Event, "breaker", change.ID, "where", change.Where.String(), "code", change.Code, "cluster", change.Probe)
	}
	return err
}
