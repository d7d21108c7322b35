package store

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Usage counts what the scope's person, team and repository and the whole installation hold now, without locks: for people
// to look at. What Judge judges by it counts itself, behind its locks.
func (s *Store) Usage(ctx context.Context, scope Scope) (Usage, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return Usage{}, err
	}
	return usageIn(ctx, s.pool, scope, now)
}

func (c *change) usage(ctx context.Context, scope Scope) (Usage, error) {
	return usageIn(ctx, c, scope, c.now)
}

// What clusters c count for at @now, in the calendar month that began at @month. Until it is released a cluster is live,
// whatever its status. One that waits for its turn was never begun and is counted apart; one that awaits approval has its
// place already. Only what is still wanted will cost anything until its end: the rest is being torn down.
const (
	isLive     = `(c.destroyed_at IS NULL AND (NOT c.needs_turn OR c.needs_approval))`
	isCreating = `(c.destroyed_at IS NULL AND c.wish = 'present' AND c.status IN ('PENDING', 'CREATING') AND NOT c.needs_turn AND NOT c.needs_approval)`
	isWaiting  = `(c.destroyed_at IS NULL AND c.wish = 'present' AND c.needs_turn AND NOT c.needs_approval)`

	runningHours = `greatest(0, extract(epoch FROM @now - greatest(c.meter_since, @month))::float8 / 3600)`
	hoursToCome  = `(CASE WHEN c.destroyed_at IS NULL AND c.wish = 'present' THEN greatest(0, extract(epoch FROM c.destroy_at - @now)::float8 / 3600) ELSE 0 END)`
	nodesToCome  = `greatest(0, c.nodes + coalesce(c.workers_wanted, c.workers, c.workers_base, 0) - coalesce(c.workers_base, 0))`

	counts = `
		count(*) FILTER (WHERE ` + isLive + `) AS live,
		count(*) FILTER (WHERE ` + isCreating + `) AS creating,
		count(*) FILTER (WHERE ` + isWaiting + `) AS waiting,
		coalesce(sum(CASE WHEN c.meter_month = @month THEN c.month_node_hours ELSE 0 END
			+ c.meter_nodes * ` + runningHours + ` + ` + nodesToCome + ` * ` + hoursToCome + `), 0)::float8 AS node_hours,
		coalesce(round(sum(CASE WHEN c.meter_month = @month THEN c.month_cents ELSE 0 END + c.meter_cents * ` + runningHours + `)), 0)::bigint AS spent_cents,
		coalesce(round(sum(c.hourly_cents * ` + hoursToCome + ` * CASE WHEN c.nodes > 0 THEN ` + nodesToCome + `::float8 / c.nodes ELSE 1 END)), 0)::bigint AS committed_cents
		FROM clusters c WHERE (c.destroyed_at IS NULL OR c.destroyed_at >= @month)`
)

func usageIn(ctx context.Context, from source, scope Scope, now time.Time) (Usage, error) {
	type record struct {
		Of string
		Counts
	}
	records, err := all[record](ctx, from, `
		SELECT 'person' AS of, `+counts+` AND c.requested_by = @person
		UNION ALL SELECT 'team', `+counts+` AND c.team = @team
		UNION ALL SELECT 'repository', `+counts+` AND c.repo = @repo
		UNION ALL SELECT 'everywhere', `+counts,
		pgx.NamedArgs{"person": scope.Person, "team": scope.Team, "repo": scope.Repo, "now": now, "month": monthOf(now)})
	if err != nil {
		return Usage{}, fmt.Errorf("count what is used: %w", err)
	}
	u := Usage{At: now}
	for _, r := range records {
		*map[string]*Counts{"person": &u.Person, "team": &u.Team, "repository": &u.Repository, "everywhere": &u.Everywhere}[r.Of] = r.Counts
	}
	return u, nil
}

// monthOf is the first moment of the calendar month.
func monthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// rateChanges reports a move after which a cluster may cost something else.
func rateChanges(was, next lifecycle.Cluster) bool {
	return was.Status != next.Status || !reflect.DeepEqual(was.Workers, next.Workers)
}

// sample writes what a cluster costs from now on, and reads its meter: what its last rate came to, this month. Scaled
// workers are taken to cost what the other machines do.
func (c *change) sample(ctx context.Context, cluster string, status lifecycle.Status, hourly int) error {
	runs := status != lifecycle.Pending && status != lifecycle.Destroyed
	_, err := c.Exec(ctx, `
		WITH rate AS (
			SELECT n.workers, CASE WHEN @runs THEN n.nodes ELSE 0 END AS nodes,
				CASE WHEN NOT @runs THEN 0 WHEN c.nodes > 0 THEN round(@hourly::int * n.nodes::float8 / c.nodes)::int ELSE @hourly::int END AS cents
			FROM clusters c, LATERAL (SELECT coalesce(c.workers, c.workers_base) AS workers,
				greatest(0, c.nodes + coalesce(c.workers, c.workers_base, 0) - coalesce(c.workers_base, 0)) AS nodes) n
			WHERE c.id = @cluster
		), sampled AS (
			INSERT INTO usage_samples (cluster_id, sample_time, state, worker_replicas, estimated_hourly_cost)
			SELECT @cluster, @now, @state, workers, cents FROM rate
			ON CONFLICT (cluster_id, sample_time) DO UPDATE SET state = excluded.state,
				worker_replicas = excluded.worker_replicas, estimated_hourly_cost = excluded.estimated_hourly_cost
		)
		UPDATE clusters c SET
			month_cents = CASE WHEN meter_month = @month THEN month_cents ELSE 0 END + meter_cents * `+runningHours+`,
			month_node_hours = CASE WHEN meter_month = @month THEN month_node_hours ELSE 0 END + meter_nodes * `+runningHours+`,
			meter_since = @now, meter_month = @month, meter_cents = rate.cents, meter_nodes = rate.nodes
		FROM rate WHERE c.id = @cluster`,
		pgx.NamedArgs{"cluster": cluster, "now": c.now, "month": monthOf(c.now), "state": status, "hourly": hourly, "runs": runs})
	if err != nil {
		return fmt.Errorf("write usage of %s: %w", cluster, err)
	}
	return nil
}
