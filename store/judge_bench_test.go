package store_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

// callers are those who ask at once.
const callers = 50

// BenchmarkJudge has fifty at once judged and accepted, of as many teams, of one team, and where a quota counts everybody;
// and beside it writes the bare row of the request: what nothing durable can be faster than.
func BenchmarkJudge(b *testing.B) {
	s := durable(b)
	run := 0
	judged := func(team func(i int) string, everywhere bool) func(context.Context, int) error {
		run++
		mine := run
		return func(ctx context.Context, i int) error {
			a := storetest.RequestedBy(storetest.Sized(fmt.Sprintf("r%d-%d", mine, i)), fmt.Sprintf("github:user%d", i))
			a.Row.Team = team(i)
			ask := once(storetest.Requests(a), fmt.Sprintf("key-%d-%d", mine, i), "a")
			ask.Scope.Everywhere = everywhere
			_, err := s.Judge(ctx, ask, storetest.AtMost(1<<30, false, a))
			return err
		}
	}
	own := func(i int) string { return fmt.Sprintf("team-%d", i%callers) }
	for _, c := range []struct {
		name string
		do   func() func(context.Context, int) error
	}{
		{"a team each", func() func(context.Context, int) error { return judged(own, false) }},
		{"one team", func() func(context.Context, int) error { return judged(func(int) string { return "one" }, false) }},
		{"everybody counted", func() func(context.Context, int) error { return judged(own, true) }},
		{"bare", func() func(context.Context, int) error {
			return func(ctx context.Context, i int) error {
				_, err := s.Pool().Exec(ctx, `INSERT INTO cluster_requests (id, principal_id, source, allowed, verdict, request, created_at)
					VALUES ($1, $2, 'api', false, '{"allowed":true}', '{"profile":"aws-minimal-test"}', now())`, db.NewID("req"), fmt.Sprintf("github:user%d", i))
				return err
			}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			do := c.do()
			defer pgtest.MeasureCPU(b, s.Pool())()
			crowded(b, do)
		})
	}
}

// crowded spreads b.N calls over the callers and reports how long the middle one and the slowest hundredth took.
func crowded(b *testing.B, do func(context.Context, int) error) {
	took := make([][]time.Duration, callers)
	var wg sync.WaitGroup
	b.ResetTimer()
	for caller := range callers {
		wg.Go(func() {
			for i := caller; i < b.N; i += callers {
				start := time.Now()
				if err := do(context.Background(), i); err != nil {
					b.Error(err)
					return
				}
				took[caller] = append(took[caller], time.Since(start))
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	all := slices.Concat(took...)
	slices.Sort(all)
	if len(all) > 0 {
		b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
}

// BenchmarkUsage counts among 10,000 live clusters and 100,000 past ones, 8,000 of them of this month, of twenty teams; and
// gives turns to nobody out of 200 who wait there.
func BenchmarkUsage(b *testing.B) {
	s, clock := storetest.Open(b)
	seed := storetest.Accept(b, s, storetest.Sized("seed"))
	throng(b, s, seed.ID)
	scope := usage.Scope{Person: "github:user7", Team: "team-3", Repo: "acme/repo5"}
	for name, everywhere := range map[string]bool{"a team": false, "everybody": true} {
		scope.Everywhere = everywhere
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				u, err := s.Usage(b.Context(), scope)
				require.NoError(b, err)
				require.Equal(b, everywhere, u.Everywhere.Live > 9_999)
				require.Equal(b, 500, u.Team.Live)
			}
		})
	}
	b.Run("report", func(b *testing.B) {
		for b.Loop() {
			_, err := s.Reports.UsageReport(b.Context(), reports.ReportFilter{From: clock.Now().Add(-30 * 24 * time.Hour), By: "team"})
			require.NoError(b, err)
		}
	})
	for i := range 200 {
		a := storetest.RequestedBy(storetest.Granted(fmt.Sprintf("waits-%d", i)), fmt.Sprintf("github:user%d", i))
		a.Row.Team = fmt.Sprintf("team-%d", i%20)
		limit := lifecycle.Limit{Quota: "teams", Scope: lifecycle.ScopeTeam, Key: a.Row.Team, What: lifecycle.CountLive, Most: 500}
		a.Turn = &store.TurnAsk{Limits: []lifecycle.Limit{limit}}
		storetest.Accept(b, s, a)
	}
	b.Run("turns", func(b *testing.B) {
		for b.Loop() {
			n, err := s.Turns(b.Context())
			require.NoError(b, err)
			require.Zero(b, n)
		}
	})
}

// throng copies the seed into 10,000 ready and 100,000 released clusters, accepted one after the other over a year.
func throng(b *testing.B, s *store.Store, seed string) {
	b.Helper()
	_, err := s.Pool().Exec(b.Context(), `
		INSERT INTO clusters (id, name, platform, version, profile, region, base_domain, owner, team, cost_center, environment,
			requested_by, source, ttl, hourly_cents, nodes, workers_base, request_tags, effective_tags, spec, installation, repo, pr_number, pr_head,
			status, phase, why, desired, desired_why, teardown, max_tries, wake_at, end_ttl, end_max, created_at, updated_at, destroyed_at,
			meter_since, meter_cents, meter_nodes, meter_month, month_amount, month_node_hours)
		SELECT 'clu_' || lpad(i::text, 8, '0'), 'c' || i, platform, version, profile, region, base_domain, owner, 'team-' || i % 20, cost_center,
			environment, 'github:user' || i % 400, source, ttl, hourly_cents, 6, 3, request_tags, effective_tags,
			spec || jsonb_build_object('installConfig', repeat('networking: {}' || chr(10), 150)), 5001, 'acme/repo' || i % 97, i, 'abc123',
			CASE WHEN live THEN 'READY' ELSE 'DESTROYED' END, CASE WHEN live THEN 'ready' ELSE 'released' END, why,
			CASE WHEN live THEN 'present' ELSE 'absent' END, CASE WHEN live THEN '{}'::jsonb ELSE '{"code":"other","words":"done"}'::jsonb END,
			CASE WHEN live THEN '' ELSE 'DESTROY' END, max_tries, CASE WHEN live THEN now() + interval '1 day' END,
			at + interval '400 days', at + interval '500 days', at, at, CASE WHEN NOT live THEN at + interval '5 hours' END,
			at, CASE WHEN live THEN 70 ELSE 0 END, CASE WHEN live THEN 6 ELSE 0 END, date_trunc('month', at, 'UTC'), 350 * 3600000, 30
		FROM clusters, generate_series(1, 110000) i,
			LATERAL (SELECT i % 11 = 0 AS live, created_at - (110000 - i) * interval '287 seconds' AS at) l
		WHERE id = $1`, seed)
	require.NoError(b, err)
	_, err = s.Pool().Exec(b.Context(), `
		INSERT INTO usage_samples (cluster_id, sample_time, state, estimated_hourly_cost)
		SELECT id, created_at + n * interval '1 hour', (ARRAY['PENDING', 'CREATING', 'READY', 'DESTROYING', 'DESTROYED'])[n + 1],
			CASE WHEN n IN (0, 4) THEN 0 ELSE 70 END
		FROM clusters, generate_series(0, 4) n WHERE id <> $1 AND (n < 3 OR destroyed_at IS NOT NULL)`, seed)
	require.NoError(b, err)
	_, err = s.Pool().Exec(b.Context(), `VACUUM ANALYZE`)
	require.NoError(b, err)
}
