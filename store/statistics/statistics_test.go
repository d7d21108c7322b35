package statistics_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/statistics"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func summary(t testing.TB, s *store.Store, f statistics.Filter) statistics.Summary {
	t.Helper()
	sum, err := s.Statistics.Summary(context.Background(), f)
	require.NoError(t, err)
	return sum
}

// The story of three clusters: one lives and dies without trouble, one fails, one is still there.
func TestASummaryTellsWhatBecameOfClusters(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	start := clock.Now()
	claim := func(name, team string) (clusters.Row, func(time.Duration, attempts.ResultRow)) {
		a := storetest.Granted(name)
		a.Row.Team = team
		row := storetest.Accept(t, s, a)
		storetest.Step(t, s, row.ID)
		open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
		require.NoError(t, err)
		_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-"+name)
		require.NoError(t, err)
		return row, func(after time.Duration, r attempts.ResultRow) {
			clock.Pass(after)
			if r.Outcome == lifecycle.Succeeded {
				_, err := s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("demo-abcde"), storetest.Bundles("demo-abcde"))
				require.NoError(t, err)
			}
			_, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, r)
			require.NoError(t, err)
			storetest.Settled(t, s, row.ID)
		}
	}
	shop, shopEnds := claim("shop", "a")
	shopEnds(40*time.Minute, attempts.ResultRow{Outcome: lifecycle.Succeeded})
	_, vaultEnds := claim("vault", "b")
	vaultEnds(10*time.Minute, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "VPCLimitExceeded"})
	clock.Pass(time.Hour)
	_, err := s.Destroy(t.Context(), shop.ID, clusters.Origin{Actor: "github:maya"})
	require.NoError(t, err)
	storetest.Step(t, s, shop.ID)
	began := clock.Now()
	open, err := s.Attempts.OpenAttempt(t.Context(), shop.ID)
	require.NoError(t, err)
	storetest.Zero(t, s, clock, open)
	storetest.Settled(t, s, shop.ID)
	gone := clock.Now()
	orphaned(t, s, seenOrphan{identity: "demo-abcde", class: "released", cluster: shop.ID, team: "a", hourly: new(36.0), since: gone.Add(-90 * time.Minute)})
	orphaned(t, s, seenOrphan{identity: "old-fghij", class: "nobody", since: gone.Add(-time.Hour), unpriced: 2})
	orphaned(t, s, seenOrphan{identity: "others", class: "foreign", hourly: new(1.0), since: gone})
	clock.Pass(time.Second)

	sum := summary(t, s, statistics.Filter{From: start, To: clock.Now()})
	require.Equal(t, clock.Now(), sum.At)
	require.Len(t, sum.Inventory, 1)
	require.Equal(t, []any{"b", "aws-minimal-test", 1, start.Add(40 * time.Minute)}, []any{sum.Inventory[0].Team, sum.Inventory[0].Profile, sum.Inventory[0].Clusters, sum.Inventory[0].Oldest})
	require.Equal(t, []any{1, "vault", "b", "maya"}, []any{len(sum.Oldest), sum.Oldest[0].Name, sum.Oldest[0].Team, sum.Oldest[0].Owner})
	lived := spreadOf(gone.Sub(start))
	require.Equal(t, []statistics.ProfileSpread{{Clusters: 1, Spread: lived}, {Profile: "aws-minimal-test", Clusters: 1, Spread: lived}}, sum.Lifetime)
	require.Equal(t, []statistics.ProfileSpread{{Clusters: 1, Spread: spreadOf(40 * time.Minute)}, {Profile: "aws-minimal-test", Clusters: 1, Spread: spreadOf(40 * time.Minute)}}, sum.Ready)
	require.Equal(t, []statistics.Failure{{Kind: "create", Reason: "VPCLimitExceeded", Profile: "aws-minimal-test", Attempts: 1, Clusters: 1, LastAt: start.Add(50 * time.Minute)}}, sum.Failures)
	require.Equal(t, []statistics.Week{{Week: time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC), Accepted: 2, Ready: 1, FailedCreates: 1, Destroyed: 1, Spread: spreadOf(40 * time.Minute)}}, sum.Weeks)
	require.Equal(t, statistics.Teardown{Clusters: 1, Unaided: 1, Spread: spreadOf(gone.Sub(began))}, sum.Teardowns[0])
	require.Len(t, sum.Leaks, 2)
	require.Equal(t, []any{"demo-abcde", "released", shop.ID, "shop", "a", int64(54)}, []any{sum.Leaks[1].Identity, sum.Leaks[1].Class, sum.Leaks[1].Cluster, sum.Leaks[1].Name, sum.Leaks[1].Team, *sum.Leaks[1].Cents})
	require.Equal(t, []any{"old-fghij", (*int64)(nil), 2}, []any{sum.Leaks[0].Identity, sum.Leaks[0].Cents, sum.Leaks[0].Unpriced}, "an unknown price is not 0")

	of := summary(t, s, statistics.Filter{From: start, To: clock.Now(), Teams: []string{"a"}})
	require.Equal(t, []int{0, 0, 2, 0, 1}, []int{len(of.Inventory), len(of.Oldest), len(of.Lifetime), len(of.Failures), len(of.Leaks)}, "only that team's, and no leak of nobody")
	none := summary(t, s, statistics.Filter{From: start, To: clock.Now(), Teams: []string{}})
	require.Equal(t, []int{0, 0, 0, 0, 0}, []int{len(none.Inventory), len(none.Lifetime), len(none.Teardowns), len(none.Failures), len(none.Leaks)}, "whoever sees no team sees nothing")
	after := summary(t, s, statistics.Filter{From: clock.Now(), To: clock.Now().Add(8 * 24 * time.Hour)})
	require.Equal(t, []int{1, 0, 0, 0, 2, 2}, []int{len(after.Inventory), len(after.Lifetime), len(after.Failures), len(after.Teardowns), len(after.Leaks), len(after.Weeks)},
		"later nothing happened, but what is still there is shown")
	require.Zero(t, after.Weeks[1].Accepted)
}

