// Package usage counts what people, teams and repositories use, and what clusters cost.
package usage

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/price"
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

// CountCluster counts what a cluster takes with it to another team: what it spent and used this month, and what is to come until its end. What it
// cost while it waited in its pool stays there.
func CountCluster(ctx context.Context, c *db.Tx, id string) (Counts, error) {
	month := monthOf(c.Now)
	found, err := db.One[struct {
		Spent, ToCome int64
		NodeHours     float64
	}](ctx, c, `
		SELECT (CASE WHEN u.month >= @month THEN u.spent ELSE 0 END + u.spent_rate * @month_ms)::bigint AS spent, greatest(0, u.to_come + u.to_come_rate * @now_ms)::bigint AS to_come,
			((CASE WHEN u.month >= @month THEN u.node_ms ELSE 0 END + u.nodes * @month_ms + greatest(0, u.come_node_ms + u.come_nodes * @now_ms)) / 3600000)::float8 AS node_hours
		FROM clusters c, usage_of(jsonb_populate_record(c, '{"waited": null}'), 1) u WHERE c.id = @id AND u.kind = 'team'`,
		pgx.NamedArgs{"id": id, "month": month, "now_ms": c.Now.UnixMilli(), "month_ms": c.Now.UnixMilli() - month.UnixMilli()})
	if err != nil {
		return Counts{}, fmt.Errorf("count what %s uses: %w", id, err)
	}
	return Counts{SpentCents: price.Amount(found.Spent).Cents(), CommittedCents: price.Amount(found.ToCome).Cents(), NodeHours: found.NodeHours}, nil
}

// IsCreating is how a cluster c counts as being created, as usage_of has it in SQL.
const IsCreating = `(c.desired = 'present' AND NOT c.pooled AND c.status IN ('PENDING', 'CREATING', 'FAILED') AND NOT c.needs_turn AND NOT c.needs_approval)`

// CountAt is Count for who read the identities of the scope's person before.
func CountAt(ctx context.Context, from db.Source, scope Scope, identities []string, now time.Time) (Usage, error) {
	tally, err := ReadTally(ctx, from, []Scope{scope}, map[string][]string{scope.Person: identities}, now)
	if err != nil {
		return Usage{}, err
	}
	return tally.Of(scope), nil
}

// monthOf returns the start of the calendar month, in UTC.
func monthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// RateChanges reports a move after which a cluster may cost a different amount per hour.
func RateChanges(was, next lifecycle.Cluster) bool {
	return was.Status != next.Status || was.Power != next.Power || was.Spot != next.Spot || !reflect.DeepEqual(was.Workers, next.Workers)
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
	Accounts           bool   // the cloud accounts too, if the catalogue has any

	Cohort *Cohort // of the team; nil: it has none
}

// Cohort is the teams that lend each other places of their quotas.
type Cohort struct {
	Name  string
	Teams []string
}

// Counts is the usage of one person, team or repository, or of the whole installation.
type Counts struct {
	Live           int     // accepted and not released, except those in the queue and those that wait in a pool
	Creating       int     // of these, still wanted and neither ready nor awaiting approval
	Waiting        int     // in the queue, for their turn
	NodeHours      float64 // of this calendar month (UTC) so far, and those to come until the wanted clusters end
	SpentCents     int64   // of this month so far, by list prices
	CommittedCents int64   // what the wanted clusters will cost until they end
}

// Usage is the usage counted at one moment.
type Usage struct {
	Person, Team, Repository, Everywhere Counts

	Cohort     map[string]Counts // of each team of the scope's cohort, what is live and what waits
	Accounts   Accounts          // the zero value if the scope has none
	Identities []string          // of the person, all counted together; GitHub logins and SAML names in lower case
	At         time.Time         // on the database's clock
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
