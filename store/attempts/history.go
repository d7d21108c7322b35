package attempts

import (
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// List returns the attempts at a cluster's jobs, oldest first, without those looks for links that succeeded: they are many, and say nothing.
func (s *Store) List(ctx context.Context, cluster string) ([]AttemptRow, error) {
	out, err := db.All[AttemptRow](ctx, s.db.Pool(), `
		SELECT number, kind, opened_at, claimed_at, phase, recorded_at, tool_exited_at, tool_exit_code,
			closed_at, coalesce(outcome, '') AS outcome, reason, message, whose, next, retryable, workers_wanted, workers_seen, CASE WHEN kind = 'configure' THEN request END AS addons_wanted, addons_seen
		FROM attempts WHERE cluster_id = $1 AND NOT (kind = 'inform' AND outcome IS NOT DISTINCT FROM 'succeeded') ORDER BY number`, cluster)
	if err != nil {
		return nil, fmt.Errorf("read attempts of %s: %w", cluster, err)
	}
	return out, nil
}

// Verifications returns every verification pass of a cluster, oldest first: the evidence for its release.
func (s *Store) Verifications(ctx context.Context, cluster string) ([]VerificationRow, error) {
	passes, err := db.All[VerificationRow](ctx, s.db.Pool(), `
		SELECT a.number AS attempt, v.number, v.received_at AS at, v.account, v.identities, v.control, v.queries, v.leftovers, v.blockers, v.clean
		FROM verifications v JOIN attempts a ON a.id = v.attempt_id WHERE a.cluster_id = $1 ORDER BY a.number, v.number`, cluster)
	if err != nil {
		return nil, fmt.Errorf("read verifications of %s: %w", cluster, err)
	}
	return passes, nil
}

// Conditions returns the observed facts about a cluster.
func (s *Store) Conditions(ctx context.Context, cluster string) ([]clusters.Condition, error) {
	out, err := db.All[clusters.Condition](ctx, s.db.Pool(), `
		SELECT type, status, reason, message, changed_at AS at FROM conditions WHERE cluster_id = $1 ORDER BY type`, cluster)
	if err != nil {
		return nil, fmt.Errorf("read conditions of %s: %w", cluster, err)
	}
	return out, nil
}
