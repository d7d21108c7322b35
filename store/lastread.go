package store

import (
	"context"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/store/db"
)

// KubeconfigsRead returns when the kubeconfig of each of these clusters was last handed out, by id. A cluster whose kubeconfig nobody
// fetched is missing.
func (s *Store) KubeconfigsRead(ctx context.Context, clusters []string) (map[string]time.Time, error) {
	read, err := db.All[struct {
		Cluster string
		At      time.Time
	}](ctx, s.Pool(), `
		SELECT target_cluster_id AS cluster, max(created_at) AS at FROM audit_events
		WHERE target_cluster_id = ANY ($1) AND action IN ('kubeconfig.read', 'admin_kubeconfig.read') GROUP BY 1`, clusters)
	if err != nil {
		return nil, fmt.Errorf("look for the last kubeconfigs: %w", err)
	}
	last := make(map[string]time.Time, len(read))
	for _, r := range read {
		last[r.Cluster] = r.At
	}
	return last, nil
}
