package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Mute stops updates of a subscriber for good, because somebody removed what it showed.
func (s *Store) Mute(ctx context.Context, subID string) error {
	if _, err := s.pool.Exec(ctx, `UPDATE subscribers SET muted = true WHERE id = $1`, subID); err != nil {
		return fmt.Errorf("mute %s: %w", subID, err)
	}
	return nil
}

// ShowByLabel adds the label of the cluster's profile as a subscriber, whichever entry point made the cluster: when the cluster
// is gone, the label is removed too. It does nothing if the label is a subscriber already.
func (s *Store) ShowByLabel(ctx context.Context, cluster string) error {
	err := s.write(ctx, func(c *change) error {
		if cur, err := c.lock(ctx, cluster); err != nil || cur.Desired != lifecycle.Present {
			return err
		}
		var id string
		var version int64
		err := c.QueryRow(ctx, `
			INSERT INTO subscribers (id, cluster_id, kind, installation, repo, number, head, wanted_version, nudge_at)
			SELECT @id, c.id, @kind, c.installation, c.repo, c.pr_number, c.pr_head, c.row_version, @nudge FROM clusters c WHERE c.id = @cluster
			ON CONFLICT (cluster_id, kind) WHERE kind <> 'github_check' DO NOTHING RETURNING id, wanted_version`,
			pgx.NamedArgs{"id": NewID("sub"), "cluster": cluster, "kind": KindLabel, "nudge": c.now.Add(nudgeSoon)}).Scan(&id, &version)
		if err == nil {
			c.enqueue(PublishArgs{Subscriber: id, Version: version})
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

// EndedOnHead returns the clusters that have a check on a commit, have the desired state absent, and were not replaced by a
// newer one of the same pull request and profile.
func (s *Store) EndedOnHead(ctx context.Context, repo, head string) (clusters []string, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT coalesce(array_agg(DISTINCT c.id), '{}') FROM subscribers s JOIN clusters c ON c.id = s.cluster_id
		WHERE s.kind = $3 AND s.repo = $1 AND s.head = $2 AND NOT s.left_behind AND c.desired = 'absent' AND NOT EXISTS (
			SELECT 1 FROM clusters n WHERE n.repo = c.repo AND n.pr_number = c.pr_number AND n.profile = c.profile AND n.generation > c.generation)`,
		repo, head, KindCheck).Scan(&clusters)
	if err != nil {
		return nil, fmt.Errorf("look for clusters that ended on %s of %s: %w", head, repo, err)
	}
	return clusters, nil
}

// FollowHead gives the wanted clusters of a pull request a check on its new head, and updates the checks on other heads once
// more, as left behind. A head that the pull request returns to gets its check back. It does nothing if that changes nothing.
func (s *Store) FollowHead(ctx context.Context, repo string, number int, head string) error {
	clusters, err := all[struct{ ID string }](ctx, s.pool, `
		SELECT c.id FROM clusters c WHERE c.repo = $1 AND c.pr_number = $2 AND c.desired = 'present'
			AND ARRAY[$3] <> ARRAY(SELECT s.head FROM subscribers s WHERE s.cluster_id = c.id AND s.kind = $4 AND NOT s.left_behind)
		ORDER BY c.id`, repo, number, head, KindCheck)
	for _, cluster := range clusters { // a change for each, so that none waits for another's row
		if err == nil {
			err = s.write(ctx, func(c *change) error { return c.followHead(ctx, cluster.ID, head) })
		}
	}
	if err != nil {
		return fmt.Errorf("follow %s#%d to %s: %w", repo, number, head, err)
	}
	return nil
}

// followHead bumps the cluster's row version: a publisher that shows the older version then shows only that, and not the final
// text of a check that is left behind.
func (c *change) followHead(ctx context.Context, cluster, head string) error {
	if cur, err := c.lock(ctx, cluster); err != nil || cur.Desired != lifecycle.Present {
		return err
	}
	there, err := c.Exec(ctx, `
		INSERT INTO subscribers AS s (id, cluster_id, kind, installation, repo, number, head, wanted_version, nudge_at)
		SELECT @id, c.id, @kind, c.installation, c.repo, c.pr_number, @head, c.row_version, @nudge FROM clusters c WHERE c.id = @cluster
		ON CONFLICT (cluster_id, head) WHERE kind = 'github_check' DO UPDATE SET left_behind = false WHERE s.left_behind`,
		pgx.NamedArgs{"id": NewID("sub"), "cluster": cluster, "kind": KindCheck, "head": head, "nudge": c.now.Add(nudgeSoon)})
	if err != nil {
		return fmt.Errorf("add its check: %w", err)
	}
	left, err := all[struct{ ID string }](ctx, c, `
		UPDATE subscribers SET left_behind = true WHERE cluster_id = $1 AND kind = $2 AND head <> $3 AND NOT left_behind RETURNING id`,
		cluster, KindCheck, head)
	if err != nil {
		return fmt.Errorf("leave its checks: %w", err)
	}
	if there.RowsAffected() == 0 && len(left) == 0 {
		return nil
	}
	version, err := c.bump(ctx, cluster)
	if err != nil {
		return err
	}
	for _, sub := range left {
		if _, err := c.Exec(ctx, `UPDATE subscribers SET wanted_version = $2, nudge_at = $3 WHERE id = $1`, sub.ID, version, c.now.Add(nudgeSoon)); err != nil {
			return fmt.Errorf("show what is left: %w", err)
		}
		c.enqueue(PublishArgs{Subscriber: sub.ID, Version: version})
	}
	return c.publish(ctx, cluster, version)
}

// bump makes a new version of a row in which nothing changed that a decision depends on.
func (c *change) bump(ctx context.Context, cluster string) (version int64, err error) {
	err = c.QueryRow(ctx, `UPDATE clusters SET row_version = row_version + 1, updated_at = $2 WHERE id = $1 RETURNING row_version`, cluster, c.now).Scan(&version)
	if err != nil {
		return 0, fmt.Errorf("bump %s: %w", cluster, err)
	}
	return version, nil
}