// seenOrphan is a row of what a scan found.
type seenOrphan struct {
	identity, class, cluster, team string
	hourly                         *float64
	unpriced                       int
	since                          time.Time
}

func orphaned(t *testing.T, s *store.Store, o seenOrphan) {
	t.Helper()
	_, err := s.Pool().Exec(t.Context(), `
		INSERT INTO orphans (id, platform, account, installation, cluster_tag, identity, place, cluster_id, class, why, regions, team, resources, evidence, hourly_cents, unpriced,
			first_seen_at, last_seen_at, sights, state, state_at, state_why, reported_at)
		VALUES ('orp_' || $1, 'aws', '123', '', '', $1, '', nullif($3, ''), $2, 'a volume is left', '{us-east-1}', $4, 3, '{}', $5, $6, $7, $7, 2, 'reported', $7, 'told', $7)`,
		o.identity, o.class, o.cluster, o.team, o.hourly, o.unpriced, o.since)
	require.NoError(t, err)
}

func spreadOf(d time.Duration) statistics.Spread {
	n := int64(math.Round(d.Seconds()))
	return statistics.Spread{P50: n, P90: n, P99: n, Longest: n}
}

func TestATeardownThatNeededHelpIsNotUnaided(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	seed := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("seed"), 41)).ID
	copies(t, s, seed, []life{
		{id: "clu_clean", profile: "p", team: "a", lived: time.Hour, teardown: 10 * time.Minute},
		{id: "clu_blocked", profile: "p", team: "a", lived: time.Hour, teardown: 30 * time.Minute},
		{id: "clu_abandoned", profile: "q", team: "a", lived: time.Hour, teardown: 50 * time.Minute},
		{id: "clu_never", profile: "q", team: "a", lived: time.Hour}, // nothing had to be torn down
		{id: "clu_given_up", profile: "q", team: "a"},
		{id: "clu_given_up_before", profile: "q", team: "a"},
	}, clock.Now())
	_, err := s.Pool().Exec(t.Context(), `
		INSERT INTO findings (kind, cluster_id, since, why, evidence, first_seen_at, last_seen_at, resolved_at) VALUES ('blocked', 'clu_blocked', now(), 'x', '{}', now(), now(), now())`)
	require.NoError(t, err)
	_, err = s.Pool().Exec(t.Context(), `UPDATE clusters SET abandoned = true WHERE id IN ('clu_abandoned', 'clu_given_up', 'clu_given_up_before')`)
	require.NoError(t, err)
	asked := func(cluster string) {
		require.NoError(t, s.Audit(t.Context(), clusters.Origin{Actor: "github:will", Why: "the account is closed"}, "abandon_asked", cluster, nil))
	}
	clock.Pass(-100 * 24 * time.Hour)
	asked("clu_given_up_before")
	clock.Pass(100 * 24 * time.Hour)
	asked("clu_given_up")

	sum := summary(t, s, statistics.Filter{From: clock.Now().Add(-24 * time.Hour), To: clock.Now().Add(24 * time.Hour)})
	require.Equal(t, []statistics.Teardown{
		{Clusters: 4, Unaided: 1, Blocked: 1, Abandoned: 2, Spread: statistics.Spread{P50: 1800, P90: 2760, P99: 2976, Longest: 3000}},
		{Profile: "p", Clusters: 2, Unaided: 1, Blocked: 1, Spread: statistics.Spread{P50: 1200, P90: 1680, P99: 1788, Longest: 1800}},
		{Profile: "q", Clusters: 2, Abandoned: 2, Spread: spreadOf(50 * time.Minute)},
	}, sum.Teardowns)
}

