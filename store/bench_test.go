package store_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/inbox"
	"github.com/ocpctl/ocpctl/store/outbox"
)

const senders = 8

// durable returns a store on a server of its own that waits for the disk, as in production.
func durable(b *testing.B) *store.Store {
	b.Helper()
	ctx := context.Background()
	server, err := postgres.Start(ctx, postgres.Config{Dir: b.TempDir()})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, server.Stop()) })
	require.NoError(b, store.Migrate(ctx, server.URL("postgres")))
	return openAt(b, server.URL("postgres"), db.Options{Limits: limits, Lease: time.Minute})
}

// BenchmarkSaveDelivery saves deliveries as the webhook's entry point does, and beside it, by turns on the same server, writes
// the bare row alone, which no entry point can be faster than, and the row with a job that River's client inserts.
func BenchmarkSaveDelivery(b *testing.B) {
	s := durable(b)
	body := bytes.Repeat([]byte(`{"action":"labeled","number":41},`), 400) // 13 KB, like GitHub's
	n := 0
	id := func() string { n++; return fmt.Sprintf("run-%d", n) }
	save := func(ctx context.Context, id string) error {
		_, err := s.Inbox.SaveDelivery(ctx, inbox.Delivery{Source: "github", ID: id, Event: "pull_request", Body: body})
		return err
	}
	bare := func(ctx context.Context, id string) error {
		_, err := s.Pool().Exec(ctx, `INSERT INTO deliveries (source, delivery_id, event, body) VALUES ($1, $2, $3, $4)`,
			"bare", id, "pull_request", body)
		return err
	}
	byRiver := func(ctx context.Context, id string) error {
		var fresh struct{ ID int64 }
		return s.WriteAfter(ctx, func(_ *db.Tx, b *db.Batch) {
			b.Ask("save the delivery", db.Into(&fresh), `INSERT INTO deliveries (source, delivery_id, event, body) VALUES ($1, $2, $3, $4) RETURNING id`,
				"river", id, "pull_request", body)
		}, func(c *db.Tx) error {
			c.Enqueue(queue.InboxArgs{Row: fresh.ID})
			return nil
		})
	}
	for _, c := range []struct {
		name string
		do   func(context.Context, string) error
	}{{"saved", save}, {"bare", bare}, {"by-river", byRiver}} {
		b.Run(c.name, func(b *testing.B) { parallel(b, id(), c.do) })
	}
}

// BenchmarkTakePace asks leave to write, as often as one installation is asked by eight at once: where it is given each time,
// where it never is, and alone.
func BenchmarkTakePace(b *testing.B) {
	s := durable(b)
	free, full := outbox.Pace{Every: time.Nanosecond, PerMinute: 1e9, PerHour: 1e9}, outbox.Pace{Every: time.Hour, PerMinute: 80, PerHour: 500}
	take := func(installation int64, p outbox.Pace) func(context.Context, string) error {
		return func(ctx context.Context, _ string) error {
			_, err := s.Outbox.TakePace(ctx, installation, p)
			return err
		}
	}
	b.Run("given", func(b *testing.B) { parallel(b, "given", take(1, free)) })
	b.Run("told to wait", func(b *testing.B) { parallel(b, "wait", take(2, full)) })
	b.Run("alone", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, take(3, free)(b.Context(), ""))
		}
	})
}

// BenchmarkLook finds what the look at pull requests reads among 10,000 wanted clusters and 20,000 past ones.
func BenchmarkLook(b *testing.B) {
	s, _ := open(b)
	crowd(b, s, accept(b, s, fromPR(granted("seed"), 41)).ID)
	_, err := s.Pool().Exec(b.Context(), `
		INSERT INTO pull_requests (repo, number, installation, open, fork, labels, author, head, base, updated_at, seen_at, repo_id)
		SELECT repo, pr_number, installation, true, false, '{ocp/aws-minimal-test}', 'maya', pr_head, 'main', now(), now(), 900 FROM clusters`)
	require.NoError(b, err)
	_, err = s.Pool().Exec(b.Context(), `INSERT INTO looks SELECT repo, pr_number, now() - pr_number * interval '1 second' FROM clusters WHERE pr_number > 41`)
	require.NoError(b, err)
	_, err = s.Pool().Exec(b.Context(), `ANALYZE`)
	require.NoError(b, err)
	b.Run("to look at", func(b *testing.B) {
		for b.Loop() {
			prs, err := s.PullRequests.PullsToLook(b.Context(), time.Now(), 100)
			require.NoError(b, err)
			require.Len(b, prs, 100)
		}
	})
	b.Run("of an installation", func(b *testing.B) {
		for b.Loop() {
			prs, err := s.PullRequests.PullsOf(b.Context(), 5001, []string{"acme/shop"})
			require.NoError(b, err)
			require.Greater(b, len(prs), 9_000)
		}
	})
	b.Run("seen", func(b *testing.B) {
		pr := known(4242, 1)
		for b.Loop() {
			pr.UpdatedAt = pr.UpdatedAt.Add(time.Second)
			_, err := s.PullRequests.SeePullRequest(b.Context(), pr, false)
			require.NoError(b, err)
		}
	})
}

