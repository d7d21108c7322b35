package hooks

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/postgres"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/store"
)

// durable is a store on a PostgreSQL with fsync on: what is acknowledged survives the machine.
func durable(b *testing.B) *store.Store {
	server, err := postgres.Start(b.Context(), postgres.Config{Dir: b.TempDir()})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, server.Stop()) })
	url := server.URL("postgres")
	require.NoError(b, store.Migrate(b.Context(), url))
	return open(b, url)
}

// startServer is an entry point on the loopback, and its client.
func startServer(b *testing.B, s *store.Store, conns int) *httptest.Server {
	handler, err := New(Config{Store: s, GitHubSecret: secret.New(testSecret), GitHubNext: secret.New("next"), App: github.AppID,
		Repositories: []app.Repository{{Match: "acme/*"}}})
	require.NoError(b, err)
	server := httptest.NewServer(handler)
	b.Cleanup(server.Close)
	server.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = conns
	return server
}

// hook is one webhook to send.
func hook(ctx context.Context, server *httptest.Server, event, id, signature string, body []byte) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/webhooks/github", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("X-GitHub-Event", event)
	r.Header.Set("X-GitHub-Delivery", id)
	r.Header.Set("X-Hub-Signature-256", signature)
	return r, nil
}

// BenchmarkStorm sends 500 webhooks a second, whether or not the one before was answered, for two seconds or as long as STORM
// says: of many pull requests, some events of which mean nothing. It reports how long GitHub waits for the answer, and fails
// where one is lost. Beside it stands what the disk alone takes for the same rows at the same pace.
func BenchmarkStorm(b *testing.B) {
	s := durable(b)
	server := startServer(b, s, 64)
	mixed := storm(b)
	b.Run("rows alone", func(b *testing.B) {
		atPace(b, func(ctx context.Context, run int64, i int) error {
			one := mixed[i%len(mixed)]
			if !one.kept {
				return nil
			}
			_, err := s.Pool().Exec(ctx, `INSERT INTO deliveries (source, delivery_id, event, body) VALUES ($1, $2, $3, $4)`,
				SourceGitHub, fmt.Sprintf("rows-%d-%d", run, i), one.event, one.body)
			return err
		})
	})
	b.Run("acknowledged", func(b *testing.B) {
		var kept atomic.Int64
		atPace(b, func(ctx context.Context, run int64, i int) error {
			one := mixed[i%len(mixed)]
			if one.kept {
				kept.Add(1)
			}
			r, err := hook(ctx, server, one.event, fmt.Sprintf("storm-%d-%d", run, i), one.signature, one.body)
			if err != nil {
				return err
			}
			return acknowledged(server.Client(), r)
		})
		var rows int64
		require.NoError(b, s.Pool().QueryRow(b.Context(), `SELECT count(*) FROM deliveries WHERE delivery_id LIKE 'storm-%'`).Scan(&rows))
		require.Equal(b, kept.Load(), rows, "every webhook that means something is a row")
	})
}

// atPace does something 500 times a second for as long as STORM says.
func atPace(b *testing.B, do func(ctx context.Context, run int64, i int) error) {
	const rate = 500
	long := 2 * time.Second
	if said, err := time.ParseDuration(os.Getenv("STORM")); err == nil {
		long = said
	}
	for b.Loop() {
		took := make([]time.Duration, int(long.Seconds()*rate))
		run := time.Now()
		var all errgroup.Group
		for i := range took {
			at := run.Add(time.Duration(i) * time.Second / rate)
			time.Sleep(time.Until(at))
			all.Go(func() error {
				err := do(b.Context(), run.UnixNano(), i)
				took[i] = time.Since(at) // from when it was due: a late sender hides nothing
				return err
			})
		}
		require.NoError(b, all.Wait())
		b.ReportMetric(float64(len(took))/time.Since(run).Seconds(), "hooks/s")
		slices.Sort(took)
		for name, part := range map[string]int{"p50-ms": 50, "p99-ms": 99, "max-ms": 100} {
			b.ReportMetric(float64(took[(len(took)-1)*part/100].Microseconds())/1000, name)
		}
	}
}

type gust struct {
	event, signature string
	body             []byte
	kept             bool
}

