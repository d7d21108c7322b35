package clusters

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
)

// closeUses releases every turn on a cluster that is no longer wanted, granted or waited for; empty: on all of them.
func closeUses(ctx context.Context, c *db.Tx, cluster string) (n int, err error) {
	type closed struct{ ID, Cluster, Why string }
	over, err := db.All[closed](ctx, c, `
		UPDATE uses u SET released_at = @now, why = 'the cluster is no longer wanted: ' || c.desired_why
		FROM clusters c WHERE c.id = u.cluster_id AND u.released_at IS NULL AND (@cluster = '' OR u.cluster_id = @cluster) AND c.desired = 'absent'
		RETURNING u.id, u.cluster_id AS cluster, u.why`, pgx.NamedArgs{"now": c.Now, "cluster": cluster})
	if err != nil {
		return 0, fmt.Errorf("release the turns: %w", err)
	}
	for _, u := range over {
		if err := RecordAction(c, Origin{Actor: db.Lifecycle, Why: u.Why}, "use_released", u.Cluster, Action{Note: u.ID}); err != nil {
			return 0, err
		}
	}
	return len(over), nil
}
