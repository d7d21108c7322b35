package outbox_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/outbox"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestWhatCanWaitLeavesThePaceToWhatCannot(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	pace := outbox.Pace{PerHour: 100} // fifty at once, and another every 72 s
	const every = 72 * time.Second
	ahead := func(canWait bool) time.Duration {
		t.Helper()
		wait, err := s.Outbox.PaceAhead(t.Context(), 5001, pace, canWait)
		require.NoError(t, err)
		return wait.Round(time.Second)
	}
	take := func(n int) {
		t.Helper()
		for range n {
			wait, err := s.Outbox.TakePace(t.Context(), 5001, pace)
			require.NoError(t, err)
			require.Zero(t, wait)
		}
	}
	require.Zero(t, ahead(true), "nobody wrote there yet")
	row := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("shop"), 41))
	take(9)
	require.Zero(t, ahead(true), "while there is plenty nothing waits for first words")
	take(3)
	require.Positive(t, ahead(true), "somebody has heard nothing yet")
	require.Zero(t, ahead(false))
	clock.Pass(time.Hour)
	take(12)
	require.Zero(t, ahead(true), "words that nobody could post for an hour hold up nobody")

	storetest.ShowAll(t, s, row.ID)
	reply := clusters.Reply{Cause: "comment:7", Installation: 5001, Repo: "acme/shop", Number: 41, Body: "pong"}
	require.NoError(t, s.Outbox.SaveReply(t.Context(), reply))
	require.Positive(t, ahead(true), "an answer to a person waits")
	_, err := s.Pool().Exec(t.Context(), `UPDATE replies SET external_id = 7`)
	require.NoError(t, err)
	require.Zero(t, ahead(true))
	take(28)
	require.Positive(t, ahead(true), "a fifth is kept whoever waits")
	require.Zero(t, ahead(false))
	take(10)
	require.Equal(t, every, ahead(false))
	require.Less(t, 10*every, ahead(true))

	require.NoError(t, s.Outbox.HoldPace(t.Context(), 5001, time.Hour))
	require.Equal(t, time.Hour, ahead(false), "GitHub said so")
	wait, err := s.Outbox.PaceAhead(t.Context(), 7001, pace, true)
	require.NoError(t, err)
	require.Zero(t, wait, "each installation has its own")
}

func TestAPlaceKnowsWhenItsWordsWereSent(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("shop"), 41))
	sent := func() *time.Time { return storetest.PlacesOf(t, s, row.ID)[clusters.KindComment].ShownAt }
	id := storetest.PlacesOf(t, s, row.ID)[clusters.KindComment].ID
	require.Nil(t, sent())
	require.NoError(t, s.Outbox.Shown(t.Context(), id, 7, 1, "a"))
	first := clock.Now()
	require.True(t, first.Equal(*sent()))
	clock.Pass(time.Minute)
	require.NoError(t, s.Outbox.Shown(t.Context(), id, 7, 2, "a"))
	require.True(t, first.Equal(*sent()), "a newer version in the same words sends nothing")
	require.NoError(t, s.Outbox.Shown(t.Context(), id, 7, 3, "b"))
	require.True(t, clock.Now().Equal(*sent()))
}
