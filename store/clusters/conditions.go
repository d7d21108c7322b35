package clusters

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/ocpctl/ocpctl/store/db"
)

func SetCondition(ctx context.Context, c *db.Tx, cluster string, q Condition) error {
	_, err := c.Exec(ctx, `
		INSERT INTO conditions AS q (cluster_id, type, status, reason, message, changed_at)
		VALUES (@cluster, @type, @status, @reason, @message, @now)
		ON CONFLICT (cluster_id, type) DO UPDATE SET status = excluded.status, reason = excluded.reason, message = excluded.message,
			changed_at = CASE WHEN q.status = excluded.status THEN q.changed_at ELSE excluded.changed_at END`,
		pgx.NamedArgs{"cluster": cluster, "type": q.Type, "status": q.Status, "reason": q.Reason, "message": q.Message, "now": c.Now})
	if err != nil {
		return fmt.Errorf("set the condition of %s: %w", cluster, err)
	}
	return nil
}
