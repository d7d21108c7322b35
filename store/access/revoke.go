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