// BenchmarkAudit writes lines of the trail, each in a transaction of its own that waits for the disk, and beside it the bare
// rows without chain and guard: eight at once, and one after the other.
func BenchmarkAudit(b *testing.B) {
	s := durable(b)
	_, err := s.Pool().Exec(b.Context(), `CREATE TABLE bare (LIKE audit_events INCLUDING INDEXES INCLUDING IDENTITY)`)
	require.NoError(b, err)
	chained := func(ctx context.Context, id string) error {
		return s.Audit(ctx, clusters.Origin{Actor: "saml:maya", Source: "api"}, "kubeconfig.read", id, map[string]string{"why": "a look"})
	}
	var seq atomic.Int64
	bare := func(ctx context.Context, id string) error {
		_, err := s.Pool().Exec(ctx, `INSERT INTO bare (actor, action, source, target_cluster_id, metadata, created_at, seq, previous, hash)
			VALUES ('saml:maya', 'kubeconfig.read', 'api', $1, '{"why": "a look"}', clock_timestamp(), $2, repeat('0', 64), repeat('0', 64))`, id, seq.Add(1))
		return err
	}
	for _, c := range []struct {
		name string
		do   func(context.Context, string) error
	}{{"chained", chained}, {"bare", bare}} {
		b.Run(c.name, func(b *testing.B) { parallel(b, "clu", c.do) })
		b.Run(c.name+" alone", func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, c.do(b.Context(), "clu"))
			}
		})
	}
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			proof, err := s.VerifyAudit(b.Context())
			require.NoError(b, err)
			require.True(b, proof.Whole(), proof.Text())
			b.ReportMetric(float64(proof.Lines), "lines")
		}
	})
}

// BenchmarkReport has many runners report at once, each with a line of its log, while somebody follows all of them.
func BenchmarkReport(b *testing.B) {
	s := durable(b)
	const runners = 4 * senders
	var open [runners]attempts.LaunchSpec
	for i := range open {
		_, open[i] = claimed(b, s, fmt.Sprintf("c%d", i))
	}
	first(b, s)
	var turn, seq atomic.Int64
	parallel(b, "report", func(ctx context.Context, _ string) error {
		o := open[turn.Add(1)%runners]
		_, err := s.Attempts.Report(ctx, o.Attempt, o.Token, attempts.ReportRow{Seq: int(seq.Add(1)), Phase: lifecycle.Preflight, Percent: 1, Log: "level=info msg=hello\n"})
		return err
	})
}

// BenchmarkFollow has ten thousand follow a cluster each while one of them changes: what an idle one costs, and how long it
// takes from a commit to the change in hand.
func BenchmarkFollow(b *testing.B) {
	s, _ := open(b)
	row := accept(b, s, granted("shop"))
	mine := first(b, s, row.ID)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 10_000 {
		_, stop := s.Follow(b.Context(), fmt.Sprintf("clu_%d", i))
		b.Cleanup(stop)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	for b.Loop() {
		extended(b, s, row.ID)
		next(b, mine, named)
	}
	b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/10_000, "B/idle")
}

