package controller

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/queue"
)

// poolsEvery is how often pools are looked at without a trigger: a claim triggers a look itself.
const poolsEvery = 10 * time.Second

// Pools keeps pools of clusters as their documents say: app.Service.
type Pools interface {
	KeepPools(ctx context.Context) error
}

type poolsWorker struct {
	river.WorkerDefaults[queue.PoolsArgs]
	c *Controller
}

// Work makes, replaces, ends, wakes and puts to sleep what waits in pools.
func (w *poolsWorker) Work(ctx context.Context, _ *river.Job[queue.PoolsArgs]) error {
	if w.c.Pools == nil {
		return nil
	}
	return w.c.oneRound(ctx, "pools", w.c.Pools.KeepPools)
}
