package store

import (
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/policy"
)

// Refused says whether a label of this pull request asking for this profile was ever refused.
func (s *Store) Refused(ctx context.Context, repo string, number int, profile string) (refused bool, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM cluster_requests WHERE NOT allowed AND door = $1 AND request ->> 'profile' = $2
			AND request -> 'pr' ->> 'repo' = $3 AND (request -> 'pr' ->> 'number')::int = $4)`,
		policy.DoorLabel, profile, repo, number).Scan(&refused)
	if err != nil {
		return false, fmt.Errorf("look for refusals of %s#%d: %w", repo, number, err)
	}
	return refused, nil
}
