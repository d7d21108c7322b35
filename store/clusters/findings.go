package clusters

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// KeepFindings writes each finding. A resolved one that comes back starts anew but keeps its first_seen_at.
func KeepFindings(ctx context.Context, c *db.Tx, found []lifecycle.Finding) (fresh []lifecycle.Finding, err error) {
	batch := &pgx.Batch{}
	for _, f := range found {
		batch.Queue(`
			INSERT INTO findings AS f (kind, cluster_id, identity, since, why, evidence, first_seen_at, last_seen_at)
			VALUES ($1, nullif($2, ''), $3, $4, $5, $6, $7, $7)
			ON CONFLICT (kind, cluster_id, identity) DO UPDATE SET
				since = excluded.since, why = excluded.why, evidence = excluded.evidence, last_seen_at = excluded.last_seen_at,
				times_seen = CASE WHEN f.resolved_at IS NULL THEN f.times_seen + 1 ELSE 1 END, resolved_at = NULL
			RETURNING times_seen`, f.Kind, f.Cluster, f.Identity, f.Since, f.Why, f.Evidence, c.Now)
	}
	results := c.SendBatch(ctx, batch)
	defer results.Close() // an error of its own was returned by the row before
	for _, f := range found {
		var times int
		if err := results.QueryRow().Scan(&times); err != nil {
			return nil, fmt.Errorf("keep the %s finding of %s%s: %w", f.Kind, f.Cluster, f.Identity, err)
		}
		if times == 1 {
			fresh = append(fresh, f)
		}
	}
	return fresh, nil
}
