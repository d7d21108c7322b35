package hooks

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	wire "github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// through is a client's way to GitHub.
type through func(*http.Request) (*http.Response, error)

func (f through) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// clientThrough is a client that reaches GitHub that way.
func (l *life) clientThrough(f through) *wire.Client {
	l.Helper()
	client, err := wire.New(wire.Config{AppID: github.AppID, PrivateKey: l.github.KeyPEM(), BaseURL: l.github.URL(), Pace: -1, Settling: -1, Probe: -1, Transport: f})
	require.NoError(l, err)
	return client
}

// hang ends the run whose call it is, and answers nothing until then.
func hang(r *http.Request, end func()) (*http.Response, error) {
	end()
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// An installation that does not answer delays neither the pull requests of another one nor merge queues.
func TestAnInstallationThatDoesNotAnswerDelaysNothingElse(t *testing.T) {
	l := newLife(t)
	number, slow := l.open(), l.open()
	l.tick(time.Second)
	l.label(number, "ocp/"+first)
	l.label(slow, "ocp/"+first)
	l.settle()
	l.tick(time.Second)
	l.github.DropNext(1000)
	for _, sql := range []string{`ALTER TABLE clusters DISABLE TRIGGER USER`, `UPDATE clusters SET installation = 1 WHERE pr_number = (SELECT max(pr_number) FROM clusters)`, `ALTER TABLE clusters ENABLE TRIGGER USER`,
		`UPDATE looks SET looked_at = '-infinity'`} {
		_, err := l.store.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	require.Less(t, number, slow)
	require.NoError(t, l.store.Outbox.AskGate(t.Context(), outbox.Gate{Installation: github.Installation, Repo: "acme/a", Head: "abc123", Profile: first}, "acme/a"))
	var queues int
	poller := NewPoller(l.store, l.clientThrough(func(r *http.Request) (*http.Response, error) {
		switch {
		case strings.Contains(r.URL.Path, "/app/installations/1/"):
			return hang(r, func() {})
		case strings.Contains(r.URL.Path, "/git/matching-refs/"):
			queues++
		}
		return http.DefaultTransport.RoundTrip(r)
	}), time.Hour, slog.New(slog.DiscardHandler))
	require.NoError(t, l.github.Close(number, "will"))
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), queueTime+200*time.Millisecond)
		require.NoError(t, poller.Look(ctx))
		cancel()
		l.settle()
	}
	require.NotZero(t, queues)
	require.NotZero(t, l.one(number, first).Ends.PRClosed)
}

func TestAMergeQueueThatDoesNotAnswerDelaysNothingElse(t *testing.T) {
	l, number := labelled(t)
	for _, repo := range []string{"acme/a", "acme/b", "acme/c"} {
		require.NoError(t, l.store.Outbox.AskGate(t.Context(), outbox.Gate{Installation: github.Installation, Repo: repo, Head: "abc123", Profile: first}, repo))
	}
	var asked []string
	var end context.CancelFunc
	poller := NewPoller(l.store, l.clientThrough(func(r *http.Request) (*http.Response, error) {
		repo, _, queue := strings.Cut(r.URL.Path, "/git/matching-refs/")
		if !queue {
			return http.DefaultTransport.RoundTrip(r)
		}
		_, repo, _ = strings.Cut(repo, "/repos/")
		if asked = append(asked, repo); repo == "acme/a" {
			return hang(r, end)
		}
		return http.DefaultTransport.RoundTrip(r)
	}), 0, slog.New(slog.DiscardHandler))
	look := func() {
		t.Helper()
		var ctx context.Context
		ctx, end = context.WithCancel(t.Context())
		defer end()
		require.ErrorIs(t, poller.Look(ctx), context.Canceled)
		l.settle()
	}

	require.NoError(t, l.github.Close(number, "will"))
	look()
	require.Equal(t, []string{"acme/a"}, asked)
	require.NotZero(t, l.one(number, first).Ends.PRClosed, "pull requests are looked at whatever merge queues do")
	look()
	require.Equal(t, []string{"acme/a", "acme/b", "acme/c", "acme/a"}, asked, "the one whose turn was longest ago comes first")
}
