package controller

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
)

const (
	// nearTurn is how far off a turn may be for a worker to wait for it at the wire, in line with others.
	nearTurn = 5 * time.Second
	// farthestTurn is how long words sleep at most before they look again whether it is their turn.
	farthestTurn = 30 * time.Second
	// progressPaces is how many paces lie at least between two edits of one place that tell of progress alone.
	progressPaces = 10
)

// later says that it is not yet the turn of some words. GitHub was not asked anything.
type later struct{ wait time.Duration }

// Error implements error.
func (l later) Error() string { return fmt.Sprintf("not yet its turn, again in %s", l.wait) }

// ahead is later where an installation's next write is far off. It is asked before the wire is: what is read there for a
// write that then has to wait counts towards another limit of GitHub's, and hundreds who wait would use that up in minutes.
func (c *Controller) paceWrite(ctx context.Context, installation int64, canWait bool) error {
	wait, err := c.Store.PaceAhead(ctx, installation, c.Pace, canWait)
	near := nearTurn
	if canWait {
		near = c.Pace.Every // no nearer than the pace: what is kept for others is not taken by who stands in line
	}
	if err != nil || wait <= near {
		return err
	}
	wait = min(wait, farthestTurn)
	return later{wait + rand.N(wait)} //nolint:gosec // they must not all come back at once
}

// canWait says that words tell of progress alone: those of a cluster that is on its way, but for the first ones anybody reads.
// What it came to, in the end or for now, never waits for others.
func canWait(sub store.Subscriber, row store.Row) bool {
	switch row.Status {
	case lifecycle.Pending, lifecycle.Creating, lifecycle.Destroying:
		return sub.Kind != store.KindLabel && (sub.Kind != store.KindComment || sub.ExternalID != 0)
	}
	return false
}

// soon is later where a place told of progress a moment ago: the last words there are to be read first. What changed
// meanwhile is one write.
func (c *Controller) delayEdit(ctx context.Context, sub store.Subscriber, row store.Row) error {
	if !canWait(sub, row) || sub.ShownAt == nil {
		return nil
	}
	now, err := c.Store.Now(ctx)
	if err != nil {
		return err
	}
	if left := sub.ShownAt.Add(progressPaces * c.Pace.Every).Sub(now); left > 0 {
		return later{left}
	}
	return nil
}
