package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Abandon records that an admin gave up waiting for a blocked teardown. The teardown goes on, and name, quota, cost and finding
// stay until nothing is left. A second call changes nothing. ErrConflict: the teardown is not blocked, or the cluster is still
// wanted.
func (s *Store) Abandon(ctx context.Context, id string, d clusters.Origin) error {
	_, err := clusters.ChangeSeen(ctx, s.DB, id, d, func(c *db.Tx, cur usage.Held, _ *clusters.Outcome) error {
		switch {
		case cur.Abandoned && cur.Phase != lifecycle.Released:
			return nil
		case cur.Phase != lifecycle.DestroyBlocked:
			return fmt.Errorf("%w: its teardown is not blocked", db.ErrConflict)
		case cur.Desired == lifecycle.Present:
			return fmt.Errorf("%w: it is still wanted", db.ErrConflict)
		}
		if err := clusters.SetDesired(ctx, c, id, "abandoned = true", pgx.NamedArgs{}); err != nil {
			return err
		}
		return clusters.RecordAction(c, d, "abandon_asked", id, clusters.Action{Before: false, After: true})
	})
	if err != nil {
		return fmt.Errorf("abandon %s: %w", id, err)
	}
	return nil
}

// RetryTeardown moves the next teardown to now; one that runs or is due serves the request. ErrConflict: nothing of the cluster
// waits to be torn down.
func (s *Store) RetryTeardown(ctx context.Context, id string, d clusters.Origin) error {
	_, err := clusters.ChangeSeen(ctx, s.DB, id, d, func(c *db.Tx, cur usage.Held, _ *clusters.Outcome) error { return retryTeardown(ctx, c, cur, d) })
	if err != nil {
		return fmt.Errorf("retry the teardown of %s: %w", id, err)
	}
	return nil
}

func retryTeardown(ctx context.Context, c *db.Tx, cur usage.Held, d clusters.Origin) error {
	if !cur.TearsDown() {
		return fmt.Errorf("%w: nothing of it waits to be torn down", db.ErrConflict)
	}
	if cur.RetryAt.After(c.Now) {
		if err := clusters.SetDesired(ctx, c, cur.ID, "retry_at = @at", pgx.NamedArgs{"at": c.Now}); err != nil {
			return err
		}
	}
	return clusters.RecordAction(c, d, "retry_asked", cur.ID, clusters.Action{Before: db.Null(cur.RetryAt), After: c.Now})
}
