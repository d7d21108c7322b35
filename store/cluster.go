package store

import (
	"context"

	"github.com/ocpctl/ocpctl/store/clusters"
)

// Cluster returns one cluster. ErrNotFound: there is none of that id.
func (s *Store) Cluster(ctx context.Context, id string) (clusters.Row, error) {
	return clusters.Read(ctx, s.DB, id)
}