// life is one cluster of a made-up history.
type life struct {
	id, profile, team string
	at                time.Duration // after the start: when it was accepted
	ready, lived      time.Duration // after acceptance; 0: never, or not yet
	teardown          time.Duration // how long the first teardown began before the end; 0: there was none
	fails             int           // attempts to create that failed
}

// copies writes clusters with such lives, as copies of a seed cluster.
func copies(t testing.TB, s *store.Store, seed string, lives []life, start time.Time) {
	t.Helper()
	ctx := context.Background()
	run := func(sql string, args ...any) {
		_, err := s.Pool().Exec(ctx, sql, args...)
		require.NoError(t, err)
	}
	for i, l := range lives {
		at := start.Add(l.at)
		var ready, gone, began *time.Time
		if l.ready > 0 {
			ready = new(at.Add(l.ready))
		}
		if l.lived > 0 {
			gone = new(at.Add(l.lived))
		}
		if l.teardown > 0 {
			began = new(gone.Add(-l.teardown))
		}
		run(`
			INSERT INTO clusters (id, name, platform, version, profile, region, base_domain, owner, team, cost_center, environment,
				requested_by, source, ttl, hourly_cents, request_tags, effective_tags, spec, installation, repo, pr_number, pr_head,
				status, phase, why, desired, desired_why, teardown, max_tries, wake_at, end_ttl, end_max, created_at, updated_at, ready_at, destroyed_at, meter_cents, teardown_at)
			SELECT $2, 'm' || $3::int, platform, version, $4, region, base_domain, owner, $5, cost_center, environment, requested_by, source, ttl, hourly_cents,
				request_tags, effective_tags, spec, installation, repo, 1000 + $3::int, pr_head, CASE WHEN $8::timestamptz IS NULL THEN 'READY' ELSE 'DESTROYED' END,
				CASE WHEN $8::timestamptz IS NULL THEN 'ready' ELSE 'released' END, why, CASE WHEN $8::timestamptz IS NULL THEN 'present' ELSE 'absent' END,
				CASE WHEN $8::timestamptz IS NULL THEN '{}'::jsonb ELSE '{"code":"other","words":"done"}'::jsonb END, CASE WHEN $8::timestamptz IS NULL THEN '' ELSE 'DESTROY' END, max_tries,
				CASE WHEN $8::timestamptz IS NULL THEN $6::timestamptz END, $6::timestamptz + interval '1000 days', $6::timestamptz + interval '1000 days', $6, $6, $7, $8,
				CASE WHEN $8::timestamptz IS NULL THEN 25 ELSE 0 END, $9
			FROM clusters WHERE id = $1`, seed, l.id, i, l.profile, l.team, at, ready, gone, began)
		run(`INSERT INTO jobs (id, cluster_id, job_type, status, created_at, ended_at) VALUES ('job_' || $1, $1, 'CREATE', 'SUCCEEDED', $2, $2)`, l.id, at)
		attempt := func(number int, kind, outcome, reason string, opened, closed time.Time) {
			run(`INSERT INTO attempts (id, cluster_id, job_id, number, kind, token_id, opened_at, phase, claimed_by, claimed_at, lease_until, closed_at, outcome, reason)
				VALUES ('att_' || $1 || $2::int, $1, 'job_' || $1, $2, $3, $1 || $2::int, $6, 'preflight', 'pod', $6, $6, $7, $4, $5)`, l.id, number, kind, outcome, reason, opened, closed)
		}
		for n := range l.fails {
			attempt(n+1, "create", []string{"failed", "lost"}[n%2], []string{"VPCLimitExceeded", ""}[n%2], at, at.Add(time.Minute))
		}
		if l.teardown > 0 {
			attempt(l.fails+1, "destroy", "succeeded", "", *began, *gone)
		}
	}
}

