package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/filter"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestWhatWasLostIsAskedForAgain(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("shop"), 41))
	require.NoError(t, s.Outbox.SaveReply(t.Context(), clusters.Reply{Cause: "comment:1", Repo: "acme/shop", Number: 41, Body: "hello"}))
	_, err := s.Inbox.SaveDelivery(t.Context(), storetest.Delivery("d-1"))
	require.NoError(t, err)
	_, err = s.Pool().Exec(t.Context(), `UPDATE deliveries SET nudge_at = $1`, clock.Now().Add(30*time.Second)) // stamped by the real clock
	require.NoError(t, err)
	storetest.Lose(t, s)

	n, err := s.WakeDue(t.Context(), 100)
	require.NoError(t, err)
	require.Equal(t, 1, n, "a cluster is due from its acceptance on")
	require.Len(t, storetest.RiverJobs(t, s, "reconcile"), 1)
	clock.Pass(3 * time.Second)
	n, err = s.WakeDue(t.Context(), 100)
	require.NoError(t, err)
	require.Equal(t, 4, n, "four places lag behind")
	require.Len(t, storetest.RiverJobs(t, s, "publish"), 4)
	clock.Pass(time.Minute)
	_, err = s.WakeDue(t.Context(), 100)
	require.NoError(t, err)
	require.Len(t, storetest.RiverJobs(t, s, "inbox"), 1)
	require.Len(t, storetest.RiverJobs(t, s, "reply"), 1)
	require.Len(t, storetest.RiverJobs(t, s, "publish"), 4, "what is already asked for stays single")
	require.Len(t, storetest.RiverJobs(t, s, "reconcile"), 2, "a look is asked for under a new name: the first may be done and not yet written down")

	subs, err := s.Outbox.Subscribers(t.Context(), row.ID)
	require.NoError(t, err)
	for _, sub := range subs {
		require.NoError(t, s.Outbox.Shown(t.Context(), sub.ID, 7, 1, "hash"))
	}
	_, err = s.Pool().Exec(t.Context(), `UPDATE replies SET external_id = 5`)
	require.NoError(t, err)
	require.NoError(t, s.Inbox.FinishDelivery(t.Context(), int64(storetest.Count(t, s, `SELECT id FROM deliveries`)), "done"))
	storetest.Lose(t, s)
	clock.Pass(time.Hour)
	n, err = s.WakeDue(t.Context(), 100)
	require.NoError(t, err)
	require.Equal(t, 1, n, "only the cluster is left")
}

func TestAReleasedClusterIsStillShownButNeverWoken(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("shop"), 41))
	_, err := s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	require.Equal(t, lifecycle.Destroyed, storetest.Step(t, s, row.ID).Next.Status)
	storetest.Lose(t, s)
	clock.Pass(time.Hour)
	n, err := s.WakeDue(t.Context(), 100)
	require.NoError(t, err)
	require.Equal(t, 4, n)
	require.Empty(t, storetest.RiverJobs(t, s, "reconcile"))
	require.Len(t, storetest.RiverJobs(t, s, "publish"), 4)
}

func TestWakingTakesNoMoreThanItsLimit(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	for _, name := range []string{"one", "two", "three"} {
		storetest.Accept(t, s, storetest.Granted(name))
	}
	storetest.Lose(t, s)
	for _, want := range []int{2, 1, 0} {
		n, err := s.WakeDue(t.Context(), 2)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	require.Len(t, storetest.RiverJobs(t, s, "reconcile"), 3)
}

func TestAPlaceShowsTheNewestVersion(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("shop"), 41))
	subs, err := s.Outbox.Subscribers(t.Context(), row.ID)
	require.NoError(t, err)
	sub, shown, err := s.Outbox.SubscriberToShow(t.Context(), subs[0].ID)
	require.NoError(t, err)
	require.Equal(t, row, shown)
	require.Zero(t, sub.ExternalID)
	require.NoError(t, s.Outbox.Shown(t.Context(), sub.ID, 77, 3, "new"))
	require.NoError(t, s.Outbox.Shown(t.Context(), sub.ID, 77, 2, "old"))
	sub, _, err = s.Outbox.SubscriberToShow(t.Context(), subs[0].ID)
	require.NoError(t, err)
	require.Equal(t, int64(3), sub.ShownVersion)
	require.Equal(t, "new", sub.ShownBody)
	require.Equal(t, int64(77), sub.ExternalID)
	_, _, err = s.Outbox.SubscriberToShow(t.Context(), "sub_none")
	require.ErrorIs(t, err, db.ErrNotFound)
}

func TestACauseIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	r := clusters.Reply{Cause: "label:acme/shop#41:ocp/nope", Installation: 5001, Repo: "acme/shop", Number: 41, Body: "first"}
	require.NoError(t, s.Outbox.SaveReply(t.Context(), r))
	r.Body = "second"
	require.NoError(t, s.Outbox.SaveReply(t.Context(), r))
	require.Len(t, storetest.RiverJobs(t, s, "reply"), 1)
	var id string
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT id FROM replies`).Scan(&id))
	got, err := s.Outbox.Reply(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "first", got.Body)
	require.NoError(t, s.Outbox.Replied(t.Context(), id, 9))
	got, err = s.Outbox.Reply(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, int64(9), got.ExternalID)
}

func TestAnAnswerIsFinalIfItHadALinkNotIfItSpeaksOfOne(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	for body, final := range map[string]bool{"see /links/" + strings.Repeat("a", 43): true, "You wrote `/ocp logs /links/…`": false} {
		require.NoError(t, s.Outbox.SaveReply(t.Context(), clusters.Reply{Cause: body, Installation: 5001, Repo: "acme/shop", Number: 41, Body: body}))
		var id string
		require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT id FROM replies WHERE cause = $1`, body).Scan(&id))
		for range 2 { // recorded again, it stays so
			require.NoError(t, s.Outbox.Replied(t.Context(), id, 9))
			got, err := s.Outbox.Reply(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, final, got.Final, body)
		}
	}
}

func TestAListIsPagedAndFiltered(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	var ids []string
	for i, name := range []string{"one", "two", "three", "four", "five"} {
		a := storetest.FromPR(storetest.Granted(name), 41+i)
		if i%2 == 1 {
			a.Row.Team, a.Row.Owner = "acme/web", "will"
		}
		ids = append(ids, storetest.Accept(t, s, a).ID)
	}
	_, err := s.Destroy(t.Context(), ids[0], clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	storetest.Step(t, s, ids[0])

	for name, c := range map[string]struct {
		filter store.Filter
		want   []int
	}{
		"newest first":   {store.Filter{}, []int{4, 3, 2, 1, 0}},
		"live":           {store.Filter{Live: true}, []int{4, 3, 2, 1}},
		"status":         {store.Filter{Status: []lifecycle.Status{lifecycle.Destroyed}}, []int{0}},
		"team":           {store.Filter{Query: filter.Query{}.WithText(filter.Team, "acme/web")}, []int{3, 1}},
		"own teams":      {store.Filter{Teams: []string{"acme/platform"}}, []int{4, 2, 0}},
		"no team":        {store.Filter{Teams: []string{}}, nil},
		"owner":          {store.Filter{Query: filter.Query{}.WithText(filter.Owner, "will")}, []int{3, 1}},
		"platform":       {store.Filter{Query: filter.Query{}.WithText(filter.Platform, "ibmcloud")}, nil},
		"pull request":   {store.Filter{Repo: "acme/shop", Number: 43, Profile: "aws-minimal-test"}, []int{2}},
		"after a cursor": {store.Filter{Cursor: ids[3]}, []int{2, 1, 0}},
	} {
		rows, next, err := s.List(t.Context(), c.filter)
		require.NoError(t, err, name)
		require.Empty(t, next, name)
		var got []string
		for _, row := range rows {
			got = append(got, row.ID)
		}
		var want []string
		for _, i := range c.want {
			want = append(want, ids[i])
		}
		require.Equal(t, want, got, name)
	}

	var walked []string
	cursor := ""
	for range 3 {
		rows, next, err := s.List(t.Context(), store.Filter{Limit: 2, Cursor: cursor})
		require.NoError(t, err)
		for _, row := range rows {
			walked = append(walked, row.ID)
		}
		cursor = next
	}
	require.Empty(t, cursor)
	require.Equal(t, []string{ids[4], ids[3], ids[2], ids[1], ids[0]}, walked)
}
