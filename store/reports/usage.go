package reports

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// ReportFilter selects the clusters and the time of a usage report.
type ReportFilter struct {
	From, To time.Time // From is in, To is not; To zero: until now
	By       string    // one of Groups, or tag:<key>
	Teams    []string  // only these teams' clusters; nil: all (an auditor or admin)
	Platform string    // only this cloud's clusters, in UsageReport; empty: all
	Until    time.Time // counts what comes until then in ToComeCents; zero: nothing to come is counted
}

// ReportLine is the usage of one group. Its cents are an estimate by list prices, not an invoice.
type ReportLine struct {
	Key          string  // the group; empty: clusters without that tag
	Name         string  `db:"-"` // of the group's cluster; empty: the key says it
	Clusters     int     // that existed at some time in between, also those that only waited
	Ready        int     // of these, those that became ready before To
	ClusterHours float64 // from the start of the install until everything was removed
	NodeHours    float64 // the same for each machine; clusters accepted before machines were counted add none
	Cents        int64
	SavedCents   int64 // what it would have cost more if no cluster had slept

	ToComeCents    int64 // from To until the clusters' planned ends, at the latest until the filter's Until
	CommittedCents int64 // the same without that limit; only with Until

	ActualNanos int64 // what the cloud billed for these clusters on the days of From to To, in billionths of a dollar
	Billed      int   // how many of the clusters it billed something for
}

// Groups are what a report can be grouped by, besides tags.
var Groups = []string{"team", "owner", "costCenter", "repository", "profile", "environment", "pullRequest", "run", "cluster"}

// reportedBy are the columns of Groups. A cluster without a repository, a pull request or a run is in the group with the empty key.
var reportedBy = map[string]string{
	"team": "c.team", "owner": usage.OwnerSQL, "costCenter": "c.cost_center",
	"repository": "coalesce(c.repo, '')", "profile": "c.profile", "environment": "c.environment", "pullRequest": usage.PullRequestSQL, "run": usage.RunSQL, "cluster": "c.id",
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
		return nil, fmt.Errorf("report usage: %w: by %q is none of %s, tag:<key>", db.ErrConflict, f.By, strings.Join(Groups, ", "))
	}
	now, err := s.db.Now(ctx)
	if err != nil {
		return nil, err
	}
	if f.To.IsZero() || f.To.After(now) {
		f.To = now
	}
	if !f.From.Before(f.To) {
		return nil, fmt.Errorf("report usage: %w: there is no time between %s and %s", db.ErrConflict, f.From.Format(time.RFC3339), f.To.Format(time.RFC3339))
	}
	lines, err := db.All[ReportLine](ctx, s.db.Pool(), fmt.Sprintf(usageReport, column),
		pgx.NamedArgs{"from": f.From, "to": f.To, "tag": tag, "teams": f.Teams, "platform": f.Platform, "until": db.Null(f.Until)})
	if err != nil {
		return nil, fmt.Errorf("report usage by %s: %w", f.By, err)
	}
	return lines, nil
}

// usageReport rounds each cluster's amount to the cent, and a group adds up its clusters' amounts.
var usageReport = `
	WITH among AS (
		SELECT c.id, %s AS key, c.ready_at < @to AS ready, c.workers_base, c.nodes, c.destroyed_at, c.held_from, c.held_until,
			CASE WHEN c.desired = 'present' AND c.destroyed_at IS NULL AND @until::timestamptz IS NOT NULL THEN coalesce(c.coming_cents, c.hourly_cents) ELSE 0 END AS coming, c.destroy_at
		FROM ` + usage.HeldSQL + `
		WHERE ` + usage.RequestedSQL + ` AND c.created_at < @to AND (c.destroyed_at IS NULL OR c.destroyed_at > @from) AND (@teams::text[] IS NULL OR c.team = ANY (@teams)) AND @platform IN ('', c.platform)
	), spans AS (
		SELECT *, greatest(0, ` + usage.MillisSQL("until") + ` - ` + usage.MillisSQL("since") + `) AS ms FROM (` + usage.SpansSQL + `) i WHERE runs
	), used AS (
		SELECT cluster_id, held_from, sum(ms) / 3600000.0 AS hours, sum(ms * machines) / 3600000.0 AS node_hours,
			` + usage.CentsSQL("sum(ms * cents)::bigint") + ` AS cents, ` + usage.CentsSQL("sum(ms * less)::bigint") + ` AS saved
		FROM spans GROUP BY cluster_id, held_from
	), billed AS (
		SELECT c.id, c.held_from, sum(a.nanos)::bigint AS nanos FROM among c JOIN actual_costs a ON ` + usage.BilledSQL + `
		WHERE a.day >= @from::timestamptz::date AND a.day < @to::timestamptz GROUP BY c.id, c.held_from
	)
	SELECT a.key, count(DISTINCT a.id) AS clusters, count(DISTINCT a.id) FILTER (WHERE a.ready) AS ready, coalesce(sum(u.hours), 0)::float8 AS cluster_hours,
		coalesce(sum(u.node_hours), 0)::float8 AS node_hours, coalesce(sum(u.cents), 0)::bigint AS cents, coalesce(sum(u.saved), 0)::bigint AS saved_cents,
		sum(` + usage.CentsSQL("a.coming * greatest(0, "+usage.MillisSQL("least(a.destroy_at, @until)")+" - "+usage.MillisSQL("@to::timestamptz")+")") + `)::bigint AS to_come_cents,
		sum(` + usage.CentsSQL("a.coming * greatest(0, "+usage.MillisSQL("a.destroy_at")+" - "+usage.MillisSQL("@to::timestamptz")+")") + `)::bigint AS committed_cents,
		coalesce(sum(b.nanos), 0)::bigint AS actual_nanos, count(DISTINCT b.id) AS billed
	FROM among a LEFT JOIN used u ON (u.cluster_id, u.held_from) = (a.id, a.held_from) LEFT JOIN billed b ON (b.id, b.held_from) = (a.id, a.held_from) GROUP BY a.key ORDER BY cents DESC, a.key`
