package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Abandon records that an admin gave up waiting for a blocked teardown. The teardown goes on, and name, quota, cost and finding
// stay until nothing is left. A second call changes nothing. ErrConflict: the teardown is not blocked, or the cluster is still
// wanted.
func (s *Store) Abandon(ctx context.Context, id string, d Origin) error {
	_, err := s.changeSeen(ctx, id, d, func(c *change, cur held, _ *Outcome) error {
		switch {
		case cur.Abandoned && cur.Phase != lifecycle.Released:
			return nil
		case cur.Phase != lifecycle.DestroyBlocked:
			return fmt.Errorf("%w: its teardown is not blocked", ErrConflict)
		case cur.Desired == lifecycle.Present:
			return fmt.Errorf("%w: it is still wanted", ErrConflict)
		}
		if err := c.setDesired(ctx, id, "abandoned = true", pgx.NamedArgs{}); err != nil {
			return err
		}
		return c.did(d, "abandon_asked", id, act{Before: false, After: true})
	})
	if err != nil {
		return fmt.Errorf("abandon %s: %w", id, err)
	}
	return nil
}

// RetryTeardown moves the next teardown to now; one that runs or is due serves the request. ErrConflict: nothing of the cluster
// waits to be torn down.
func (s *Store) RetryTeardown(ctx context.Context, id string, d Origin) error {
	_, err := s.changeSeen(ctx, id, d, func(c *change, cur held, _ *Outcome) error { return c.retryTeardown(ctx, cur, d) })
	if err != nil {
		return fmt.Errorf("retry the teardown of %s: %w", id, err)
	}
	return nil
}

func (c *change) retryTeardown(ctx context.Context, cur held, d Origin) error {
	if !tearsDown(cur.Cluster) {
		return fmt.Errorf("%w: nothing of it waits to be torn down", ErrConflict)
	}
	if cur.RetryAt.After(c.now) {
		if err := c.setDesired(ctx, cur.ID, "retry_at = @at", pgx.NamedArgs{"at": c.now}); err != nil {
			return err
		}
	}
	return c.did(d, "retry_asked", cur.ID, act{Before: null(cur.RetryAt), After: c.now})
}

func tearsDown(c lifecycle.Cluster) bool {
	return c.Status == lifecycle.Failed || c.Status == lifecycle.Destroying || c.Phase == lifecycle.Cleaning
}
