package clusters

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// closeUses releases every turn on a cluster that is no longer wanted, granted or waited for; empty: on all of them.
func closeUses(ctx context.Context, c *db.Tx, cluster string) (n int, err error) {
	type closed struct {
		ID, Cluster string
		Why         lifecycle.Reason
	}
	over, err := db.All[closed](ctx, c, `
		SELECT u.id, u.cluster_id AS cluster, c.desired_why AS why
		FROM uses u JOIN clusters c ON c.id = u.cluster_id
		WHERE u.released_at IS NULL AND (@cluster = '' OR u.cluster_id = @cluster) AND c.desired = 'absent' FOR NO KEY UPDATE OF u`,
		pgx.NamedArgs{"cluster": cluster})
	if err != nil {
		return 0, fmt.Errorf("find the turns that are over: %w", err)
	}
	for _, u := range over {
		why := Unwanted + u.Why.String()
		if _, err := c.Exec(ctx, `UPDATE uses SET released_at = $2, why = $3 WHERE id = $1`, u.ID, c.Now, why); err != nil {
			return 0, fmt.Errorf("release turn %s: %w", u.ID, err)
		}
		if err := RecordAction(c, Origin{Actor: db.Lifecycle, Why: why}, "use_released", u.Cluster, Action{Note: u.ID}); err != nil {
			return 0, err
		}
	}
	return len(over), nil
}
