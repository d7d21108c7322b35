package reports

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// behindFor is how long a comment, check, deployment or message may show another state than its cluster's row.
const behindFor = 10 * time.Minute

// crossChecks compare the rows of clusters with what should agree with them. Each returns findings.
var crossChecks = []struct{ what, sql string }{
	// Scans that looked through the machines of the cluster's region completely, twice since it was ready, saw nothing with its mark or, on
	// IBM Cloud, its name. Other regions may be denied to them.
	{"clusters that the cloud no longer has", `
		SELECT 'cloud_gone' AS kind, c.id AS cluster, '' AS identity, min(w.closed_at) AS since,
			c.name || ' is ready, but the last ' || count(DISTINCT w.id) || ' scans that looked through its region completely saw none of its resources' AS why,
			array_agg(DISTINCT 'no resource ' || CASE c.platform WHEN 'ibmcloud' THEN 'has a name that begins with ' ELSE 'is tagged kubernetes.io/cluster/' END
				|| a.infra_id || ' in account ' || a.account || ', ' || a.region) AS evidence
		FROM clusters c
		JOIN attempts a ON a.cluster_id = c.id AND a.kind = 'create' AND a.outcome = 'succeeded' AND a.infra_id IS NOT NULL
		JOIN scans w ON w.platform = c.platform AND w.account = a.account AND w.outcome = 'succeeded' AND a.region = ANY (w.regions) AND w.opened_at > a.closed_at
			AND EXISTS (SELECT FROM scan_parts p WHERE p.scan_id = w.id AND p.name = a.region || CASE c.platform WHEN 'ibmcloud' THEN '/vpc' ELSE '/ec2' END AND p.done_at IS NOT NULL AND p.err = '')
		WHERE c.status = 'READY' AND c.desired = 'present'
			AND NOT EXISTS (SELECT FROM seen s WHERE s.platform = c.platform AND s.account = a.account AND s.gone_at IS NULL
				AND (s.resource -> 'tags' ? ('kubernetes.io/cluster/' || a.infra_id)
					OR c.platform = 'ibmcloud' AND starts_with(s.resource ->> 'name', a.infra_id || '-')))
		GROUP BY c.id HAVING count(DISTINCT w.id) >= 2 ORDER BY c.id LIMIT @most`},
	{"names without an archive", `
		SELECT 'archive_missing' AS kind, c.id AS cluster, '' AS identity, min(a.recorded_at) AS since,
			'no archive is known of a name that ' || c.name || ' recorded; its teardown goes by the database alone' AS why,
			array_agg(a.infra_id || ', attempt ' || a.number ORDER BY a.number) AS evidence
		FROM clusters c JOIN attempts a ON a.cluster_id = c.id AND a.infra_id IS NOT NULL AND a.claimed_by NOT IN ('recovery', 'cleanup')
		WHERE c.destroyed_at IS NULL AND c.reopened = 0 AND NOT EXISTS (SELECT FROM artifacts s WHERE s.attempt_id = a.id)
		GROUP BY c.id ORDER BY c.id LIMIT @most`},
	{"places that show another state", `
		SELECT 'shown_behind' AS kind, c.id AS cluster, '' AS identity, min(c.updated_at) AS since,
			c.name || ' is ' || c.status || ', and what shows it has not followed; it is tried again' AS why,
			array_agg(s.kind || coalesce(' on ' || s.repo || '#' || s.number, '') ORDER BY s.id) AS evidence
		FROM subscribers s JOIN clusters c ON c.id = s.cluster_id
		WHERE s.shown_version < s.wanted_version AND NOT s.muted AND c.updated_at <= @behind
		GROUP BY c.id ORDER BY since, c.id LIMIT @most`},
	// They have rows of their own (lifecycle.SignalOf), and workflows take what they say for a cluster that can be used.
	{"deployments of runs that are active although their cluster is not", `
		SELECT 'shown_behind' AS kind, c.id AS cluster, '' AS identity, min(c.updated_at) AS since,
			c.name || ' is ' || c.status || ', and the deployment of a run has not followed' AS why,
			array_agg('the deployment of a run in ' || r.repo || ' says ' || g.told ORDER BY g.id) AS evidence
		FROM signals g JOIN clusters c ON c.id = g.cluster_id JOIN runs r ON r.id = g.run_id
		WHERE g.kind = 'deployment' AND g.told IN ('begun', 'ready') AND c.status NOT IN ('PENDING', 'CREATING', 'READY') AND c.updated_at <= @behind
		GROUP BY c.id ORDER BY since, c.id LIMIT @most`},
}

// CrossFindings compares the rows of clusters with what scans saw, with the archives that were recorded, and with what is shown on GitHub,
// deployments of runs included, and in Slack. It changes nothing: WakeDue has what is behind shown again, and what a missing cluster means is for a person to say.
func (s *Store) CrossFindings(ctx context.Context) (found []lifecycle.Finding, err error) {
	now, err := s.db.Now(ctx)
	if err != nil {
		return nil, err
	}
	for _, check := range crossChecks {
		some, err := db.All[lifecycle.Finding](ctx, s.db.Pool(), check.sql, pgx.NamedArgs{"most": queue.MostWorkFindings, "behind": now.Add(-behindFor)})
		if err != nil {
			return nil, fmt.Errorf("look for %s: %w", check.what, err)
		}
		found = append(found, some...)
	}
	return found, nil
}

// UnknownClusters returns those of the ids, in their order, that no cluster ever had. Rows of clusters are never deleted.
func (s *Store) UnknownClusters(ctx context.Context, ids []string) ([]string, error) {
	var unknown []string
	err := s.db.Pool().QueryRow(ctx, `
		SELECT coalesce(array_agg(n.id ORDER BY n.place), '{}') FROM unnest($1::text[]) WITH ORDINALITY AS n (id, place)
		WHERE NOT EXISTS (SELECT FROM clusters c WHERE c.id = n.id)`, ids).Scan(&unknown)
	if err != nil {
		return nil, fmt.Errorf("look for clusters that are not in the database: %w", err)
	}
	return unknown, nil
}

// DropDeadJobs deletes queue jobs about clusters that have no row, as after a restored backup: nothing could ever do them. It returns how many.
func (s *Store) DropDeadJobs(ctx context.Context) (int, error) {
	n, err := s.db.DeleteJobs(ctx, `NOT EXISTS (SELECT FROM clusters c WHERE c.id = args ->> 'cluster')`,
		queue.ReconcileArgs{}.Kind(), queue.LaunchArgs{}.Kind(), queue.StopArgs{}.Kind())
	if err != nil {
		return n, fmt.Errorf("delete jobs of clusters that have no row: %w", err)
	}
	return n, nil
}
