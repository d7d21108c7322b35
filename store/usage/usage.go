// Package usage counts what people, teams and repositories use, and what clusters cost.
package usage

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// Count counts the usage of a scope.
func Count(ctx context.Context, c *db.Tx, scope Scope) (Usage, error) {
	identities, err := PersonIdentities(ctx, c, scope.Person)
	if err != nil {
		return Usage{}, err
	}
	return CountAt(ctx, c, scope, identities, c.Now)
}

// How clusters c that are not released count. Until its release a cluster is live, whatever its status. One that waits for its
// turn never started and is counted apart; one that awaits approval counts as live. One that is cleaned up between two tries
// counts as being created, even if the cleaning is blocked: it goes on as soon as it is clean. Only clusters that are still
// wanted cost anything until their end: the others are being torn down.
const (
	isOurs      = `(principal_key(c.requested_by) = ANY (@person::text[]) OR c.team = @team OR c.repo = nullif(@repo, ''))`
	isLive      = `(NOT c.needs_turn OR c.needs_approval)`
	IsCreating  = `(c.desired = 'present' AND c.status IN ('PENDING', 'CREATING', 'FAILED') AND NOT c.needs_turn AND NOT c.needs_approval)`
	isWaiting   = `(c.desired = 'present' AND c.needs_turn AND NOT c.needs_approval)`
	nodesToCome = `greatest(0, c.nodes + coalesce(c.workers_wanted, c.workers, c.workers_base, 0) - coalesce(c.workers_base, 0))`
)

// The statements that count. The first reads the clusters of the scope, each part from its own index. The second reads all that
// are not released or were released this month, from indexes that cover it. They are two because PostgreSQL makes one plan for all
// values of a parameter.
var countScope, countEverywhere = counting(isOurs), counting("true")

// counting sums by whether a cluster is the person's, the team's and the repository's: clusters that are not released, and those
// released this month, whose meters stand still.
func counting(which string) string {
	return `
	SELECT principal_key(c.requested_by) = ANY (@person::text[]) AS mine, c.team = @team AS ours, c.repo IS NOT DISTINCT FROM nullif(@repo, '') AS here,
		count(*) FILTER (WHERE ` + isLive + `) AS live, count(*) FILTER (WHERE ` + IsCreating + `) AS creating,
		count(*) FILTER (WHERE ` + isWaiting + `) AS waiting,
		sum(CASE WHEN c.meter_month = @month THEN c.month_node_hours ELSE 0 END + (c.meter_nodes * h.running + ` + nodesToCome + ` * h.to_come) / 3600000.0)::float8 AS node_hours,
		sum(` + CentsSQL(`CASE WHEN c.meter_month = @month THEN c.month_amount ELSE 0 END + c.meter_cents * h.running`) + `)::bigint AS spent_cents,
		sum(` + CentsSQL(`coalesce(c.coming_cents, c.hourly_cents) * h.to_come`) + `)::bigint AS committed_cents
	FROM clusters c, LATERAL (SELECT
		greatest(0, @now_ms - greatest(` + MillisSQL("c.meter_since") + `, @month_ms)) AS running,
		CASE WHEN c.desired = 'present' THEN greatest(0, ` + MillisSQL("c.destroy_at") + ` - @now_ms) ELSE 0 END AS to_come) h
	WHERE c.destroyed_at IS NULL AND ` + which + ` GROUP BY 1, 2, 3
	UNION ALL
	SELECT principal_key(c.requested_by) = ANY (@person::text[]), c.team = @team, c.repo IS NOT DISTINCT FROM nullif(@repo, ''),
		0, 0, 0, sum(c.month_node_hours), sum(` + CentsSQL("c.month_amount") + `)::bigint, 0
	FROM clusters c WHERE c.destroyed_at >= @month AND c.meter_month = @month AND ` + which + ` GROUP BY 1, 2, 3`
}

// CountAt is Count for who read the identities of the scope's person before.
func CountAt(ctx context.Context, from db.Source, scope Scope, identities []string, now time.Time) (Usage, error) {
	type sums struct {
		Mine, Ours, Here           bool
		Live, Creating, Waiting    int
		NodeHours                  float64
		SpentCents, CommittedCents int64
	}
	month := monthOf(now)
	count := countScope
	if scope.Everywhere {
		count = countEverywhere
	}
	lines, err := db.All[sums](ctx, from, count, pgx.NamedArgs{
		"person": identities, "team": scope.Team, "repo": scope.Repo,
		"month": month, "now_ms": now.UnixMilli(), "month_ms": month.UnixMilli(),
	})
	if err != nil {
		return Usage{}, fmt.Errorf("count what is used: %w", err)
	}
	u := Usage{At: now, Identities: identities}
	for _, of := range []struct {
		to *Counts
		in func(sums) bool
	}{
		{&u.Person, func(l sums) bool { return l.Mine }},
		{&u.Team, func(l sums) bool { return l.Ours }},
		{&u.Repository, func(l sums) bool { return l.Here && scope.Repo != "" }},
		{&u.Everywhere, func(sums) bool { return scope.Everywhere }},
	} {
		for _, l := range lines {
			if !of.in(l) {
				continue
			}
			of.to.Live, of.to.Creating, of.to.Waiting = of.to.Live+l.Live, of.to.Creating+l.Creating, of.to.Waiting+l.Waiting
			of.to.NodeHours += l.NodeHours
			of.to.SpentCents, of.to.CommittedCents = of.to.SpentCents+l.SpentCents, of.to.CommittedCents+l.CommittedCents
		}
	}
	return u, nil
}

