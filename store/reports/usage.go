package reports

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/internal/pg"
	"github.com/ocpctl/ocpctl/store/internal/usage"
)

// ReportFilter selects the clusters and the time of a usage report.
type ReportFilter struct {
	From, To time.Time // From is in, To is not; To zero: until now
	By       string    // team, owner, costCenter, profile, environment, or tag:<key>
	Teams    []string  // only these teams' clusters; nil: all (an auditor or admin)
}

// ReportLine is the usage of one group. Its cents are an estimate by list prices, not an invoice.
type ReportLine struct {
	Key          string  // the group; empty: clusters without that tag
	Clusters     int     // that existed at some time in between, also those that only waited
	Ready        int     // of these, those that became ready before To
	ClusterHours float64 // from the start of the install until everything was removed
	NodeHours    float64 // the same for each machine; clusters accepted before machines were counted add none
	Cents        int64
}

// reportedBy are the columns to group by.
var reportedBy = map[string]string{
	"team": "c.team", "owner": "coalesce((SELECT s.name FROM person_spellings s WHERE s.spelling = lower(c.owner)), c.owner)", "costCenter": "c.cost_center", "profile": "c.profile", "environment": "c.environment",
}

// UsageReport sums what clusters used between two times, by list prices, the dearest group first. What still runs is counted
// until now. A cluster counts for its current team and owner. ErrConflict: no such group, or From is not before To.
func (s *Store) UsageReport(ctx context.Context, f ReportFilter) ([]ReportLine, error) {
	column, known := reportedBy[f.By]
	tag, tagged := strings.CutPrefix(f.By, "tag:")
	if tagged && tag != "" {
		column, known = "coalesce(c.effective_tags ->> @tag, '')", true
	}
	if !known {
		return nil, fmt.Errorf("report usage: %w: by %q is none of team, owner, costCenter, profile, environment, tag:<key>", pg.ErrConflict, f.By)
	}
	now, err := s.db.Now(ctx)
	if err != nil {
		return nil, err
	}
	if f.To.IsZero() || f.To.After(now) {
		f.To = now
	}
	if !f.From.Before(f.To) {
		return nil, fmt.Errorf("report usage: %w: there is no time between %s and %s", pg.ErrConflict, f.From.Format(time.RFC3339), f.To.Format(time.RFC3339))
	}
	lines, err := pg.All[ReportLine](ctx, s.db.Pool(), fmt.Sprintf(usageReport, column),
		pgx.NamedArgs{"from": f.From, "to": f.To, "tag": tag, "teams": f.Teams})
	if err != nil {
		return nil, fmt.Errorf("report usage by %s: %w", f.By, err)
	}
	return lines, nil
}

// usageReport makes an interval of each sample: until the next one, until the cluster was released, or until the report's end,
// whichever came first. Each cluster's amount is rounded to the cent, and a group adds up its clusters' amounts.
var usageReport = `
	WITH among AS (
		SELECT c.id, %s AS key, c.ready_at < @to AS ready, c.nodes - coalesce(c.workers_base, 0) AS fixed, c.nodes, c.destroyed_at
		FROM clusters c
		WHERE c.created_at < @to AND (c.destroyed_at IS NULL OR c.destroyed_at > @from) AND (@teams::text[] IS NULL OR c.team = ANY (@teams))
	), spans AS (
		SELECT u.cluster_id, u.state NOT IN ('PENDING', 'DESTROYED') AS runs, u.estimated_hourly_cost AS cents,
			CASE WHEN a.nodes > 0 AND NOT u.stopped THEN coalesce(a.fixed + u.worker_replicas, a.nodes) ELSE 0 END AS nodes,
			greatest(0, ` + usage.MillisSQL("least(@to, a.destroyed_at, lead(u.sample_time) OVER w)") + ` - ` + usage.MillisSQL("greatest(@from, u.sample_time)") + `) AS ms
		FROM usage_samples u JOIN among a ON a.id = u.cluster_id
		WINDOW w AS (PARTITION BY u.cluster_id ORDER BY u.sample_time)
	), used AS (
		SELECT cluster_id, sum(ms) / 3600000.0 AS hours, sum(ms * nodes) / 3600000.0 AS node_hours, ` + usage.CentsSQL("sum(ms * cents)::bigint") + ` AS cents
		FROM spans WHERE runs GROUP BY cluster_id
	)
	SELECT a.key, count(*) AS clusters, count(*) FILTER (WHERE a.ready) AS ready, coalesce(sum(u.hours), 0)::float8 AS cluster_hours,
		coalesce(sum(u.node_hours), 0)::float8 AS node_hours, coalesce(sum(u.cents), 0)::bigint AS cents
	FROM among a LEFT JOIN used u ON u.cluster_id = a.id GROUP BY a.key ORDER BY cents DESC, a.key`
