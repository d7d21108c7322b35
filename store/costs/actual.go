package costs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Delivery is one writing of a billing period by the cloud.
type Delivery struct {
	Export string    // s3://bucket/prefix/name
	Period time.Time // the first day of the month
	ID     string    // changes whenever the period is written again
}

// Billed is what the cloud billed for a cluster in a day.
type Billed struct {
	Day       time.Time
	ClusterID string // what the tag says; empty: there is none
	Nanos     int64  // billionths of a US dollar
}

// Deliveries returns the deliveries of an export that were read last, one for each period.
func (s *Store) Deliveries(ctx context.Context, export string) ([]Delivery, error) {
	found, err := db.All[Delivery](ctx, s.db.Pool(), `SELECT export, period::timestamptz AS period, delivery AS id FROM cost_exports WHERE export = @export ORDER BY period`,
		pgx.NamedArgs{"export": export})
	if err != nil {
		return nil, fmt.Errorf("read what is known of %s: %w", export, err)
	}
	return found, nil
}

// SaveBilled replaces everything that is known of a delivery's period, all or nothing, also what another export said of it: one export at a
// time is read, and what it said before it was renamed must not count beside it. The same delivery can be saved again.
func (s *Store) SaveBilled(ctx context.Context, d Delivery, lines int, billed []Billed) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		args := pgx.NamedArgs{"export": d.Export, "period": d.Period, "delivery": d.ID, "lines": lines, "now": tx.Now}
		if _, err := tx.Exec(ctx, `
			INSERT INTO cost_exports (export, period, delivery, lines, read_at) VALUES (@export, @period, @delivery, @lines, @now)
			ON CONFLICT (export, period) DO UPDATE SET delivery = excluded.delivery, lines = excluded.lines, read_at = excluded.read_at`, args); err != nil {
			return fmt.Errorf("record the delivery of %s: %w", d.Export, err)
		}
		if _, err := tx.Exec(ctx, `DELETE FROM actual_costs WHERE period = @period`, args); err != nil {
			return fmt.Errorf("replace what %s billed: %w", d.Export, err)
		}
		if _, err := tx.Exec(ctx, `DELETE FROM cost_exports WHERE period = @period AND export <> @export`, args); err != nil {
			return fmt.Errorf("forget other exports than %s: %w", d.Export, err)
		}
		days, ids, nanos := make([]time.Time, len(billed)), make([]string, len(billed)), make([]int64, len(billed))
		for i, b := range billed {
			days[i], ids[i], nanos[i] = b.Day, b.ClusterID, b.Nanos
		}
		args["days"], args["ids"], args["nanos"] = days, ids, nanos
		if _, err := tx.Exec(ctx, `
			INSERT INTO actual_costs (export, period, day, cluster_id, nanos)
			SELECT @export, @period, b.day, b.id, b.nanos FROM unnest(@days::date[], @ids::text[], @nanos::bigint[]) AS b (day, id, nanos)`, args); err != nil {
			return fmt.Errorf("write what %s billed: %w", d.Export, err)
		}
		return nil
	})
}

// Bill is what the cloud billed in a time, in billionths of a US dollar.
type Bill struct {
	Known    int64     // the tag names a cluster of this database
	Unknown  int64     // the tag names another one, or one that nobody requested
	Untagged int64     // without the tag: everything else in the export's accounts, and what cannot have tags
	Since    time.Time // the first day from which the export's periods have no gap until the newest; zero: no export was read
	Through  time.Time // the start of the last day that an export told of; zero: no export was read
}

// Bill returns what was billed on the days of a filter. Unknown and Untagged belong to no team, so they are 0 with Teams.
func (s *Store) Bill(ctx context.Context, f Filter) (Bill, error) {
	if err := f.check(); err != nil {
		return Bill{}, fmt.Errorf("read the bill: %w", err)
	}
	found, err := db.One[struct {
		Known, Unknown, Untagged int64
		Since, Through           *time.Time
	}](ctx, s.db.Pool(), `
		SELECT coalesce(sum(a.nanos) FILTER (WHERE c.id IS NOT NULL AND (@teams::text[] IS NULL OR c.team = ANY (@teams))), 0)::bigint AS known,
			coalesce(sum(a.nanos) FILTER (WHERE c.id IS NULL AND a.cluster_id <> '' AND @teams::text[] IS NULL), 0)::bigint AS unknown,
			coalesce(sum(a.nanos) FILTER (WHERE a.cluster_id = '' AND @teams::text[] IS NULL), 0)::bigint AS untagged,
			(SELECT min(e.period)::timestamptz FROM (
				SELECT period, max(period) OVER () - make_interval(months => row_number() OVER (ORDER BY period DESC)::int - 1) AS unbroken FROM cost_exports) e
			WHERE e.period = e.unbroken) AS since,
			(SELECT max(day)::timestamptz FROM actual_costs) AS through
		FROM actual_costs a LEFT JOIN `+usage.HeldSQL+` ON `+usage.BilledSQL+` AND `+usage.RequestedSQL+`
		WHERE a.day >= @from::timestamptz::date AND a.day < @to::timestamptz`,
		pgx.NamedArgs{"from": f.From, "to": f.To, "teams": f.Teams})
	if err != nil {
		return Bill{}, fmt.Errorf("read the bill: %w", err)
	}
	return Bill{found.Known, found.Unknown, found.Untagged, db.Zero(found.Since).UTC(), db.Zero(found.Through).UTC()}, nil
}
