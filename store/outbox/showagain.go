package outbox

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// ShowAgain posts a cluster's message in a channel of Slack again, and its thread, if somebody deleted the message there. shown is
// false if the cluster has no message in that channel, or if it still stands.
func (s *Store) ShowAgain(ctx context.Context, cluster, workspace, channel string) (shown bool, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		cur, err := clusters.Lock(ctx, c, cluster)
		if err != nil {
			return err
		}
		again, err := c.Query(ctx, `
			UPDATE subscribers s SET muted = false, external_id = 0, shown_version = 0, shown_body = '', posting_at = NULL, told_to = 0,
				wanted_version = @version, nudge_at = @nudge
			WHERE s.cluster_id = @cluster AND s.workspace = @workspace AND s.channel = @channel
				AND EXISTS (SELECT FROM subscribers m WHERE m.cluster_id = s.cluster_id AND m.kind = @message AND m.muted)
			RETURNING id`,
			pgx.NamedArgs{
				"cluster": cluster, "workspace": workspace, "channel": channel, "message": clusters.KindSlackMessage,
				"version": cur.Version, "nudge": c.Now.Add(clusters.NudgeSoon),
			})
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(again, pgx.RowTo[string])
		for _, id := range ids {
			c.Enqueue(queue.PublishArgs{Subscriber: id, Version: cur.Version})
		}
		shown = len(ids) > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("show %s again: %w", cluster, err)
	}
	return shown, nil
}