// monthOf returns the start of the calendar month, in UTC.
func monthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// RateChanges reports a move after which a cluster may cost a different amount per hour.
func RateChanges(was, next lifecycle.Cluster) bool {
	return was.Status != next.Status || was.Power != next.Power || !reflect.DeepEqual(was.Workers, next.Workers)
}

// forgive removes the cost of a released cluster for which nothing was ever created: no attempt recorded an identity.
func forgive(ctx context.Context, c *db.Tx, cluster string) error {
	_, err := c.Exec(ctx, `
		WITH nothing AS (
			SELECT c.id FROM clusters c WHERE c.id = $1 AND NOT EXISTS (`+IdentitiesOf+`)
		), samples AS (
			UPDATE usage_samples u SET estimated_hourly_cost = 0, saved_hourly = 0 FROM nothing n WHERE u.cluster_id = n.id
		)
		UPDATE clusters c SET month_amount = 0, meter_cents = 0 FROM nothing n WHERE c.id = n.id`, cluster)
	if err != nil {
		return fmt.Errorf("take back the usage of %s: %w", cluster, err)
	}
	return nil
}

// Held is a cluster whose row this change has locked.
type Held struct {
	lifecycle.Cluster
	Prices
}

// Scope says whose usage a request counts toward. Its parts are locked while the request is judged; empty parts count as zero.
type Scope struct {
	Person, Team, Repo string // principal id, team's name, owner/name
	Everywhere         bool   // the whole installation too, if a rule needs that
}

// Counts is the usage of one person, team or repository, or of the whole installation.
type Counts struct {
	Live           int     // accepted and not released, except those in the queue
	Creating       int     // of these, still wanted and neither ready nor awaiting approval
	Waiting        int     // in the queue, for their turn
	NodeHours      float64 // of this calendar month (UTC) so far, and those to come until the wanted clusters end
	SpentCents     int64   // of this month so far, by list prices
	CommittedCents int64   // what the wanted clusters will cost until they end
}

// Usage is the usage counted at one moment.
type Usage struct {
	Person, Team, Repository, Everywhere Counts

	Identities []string  // of the person, all counted together; GitHub logins and SAML names in lower case
	At         time.Time // on the database's clock
}

// Sample writes what a cluster costs from now on, and adds what it cost at its last rate to this month's amount.
func Sample(ctx context.Context, c *db.Tx, cur Held, next lifecycle.Cluster) error {
	present, machines, hourly, saved := PresentWorkers(next), 0, 0, 0
	if next.Power == lifecycle.Asleep {
		present = new(int)
	}
	if next.Status != lifecycle.Pending && next.Status != lifecycle.Destroyed {
		machines = cur.machinesNow(next)
		hourly = cur.Now(next)
		saved = max(0, cur.Rate(next, next.Workers)-hourly)
	}
	if next.Status == lifecycle.Destroyed {
		if err := forgive(ctx, c, cur.ID); err != nil {
			return err
		}
	}
	_, err := c.Exec(ctx, `
		WITH sampled AS (
			INSERT INTO usage_samples (cluster_id, sample_time, state, worker_replicas, estimated_hourly_cost, saved_hourly, stopped)
			VALUES (@cluster, @now, @state, @workers, @cents, @saved, @stopped)
			ON CONFLICT (cluster_id, sample_time) DO UPDATE SET state = excluded.state, saved_hourly = excluded.saved_hourly, stopped = excluded.stopped,
				worker_replicas = excluded.worker_replicas, estimated_hourly_cost = excluded.estimated_hourly_cost
		), run AS (
			SELECT greatest(0, @now_ms - greatest(`+MillisSQL("meter_since")+`, @month_ms)) AS ms FROM clusters WHERE id = @cluster
		)
		UPDATE clusters SET
			month_amount = CASE WHEN meter_month = @month THEN month_amount ELSE 0 END + meter_cents * run.ms,
			month_node_hours = CASE WHEN meter_month = @month THEN month_node_hours ELSE 0 END + meter_nodes * run.ms / 3600000.0,
			meter_since = @now, meter_month = @month, meter_cents = @cents, meter_nodes = @nodes
		FROM run WHERE id = @cluster`,
		pgx.NamedArgs{
			"cluster": cur.ID, "now": c.Now, "now_ms": c.Now.UnixMilli(), "month": monthOf(c.Now), "month_ms": monthOf(c.Now).UnixMilli(),
			"state": next.Status, "workers": present, "cents": hourly, "saved": saved, "nodes": machines,
			"stopped": next.Power == lifecycle.Asleep && next.SleepMode == lifecycle.SleepStopped && next.Status != lifecycle.Destroyed,
		})
	if err != nil {
		return fmt.Errorf("write usage of %s: %w", cur.ID, err)
	}
	return nil
}
