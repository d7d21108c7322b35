package controller

import (
	"context"
	"errors"
	"slices"

	"github.com/ocpctl/ocpctl/internal/dispatch"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/db"
)

// sighting is what the dispatcher reports about the open attempt's runner.
type sighting struct {
	open    attempts.LaunchSpec // Number is 0 if none is open
	runner  lifecycle.Sighting
	trouble lifecycle.Trouble
}

// observe asks the dispatcher about the open attempt's runner. A missing answer is Unknown, which decides nothing.
func (c *Controller) observe(ctx context.Context, cluster string) (sighting, error) {
	open, err := c.Store.Attempts.OpenAttempt(ctx, cluster)
	if errors.Is(err, db.ErrNotFound) {
		return sighting{}, nil
	}
	if err != nil {
		return sighting{}, err
	}
	seen, err := c.Dispatcher.Observe(ctx, open.Attempt)
	if err != nil {
		c.Log.WarnContext(ctx, "runner not observed", "cluster", cluster, "attempt", open.Attempt, "err", err)
		return sighting{open: open}, nil
	}
	s := sighting{open: open, runner: runnerSighting(seen.Sighting, open.Launched)}
	if seen.Trouble != nil && s.runner != lifecycle.NotStarted {
		s.trouble = lifecycle.Trouble(*seen.Trouble)
	}
	return s, nil
}

// runnerSighting translates what was seen. A runner that is nowhere has ended if its start was confirmed, and was never started otherwise.
func runnerSighting(seen dispatch.Sighting, launched bool) lifecycle.Sighting {
	switch {
	case seen == dispatch.NotStarted, seen == dispatch.Missing && !launched:
		return lifecycle.NotStarted
	case seen == dispatch.Running:
		return lifecycle.Alive
	case seen == dispatch.Ended, seen == dispatch.Missing:
		return lifecycle.Ended
	}
	return lifecycle.Unknown
}

// decide decides with what the dispatcher knows of other attempts' runners. It is asked only before something would start. Without an
// answer, the start itself refuses as long as it gets none either.
func (c *Controller) decide(ctx context.Context, cluster lifecycle.Cluster, f lifecycle.Facts) lifecycle.Decision {
	d := lifecycle.Decide(cluster, f, c.Limits)
	starts := slices.ContainsFunc(d.Effects, func(e lifecycle.Effect) bool { return e.Kind == lifecycle.Launch })
	if !starts || f.Open == nil && f.Last == nil {
		return d
	}
	living, err := c.Dispatcher.Living(ctx, cluster.ID)
	if err != nil {
		c.Log.Warn("runners of a cluster not listed", "cluster", cluster.ID, "err", err)
		return d
	}
	for _, number := range living {
		if f.Open == nil || number != f.Open.Number {
			f.Beside = append(f.Beside, number)
		}
	}
	if len(f.Beside) == 0 {
		return d
	}
	c.Log.Warn("a start waits for runners of earlier attempts", "cluster", cluster.ID, "attempts", f.Beside)
	return lifecycle.Decide(cluster, f, c.Limits)
}

// watcher is a Dispatcher that notices changes by itself.
type watcher interface {
	Watch(ctx context.Context, changed func(cluster string))
}

// Watch has clusters reconciled as soon as the dispatcher sees a change of their runners, until ctx ends. Every process may watch; without
// it, changes are found when a cluster is looked at again.
func (c *Controller) Watch(ctx context.Context) {
	w, ok := c.Dispatcher.(watcher)
	if !ok {
		return
	}
	w.Watch(ctx, func(cluster string) {
		err := c.Store.Attempts.RunnerChanged(ctx, cluster)
		if err != nil && !errors.Is(err, db.ErrNotFound) && ctx.Err() == nil {
			c.Log.Warn("change of a runner not recorded", "cluster", cluster, "err", err)
		}
	})
}
