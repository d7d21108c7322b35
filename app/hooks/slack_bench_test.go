package hooks

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/devstack/postgres"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/store"
)

// BenchmarkSlackAcknowledged sends 100 requests of a hundred people a second for five seconds, whether or not the one before was
// answered: commands and presses in turn. It reports how long Slack waits, with PostgreSQL as it is and with 200 ms more for each
// statement, and fails where a request was not acknowledged or not stored.
func BenchmarkSlackAcknowledged(b *testing.B) {
	server, err := postgres.Start(b.Context(), postgres.Config{Dir: b.TempDir()})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, server.Stop()) })
	var watched proxy
	direct := server.URL("postgres")
	require.NoError(b, store.Migrate(b.Context(), direct))
	s := open(b, watched.to(b, direct))
	handler, err := New(Config{Store: s, GitHubSecret: secret.New(testSecret), SlackSecret: secret.New(slackSecret)})
	require.NoError(b, err)
	front := httptest.NewServer(handler)
	b.Cleanup(front.Close)
	front.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = 256

	for _, c := range []struct {
		name string
		by   time.Duration
	}{{"as it is", 0}, {"200 ms a statement", 200 * time.Millisecond}} {
		b.Run(c.name, func(b *testing.B) {
			watched.by.Store(int64(c.by))
			for b.Loop() {
				hundredASecond(b, front)
			}
			watched.by.Store(0)
		})
	}
	var stored int64
	require.NoError(b, s.Pool().QueryRow(b.Context(), `SELECT count(*) FROM deliveries WHERE source = 'slack'`).Scan(&stored))
	require.Equal(b, sent.Load(), stored, "none is lost")
}

// sent counts the requests of all runs.
var sent atomic.Int64

func hundredASecond(b *testing.B, front *httptest.Server) {
	const rate, seconds = 100, 5
	took := make([]time.Duration, rate*seconds)
	run := time.Now()
	var all errgroup.Group
	for i := range took {
		at := run.Add(time.Duration(i) * time.Second / rate)
		time.Sleep(time.Until(at))
		all.Go(func() error {
			err := acknowledgedSlack(b.Context(), front, fmt.Sprintf("%d.%d", run.UnixNano(), i), fmt.Sprintf("U%04d", i%100), i%2 == 0)
			took[i] = time.Since(at) // from when it was due: a late sender hides nothing
			return err
		})
	}
	require.NoError(b, all.Wait())
	slices.Sort(took)
	for name, part := range map[string]int{"p50-ms": 50, "p99-ms": 99, "max-ms": 100} {
		b.ReportMetric(float64(took[(len(took)-1)*part/100].Microseconds())/1000, name)
	}
}

// acknowledgedSlack sends one request and fails unless Slack would take it for acknowledged and stored.
func acknowledgedSlack(ctx context.Context, front *httptest.Server, trigger, user string, command bool) error {
	body := interaction(strings.NewReplacer(`"trigger_id":"1.2"`, `"trigger_id":"`+trigger+`"`, `"id":"U1"`, `"id":"`+user+`"`).Replace(pressed))
	want := ""
	if command {
		body = typed(trigger, user, "status shop").Encode()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, front.URL+"/webhooks/slack", strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for name, value := range slackSigned(body, time.Now()) {
		r.Header.Set(name, value)
	}
	answer, err := front.Client().Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK || !strings.Contains(string(raw), want) {
		return fmt.Errorf("answered %s: %s", answer.Status, raw)
	}
	sent.Add(1)
	return nil
}
