package usage

import (
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/internal/pg"
)

// SQL sums and rounds the amounts of many clusters by the rules of package price: whole milliseconds, and half up to the cent.
// Rates are never computed in SQL; the columns hold the results of price.Hourly.

// MillisSQL is a time in SQL as time.Time.UnixMilli gives it. PostgreSQL keeps microseconds, so the first step is exact.
func MillisSQL(at string) string { return `((date_part('epoch', ` + at + `) * 1e6)::bigint / 1000)` }

// CentsSQL rounds an amount in SQL as price.Amount.Cents does.
func CentsSQL(amount string) string {
	return fmt.Sprintf(`((%s + %d) / %d)`, amount, price.PerHour/2, price.PerHour)
}

// Rate is the cost of an hour of the cluster, in cents, with that many workers; nil: as many as it was accepted with.
func Rate(listCents, machines int, c lifecycle.Cluster, workers *int) int {
	base := orZero(c.WorkersBase)
	if workers == nil {
		workers = &base
	}
	return price.Hourly(listCents, machines, base, *workers)
}

// Coming is the cost of an hour until the cluster's end, in cents: with the requested workers, else those it has.
func Coming(listCents, machines int, c lifecycle.Cluster) int {
	if c.WorkersWanted != nil {
		return Rate(listCents, machines, c, c.WorkersWanted)
	}
	return Rate(listCents, machines, c, c.Workers)
}

func orZero(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

// MeterColumns are a cluster's exact cost until its newest usage sample, and the rate since. Reports use the same samples. A
// released cluster costs nothing more, even if its last sample is missing.
var MeterColumns = `meter.ran, meter.since AS meter_at, meter.rate AS meter_rate`

var MeterSources = ` LEFT JOIN LATERAL (
	SELECT sum(s.cents * greatest(0, ` + MillisSQL("least(s.until, c.destroyed_at)") + ` - ` + MillisSQL("s.sample_time") + `))::bigint AS ran,
		max(s.sample_time) FILTER (WHERE s.until IS NULL AND c.destroyed_at IS NULL) AS since,
		max(s.cents) FILTER (WHERE s.until IS NULL AND c.destroyed_at IS NULL) AS rate
	FROM (SELECT u.sample_time, lead(u.sample_time) OVER (ORDER BY u.sample_time) AS until,
			CASE WHEN u.state IN ('PENDING', 'DESTROYED') THEN 0 ELSE u.estimated_hourly_cost END AS cents
		FROM usage_samples u WHERE u.cluster_id = c.id) s) meter ON true `

// MeterRecord holds meterColumns.
type MeterRecord struct {
	Ran       *int64
	MeterAt   *time.Time
	MeterRate *int
}

func (r MeterRecord) Meter(toCome int) price.Meter {
	m := price.Meter{Since: pg.Zero(r.MeterAt), Rate: orZero(r.MeterRate), ToCome: toCome}
	if r.Ran != nil {
		m.Ran = price.Amount(*r.Ran)
	}
	return m
}

// PresentWorkers is how many workers a cluster has, as far as known.
func PresentWorkers(c lifecycle.Cluster) *int {
	if c.Workers != nil {
		return c.Workers
	}
	return c.WorkersBase
}
