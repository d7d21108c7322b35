package access

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/internal/pg"
	"github.com/ocpctl/ocpctl/store/internal/rows"
	"github.com/ocpctl/ocpctl/store/internal/usage"
)

// Revoke revokes one access. It is never handed out again, and a runner removes its account from the cluster. A repeated call changes
// nothing. ErrNotFound: the cluster has no such access.
func (s *Store) Revoke(ctx context.Context, cluster, id string, d rows.Origin) error {
	err := s.changeSeen(ctx, cluster, d, func(c *change, _ usage.Held) error {
		found, err := list(ctx, c, c.Now, `a.cluster_id = @cluster AND a.id = @id`, pgx.NamedArgs{"cluster": cluster, "id": id})
		switch {
		case err != nil:
			return err
		case len(found) == 0:
			return pg.ErrNotFound
		}
		_, err = c.RevokeAccess(ctx, cluster, `a.id = @id`, pgx.NamedArgs{"id": id}, d)
		return err
	})
	if err != nil {
		return fmt.Errorf("revoke access %s to %s: %w", id, cluster, err)
	}
	return nil
}

// RevokeForRun revokes every access that was asked for a run, to any cluster, when the run has ended. It returns how many there were.
func (s *Store) RevokeForRun(ctx context.Context, run, why string) (n int, err error) {
	clusters, err := pg.All[struct{ Cluster string }](ctx, s.db.Pool(), `
		SELECT DISTINCT cluster_id AS cluster FROM access WHERE origin = $1 AND origin <> '' AND revoked_at IS NULL ORDER BY 1`, run)
	if err != nil {
		return 0, fmt.Errorf("look for the access of run %s: %w", run, err)
	}
	for _, each := range clusters {
		err := s.changeSeen(ctx, each.Cluster, rows.Origin{}, func(c *change, _ usage.Held) error {
			revoked, err := c.RevokeAccess(ctx, each.Cluster, `a.origin = @run`, pgx.NamedArgs{"run": run}, rows.Origin{Actor: pg.Lifecycle, Why: why})
			n += revoked
			return err
		})
		if err != nil {
			return n, fmt.Errorf("revoke the access of run %s to %s: %w", run, each.Cluster, err)
		}
	}
	return n, nil
}
