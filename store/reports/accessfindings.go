package reports

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/db"
)

// revokedFor is how long an access that was revoked, or whose time is over, may stay in its cluster before a person should know: usually a runner removes it in seconds.
const revokedFor = 5 * time.Minute

// AccessFindings returns the ready clusters that still have accounts of access that was revoked, or whose time is over.
func (s *Store) AccessFindings(ctx context.Context) ([]lifecycle.Finding, error) {
	now, err := s.db.Now(ctx)
	if err != nil {
		return nil, err
	}
	found, err := db.All[lifecycle.Finding](ctx, s.db.Pool(), `
		SELECT 'access_not_revoked' AS kind, c.id AS cluster, '' AS identity, min(a.revoked_at) AS since,
			'access that ended may still work in the cluster, because its accounts could not be removed' AS why,
			array_agg(a.account || CASE WHEN a.trouble = '' THEN '' ELSE ': ' || a.trouble END ORDER BY a.revoked_at, a.id) AS evidence
		FROM access a JOIN clusters c ON c.id = a.cluster_id
		WHERE c.status = 'READY' AND c.desired = 'present' AND a.revoked_at <= @since AND `+access.Taken+`
		GROUP BY c.id ORDER BY since, c.id LIMIT @most`,
		pgx.NamedArgs{"since": now.Add(-revokedFor), "most": queue.MostWorkFindings})
	if err != nil {
		return nil, fmt.Errorf("look for access that could not be revoked: %w", err)
	}
	return found, nil
}