// storm are the events of twenty pull requests: three of four mean something.
func storm(b *testing.B) (mixed []gust) {
	for number := 41; number < 61; number++ {
		pr := pull(0, label)
		pr.Number = number
		check := github.Check{ID: 1, Head: pr.HeadSHA, ExternalID: "clu_1", Name: "ocpctl", StartedAt: pr.UpdatedAt}
		for _, e := range []github.Event{
			{Name: "pull_request", Action: "labeled", Label: label},
			{Name: "pull_request", Action: "synchronize"},
			{Name: "issue_comment", Action: "created", Comment: github.Comment{ID: 7, Author: "will", Body: "/ocp status"}},
			{Name: "issue_comment", Action: "edited", Comment: github.Comment{ID: 7, Author: "will", Body: "/ocp status"}},
			{Name: "pull_request", Action: "closed"},
			{Name: "check_run", Action: "requested_action", Button: "extend", Check: check},
			{Name: "repository_dispatch", Action: "create_ephemeral_cluster", Client: []byte(`{"pr_number": 41}`)},
			{Name: "issue_comment", Action: "created", Comment: github.Comment{ID: 8, Author: github.Bot, Body: "ready"}},
		} {
			e.Sender, e.PR = "will", pr
			body, err := github.Payload(e)
			require.NoError(b, err)
			mixed = append(mixed, gust{e.Name, signature([]byte(testSecret), body), body, e.Action != "edited" && e.Comment.Author != github.Bot})
		}
	}
	return mixed
}

// BenchmarkWebhook measures a real payload verified, stored and acknowledged over HTTP, and beside it, by turns in the same run, the bare
// INSERT of the same row by as many senders. The rates compare acknowledgements with INSERTs, a second and by processor time.
func BenchmarkWebhook(b *testing.B) {
	s := durable(b)
	server := startServer(b, s, 64)
	body := payload(b, "pull_request", "labeled", pull(0, label))
	run, signed := time.Now().UnixNano(), signature([]byte(testSecret), body)
	bare := func(ctx context.Context, i int64) error {
		_, err := s.Pool().Exec(ctx, `INSERT INTO deliveries (source, delivery_id, event, body) VALUES ($1, $2, $3, $4)`,
			SourceGitHub, fmt.Sprintf("bare-%d-%d", run, i), "pull_request", body)
		return err
	}
	acknowledge := func(ctx context.Context, i int64) error {
		r, err := hook(ctx, server, "pull_request", fmt.Sprintf("source-%d-%d", run, i), signed, body)
		if err != nil {
			return err
		}
		return acknowledged(server.Client(), r)
	}
	const turn = 250
	var sent int64
	for _, senders := range []int{8, 32} {
		b.Run(fmt.Sprintf("%d senders", senders), func(b *testing.B) {
			var alone, served cost
			var took []time.Duration
			for b.Loop() {
				alone.of(b, s, func() { concurrently(b, senders, turn, sent, bare) })
				served.of(b, s, func() { took = append(took, concurrently(b, senders, turn, sent, acknowledge)...) })
				sent += turn
			}
			n := float64(len(took))
			b.ReportMetric(n/alone.took.Seconds(), "inserts/s")
			b.ReportMetric(n/served.took.Seconds(), "acknowledged/s")
			b.ReportMetric(alone.took.Seconds()/served.took.Seconds(), "rate")
			b.ReportMetric(float64(alone.cpu.Microseconds())/n, "µs-cpu/insert")
			b.ReportMetric(float64(served.cpu.Microseconds())/n, "µs-cpu/acknowledged")
			b.ReportMetric(alone.cpu.Seconds()/served.cpu.Seconds(), "rate-by-cpu")
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// cost is how long something took, and how much processor time this process, which is sender and server, and PostgreSQL used for it.
type cost struct{ took, cpu time.Duration }

func (c *cost) of(b *testing.B, s *store.Store, do func()) {
	mine, database := pgtest.ReadCPU(b, s.Pool())
	begun := time.Now()
	do()
	c.took += time.Since(begun)
	after, then := pgtest.ReadCPU(b, s.Pool())
	c.cpu += after - mine + then - database
}

func acknowledged(client *http.Client, r *http.Request) error {
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusAccepted {
		return fmt.Errorf("answered %s", answer.Status)
	}
	return nil
}

// concurrently does n operations, numbered from a number on, by some senders, and returns how long each of them took.
func concurrently(b *testing.B, senders, n int, from int64, do func(context.Context, int64) error) (each []time.Duration) {
	each = make([]time.Duration, n)
	var next atomic.Int64
	var group errgroup.Group
	for range senders {
		group.Go(func() error {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				at := time.Now()
				if err := do(b.Context(), from+i); err != nil {
					return err
				}
				each[i-1] = time.Since(at)
			}
			return nil
		})
	}
	require.NoError(b, group.Wait())
	return each
}
