package scans

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// keepUntagged notes what a judged scan saw of living clusters without their tags, and how often in a row, and has those clusters decided
// about. What the scan did not look at stays as it is. Clusters are locked before orphans, as everywhere.
func keepUntagged(ctx context.Context, c *db.Tx, of Scan, judged []lifecycle.Judged) error {
	var ids, found []string // which resource lacks the tags of which cluster
	concerned := map[string]bool{}
	for _, j := range judged {
		if j.Class != lifecycle.ClassLive {
			continue
		}
		for _, id := range j.Untagged {
			ids, found = append(ids, id), append(found, j.Of.ID)
			concerned[j.Of.ID] = true
		}
	}
	_, err := c.Exec(ctx, `
		UPDATE seen s SET untagged_of = n.cluster, untagged = CASE
			WHEN n.cluster IS NULL THEN 0 WHEN s.untagged_of IS DISTINCT FROM n.cluster THEN 1 WHEN s.last_scan = @scan THEN s.untagged + 1 ELSE s.untagged END
		FROM (
			SELECT r.id, m.cluster FROM seen r LEFT JOIN unnest(@ids::text[], @clusters::text[]) AS m (id, cluster) ON m.id = r.id
			WHERE r.platform = @platform AND r.account = @account AND r.gone_at IS NULL AND (r.untagged_of IS NOT NULL OR m.cluster IS NOT NULL)) n
		WHERE s.platform = @platform AND s.account = @account AND s.id = n.id`,
		pgx.NamedArgs{"scan": of.ID, "platform": of.Platform, "account": of.Account, "ids": ids, "clusters": found})
	if err != nil {
		return fmt.Errorf("note what has no tags: %w", err)
	}
	for _, cluster := range slices.Sorted(maps.Keys(concerned)) {
		if err := clusters.RequestReconcile(ctx, c, cluster); err != nil {
			return err
		}
	}
	return nil
}
