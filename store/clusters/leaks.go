package clusters

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// LeakOf returns what was seen of a released cluster and is to be removed; nil: nothing, or it is not released.
func LeakOf(ctx context.Context, from db.Source, cluster lifecycle.Cluster) (*lifecycle.Leak, error) {
	if cluster.Phase != lifecycle.Released {
		return nil, nil
	}
	type leak struct {
		SeenAt    *time.Time
		Resources []string
		NameOf    string
	}
	l, err := db.One[leak](ctx, from, `
		SELECT max(o.last_seen_at) AS seen_at, coalesce((SELECT array_agg(e.of ORDER BY e.of) FROM orphans p, unnest(p.evidence) AS e (of)
				WHERE p.cleanup_cluster = $1 AND p.state = 'approved'), '{}') AS resources,
			coalesce((SELECT n.id FROM clusters c JOIN clusters n ON (n.platform, n.base_domain, n.name) = (c.platform, c.base_domain, c.name)
				WHERE c.id = $1 AND n.id <> c.id AND n.destroyed_at IS NULL), '') AS name_of
		FROM orphans o WHERE o.cleanup_cluster = $1 AND o.state = 'approved'`, cluster.ID)
	if err != nil {
		return nil, fmt.Errorf("read what was seen of %s: %w", cluster.ID, err)
	}
	if l.SeenAt == nil {
		return nil, nil
	}
	return &lifecycle.Leak{SeenAt: *l.SeenAt, Resources: l.Resources, NameOf: l.NameOf}, nil
}

// StartRemoval records that a cluster's teardown removes now what was approved for it.
func StartRemoval(ctx context.Context, c *db.Tx, cluster string) error {
	_, err := c.Exec(ctx, `
		UPDATE orphans SET state = @removing, state_at = @now, state_why = 'the teardown of its cluster was opened again'
		WHERE cleanup_cluster = @cluster AND state = @approved`,
		pgx.NamedArgs{"cluster": cluster, "now": c.Now, "approved": lifecycle.OrphanApproved, "removing": lifecycle.OrphanRemoving})
	if err != nil {
		return fmt.Errorf("record that %s removes what was found of it: %w", cluster, err)
	}
	return nil
}

// EndOrphans records of a cluster whose final count has just found nothing that what was last seen of it before is gone. What a later scan
// sees of it is told again. What an administrator exempted keeps that decision until a scan misses it.
func EndOrphans(ctx context.Context, c *db.Tx, cluster string) error {
	_, err := c.Exec(ctx, `
		UPDATE orphans SET state = @gone, state_at = @now, gone_at = @now, state_why = 'the final count of its cluster found nothing', decided_by = '', decided_why = ''
		WHERE gone_at IS NULL AND last_seen_at <= @now AND state <> @exempt AND (cluster_id = @cluster AND class = @released OR cleanup_cluster = @cluster AND state = @removing)`,
		pgx.NamedArgs{"cluster": cluster, "now": c.Now, "gone": lifecycle.OrphanGone, "exempt": lifecycle.OrphanExempt, "released": lifecycle.ClassReleased, "removing": lifecycle.OrphanRemoving})
	if err != nil {
		return fmt.Errorf("record that nothing is left of %s: %w", cluster, err)
	}
	return nil
}
