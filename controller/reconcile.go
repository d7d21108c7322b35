package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
)

// rounds bounds how often one job looks again before it gives way: a lost race or a closed attempt asks for another look.
const rounds = 8

type reconcileWorker struct {
	river.WorkerDefaults[store.ReconcileArgs]
	c *Controller
}

func (w *reconcileWorker) Work(ctx context.Context, job *river.Job[store.ReconcileArgs]) error {
	return w.c.Reconcile(ctx, job.Args.Cluster)
}

// Reconcile brings one cluster as far as it can go now: observe, decide, apply, and again while the decision asks for it.
func (c *Controller) Reconcile(ctx context.Context, id string) error {
	for range rounds {
		again, err := c.round(ctx, id)
		if errors.Is(err, store.ErrStale) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reconcile %s: %w", id, err)
		}
		if !again {
			return nil
		}
	}
	return river.JobSnooze(time.Second)
}

// round looks outside before it reads the row: a runner seen ended, whose result is then not in the store, is gone.
func (c *Controller) round(ctx context.Context, id string) (again bool, err error) {
	seen, err := c.observe(ctx, id)
	if err != nil {
		return false, err
	}
	cluster, facts, err := c.Store.Load(ctx, id)
	if err != nil {
		return false, err
	}
	if facts.Open != nil && facts.Open.Number == seen.number {
		facts.Runner = seen.runner
	}
	d := lifecycle.Decide(cluster, facts, c.Limits)
	if err := c.Store.Apply(ctx, d, cluster.Version); err != nil {
		return false, err
	}
	if d.Next.Phase != cluster.Phase || d.Next.Wish != cluster.Wish {
		c.Log.Info("decided", "cluster", id, "from", cluster.Phase, "to", d.Next.Phase, "status", d.Next.Status,
			"wish", d.Next.Wish, "why", d.Next.Why)
	}
	return d.Close != nil, nil
}