// Whatever the history is, the figures are those that a plain count gives.
func TestASummaryCountsAsAPlainCountDoes(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	seed := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("seed"), 41)).ID
	start := clock.Now().Add(-90 * 24 * time.Hour)
	r := rand.New(rand.NewPCG(17, 44))
	upTo := func(most time.Duration) time.Duration {
		return time.Duration(r.Int64N(int64(most))).Truncate(time.Second)
	}
	span := func(most time.Duration) time.Duration { return upTo(most) + time.Second }
	var lives []life
	for i := range 150 {
		l := life{id: fmt.Sprintf("clu_%03d", i), profile: fmt.Sprintf("p%d", r.IntN(3)), team: fmt.Sprintf("t%d", r.IntN(3)), at: upTo(80 * 24 * time.Hour), fails: r.IntN(3)}
		if r.IntN(4) > 0 {
			l.ready = span(3 * time.Hour)
		}
		if r.IntN(3) > 0 {
			l.lived = l.ready + span(9*24*time.Hour)
			l.teardown = span(time.Hour)
		}
		lives = append(lives, l)
	}
	copies(t, s, seed, lives, start)
	for range 8 {
		from := start.Add(upTo(60 * 24 * time.Hour))
		f := statistics.Filter{From: from, To: from.Add(span(40 * 24 * time.Hour))}
		if r.IntN(2) > 0 {
			f.Teams = []string{"t0", "t2"}
		}
		sum := summary(t, s, f)
		requireCounted(t, sum, f, lives, start)
		requireQueried(t, s, sum, f)
	}
}

