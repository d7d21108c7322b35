package usage

import (
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// SQL sums and rounds the amounts of many clusters by the rules of package price: whole milliseconds, and half up to the cent.
// Rates are never computed in SQL; the columns hold the results of price.Hourly.

// MillisSQL is a time in SQL as time.Time.UnixMilli gives it. PostgreSQL keeps microseconds, so the first step is exact.
func MillisSQL(at string) string { return `((date_part('epoch', ` + at + `) * 1e6)::bigint / 1000)` }

// CentsSQL rounds an amount in SQL as price.Amount.Cents does.
func CentsSQL(amount string) string {
	return fmt.Sprintf(`((%s + %d) / %d)`, amount, price.PerHour/2, price.PerHour)
}

// Prices are what determines a cluster's rate besides its state. They are frozen at acceptance.
type Prices struct {
	List     int  // list price of an hour, in cents
	Asleep   *int // the same while it is asleep; nil: not known
	Worker   *int // what each worker adds to List, in millionths of a dollar; nil: not known
	OnDemand *int // List without spot machines; nil: there were to be none
	Machines int  // 0: not counted
}

// Rate is the cost of an hour of the cluster awake, in cents, with that many workers; nil: as many as it was accepted with.
func (p Prices) Rate(c lifecycle.Cluster, workers *int) int {
	base := orZero(c.WorkersBase)
	if workers == nil {
		workers = &base
	}
	listed, worker := p.Listed(c)
	if worker != nil {
		return price.WithWorkers(listed, *worker, base, *workers)
	}
	return price.Hourly(listed, p.Machines, base, *workers)
}

// Listed returns the list price of an hour, in cents, and what each worker adds to it: on demand from when the cluster's last try gave up spot
// machines.
func (p Prices) Listed(c lifecycle.Cluster) (cents int, worker *int) {
	base := orZero(c.WorkersBase)
	if c.Spot != lifecycle.SpotGivenUp || p.OnDemand == nil {
		return p.List, p.Worker
	}
	if worker = p.Worker; worker != nil && base > 0 { // only the workers' price differs
		worker = new(*worker + (*p.OnDemand-p.List)*microsOfCent/base)
	}
	return *p.OnDemand, worker
}

// microsOfCent is how many millionths of a dollar are a cent.
const microsOfCent = 10_000

// SpotSaves is what an hour of the cluster costs less because its workers are spot machines, in cents; 0: they are none.
func (p Prices) SpotSaves(c lifecycle.Cluster) int {
	if c.Spot != lifecycle.SpotWorkers {
		return 0
	}
	without := c
	without.Spot = lifecycle.SpotGivenUp
	return p.Rate(without, c.Workers) - p.Rate(c, c.Workers)
}

// Now is the cost of an hour of the cluster as it is, in cents. Between asleep and awake it costs what it costs awake.
func (p Prices) Now(c lifecycle.Cluster) int {
	if c.Power == lifecycle.Asleep {
		return p.WhileAsleep(c)
	}
	return p.Rate(c, c.Workers)
}

// WhileAsleep is the cost of an hour of the cluster asleep, in cents: as its profile or the price list said, else the share of the
// machines that run. Nobody knows what is left to pay for machines that are stopped if neither says it: then it costs as much as awake.
func (p Prices) WhileAsleep(c lifecycle.Cluster) int {
	switch {
	case p.Asleep != nil:
		return min(*p.Asleep, p.Rate(c, c.Workers))
	case c.SleepMode == lifecycle.SleepWorkers:
		return p.Rate(c, new(int))
	}
	return p.Rate(c, c.Workers)
}

// Coming is the cost of an hour until the cluster's end, in cents: with the requested workers, else those it has. It counts as awake,
// because it may be woken at any time.
func (p Prices) Coming(c lifecycle.Cluster) int {
	if c.WorkersWanted != nil {
		return p.Rate(c, c.WorkersWanted)
	}
	return p.Rate(c, c.Workers)
}

// machinesNow is how many machines of the cluster run.
func (p Prices) machinesNow(c lifecycle.Cluster) int {
	switch {
	case c.Power == lifecycle.Asleep && c.SleepMode == lifecycle.SleepStopped:
		return 0
	case c.Power == lifecycle.Asleep:
		return price.Machines(p.Machines, orZero(c.WorkersBase), 0)
	}
	return price.Machines(p.Machines, orZero(c.WorkersBase), orZero(PresentWorkers(c)))
}

func orZero(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

// HeldSQL reads as a table c of clusters, with whose each was from when until when: one that was claimed from a pool was the pool's before, as
// if that had ended with the claim.
const HeldSQL = `(
	SELECT h.*, coalesce(h.claimed_at, '-infinity') AS held_from, 'infinity'::timestamptz AS held_until FROM clusters h
	UNION ALL SELECT w.*, '-infinity', h.claimed_at FROM clusters h, LATERAL jsonb_populate_record(h, h.waited) w WHERE h.waited IS NOT NULL) c`

// BilledSQL reports that a line of actual_costs is of a cluster while somebody had it. A bill knows only days, so the day of a claim is the claimant's.
const BilledSQL = `a.cluster_id = c.id AND a.day >= (c.held_from AT TIME ZONE 'UTC')::date AND a.day < (c.held_until AT TIME ZONE 'UTC')::date`

// SpansSQL makes an interval of each usage sample of the clusters in "among", as far as it is within @from and @to: until the next one, until the
// cluster was released, or until @to, whichever came first, and as far as it is within held_from and held_until. An interval is empty if until is not after since. Reports and charges are made
// of them, so that all of them treat waiting, scaled and sleeping clusters alike. Without counted machines, machines is 0.
const SpansSQL = `
	SELECT u.cluster_id, u.state NOT IN ('PENDING', 'DESTROYED') AS runs, u.estimated_hourly_cost AS cents, u.saved_hourly AS less, u.stopped,
		CASE WHEN a.nodes > 0 AND NOT u.stopped THEN coalesce(a.nodes - coalesce(a.workers_base, 0) + u.worker_replicas, a.nodes) ELSE 0 END AS machines,
		greatest(@from, u.sample_time, a.held_from) AS since, least(@to, a.destroyed_at, a.held_until, lead(u.sample_time) OVER w) AS until, a.held_from
	FROM usage_samples u JOIN among a ON a.id = u.cluster_id
	WINDOW w AS (PARTITION BY u.cluster_id, a.held_from ORDER BY u.sample_time)`

// MeterColumns are a cluster's exact cost until its newest usage sample, and the rate since. Reports use the same samples. A
// released cluster costs nothing more, even if its last sample is missing.
var MeterColumns = `meter.ran, meter.saved, meter.since AS meter_at, meter.rate AS meter_rate, meter.saved_rate AS meter_saved_rate`

var MeterSources = ` LEFT JOIN LATERAL (
	SELECT sum(s.cents * greatest(0, ` + MillisSQL("least(s.until, c.destroyed_at)") + ` - ` + MillisSQL("s.sample_time") + `))::bigint AS ran,
		sum(s.less * greatest(0, ` + MillisSQL("least(s.until, c.destroyed_at)") + ` - ` + MillisSQL("s.sample_time") + `))::bigint AS saved,
		max(s.less) FILTER (WHERE s.until IS NULL AND c.destroyed_at IS NULL) AS saved_rate,
		max(s.sample_time) FILTER (WHERE s.until IS NULL AND c.destroyed_at IS NULL) AS since,
		max(s.cents) FILTER (WHERE s.until IS NULL AND c.destroyed_at IS NULL) AS rate
	FROM (SELECT u.sample_time, lead(u.sample_time) OVER (ORDER BY u.sample_time) AS until,
			CASE WHEN u.state IN ('PENDING', 'DESTROYED') THEN 0 ELSE u.estimated_hourly_cost END AS cents, u.saved_hourly AS less
		FROM usage_samples u WHERE u.cluster_id = c.id AND u.sample_time >= coalesce(c.claimed_at, '-infinity')) s) meter ON true `

// MeterRecord holds meterColumns.
type MeterRecord struct {
	Ran, Saved                *int64
	MeterAt                   *time.Time
	MeterRate, MeterSavedRate *int
}

func (r MeterRecord) Meter(toCome int) price.Meter {
	m := price.Meter{Since: db.Zero(r.MeterAt), Rate: orZero(r.MeterRate), ToCome: toCome, LessNow: orZero(r.MeterSavedRate)}
	if r.Saved != nil {
		m.Less = price.Amount(*r.Saved)
	}
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
