package notices_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/notices"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// turn asks for one message and returns the wait.
func turn(t testing.TB, s *store.Store, workspace, channel string) time.Duration {
	t.Helper()
	wait, err := s.Notices.TakeTurn(t.Context(), workspace, channel, notices.Usual)
	require.NoError(t, err)
	return wait
}

func TestAChannelTakesOneMessageASecond(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	require.Zero(t, turn(t, s, "T1", "C1"))
	require.Equal(t, time.Second, turn(t, s, "T1", "C1"))
	require.Zero(t, turn(t, s, "T1", "C2"), "another channel has turns of its own")
	require.Zero(t, turn(t, s, "T2", "C1"), "so has another workspace")
	clock.Pass(300 * time.Millisecond)
	require.Equal(t, 700*time.Millisecond, turn(t, s, "T1", "C1"))
	clock.Pass(700 * time.Millisecond)
	require.Zero(t, turn(t, s, "T1", "C1"))
}

func TestAWorkspaceTakesFiftyEditsAMinuteInWhateverChannels(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	n, start := 0, clock.Now()
	for clock.Now().Sub(start) < 5*time.Minute {
		wait, err := s.Notices.TakeEdit(t.Context(), "T1", fmt.Sprintf("C%d", n), notices.Usual)
		require.NoError(t, err)
		if wait == 0 {
			n++
		}
		clock.Pass(wait)
	}
	require.InDelta(t, 5*50+9, n, 1, "and a few at once")
	require.Zero(t, turn(t, s, "T1", "C-new"), "a new message is not counted")
	wait, err := s.Notices.TakeEdit(t.Context(), "T2", "C-new", notices.Usual)
	require.NoError(t, err)
	require.Zero(t, wait)
}

func TestOfManyProcessesOneGetsTheTurn(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	var got atomic.Int32
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if wait, err := s.Notices.TakeTurn(t.Context(), "T1", "C1", notices.Usual); err == nil && wait == 0 {
				got.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, got.Load())
}

func TestAHeldWorkspaceTakesNoMessageAnywhere(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	require.NoError(t, s.Notices.HoldWorkspace(t.Context(), "T1", 30*time.Second))
	require.NoError(t, s.Notices.HoldWorkspace(t.Context(), "T1", 10*time.Second), "a longer hold stays")
	require.Equal(t, 30*time.Second, turn(t, s, "T1", "C1"))
	require.Zero(t, turn(t, s, "T2", "C1"))
	require.NoError(t, s.Notices.HoldChannel(t.Context(), "T2", "C9", 5*time.Second))
	require.Equal(t, 5*time.Second, turn(t, s, "T2", "C9"))
	require.Zero(t, turn(t, s, "T2", "C2"))
	clock.Pass(30 * time.Second)
	require.Zero(t, turn(t, s, "T1", "C1"))
	require.NoError(t, s.Notices.HoldWorkspace(t.Context(), "T1", 48*time.Hour))
	require.Equal(t, time.Hour, turn(t, s, "T1", "C1"), "nobody is held for longer")
}

func TestAClockThatRanAheadDoesNotStopAChannelForGood(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	clock.Pass(72 * time.Hour)
	require.Zero(t, turn(t, s, "T1", "C1"))
	clock.Pass(-72 * time.Hour)
	require.Equal(t, time.Second, turn(t, s, "T1", "C1"))
	require.Zero(t, turn(t, s, "T1", "C1"))
}

func TestWhereSomethingIsWrongThereIsOneTryForEachWait(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	for _, where := range []struct{ problem, workspace string }{{"C1", "T1"}, {"", "T2"}} { // a channel, a whole workspace
		fail := func() {
			require.NoError(t, s.Notices.ChannelProblem(t.Context(), where.workspace, where.problem, "is_archived"))
		}
		require.Zero(t, turn(t, s, where.workspace, "C1"))
		fail()
		require.Equal(t, 10*time.Minute, turn(t, s, where.workspace, "C1"))
		clock.Pass(10 * time.Minute)
		require.Zero(t, turn(t, s, where.workspace, "C1"), "one tries")
		require.Equal(t, 10*time.Minute, turn(t, s, where.workspace, "C1"), "the others wait for it")
		fail()
		require.Equal(t, 10*time.Minute, turn(t, s, where.workspace, "C1"), "the wait goes on")
		clock.Pass(40 * time.Minute)
		require.Zero(t, turn(t, s, where.workspace, "C1"))
		require.Equal(t, 50*time.Minute, turn(t, s, where.workspace, "C1"), "the older the problem, the longer the wait")
		clock.Pass(20 * time.Hour)
		require.Zero(t, turn(t, s, where.workspace, "C1"))
		require.Equal(t, time.Hour, turn(t, s, where.workspace, "C1"))

		require.NoError(t, s.Notices.Reached(t.Context(), where.workspace, "C1"))
		clock.Pass(time.Second)
		require.Zero(t, turn(t, s, where.workspace, "C1"))
		require.Equal(t, time.Second, turn(t, s, where.workspace, "C1"), "all is well again")
	}
}

