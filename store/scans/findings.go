package scans

import (
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// Findings returns a finding for each orphan that was told and is there, except for those of other installations and those that
// are exempt. What a recovery left for a person stays a finding until a complete recovery resolves it, a scan
// judges it too, or scans saw all of it that they ever saw go away.
func (s *Store) Findings(ctx context.Context) ([]lifecycle.Finding, error) {
	list, err := db.All[OrphanRow](ctx, s.db.Pool(), `
		SELECT `+orphanColumns+` FROM orphans WHERE gone_at IS NULL AND state IN ('reported', 'approved', 'removing', 'kept') AND class <> 'foreign' ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("read the orphans that were told: %w", err)
	}
	found := make([]lifecycle.Finding, 0, len(list))
	for _, o := range list {
		f := lifecycle.Finding{Kind: lifecycle.Orphan, Identity: o.Called(), Since: o.FirstSeenAt, Why: o.Told(), Evidence: o.Evidence}
		if o.ClusterID != nil {
			f.Cluster = *o.ClusterID
		}
		found = append(found, f)
	}
	recovered, err := db.All[lifecycle.Finding](ctx, s.db.Pool(), `
		WITH unnamed AS MATERIALIZED (
			SELECT f.* FROM findings f WHERE kind = 'orphan' AND resolved_at IS NULL AND NOT EXISTS (
				SELECT FROM orphans o CROSS JOIN unnest(ARRAY[`+orphanName+`, o.cluster_tag, o.cluster_id]) AS n (name)
				WHERE n.name = f.identity AND (o.state <> 'seen' OR o.gone_at IS NOT NULL) AND greatest(o.first_seen_at, o.last_seen_at, o.gone_at) >= f.since)),
		told AS MATERIALIZED (SELECT id, since, unnest(evidence) AS resource FROM unnamed) -- so that seen is read once at most
		SELECT kind, coalesce(cluster_id, '') AS cluster, identity, since, why, evidence FROM unnamed WHERE id NOT IN (
			SELECT t.id FROM told t JOIN seen s ON s.id = t.resource LEFT JOIN orphans o ON o.id = s.orphan_id
			WHERE greatest(s.last_seen_at, s.gone_at) >= t.since
			GROUP BY t.id HAVING bool_or(o.state <> 'seen' OR o.gone_at IS NOT NULL) OR bool_and(s.gone_at IS NOT NULL))`)
	if err != nil {
		return nil, fmt.Errorf("read what a recovery found: %w", err)
	}
	return append(found, recovered...), nil
}

// failing is how many scans in a row have to be incomplete before that is a finding.
const failing = 3

// Failing returns a finding for each of the accounts whose last scans were all incomplete.
func (s *Store) Failing(ctx context.Context, accounts []string) ([]lifecycle.Finding, error) {
	found, err := db.All[lifecycle.Finding](ctx, s.db.Pool(), `
		WITH newest AS (
			SELECT s.*, row_number() OVER (PARTITION BY platform, account ORDER BY round DESC) AS age,
				ARRAY(SELECT p.name || ': ' || p.err FROM scan_parts p WHERE p.scan_id = s.id AND p.err <> '' ORDER BY p.name LIMIT 20) AS errors
			FROM scans s WHERE account = ANY ($1) AND closed_at IS NOT NULL)
		SELECT 'scan_failing' AS kind, '' AS cluster, account AS identity, min(opened_at) AS since,
			CASE WHEN bool_and(outcome = 'succeeded') THEN 'parts of the account could not be looked through in the last scans: what is there is not seen'
				ELSE 'the last scans of the account did not come to an end: ' || coalesce(nullif(max(message) FILTER (WHERE age = 1), ''), 'see the newest one') END AS why,
			(SELECT coalesce(array_agg(DISTINCT e), '{}') FROM newest n, unnest(n.errors) AS e WHERE n.account = newest.account AND n.age = 1) AS evidence
		FROM newest WHERE age <= $2
		GROUP BY platform, account HAVING count(*) = $2 AND bool_and(outcome <> 'succeeded' OR errors <> '{}')
		ORDER BY account`, accounts, failing)
	if err != nil {
		return nil, fmt.Errorf("look for accounts that cannot be looked through: %w", err)
	}
	return found, nil
}
