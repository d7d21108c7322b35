package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Mute stops updates of a subscriber for good, because somebody removed what it showed.
func (s *Store) Mute(ctx context.Context, subID string) error {
	if _, err := s.db.Pool().Exec(ctx, `UPDATE subscribers SET muted = true WHERE id = $1`, subID); err != nil {
		return fmt.Errorf("mute %s: %w", subID, err)
	}
	return nil
}

// ShowByLabel adds the label of the cluster's profile as a subscriber, whichever entry point made the cluster: when the cluster
// is gone, the label is removed too. It does nothing if the label is a subscriber already.
func (s *Store) ShowByLabel(ctx context.Context, cluster string) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		if cur, err := clusters.Lock(ctx, c, cluster); err != nil || cur.Desired != lifecycle.Present {
			return err
		}
		var id string
		var version int64
		err := c.QueryRow(ctx, `
			INSERT INTO subscribers (id, cluster_id, kind, installation, repo, number, head, wanted_version, nudge_at)
			SELECT @id, c.id, @kind, c.installation, c.repo, c.pr_number, c.pr_head, c.row_version, @nudge FROM clusters c WHERE c.id = @cluster
			ON CONFLICT (cluster_id, kind) WHERE kind <> 'github_check' DO NOTHING RETURNING id, wanted_version`,
			pgx.NamedArgs{"id": db.NewID("sub"), "cluster": cluster, "kind": clusters.KindLabel, "nudge": c.Now.Add(clusters.NudgeSoon)}).Scan(&id, &version)
		if err == nil {
			c.Enqueue(queue.PublishArgs{Subscriber: id, Version: version})
		}
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("show %s by its label: %w", cluster, err)
	}
	return nil
}

// FollowHead gives the wanted clusters of a pull request a check on its new head, and updates the checks on other heads once
// more, as left behind. A head that the pull request returns to gets its check back. It does nothing if that changes nothing.
func (s *Store) FollowHead(ctx context.Context, repo string, number int, head string) error {
	clusters, err := db.All[struct{ ID string }](ctx, s.db.Pool(), `
		SELECT c.id FROM clusters c WHERE c.repo = $1 AND c.pr_number = $2 AND c.desired = 'present'
			AND ARRAY[$3] <> ARRAY(SELECT s.head FROM subscribers s WHERE s.cluster_id = c.id AND s.kind = $4 AND NOT s.left_behind)
		ORDER BY c.id`, repo, number, head, clusters.KindCheck)
	for _, cluster := range clusters { // a change for each, so that none waits for another's row
		if err == nil {
			err = s.db.Write(ctx, func(c *db.Tx) error { return followHead(ctx, c, cluster.ID, head) })
		}
	}
	if err != nil {
		return fmt.Errorf("follow %s#%d to %s: %w", repo, number, head, err)
	}
	return nil
}

// followHead bumps the cluster's row version: a publisher that shows the older version then shows only that, and not the final
// text of a check that is left behind.
func followHead(ctx context.Context, c *db.Tx, cluster, head string) error {
	if cur, err := clusters.Lock(ctx, c, cluster); err != nil || cur.Desired != lifecycle.Present {
		return err
	}
	there, err := c.Exec(ctx, `
		INSERT INTO subscribers AS s (id, cluster_id, kind, installation, repo, number, head, wanted_version, nudge_at)
		SELECT @id, c.id, @kind, c.installation, c.repo, c.pr_number, @head, c.row_version, @nudge FROM clusters c WHERE c.id = @cluster
		ON CONFLICT (cluster_id, head) WHERE kind = 'github_check' DO UPDATE SET left_behind = false WHERE s.left_behind`,
		pgx.NamedArgs{"id": db.NewID("sub"), "cluster": cluster, "kind": clusters.KindCheck, "head": head, "nudge": c.Now.Add(clusters.NudgeSoon)})
	if err != nil {
		return fmt.Errorf("add its check: %w", err)
	}
	left, err := db.All[struct{ ID string }](ctx, c, `
		UPDATE subscribers SET left_behind = true WHERE cluster_id = $1 AND kind = $2 AND head <> $3 AND NOT left_behind RETURNING id`,
		cluster, clusters.KindCheck, head)
	if err != nil {
		return fmt.Errorf("leave its checks: %w", err)
	}
	if there.RowsAffected() == 0 && len(left) == 0 {
		return nil
	}
	version, err := clusters.Bump(ctx, c, cluster)
	if err != nil {
		return err
	}
	for _, sub := range left {
		if _, err := c.Exec(ctx, `UPDATE subscribers SET wanted_version = $2, nudge_at = $3 WHERE id = $1`, sub.ID, version, c.Now.Add(clusters.NudgeSoon)); err != nil {
			return fmt.Errorf("show what is left: %w", err)
		}
		c.Enqueue(queue.PublishArgs{Subscriber: sub.ID, Version: version})
	}
	return clusters.Publish(ctx, c, cluster, version)
}

// Subscriber is one place that shows a cluster's state, e.g. a comment or a check.
type Subscriber struct {
	ID            string
	Cluster       string
	Kind          string // one of the kinds, e.g. KindComment
	Installation  int64
	Repo          string
	Number        int
	Head          string
	ExternalID    int64 // 0 until first posted
	WantedVersion int64 // of its cluster, as known when it was read
	ShownVersion  int64
	ShownBody     string     // hash of what was shown; an edit happens only if the text changes
	ShownAt       *time.Time // when text was last sent; nil: never, or unknown
	Muted         bool       // somebody removed it: it is not updated
	Left          bool       // a check on a commit that is no longer the pull request's head

	Workspace string // in Slack; empty: it is on GitHub, and so are the next ones
	Channel   string
	Person    string // who asked for the cluster there
	ToldTo    int64  // of a thread: the time of the newest event that stands in it, in microseconds; 0: it has none
}
