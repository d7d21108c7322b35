package pullrequests

import (
	"context"
	"fmt"
	"time"
)

// Refused reports whether a request for this profile and pull request, by this entry point, was refused since that time.
func (s *Store) Refused(ctx context.Context, door, repo string, number int, profile string, since time.Time) (refused bool, err error) {
	err = s.db.Pool().QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM cluster_requests WHERE NOT allowed AND source = $1 AND request ->> 'profile' = $2
			AND request -> 'pr' ->> 'repo' = $3 AND (request -> 'pr' ->> 'number')::int = $4 AND created_at >= $5)`,
		door, profile, repo, number, since).Scan(&refused)
	if err != nil {
		return false, fmt.Errorf("look for refusals of %s#%d: %w", repo, number, err)
	}
	return refused, nil
}