// parallel spreads b.N calls over the senders and reports calls per second and the slowest hundredth.
func parallel(b *testing.B, run string, do func(context.Context, string) error) {
	took := make([][]time.Duration, senders)
	var wg sync.WaitGroup
	b.ResetTimer()
	for sender := range senders {
		wg.Go(func() {
			for i := sender; i < b.N; i += senders {
				start := time.Now()
				if err := do(context.Background(), fmt.Sprintf("%s-%d", run, i)); err != nil {
					b.Error(err)
					return
				}
				took[sender] = append(took[sender], time.Since(start))
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	all := slices.Concat(took...)
	slices.Sort(all)
	if len(all) > 0 {
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
}

// BenchmarkList reads pages of 50 among 10,000 live and 20,000 past clusters.
func BenchmarkList(b *testing.B) {
	s, _ := open(b)
	ctx := context.Background()
	seed := accept(b, s, fromPR(granted("seed"), 41))
	crowd(b, s, seed.ID)
	_, err := s.Pool().Exec(ctx, `
		INSERT INTO shares SELECT id, 'principal', CASE WHEN pr_number % 10 = 0 THEN 'saml:maya' ELSE 'saml:other' END, 'see', 'x', now()
		FROM clusters WHERE pr_number % 2 = 0`)
	require.NoError(b, err)
	for name, f := range map[string]store.Filter{
		"live":   {Live: true},
		"team":   {Live: true, Team: "team-3"},
		"status": {Status: []lifecycle.Status{lifecycle.Ready}},
		"teams":  {Live: true, Teams: []string{"team-1", "team-2"}},
		"pr":     {Live: true, Repo: "acme/shop", Number: 4242},
		"all":    {},
		"shared": {Live: true, Teams: []string{"team-1"}, Principal: "saml:maya"},
		"named":  {Live: true, Teams: []string{"team-1"}, Principal: "saml:maya", Name: "c12"},
		"owner":  {Live: true, Teams: []string{"team-1", "team-2"}, Owner: "maya", Profile: "aws-minimal-test"},
		"nobody": {Live: true, Teams: []string{"none"}, Principal: "saml:nobody"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _, err := s.List(ctx, f)
				require.NoError(b, err)
			}
		})
	}
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			_, _, err := s.Load(ctx, seed.ID)
			require.NoError(b, err)
		}
	})
	b.Run("wake nothing", func(b *testing.B) {
		for b.Loop() {
			_, err := s.WakeDue(ctx, 100)
			require.NoError(b, err)
		}
	})
}

// crowd copies the seed cluster into 10,000 ready and 20,000 released ones, each with a job and an attempt.
func crowd(b *testing.B, s *store.Store, seed string) {
	b.Helper()
	crowdOf(b, s, seed, 30_000, 20)
}

// crowdOf copies the seed cluster n times into that many teams; every third copy is ready, the others are released.
func crowdOf(b *testing.B, s *store.Store, seed string, n, teams int) {
	b.Helper()
	for _, sql := range []string{`
		INSERT INTO clusters (id, name, platform, version, profile, region, base_domain, owner, team, cost_center, environment,
			requested_by, source, ttl, hourly_cents, request_tags, effective_tags, spec, installation, repo, pr_number, pr_head,
			status, phase, why, desired, desired_why, teardown, max_tries, wake_at, end_ttl, end_max, created_at, updated_at, destroyed_at)
		SELECT 'clu_' || lpad(i::text, 8, '0'), 'c' || i, platform, version, profile, region, base_domain, owner, 'team-' || i % $3, cost_center,
			environment, requested_by, source, ttl, hourly_cents, request_tags, effective_tags, spec, installation, repo, i, pr_head,
			CASE WHEN i % 3 = 0 THEN 'READY' ELSE 'DESTROYED' END, CASE WHEN i % 3 = 0 THEN 'ready' ELSE 'released' END, why,
			CASE WHEN i % 3 = 0 THEN 'present' ELSE 'absent' END, CASE WHEN i % 3 = 0 THEN '{}'::jsonb ELSE '{"code":"other","words":"done"}'::jsonb END,
			CASE WHEN i % 3 = 0 THEN '' ELSE 'DESTROY' END, max_tries, CASE WHEN i % 3 = 0 THEN now() + interval '1 day' END,
			end_ttl, end_max, created_at, updated_at, CASE WHEN i % 3 <> 0 THEN created_at - interval '1 day' END
		FROM clusters, generate_series(1000, 999 + $2) i WHERE id = $1`, `
		INSERT INTO jobs (id, cluster_id, job_type, status, created_at, ended_at)
		SELECT 'job_' || id, id, 'CREATE', 'SUCCEEDED', created_at, created_at - interval '1 day' FROM clusters WHERE id <> $1`, `
		INSERT INTO attempts (id, cluster_id, job_id, number, kind, token_id, opened_at, phase, claimed_by, claimed_at, lease_until, recorded_at,
			infra_id, closed_at, outcome)
		SELECT 'att_' || id, id, 'job_' || id, 1, 'create', id, now(), 'installing', 'pod', now(), now(), now(), id, now(), 'succeeded'
		FROM clusters WHERE id <> $1`} {
		args := []any{seed, n, teams}
		_, err := s.Pool().Exec(context.Background(), sql, args[:1+strings.Count(sql, "$2")+strings.Count(sql, "$3")]...)
		require.NoError(b, err)
	}
	_, err := s.Pool().Exec(context.Background(), `VACUUM ANALYZE`)
	require.NoError(b, err)
}
