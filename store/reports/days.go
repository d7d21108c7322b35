package reports

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// DayLine is what one group used on a day (UTC), in cents by list prices.
type DayLine struct {
	Day               time.Time
	Key               string
	Cents, SavedCents int64
}

// DayReport returns what each group used on each day, in the order of days, as UsageReport counts it. ErrConflict: as there; tags and
// clusters are no groups here.
func (s *Store) DayReport(ctx context.Context, f ReportFilter) ([]DayLine, error) {
	column, known := reportedBy[f.By]
	if !known || f.By == "cluster" || !f.From.Before(f.To) {
		return nil, fmt.Errorf("report days: %w: by %q, from %s to %s", db.ErrConflict, f.By, f.From.Format(time.RFC3339), f.To.Format(time.RFC3339))
	}
	lines, err := db.All[DayLine](ctx, s.db.Pool(), fmt.Sprintf(dayReport, column), pgx.NamedArgs{"from": f.From, "to": f.To, "teams": f.Teams})
	if err != nil {
		return nil, fmt.Errorf("report days by %s: %w", f.By, err)
	}
	return lines, nil
}

// dayReport cuts the intervals at each midnight. Groups are added up before they are rounded.
var dayReport = `
	WITH among AS (
		SELECT c.id, %s AS key, c.workers_base, c.nodes, c.destroyed_at, c.held_from, c.held_until FROM ` + usage.HeldSQL + `
		WHERE ` + usage.RequestedSQL + ` AND c.created_at < @to AND (c.destroyed_at IS NULL OR c.destroyed_at > @from) AND (@teams::text[] IS NULL OR c.team = ANY (@teams))
	), spans AS (` + usage.SpansSQL + `
	)
	SELECT d.day, a.key, ` + usage.CentsSQL("sum(d.ms * s.cents)::bigint") + ` AS cents, ` + usage.CentsSQL("sum(d.ms * s.less)::bigint") + ` AS saved_cents
	FROM spans s JOIN among a ON (a.id, a.held_from) = (s.cluster_id, s.held_from), LATERAL (
		SELECT g AS day, greatest(0, ` + usage.MillisSQL("least(s.until, g + interval '1 day')") + ` - ` + usage.MillisSQL("greatest(s.since, g)") + `) AS ms
		FROM generate_series(date_trunc('day', s.since, 'UTC'), s.until, interval '1 day') AS g) AS d
	WHERE s.runs AND s.since < s.until AND d.ms > 0 GROUP BY d.day, a.key ORDER BY d.day, a.key`
