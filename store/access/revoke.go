package access

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Revoke revokes one access. It is never handed out again, and a runner removes its account from the cluster. A repeated call changes
// nothing. ErrNotFound: the cluster has no such access.
func (s *Store) Revoke(ctx context.Context, cluster, id string, d clusters.Origin) error {
	err := s.changeSeen(ctx, cluster, d, func(c *db.Tx, _ usage.Held) error {
		found, err := list(ctx, c, c.Now, `a.cluster_id = @cluster AND a.id = @id`, pgx.NamedArgs{"cluster": cluster, "id": id})
		switch {
		case err != nil:
			return err
		case len(found) == 0:
			return db.ErrNotFound
		}
		_, err = Revoke(ctx, c, cluster, `a.id = @id`, pgx.NamedArgs{"id": id}, d)
		return err
	})
	if err != nil {
		return fmt.Errorf("revoke access %s to %s: %w", id, cluster, err)
	}
	return nil
}

// expiredEvery is how often a runner is started for a cluster because of accesses whose time is over.
const expiredEvery = time.Hour

// RemoveExpired has runners remove the accounts of accesses whose time is over from ready clusters. That their tokens have expired is the
// cluster's word alone. It starts at most one runner an hour for a cluster, but a console account, whose password does not expire by itself, is
// removed at once. It returns how many accesses there were.
func (s *Store) RemoveExpired(ctx context.Context) (n int, err error) {
	now, err := s.db.Now(ctx)
	if err != nil {
		return 0, err
	}
	due, err := db.All[struct{ ID string }](ctx, s.db.Pool(), `
		SELECT DISTINCT c.id FROM access a JOIN clusters c ON c.id = a.cluster_id
		WHERE c.status = 'READY' AND c.desired = 'present' AND `+ExpiredSQL+` AND (a.kind = 'console' OR NOT EXISTS (
			SELECT FROM access b WHERE b.cluster_id = c.id AND b.revoked_by = @by AND b.revoke_why = @why AND b.revoked_at > @since))
		ORDER BY c.id`,
		pgx.NamedArgs{"now": now, "tail": Tail, "by": db.Lifecycle, "why": Over, "since": now.Add(-expiredEvery)})
	if err != nil {
		return 0, fmt.Errorf("look for access whose time is over: %w", err)
	}
	for _, cluster := range due {
		err := s.changeSeen(ctx, cluster.ID, clusters.Origin{Actor: db.Lifecycle}, func(c *db.Tx, cur usage.Held) error {
			if cur.Status != lifecycle.Ready || cur.Desired != lifecycle.Present {
				return nil
			}
			gone, err := Expire(ctx, c, cluster.ID)
			n += gone
			return err
		})
		if err != nil {
			return n, fmt.Errorf("remove access to %s whose time is over: %w", cluster.ID, err)
		}
	}
	return n, nil
}
