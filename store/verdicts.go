package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ocpctl/ocpctl/store/db"
)

// Verdict returns policy's answer to the request that a cluster came from, as stored: for a claimed one, to the claim. ErrNotFound: there is none.
func (s *Store) Verdict(ctx context.Context, cluster string) (json.RawMessage, error) {
	var verdict json.RawMessage
	err := s.Pool().QueryRow(ctx, `SELECT verdict FROM cluster_requests WHERE cluster_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1`, cluster).Scan(&verdict)
	if err != nil {
		return nil, fmt.Errorf("read the verdict of %s: %w", cluster, db.Plain(err))
	}
	return verdict, nil
}