func TestAnEventSolvesTheChannelsProblemAndNotTheWorkspaces(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	require.NoError(t, s.Notices.ChannelProblem(t.Context(), "T1", "C1", "not_in_channel"))
	require.NoError(t, s.Notices.ChannelProblem(t.Context(), "T1", "", "token_revoked"))
	require.NoError(t, s.Notices.ChannelProblem(t.Context(), "T1", "C1", ""))
	require.NoError(t, s.Notices.ChannelProblem(t.Context(), "T1", "C2", ""), "there was none")
	for took, refused := range map[time.Duration]bool{time.Minute: false, -time.Minute: true, 0: false} { // sent before and after somebody put it right, and a moment ago
		require.NoError(t, s.Notices.ChannelRefused(t.Context(), "T1", "C1", "not_in_channel", took))
		closed, err := s.Notices.Closed(t.Context(), "T1", "C1")
		require.NoError(t, err)
		require.Equal(t, refused, closed)
		require.NoError(t, s.Notices.ChannelProblem(t.Context(), "T1", "C1", ""))
	}
	require.Equal(t, 10*time.Minute, turn(t, s, "T1", "C1"))
	require.NoError(t, s.Notices.ChannelProblem(t.Context(), "T1", "", ""))
	clock.Pass(time.Second)
	require.Zero(t, turn(t, s, "T1", "C1"))
}

// An edit that somebody waits for keeps the next turn. Where something is wrong, that turn is ten minutes away.
func TestNoTurnIsKeptWhereSomethingIsWrong(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	require.NoError(t, s.Notices.ChannelProblem(t.Context(), "T1", "C1", "not_in_channel"))
	wait, err := s.Notices.TakeEdit(t.Context(), "T1", "C1", notices.Awaited)
	require.NoError(t, err)
	require.Equal(t, 10*time.Minute, wait)
	require.NoError(t, s.Notices.ChannelProblem(t.Context(), "T1", "C1", ""))
	clock.Pass(time.Second)
	require.Zero(t, turn(t, s, "T1", "C1"), "others need not wait for it any more")
}

func TestTheEditThatAPersonWaitsForGoesFirst(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	ask := func(rank notices.Rank) time.Duration {
		wait, err := s.Notices.TakeEdit(t.Context(), "T1", "C1", rank)
		require.NoError(t, err)
		return wait
	}
	require.Zero(t, ask(notices.Behind))
	require.Equal(t, 1500*time.Millisecond, ask(notices.Behind), "progress leaves a gap")
	clock.Pass(1200 * time.Millisecond)
	require.Zero(t, ask(notices.Awaited), "in which an edit need not wait")
	clock.Pass(400 * time.Millisecond)
	require.Equal(t, 600*time.Millisecond, ask(notices.Awaited), "Slack's limit holds for it, too")
	clock.Pass(600 * time.Millisecond)
	require.Equal(t, 500*time.Millisecond, ask(notices.Usual), "the turn is kept for it")
	require.Equal(t, 500*time.Millisecond, ask(notices.Behind))
	require.Zero(t, ask(notices.Awaited))
	require.Equal(t, time.Second, ask(notices.Usual))
	require.Equal(t, time.Second, ask(notices.Awaited))
	clock.Pass(1500 * time.Millisecond)
	require.Zero(t, ask(notices.Usual), "a turn that nobody takes is not kept for long")
}

func TestEditsThatPeopleWaitForFindRoomInTheWorkspace(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	take := func(rank notices.Rank) (n int) {
		for ; n < 100; n++ {
			if wait, err := s.Notices.TakeEdit(t.Context(), "T1", fmt.Sprintf("C%d-%d", rank, n), rank); err != nil || wait > 0 {
				return n
			}
		}
		return n
	}
	require.Equal(t, 7, take(notices.Behind))
	require.Equal(t, 2, take(notices.Awaited))
}
