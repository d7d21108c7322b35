package inbox_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/inbox"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestADeliveryIsReplayed(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	d := storetest.Delivery("d-1")
	d.Topic = "acme/shop#41"
	_, err := s.Inbox.SaveDelivery(t.Context(), d)
	require.NoError(t, err)
	row := int64(storetest.Count(t, s, `SELECT id FROM deliveries`))
	require.NoError(t, s.Inbox.RetryDelivery(t.Context(), row, "GitHub is down", false, 0))
	_, err = s.Pool().Exec(t.Context(), `UPDATE river_job SET state = 'retryable', scheduled_at = now() + interval '1 hour'`)
	require.NoError(t, err)
	waiting, err := s.Inbox.Replay(t.Context(), row, storetest.Maya("")) // also while it waits for its next try
	require.NoError(t, err)
	require.Contains(t, waiting.Note, "try 1 failed and is repeated: GitHub is down")
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM river_job WHERE state = 'available' AND scheduled_at <= now()`), "it runs at once")
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM deliveries WHERE tries = 0 AND try_at IS NULL AND failing_since IS NULL`))
	_, err = s.Inbox.Replay(t.Context(), row+1, storetest.Maya(""))
	require.ErrorIs(t, err, db.ErrNotFound)
	require.NoError(t, s.Inbox.FailDelivery(t.Context(), row, inbox.ReasonRefused, "no such repository"))
	storetest.Lose(t, s)
	_, err = s.Pool().Exec(t.Context(), `DELETE FROM river_job`)
	require.NoError(t, err)

	again, err := s.Inbox.Replay(t.Context(), row, storetest.Maya("the repository is back"))
	require.NoError(t, err)
	require.Equal(t, inbox.DeliveryReceived, again.State)
	require.Nil(t, again.FinishedAt)
	require.Contains(t, again.Note, "no such repository")
	require.Equal(t, []string{`{"row": ` + strconv.FormatInt(row, 10) + `}`}, storetest.RiverJobs(t, s, "inbox"))
	undone, err := s.Inbox.Undone(t.Context(), d.Topic, 0)
	require.NoError(t, err)
	require.Equal(t, []int64{row}, storetest.RowsOf(undone))
	line, meta := storetest.Said(t, s, "delivery_replayed")
	require.Equal(t, []any{"saml:maya@acme.example", "the repository is back"}, []any{line.Actor, meta["why"]})
	require.NoError(t, s.Inbox.FinishDelivery(t.Context(), row, "accepted"))
	info, body, err := s.Inbox.DeliveryBody(t.Context(), row)
	require.NoError(t, err)
	require.Equal(t, d.Body, body)
	require.Equal(t, []any{inbox.DeliveryDone, "accepted", len(d.Body), "d-1", "github"}, []any{info.State, info.Note, info.Size, info.ID, info.Source})
	_, _, err = s.Inbox.DeliveryBody(t.Context(), row+1)
	require.ErrorIs(t, err, db.ErrNotFound)
}

func TestDeliveriesArePagedAndFiltered(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	for i, id := range []string{"z", "y", "x"} { // not in the order of their rows
		d := storetest.Delivery(id)
		d.Topic = "acme/shop#" + strconv.Itoa(i)
		if i == 1 {
			d.Source, d.Event = "slack", "command"
		}
		_, err := s.Inbox.SaveDelivery(t.Context(), d)
		require.NoError(t, err)
	}
	last := storetest.Count(t, s, `SELECT max(id) FROM deliveries`)
	require.NoError(t, s.Inbox.FinishDelivery(t.Context(), int64(last), "done"))
	for name, c := range map[string]struct {
		filter inbox.DeliveryFilter
		want   []string
	}{
		"newest first":   {inbox.DeliveryFilter{}, []string{"x", "y", "z"}},
		"source":         {inbox.DeliveryFilter{Source: "slack"}, []string{"y"}},
		"event":          {inbox.DeliveryFilter{Event: "pull_request"}, []string{"x", "z"}},
		"topic":          {inbox.DeliveryFilter{Topic: "acme/shop#0"}, []string{"z"}},
		"state":          {inbox.DeliveryFilter{State: inbox.DeliveryReceived}, []string{"y", "z"}},
		"after a cursor": {inbox.DeliveryFilter{Cursor: strconv.Itoa(last)}, []string{"y", "z"}},
	} {
		page, next, err := s.Inbox.Deliveries(t.Context(), c.filter)
		require.NoError(t, err, name)
		require.Empty(t, next)
		var got []string
		for _, d := range page {
			got = append(got, d.ID)
		}
		require.Equal(t, c.want, got, name)
	}
	page, next, err := s.Inbox.Deliveries(t.Context(), inbox.DeliveryFilter{Limit: 2})
	require.NoError(t, err)
	require.Len(t, page, 2)
	require.Equal(t, strconv.FormatInt(page[1].Row, 10), next)
	_, _, err = s.Inbox.Deliveries(t.Context(), inbox.DeliveryFilter{Cursor: "x"})
	require.ErrorIs(t, err, db.ErrConflict)
}
