package hooks

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/internal/house/postgres"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/store"
)

const senders = 8

// BenchmarkWebhook measures a real payload verified, stored and acknowledged over HTTP, beside the bare INSERT of the same
// row by the same client. PostgreSQL runs with fsync on: what is acknowledged survives the machine.
func BenchmarkWebhook(b *testing.B) {
	server, err := postgres.Start(b.Context(), postgres.Config{Dir: b.TempDir()})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, server.Stop()) })
	url := server.URL("postgres")
	require.NoError(b, store.Migrate(b.Context(), url))
	s := open(b, url)
	body := payload(b, "pull_request", "labeled", pull(0, label))

	b.Run("bare INSERT", func(b *testing.B) {
		run := time.Now().UnixNano()
		concurrently(b, func(ctx context.Context, i int64) error {
			_, err := s.Pool().Exec(ctx, `INSERT INTO deliveries (source, delivery_id, event, body) VALUES ($1, $2, $3, $4)`,
				SourceGitHub, fmt.Sprintf("bare-%d-%d", run, i), "pull_request", body)
			return err
		})
	})
	b.Run("acknowledged", func(b *testing.B) {
		handler, err := New(Config{Store: s, GitHubSecret: secret.New(testSecret), Rate: 1_000_000})
		require.NoError(b, err)
		door := httptest.NewServer(handler)
		defer door.Close()
		door.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = senders
		run, signed := time.Now().UnixNano(), signature([]byte(testSecret), body)
		concurrently(b, func(ctx context.Context, i int64) error {
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, door.URL+"/webhooks/github", bytes.NewReader(body))
			if err != nil {
				return err
			}
			r.Header.Set("X-GitHub-Event", "pull_request")
			r.Header.Set("X-GitHub-Delivery", fmt.Sprintf("door-%d-%d", run, i))
			r.Header.Set("X-Hub-Signature-256", signed)
			return acknowledged(door.Client(), r)
		})
	})
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

// concurrently does b.N operations by eight senders and reports how many a second, and the 99th percentile.
func concurrently(b *testing.B, do func(context.Context, int64) error) {
	took := make([]time.Duration, b.N)
	var next atomic.Int64
	var all errgroup.Group
	b.ResetTimer()
	begun := time.Now()
	for range senders {
		all.Go(func() error {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				at := time.Now()
				if err := do(b.Context(), i); err != nil {
					return err
				}
				took[i-1] = time.Since(at)
			}
			return nil
		})
	}
	require.NoError(b, all.Wait())
	b.StopTimer()
	b.ReportMetric(float64(b.N)/time.Since(begun).Seconds(), "ops/s")
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
