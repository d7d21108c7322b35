package controller

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/outbox"
)

const (
	// nearTurn is how soon a turn must be for a worker to wait for it in the client, in a queue with others.
	nearTurn = 5 * time.Second
	// farthestTurn is how long a text waits at most before its turn is checked again.
	farthestTurn = 30 * time.Second
	// progressPaces is the minimum number of paces between two edits of one subscriber that only show progress.
	progressPaces = 10
)

// later says that it is not yet a text's turn. GitHub and Slack were not called.
type later struct {
	wait   time.Duration
	shared bool // others wait for the same turns: they must not all come back at once
	kept   bool // the turn is kept for this text
}

// Error implements error.
func (l later) Error() string { return fmt.Sprintf("not its turn yet, retry in %s", l.wait) }

// paceWrite returns later if an installation's next write is far off. This is checked before the client is called: reads for a write
// that then has to wait count towards another of GitHub's limits, and hundreds of waiting texts would use that up in minutes.
func (c *Controller) paceWrite(ctx context.Context, installation int64, canWait bool) error {
	wait, err := c.Store.Outbox.PaceAhead(ctx, installation, c.Pace, canWait)
	near := nearTurn
	if canWait {
		near = c.Pace.Every // no nearer than the pace, so that progress does not use what is reserved for others
	}
	if err != nil || wait <= near {
		return err
	}
	wait = min(wait, farthestTurn)
	return later{wait: wait + rand.N(wait)}
}

// canWait reports that a text only shows progress: the cluster is being created or destroyed, and it is not the first text anybody
// reads. A result, final or not, never waits for others.
func canWait(sub outbox.Subscriber, row clusters.Row) bool {
	switch row.Status {
	case lifecycle.Pending, lifecycle.Creating, lifecycle.Destroying:
		return sub.Kind != clusters.KindLabel && (sub.Kind != clusters.KindComment || sub.ExternalID != 0)
	}
	return false
}

// delayEdit returns later if progress was shown a moment ago, so that people can read the last text first. All changes until then
// become one write.
func (c *Controller) delayEdit(ctx context.Context, sub outbox.Subscriber, row clusters.Row) error {
	if !canWait(sub, row) || sub.ShownAt == nil {
		return nil
	}
	now, err := c.Store.Now(ctx)
	if err != nil {
		return err
	}
	if left := sub.ShownAt.Add(progressPaces * c.Pace.Every).Sub(now); left > 0 {
		return later{wait: left}
	}
	return nil
}
