package costs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Charge is what a cluster used on a day (UTC) at one rate. A cluster that was scaled, or slept, has several on that day.
type Charge struct {
	Cluster, Name                             string
	Platform, Profile, Region                 string
	Team, Owner, CostCenter, Environment      string // the current ones
	Repository, PullRequest, Run, RequestedBy string // empty: none

	Day              time.Time // its start
	HourlyCents      int
	SavedHourlyCents int  // what an hour cost less because it slept
	Stopped          bool // all its machines were
	Machines         int  // that ran; 0: not counted, or Stopped
	Millis           int64
	Tags             map[string]string // its tags in the cloud
	UserTags         map[string]string // of these, those that its requester chose

	Waited      bool   // it waited in its pool, and was claimed later
	BilledNanos *int64 // what the cloud billed for it in the whole time while its team had it, in billionths of a dollar; nil: nothing
}

// Amount is its exact cost by list prices.
func (c Charge) Amount() price.Amount { return price.Amount(int64(c.HourlyCents) * c.Millis) }

// Saved is exactly what it would have cost more awake.
func (c Charge) Saved() price.Amount { return price.Amount(int64(c.SavedHourlyCents) * c.Millis) }

// Charges passes each charge of a time to a function, cluster by cluster and day by day: of a claimed one those of its pool first. What still runs is counted until now. It stops
// at the function's first error. ErrConflict: the times are wrong.
func (s *Store) Charges(ctx context.Context, f Filter, each func(Charge) error) error {
	now, err := s.db.Now(ctx)
	if err != nil {
		return err
	}
	if f.To.IsZero() || f.To.After(now) {
		f.To = now
	}
	if err := f.check(); err != nil {
		return fmt.Errorf("read charges: %w", err)
	}
	rows, err := s.db.Pool().Query(ctx, charges, pgx.NamedArgs{"from": f.From, "to": f.To, "teams": f.Teams})
	if err != nil {
		return fmt.Errorf("read charges: %w", db.Plain(err))
	}
	defer rows.Close()
	for rows.Next() {
		c, err := pgx.RowToStructByName[Charge](rows)
		if err != nil {
			return fmt.Errorf("read a charge: %w", err)
		}
		if err := each(c); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read charges: %w", db.Plain(err))
	}
	return nil
}

// charges cuts the intervals at each midnight.
var charges = `
	WITH among AS (
		SELECT c.* FROM ` + usage.HeldSQL + `
		WHERE ` + usage.RequestedSQL + ` AND c.created_at < @to AND (c.destroyed_at IS NULL OR c.destroyed_at > @from) AND (@teams::text[] IS NULL OR c.team = ANY (@teams))
	), spans AS (` + usage.SpansSQL + `
	), days AS (
		SELECT s.cluster_id, s.held_from, s.cents, s.less, s.stopped, s.machines, d.day,
			sum(` + usage.MillisSQL("least(s.until, d.day + interval '1 day')") + ` - ` + usage.MillisSQL("greatest(s.since, d.day)") + `)::bigint AS millis
		FROM spans s, generate_series(date_trunc('day', s.since, 'UTC'), s.until, interval '1 day') AS d(day)
		WHERE s.runs AND s.since < s.until GROUP BY 1, 2, 3, 4, 5, 6, 7
	), billed AS (
		SELECT c.id, c.held_from, sum(a.nanos)::bigint AS nanos FROM among c JOIN actual_costs a ON ` + usage.BilledSQL + `
		WHERE a.day >= @from::timestamptz::date AND a.day < @to::timestamptz GROUP BY c.id, c.held_from
	)
	SELECT c.id AS cluster, c.name, c.platform, c.profile, c.region, c.team,
		` + usage.OwnerSQL + ` AS owner, c.cost_center, c.environment,
		coalesce(c.repo, '') AS repository, ` + usage.PullRequestSQL + ` AS pull_request, ` + usage.RunSQL + ` AS run, c.requested_by,
		d.day, d.cents AS hourly_cents, d.less AS saved_hourly_cents, d.stopped, d.machines, d.millis, c.effective_tags AS tags, c.request_tags AS user_tags,
		c.held_until < 'infinity' AS waited, b.nanos AS billed_nanos
	FROM days d JOIN among c ON (c.id, c.held_from) = (d.cluster_id, d.held_from) LEFT JOIN billed b ON (b.id, b.held_from) = (c.id, c.held_from)
	WHERE d.millis > 0 ORDER BY c.id, c.held_from, d.day, d.cents, d.less, d.machines`
