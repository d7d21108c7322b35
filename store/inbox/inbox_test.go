package inbox_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/inbox"
	"github.com/ocpctl/ocpctl/store/pullrequests"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestADeliveryTwiceIsOnce(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	var fresh atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if ok, err := s.Inbox.SaveDelivery(t.Context(), storetest.Delivery("d-1")); err == nil && ok {
				fresh.Add(1)
			}
		})
	}
	wg.Wait()
	require.Equal(t, int32(1), fresh.Load())
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM deliveries`))
	require.Len(t, storetest.RiverJobs(t, s, "inbox"), 1)
	other := storetest.Delivery("d-1")
	other.Source = "slack"
	ok, err := s.Inbox.SaveDelivery(t.Context(), other)
	require.NoError(t, err)
	require.True(t, ok, "ids belong to their source")
}

func TestADeliveryIsReadAndEndedOnce(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	_, err := s.Inbox.SaveDelivery(t.Context(), storetest.Delivery("d-1"))
	require.NoError(t, err)
	row := int64(storetest.Count(t, s, `SELECT id FROM deliveries`))
	d, done, err := s.Inbox.Delivery(t.Context(), row)
	require.NoError(t, err)
	require.False(t, done)
	require.Equal(t, storetest.Delivery("d-1").Body, d.Body)
	require.Equal(t, "pull_request", d.Event)
	require.NoError(t, s.Inbox.FinishDelivery(t.Context(), row, "accepted"))
	require.NoError(t, s.Inbox.FailDelivery(t.Context(), row, inbox.ReasonGivenUp, "too late"))
	_, done, err = s.Inbox.Delivery(t.Context(), row)
	require.NoError(t, err)
	require.True(t, done)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM deliveries WHERE state = 'done' AND note = 'accepted'`))
	_, _, err = s.Inbox.Delivery(t.Context(), row+1)
	require.ErrorIs(t, err, db.ErrNotFound)
}

// Deliveries that arrive together are saved in order of arrival, each with its own job, and one that PostgreSQL refuses takes no other with it.
func TestDeliveriesThatArriveTogetherAreEachSaved(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	const senders, each = 64, 8
	var refused atomic.Int32
	var wg sync.WaitGroup
	for sender := range senders {
		wg.Go(func() {
			for n := range each {
				d := storetest.Delivery(fmt.Sprintf("%d-%d", sender, n))
				d.Topic, d.Urgent = fmt.Sprint("acme/shop#", sender), sender%2 == 0
				if sender == 7 {
					d.Event = "not a text: \x00"
				}
				if ok, err := s.Inbox.SaveDelivery(t.Context(), d); err != nil || !ok {
					refused.Add(1)
				}
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, each, refused.Load(), "those of the sender whose text is none")
	require.Equal(t, (senders-1)*each, storetest.Count(t, s, `SELECT count(*) FROM deliveries d JOIN river_job j ON j.args = jsonb_build_object('row', d.id)
		WHERE j.priority = CASE WHEN split_part(d.delivery_id, '-', 1)::int % 2 = 0 THEN 1 ELSE 2 END AND j.metadata->>'correlation' = d.delivery_id`))
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM (SELECT split_part(delivery_id, '-', 2)::int AS n,
		row_number() OVER (PARTITION BY topic ORDER BY id) - 1 AS place FROM deliveries) AS d WHERE n <> place`), "a topic is in order of arrival")
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM (SELECT j.scheduled_at - j.created_at AS wait, j.priority,
		row_number() OVER (PARTITION BY d.topic ORDER BY d.id) - 1 AS ahead FROM deliveries d JOIN river_job j ON j.args = jsonb_build_object('row', d.id)) AS jobs
		WHERE (wait > interval '1 second') <> (priority = 2 AND ahead > 0)`), "the jobs of those behind others run later, unless they are urgent")
}

// TestTheInboxJobIsLikeRiversOwn guards the one place where a River row is not written by River.
func TestTheInboxJobIsLikeRiversOwn(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	_, err := s.Inbox.SaveDelivery(t.Context(), storetest.Delivery("d-1"))
	require.NoError(t, err)
	row := int64(storetest.Count(t, s, `SELECT id FROM deliveries`))
	client, err := river.NewClient(riverpgxv5.New(s.Pool()), &river.Config{})
	require.NoError(t, err)
	again, err := client.Insert(t.Context(), queue.InboxArgs{Row: row}, nil)
	require.NoError(t, err)
	require.True(t, again.UniqueSkippedAsDuplicate)
	_, err = client.Insert(t.Context(), queue.InboxArgs{Row: row + 1}, &river.InsertOpts{Metadata: []byte(`{"correlation": "d-1"}`)})
	require.NoError(t, err)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM (SELECT DISTINCT kind, queue, state, priority, max_attempts, unique_states,
		metadata, tags, attempt, attempted_by, errors, finalized_at FROM river_job) AS kinds`))
}

func TestASavedDeliveryIsWorkedAtOnce(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	worked := make(chan int64, 100)
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(_ context.Context, job *river.Job[queue.InboxArgs]) error {
		worked <- job.Args.Row
		return nil
	}))
	client, err := queue.NewClient(t.Context(), s.Pool(), workers, queue.RiverConfig{})
	require.NoError(t, err)
	require.NoError(t, client.Start(t.Context()))
	defer client.Stop(context.WithoutCancel(t.Context()))
	for i := range 20 {
		_, err = s.Inbox.SaveDelivery(t.Context(), storetest.Delivery(string(rune('a'+i))))
		require.NoError(t, err)
		select {
		case <-worked:
		case <-time.After(10 * time.Second):
			t.Fatal("nobody worked the delivery")
		}
	}
}

func TestOnlyNewerStatesOfAPullRequestCount(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	state := func(second int, open bool) pullrequests.PullRequest {
		return pullrequests.PullRequest{Installation: 5001, Repo: "acme/shop", Number: 41, Open: open, Author: "maya", Head: "abc",
			Base: "main", Labels: []string{"ocp/aws-minimal-test"}, UpdatedAt: at.Add(time.Duration(second) * time.Second)}
	}
	for _, step := range []struct {
		name     string
		pr       pullrequests.PullRequest
		reopened bool
		fresh    bool
		open     bool
	}{
		{"the first one counts", state(0, true), false, true, true},
		{"an older one does not", state(-1, false), false, false, true},
		{"one of the same second does", state(0, true), false, true, true},
		{"closing in the same second counts", state(0, false), false, true, false},
		{"an open one of that second came late", state(0, true), false, false, false},
		{"unless it was reopened in it", state(0, true), true, true, true},
		{"a newer one counts", state(5, false), false, true, false},
		{"a newer open one too", state(6, true), false, true, true},
	} {
		fresh, err := s.PullRequests.SeePullRequest(t.Context(), step.pr, step.reopened)
		require.NoError(t, err)
		require.Equal(t, step.fresh, fresh, step.name)
		now, err := s.PullRequests.PullRequest(t.Context(), "acme/shop", 41)
		require.NoError(t, err)
		require.Equal(t, step.open, now.Open, step.name)
	}
	now, err := s.PullRequests.PullRequest(t.Context(), "acme/shop", 41)
	require.NoError(t, err)
	now.HeadAt = time.Time{}
	require.Equal(t, state(6, true), now)
	_, err = s.PullRequests.PullRequest(t.Context(), "acme/shop", 42)
	require.ErrorIs(t, err, db.ErrNotFound)
}
