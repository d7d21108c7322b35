package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/db"
)

// rounds limits how often one job decides again before it yields: a lost race or a closed attempt requires another decision.
const rounds = 8

type reconcileWorker struct {
	river.WorkerDefaults[queue.ReconcileArgs]
	c *Controller
}

func (w *reconcileWorker) Work(ctx context.Context, job *river.Job[queue.ReconcileArgs]) error {
	return w.c.Reconcile(ctx, job.Args.Cluster)
}

// Reconcile brings one cluster as far as it can go now: observe, decide, apply, and again while the decision requires it.
func (c *Controller) Reconcile(ctx context.Context, id string) error {
	for range rounds {
		again, err := c.round(ctx, id)
		if errors.Is(err, db.ErrStale) {
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

// round observes the runner before it reads the row: if a runner was seen ended and the store then has no result, the runner is gone.
func (c *Controller) round(ctx context.Context, id string) (again bool, err error) {
	seen, err := c.observe(ctx, id)
	if err != nil {
		return false, err
	}
	cluster, facts, err := c.Store.Load(ctx, id)
	if err != nil {
		return false, err
	}
	same := facts.Open != nil && facts.Open.Number == seen.open.Number
	if same {
		facts.Runner, facts.Trouble = seen.runner, seen.trouble
	}
	if cluster.OffHours && c.Hours != nil {
		hours := c.Hours(facts.Profile, facts.Team, facts.Now)
		facts.Hours = &hours
	}
	d := c.decide(ctx, cluster, facts)
	if same && loses(d, *facts.Open) {
		c.killLostRunner(ctx, seen)
		d = c.importLastResult(ctx, seen.open, cluster, facts, d)
	}
	if err := c.Store.Apply(ctx, d, cluster.Version); err != nil {
		return false, err
	}
	c.logDecision(ctx, cluster, d)
	return d.Close != nil, nil
}

// loses reports that the decision gives up an attempt that a runner had begun.
func loses(d lifecycle.Decision, open lifecycle.Attempt) bool {
	return d.Close != nil && d.Close.Outcome == lifecycle.Lost && !open.ClaimedAt.IsZero()
}

// killLostRunner kills a runner that is given up but still seen alive. It should have stopped its installer when its lease ended; a runner that
// hangs did not, and nothing may be torn down beside a running install. If the kill fails, only the runner's own stop at the end of its
// lease is left.
func (c *Controller) killLostRunner(ctx context.Context, seen sighting) {
	if seen.runner != lifecycle.Alive {
		return
	}
	c.Log.WarnContext(ctx, "runner killed: its lease ended long ago", "cluster", seen.open.Cluster, "attempt", seen.open.Attempt)
	if err := c.Dispatcher.Kill(ctx, seen.open.Attempt); err != nil {
		c.Log.ErrorContext(ctx, "runner not killed", "cluster", seen.open.Cluster, "attempt", seen.open.Attempt, "err", err)
	}
}

// importLastResult reads the spool before a begun attempt is given up. A result in it closes the attempt, which makes the decision obsolete.
// If the spool cannot be read, it may contain one: then the runner's end counts as unknown and decides nothing.
func (c *Controller) importLastResult(ctx context.Context, open attempts.LaunchSpec, cluster lifecycle.Cluster, f lifecycle.Facts,
	d lifecycle.Decision) lifecycle.Decision {
	err := c.importSpool(ctx, open)
	if err == nil {
		return d
	}
	c.Log.WarnContext(ctx, "spool not read", "cluster", cluster.ID, "attempt", open.Attempt, "err", err)
	f.Runner, f.Trouble = lifecycle.Unknown, lifecycle.Trouble{}
	return lifecycle.Decide(cluster, f, c.Limits)
}

// logDecision logs a decision that changes something that people or runners see.
func (c *Controller) logDecision(ctx context.Context, was lifecycle.Cluster, d lifecycle.Decision) {
	next := d.Next
	if next.Phase == was.Phase && next.Desired == was.Desired && d.Open == "" && d.Close == nil && !d.StopNow {
		return
	}
	more := []any{}
	if d.Open != "" {
		more = append(more, "opens", d.Open)
	}
	if d.Close != nil {
		more = append(more, "closes", d.Close.Number, "outcome", d.Close.Outcome)
	}
	c.Log.InfoContext(ctx, "decided", append([]any{
		"cluster", was.ID, "from", was.Phase, "to", next.Phase, "status", next.Status, "desired", next.Desired, "why", next.Why.String(),
	}, more...)...)
}