func requireCounted(t *testing.T, sum statistics.Summary, f statistics.Filter, lives []life, start time.Time) {
	t.Helper()
	within := func(at time.Time) bool { return !at.Before(f.From) && at.Before(f.To) }
	ready, lived, torn := map[string][]time.Duration{}, map[string][]time.Duration{}, map[string][]time.Duration{}
	add := func(to map[string][]time.Duration, l life, d time.Duration) {
		to[""], to[l.profile] = append(to[""], d), append(to[l.profile], d)
	}
	accepted, failed, live := 0, 0, 0
	for _, l := range lives {
		at := start.Add(l.at)
		if f.Teams != nil && !slices.Contains(f.Teams, l.team) {
			continue
		}
		if within(at) {
			accepted++
		}
		if within(at.Add(time.Minute)) {
			failed += l.fails
		}
		if l.ready > 0 && within(at.Add(l.ready)) {
			add(ready, l, l.ready)
		}
		switch {
		case l.lived == 0:
			live++
		case within(at.Add(l.lived)):
			add(torn, l, l.teardown)
			if l.ready > 0 {
				add(lived, l, l.lived)
			}
		}
	}
	require.Equal(t, spreads(ready), sum.Ready)
	require.Equal(t, spreads(lived), sum.Lifetime)
	teardowns := []statistics.ProfileSpread{}
	for _, l := range sum.Teardowns {
		require.Equal(t, []int{l.Clusters, 0, 0}, []int{l.Unaided, l.Blocked, l.Abandoned})
		teardowns = append(teardowns, statistics.ProfileSpread{Profile: l.Profile, Clusters: l.Clusters, Spread: l.Spread})
	}
	require.Equal(t, spreads(torn), teardowns)
	var inWeeks, bars, ages, fails [2]int
	for i, w := range sum.Weeks {
		require.Equal(t, time.Monday, w.Week.Weekday())
		require.True(t, i == 0 || w.Week.Equal(sum.Weeks[i-1].Week.AddDate(0, 0, 7)), "no week is missing")
		inWeeks[0], inWeeks[1], fails[0] = inWeeks[0]+w.Accepted, inWeeks[1]+w.Ready, fails[0]+w.FailedCreates
	}
	require.Equal(t, [2]int{accepted, len(ready[""])}, inWeeks)
	for _, b := range sum.Lifetimes {
		bars[0] += b.Clusters
	}
	for _, b := range sum.Ages {
		ages[0] += b.Clusters
	}
	for _, l := range sum.Inventory {
		ages[1] += l.Clusters
		if l.Team == "acme/platform" { // the seed
			require.Zero(t, l.HourlyCents)
			continue
		}
		require.Equal(t, int64(25*l.Clusters), l.HourlyCents)
	}
	require.Equal(t, [2]int{len(lived[""]), 0}, bars)
	if f.Teams == nil {
		live++ // the seed
	}
	require.Equal(t, [2]int{live, ages[1]}, ages)
	for _, line := range sum.Failures {
		fails[1] += line.Attempts
	}
	require.Equal(t, [2]int{failed, failed}, fails)
}

// requireQueried compares the figures with what PostgreSQL computes of clusters and attempts.
func requireQueried(t *testing.T, s *store.Store, sum statistics.Summary, f statistics.Filter) {
	t.Helper()
	spread := func(took, from string) (p statistics.ProfileSpread) {
		require.NoError(t, s.Pool().QueryRow(t.Context(), `
			SELECT n, coalesce(round(p[1]), 0)::bigint, coalesce(round(p[2]), 0)::bigint, coalesce(round(p[3]), 0)::bigint, coalesce(round(p[4]), 0)::bigint
			FROM (SELECT count(*) AS n, percentile_cont(ARRAY[0.5, 0.9, 0.99, 1]) WITHIN GROUP (ORDER BY extract(epoch FROM `+took+`)::float8) AS p
				FROM clusters c `+from+` AND ($3::text[] IS NULL OR c.team = ANY ($3))) x`, f.From, f.To, f.Teams).Scan(&p.Clusters, &p.P50, &p.P90, &p.P99, &p.Longest))
		return p
	}
	first := func(lines []statistics.ProfileSpread) statistics.ProfileSpread {
		return append(lines, statistics.ProfileSpread{})[0]
	}
	require.Equal(t, spread("c.destroyed_at - c.created_at", "WHERE c.ready_at IS NOT NULL AND c.destroyed_at >= $1 AND c.destroyed_at < $2"), first(sum.Lifetime))
	require.Equal(t, spread("c.ready_at - c.created_at", "WHERE c.ready_at >= $1 AND c.ready_at < $2"), first(sum.Ready))
	torn := append(sum.Teardowns, statistics.Teardown{})[0]
	require.Equal(t, spread("c.destroyed_at - a.began", `JOIN (SELECT cluster_id, min(opened_at) AS began FROM attempts WHERE kind = 'destroy' GROUP BY 1) a ON a.cluster_id = c.id
		WHERE c.destroyed_at >= $1 AND c.destroyed_at < $2`), statistics.ProfileSpread{Clusters: torn.Clusters, Spread: torn.Spread})
	for _, w := range sum.Weeks {
		in := spread("c.ready_at - c.created_at", fmt.Sprintf("WHERE c.ready_at >= $1 AND c.ready_at < $2 AND date_trunc('week', c.ready_at AT TIME ZONE 'UTC') = '%s'", w.Week.Format(time.DateOnly)))
		require.Equal(t, in, statistics.ProfileSpread{Clusters: w.Ready, Spread: w.Spread})
	}
}

