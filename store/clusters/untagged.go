package clusters

import (
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// UntaggedOf returns what scans saw of a ready cluster without its tags; nil: nothing, or it is not ready.
func UntaggedOf(ctx context.Context, from db.Source, cluster lifecycle.Cluster) ([]lifecycle.Untagged, error) {
	if cluster.Status != lifecycle.Ready {
		return nil, nil
	}
	list, err := db.All[lifecycle.Untagged](ctx, from, `
		SELECT untagged AS sights, max(last_seen_at) AS at FROM seen WHERE untagged_of = $1 AND gone_at IS NULL GROUP BY untagged ORDER BY untagged`, cluster.ID)
	if err != nil {
		return nil, fmt.Errorf("read what was seen of %s without its tags: %w", cluster.ID, err)
	}
	return list, nil
}
