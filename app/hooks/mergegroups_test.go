package hooks

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

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
