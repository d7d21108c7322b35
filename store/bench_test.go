package store_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/internal/filter"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/inbox"
	"github.com/ocpctl/ocpctl/store/outbox"
	"github.com/ocpctl/ocpctl/store/storetest"
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
	return storetest.OpenAt(b, server.URL("postgres"), db.Options{Limits: storetest.Limits, Lease: time.Minute})
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
		b.Run(c.name, func(b *testing.B) {
			defer pgtest.MeasureCPU(b, s.Pool())()
			parallel(b, id(), c.do)
		})
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
	b.Run("given", func(b *testing.B) {
		defer pgtest.MeasureCPU(b, s.Pool())()
		parallel(b, "given", take(1, free))
	})
	b.Run("told to wait", func(b *testing.B) { parallel(b, "wait", take(2, full)) })
	b.Run("alone", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, take(3, free)(b.Context(), ""))
		}
	})
}

// BenchmarkLook finds what the look at pull requests reads among 10,000 wanted clusters and 20,000 past ones.
func BenchmarkLook(b *testing.B) {
	s, _ := storetest.Open(b)
	storetest.Crowd(b, s, storetest.Accept(b, s, storetest.FromPR(storetest.Granted("seed"), 41)).ID)
	_, err := s.Pool().Exec(b.Context(), `
		INSERT INTO pull_requests (repo, number, installation, open, fork, labels, author, head, base, updated_at, seen_at, repo_id)
		SELECT repo, pr_number, installation, true, false, '{ocp/aws-minimal-test}', 'maya', pr_head, 'main', now(), now(), 900 FROM clusters`)
	require.NoError(b, err)
	_, err = s.Pool().Exec(b.Context(), `INSERT INTO looks SELECT repo, pr_number, now() - pr_number * interval '1 second' FROM clusters WHERE pr_number > 41`)
	require.NoError(b, err)
	_, err = s.Pool().Exec(b.Context(), `ANALYZE`)
	require.NoError(b, err)
	b.Run("to look at", func(b *testing.B) {
		defer pgtest.MeasureCPU(b, s.Pool())()
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
		defer pgtest.MeasureCPU(b, s.Pool())()
		pr := storetest.Known(4242, 1)
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
		b.Run(c.name, func(b *testing.B) {
			defer pgtest.MeasureCPU(b, s.Pool())()
			parallel(b, "clu", c.do)
		})
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
		_, open[i] = storetest.Claimed(b, s, fmt.Sprintf("c%d", i))
	}
	storetest.First(b, s)
	var turn, seq atomic.Int64
	defer pgtest.MeasureCPU(b, s.Pool())()
	parallel(b, "report", func(ctx context.Context, _ string) error {
		o := open[turn.Add(1)%runners]
		_, err := s.Attempts.Report(ctx, o.Attempt, o.Token, attempts.ReportRow{Seq: int(seq.Add(1)), Phase: lifecycle.Preflight, Percent: 1, Log: "level=info msg=hello\n"})
		return err
	})
}

// BenchmarkFollow has ten thousand follow a cluster each while one of them changes: what an idle one costs, and how long it
// takes from a commit to the change in hand.
func BenchmarkFollow(b *testing.B) {
	s, _ := storetest.Open(b)
	row := storetest.Accept(b, s, storetest.Granted("shop"))
	mine := storetest.First(b, s, row.ID)
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
		storetest.Extended(b, s, row.ID)
		storetest.Next(b, mine, storetest.Named)
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
	s, _ := storetest.Open(b)
	ctx := context.Background()
	seed := storetest.Accept(b, s, storetest.FromPR(storetest.Granted("seed"), 41))
	storetest.Crowd(b, s, seed.ID)
	_, err := s.Pool().Exec(ctx, `
		INSERT INTO shares SELECT id, 'principal', CASE WHEN pr_number % 10 = 0 THEN 'saml:maya' ELSE 'saml:other' END, 'see', 'x', now()
		FROM clusters WHERE pr_number % 2 = 0`)
	require.NoError(b, err)
	for name, f := range map[string]store.Filter{
		"live":   {Live: true},
		"team":   {Live: true, Query: filter.Query{}.WithText(filter.Team, "team-3")},
		"status": {Status: []lifecycle.Status{lifecycle.Ready}},
		"teams":  {Live: true, Teams: []string{"team-1", "team-2"}},
		"pr":     {Live: true, Repo: "acme/shop", Number: 4242},
		"all":    {},
		"shared": {Live: true, Teams: []string{"team-1"}, Principal: "saml:maya"},
		"named":  {Live: true, Teams: []string{"team-1"}, Principal: "saml:maya", Query: filter.Query{}.WithText(filter.Name, "c12")},
		"owner":  {Live: true, Teams: []string{"team-1", "team-2"}, Query: filter.Query{}.WithText(filter.Owner, "maya"), Profile: "aws-minimal-test"},
		"nobody": {Live: true, Teams: []string{"none"}, Principal: "saml:nobody"},
	} {
		b.Run(name, func(b *testing.B) {
			defer pgtest.MeasureCPU(b, s.Pool())()
			for b.Loop() {
				_, _, err := s.List(ctx, f)
				require.NoError(b, err)
			}
		})
	}
	b.Run("load", func(b *testing.B) {
		defer pgtest.MeasureCPU(b, s.Pool())()
		for b.Loop() {
			_, _, err := s.Load(ctx, seed.ID)
			require.NoError(b, err)
		}
	})
	b.Run("wake nothing", func(b *testing.B) {
		defer pgtest.MeasureCPU(b, s.Pool())()
		for b.Loop() {
			_, err := s.WakeDue(ctx, 100)
			require.NoError(b, err)
		}
	})
}
