package hooks

import (
	"context"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/inbox"
)

// slowPulls takes 10 ms for each event and tells when the other pull request's is worked.
type slowPulls struct {
	pullRequests
	other chan struct{}
}

func (d slowPulls) SyncPullRequest(_ context.Context, e pulls.PullRequestEvent) (string, error) {
	if e.PR.Number != 41 {
		d.other <- struct{}{}
		return "", nil
	}
	time.Sleep(10 * time.Millisecond)
	return "", nil
}

// BenchmarkOneStormBesideAnotherPullRequest measures how long another pull request waits behind a thousand deliveries of one.
func BenchmarkOneStormBesideAnotherPullRequest(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s := durable(b)
		w := NewInboxWorker(s, nil, nil, nil, 0, nil)
		d := slowPulls{other: make(chan struct{}, 1)}
		w.pulls = d
		workers := river.NewWorkers()
		river.AddWorker(workers, w)
		client, err := queue.NewClient(b.Context(), s.Pool(), workers, queue.RiverConfig{Log: slog.New(slog.DiscardHandler)})
		require.NoError(b, err)
		for k := range 1000 {
			keep(b, s, 41, k)
		}
		require.NoError(b, client.Start(b.Context()))
		b.StartTimer()
		keep(b, s, 42, 0)
		<-d.other
		b.StopTimer()
		require.NoError(b, client.StopAndCancel(context.WithoutCancel(b.Context())))
		b.StartTimer()
	}
}

func keep(b *testing.B, s *store.Store, number, k int) {
	pr := pull(0, label)
	pr.Number = number
	_, err := s.Inbox.SaveDelivery(b.Context(), inbox.Delivery{
		Source: SourceGitHub, ID: strconv.Itoa(number) + "-" + strconv.Itoa(k), Event: onPullRequest, Topic: pullTopic("acme/shop", number),
		Installation: 5001, Body: payload(b, "pull_request", "labeled", pr),
	})
	require.NoError(b, err)
}