// spreads computes the percentiles with linear interpolation, as PostgreSQL's percentile_cont does.
func spreads(of map[string][]time.Duration) []statistics.ProfileSpread {
	out := []statistics.ProfileSpread{}
	for _, profile := range []string{"", "p0", "p1", "p2"} {
		took := of[profile]
		if len(took) == 0 {
			continue
		}
		slices.Sort(took)
		p := func(share float64) int64 {
			at := share * float64(len(took)-1)
			low, high := took[int(at)].Seconds(), took[int(math.Ceil(at))].Seconds()
			return int64(math.RoundToEven(low + (high-low)*(at-math.Floor(at))))
		}
		out = append(out, statistics.ProfileSpread{Profile: profile, Clusters: len(took), Spread: statistics.Spread{P50: p(.5), P90: p(.9), P99: p(.99), Longest: p(1)}})
	}
	return out
}

// BenchmarkSummary reads summaries over 100,000 clusters: each had a teardown and five usage samples, and a tenth of the attempts failed.
func BenchmarkSummary(b *testing.B) {
	s, clock := storetest.Open(b)
	seed := storetest.Accept(b, s, storetest.FromPR(storetest.Granted("seed"), 41)).ID
	storetest.CrowdOf(b, s, seed, 100_000, 200)
	for _, sql := range []string{
		`ALTER TABLE clusters DISABLE TRIGGER USER; ALTER TABLE attempts DISABLE TRIGGER USER`,
		`UPDATE clusters SET created_at = created_at - (20 + random() * 330) * interval '1 day', profile = 'p' || (random() * 5)::int WHERE id <> '` + seed + `'`,
		`UPDATE clusters SET ready_at = created_at + random() * interval '2 hours', destroyed_at = CASE WHEN destroyed_at IS NOT NULL THEN created_at + interval '3 hours' + random() * interval '17 days' END WHERE id <> '` + seed + `'`,
		`UPDATE attempts SET closed_at = opened_at - random() * interval '280 days', outcome = 'failed', reason = 'R' || (random() * 12)::int WHERE random() < 0.1`,
		`INSERT INTO attempts (id, cluster_id, job_id, number, kind, token_id, opened_at, phase, claimed_by, claimed_at, lease_until, closed_at, outcome)
			SELECT 'att_d' || id, id, 'job_' || id, 2, 'destroy', 'd' || id, destroyed_at - random() * interval '40 minutes', 'deleting', 'pod', now(), now(), destroyed_at, 'succeeded'
			FROM clusters WHERE destroyed_at IS NOT NULL`,
		`UPDATE clusters SET teardown_at = opened_at FROM attempts a WHERE a.cluster_id = clusters.id AND a.kind = 'destroy'`,
		`INSERT INTO usage_samples (cluster_id, sample_time, state, worker_replicas, estimated_hourly_cost)
			SELECT id, created_at + i * interval '30 minutes', 'READY', 3, 100 FROM clusters, generate_series(1, 5) i`,
		`ALTER TABLE clusters ENABLE TRIGGER USER; ALTER TABLE attempts ENABLE TRIGGER USER`,
		`VACUUM FULL ANALYZE clusters`, `VACUUM ANALYZE`,
	} {
		_, err := s.Pool().Exec(b.Context(), sql)
		require.NoError(b, err, sql)
	}
	for _, days := range []int{7, 30, 90, 365} {
		for name, teams := range map[string][]string{"all teams": nil, "one team": {"team-1"}} {
			b.Run(fmt.Sprintf("%d days, %s", days, name), func(b *testing.B) {
				for b.Loop() {
					summary(b, s, statistics.Filter{From: clock.Now().AddDate(0, 0, -days), To: clock.Now(), Teams: teams})
				}
			})
		}
	}
}
