package store

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Usage counts what those of the scope hold now, without locks: for people to look at. What Judge judges by it counts itself, behind its locks.
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

// What clusters c that are not released count for. Until then a cluster is live, whatever its status. One that waits for its
// turn was never begun and is counted apart; one that awaits approval has its place already. One that is cleaned up between two
// tries is being created even where that is blocked: it goes on as soon as it is clean. Only what is still wanted will cost
// anything until its end: the rest is being torn down.
const (
	isOurs      = `(@everywhere OR principal_key(c.requested_by) = ANY (@person::text[]) OR c.team = @team OR c.repo = nullif(@repo, ''))`
	isLive      = `(NOT c.needs_turn OR c.needs_approval)`
	isCreating  = `(c.wish = 'present' AND c.status IN ('PENDING', 'CREATING', 'FAILED') AND NOT c.needs_turn AND NOT c.needs_approval)`
	isWaiting   = `(c.wish = 'present' AND c.needs_turn AND NOT c.needs_approval)`
	nodesToCome = `greatest(0, c.nodes + coalesce(c.workers_wanted, c.workers, c.workers_base, 0) - coalesce(c.workers_base, 0))`
)

// counting sums by whether a cluster is the person's, the team's and the repository's: what is not released, and what was
// this month, whose meters stand still. Each half is read once, from an index that holds all of it.
const counting = `
	SELECT principal_key(c.requested_by) = ANY (@person::text[]) AS mine, c.team = @team AS ours, c.repo IS NOT DISTINCT FROM nullif(@repo, '') AS here,
		count(*) FILTER (WHERE ` + isLive + `) AS live, count(*) FILTER (WHERE ` + isCreating + `) AS creating,
		count(*) FILTER (WHERE ` + isWaiting + `) AS waiting,
		sum(CASE WHEN c.meter_month = @month THEN c.month_node_hours ELSE 0 END + c.meter_nodes * h.running + ` + nodesToCome + ` * h.to_come) AS node_hours,
		sum(CASE WHEN c.meter_month = @month THEN c.month_cents ELSE 0 END + c.meter_cents * h.running) AS spent_cents,
		sum(h.to_come * CASE WHEN c.nodes > 0 THEN c.hourly_cents * ` + nodesToCome + `::float8 / c.nodes ELSE c.hourly_cents END) AS committed_cents
	FROM clusters c, LATERAL (SELECT
		greatest(0, @now_s - greatest(date_part('epoch', c.meter_since), @month_s)) / 3600 AS running,
		CASE WHEN c.wish = 'present' THEN greatest(0, date_part('epoch', c.destroy_at) - @now_s) / 3600 ELSE 0 END AS to_come) h
	WHERE c.destroyed_at IS NULL AND ` + isOurs + ` GROUP BY 1, 2, 3
	UNION ALL
	SELECT principal_key(c.requested_by) = ANY (@person::text[]), c.team = @team, c.repo IS NOT DISTINCT FROM nullif(@repo, ''),
		0, 0, 0, sum(c.month_node_hours), sum(c.month_cents), 0
	FROM clusters c WHERE c.destroyed_at >= @month AND c.meter_month = @month AND ` + isOurs + ` GROUP BY 1, 2, 3`

func usageIn(ctx context.Context, from source, scope Scope, now time.Time) (Usage, error) {
	type sums struct {
		Mine, Ours, Here                      bool
		Live, Creating, Waiting               int
		NodeHours, SpentCents, CommittedCents float64
	}
	month := monthOf(now)
	identities, err := identitiesOfPerson(ctx, from, scope.Person)
	if err != nil {
		return Usage{}, err
	}
	lines, err := all[sums](ctx, from, counting, pgx.NamedArgs{
		"person": identities, "team": scope.Team, "repo": scope.Repo, "everywhere": scope.Everywhere,
		"month": month, "now_s": float64(now.UnixMicro()) / 1e6, "month_s": float64(month.Unix()),
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
		var spent, committed float64
		for _, l := range lines {
			if !of.in(l) {
				continue
			}
			of.to.Live, of.to.Creating, of.to.Waiting = of.to.Live+l.Live, of.to.Creating+l.Creating, of.to.Waiting+l.Waiting
			of.to.NodeHours += l.NodeHours
			spent, committed = spent+l.SpentCents, committed+l.CommittedCents
		}
		of.to.SpentCents, of.to.CommittedCents = int64(math.Round(spent)), int64(math.Round(committed))
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
				greatest(0, date_part('epoch', @now - greatest(c.meter_since, @month)) / 3600) AS hours,
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
			month_cents = CASE WHEN meter_month = @month THEN month_cents ELSE 0 END + meter_cents * hours,
			month_node_hours = CASE WHEN meter_month = @month THEN month_node_hours ELSE 0 END + meter_nodes * hours,
			meter_since = @now, meter_month = @month, meter_cents = rate.cents, meter_nodes = rate.nodes
		FROM rate WHERE c.id = @cluster`,
		pgx.NamedArgs{"cluster": cluster, "now": c.now, "month": monthOf(c.now), "state": status, "hourly": hourly, "runs": runs})
	if err != nil {
		return fmt.Errorf("write usage of %s: %w", cluster, err)
	}
	return nil
}
