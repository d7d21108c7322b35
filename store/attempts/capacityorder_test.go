package attempts_test

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// Twenty are accepted at once and their runners come in any order, the last accepted first: those that were accepted first get
// the room there is, and nobody else does.
func TestRoomIsGivenInTheOrderOfAcceptance(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ need, fit int }{"room for one": {4, 1}, "room for three": {2, 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storetest.OpenAt(t, pgtest.New(t), db.Options{Limits: storetest.Limits, Lease: 15 * time.Minute})
			rows := acceptedAtOnce(t, s, 20)
			opens := map[string]attempts.LaunchSpec{}
			for _, row := range rows {
				storetest.Step(t, s, row.ID)
				open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
				require.NoError(t, err)
				_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
				require.NoError(t, err)
				opens[row.ID] = open
			}
			last := rows[len(rows)-1]
			room, _, err := s.Attempts.Reserve(t.Context(), opens[last.ID].Attempt, opens[last.ID].Token, demand(c.need, 0, nil))
			require.NoError(t, err)
			require.Equal(t, 20, room.Position, "its runner was the first to ask; 19 were accepted before it")
			answers := map[string]attempts.ReservationAnswer{last.ID: room}
			var all sync.WaitGroup
			var mu sync.Mutex
			for _, row := range rows[:len(rows)-1] {
				all.Go(func() {
					room, _, err := s.Attempts.Reserve(t.Context(), opens[row.ID].Attempt, opens[row.ID].Token, demand(c.need, 0, nil))
					mu.Lock()
					defer mu.Unlock()
					if answers[row.ID] = room; err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			for _, row := range rows {
				if answers[row.ID].Wait != "" {
					waits(t, s, row, opens[row.ID])
				}
			}
			untilNobodyLooks(t, s, rows, demand(c.need, 0, nil))
			var got []string
			for _, row := range rows {
				if storetest.Count(t, s, `SELECT count(*) FROM reservations WHERE cluster_id = $1 AND state = 'granted'`, row.ID) == 1 {
					got = append(got, row.Name)
				}
			}
			var first []string
			for _, row := range rows[:c.fit] {
				first = append(first, row.Name)
			}
			require.Equal(t, first, got)
			for i, row := range rows[c.fit:] {
				_, facts, err := s.Load(t.Context(), row.ID)
				require.NoError(t, err)
				require.Equal(t, i+1, facts.Queue.Position)
			}
		})
	}
}

// A higher priority comes first, also if it was accepted last, and one of a pool comes last.
func TestRoomIsGivenByPriority(t *testing.T) {
	t.Parallel()
	s := storetest.OpenAt(t, pgtest.New(t), db.Options{Limits: storetest.Limits, Lease: 15 * time.Minute})
	var ids []string
	for i, priority := range []int{-100, 0, 50} {
		a := storetest.Granted(fmt.Sprintf("shop-%d", i))
		a.Row.Priority = priority
		row, err := storetest.Judge(s, storetest.Requests(a), a)
		require.NoError(t, err)
		require.Equal(t, priority, row.Priority)
		storetest.Step(t, s, row.ID)
		room, open := asks(t, s, row, demand(6, 6, nil))
		require.NotEmpty(t, room.Wait)
		waits(t, s, row, open)
		ids = append(ids, row.ID)
	}
	for i, position := range []int{3, 2, 1} {
		_, facts, err := s.Load(t.Context(), ids[i])
		require.NoError(t, err)
		require.Equal(t, position, facts.Queue.Position)
	}
}

// acceptedAtOnce are clusters of one team that were asked for concurrently, in the order of their acceptance.
func acceptedAtOnce(t *testing.T, s *store.Store, n int) []clusters.Row {
	t.Helper()
	rows := make([]clusters.Row, n)
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			a := storetest.Granted(fmt.Sprintf("shop-%d", i))
			rows[i], errs[i] = storetest.Judge(s, storetest.Requests(a), a)
		})
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	slices.SortFunc(rows, func(a, b clusters.Row) int {
		return cmp.Or(a.AcceptedAt.Compare(b.AcceptedAt), cmp.Compare(a.ID, b.ID))
	})
	return rows
}

// untilNobodyLooks lets those in line look for room again as long as one of them has a reason to.
func untilNobodyLooks(t *testing.T, s *store.Store, rows []clusters.Row, d attempts.CapacityDemand) {
	t.Helper()
	for looks := 0; ; {
		before := looks
		for _, row := range rows {
			c, f, err := s.Load(t.Context(), row.ID)
			require.NoError(t, err)
			if f.Queue.Position == 0 || f.Open != nil {
				continue
			}
			if storetest.Step(t, s, c.ID).Open == "" {
				continue
			}
			if room, open := asks(t, s, row, d); room.Wait != "" {
				waits(t, s, row, open)
			}
			looks++
		}
		require.Less(t, looks, 100, "a look that finds no room is no reason for the next")
		if looks == before {
			return
		}
	}
}

// What a runner that never comes would have needed is kept for no longer than the front of a line may hold up others.
func TestOneThatDoesNotComeToAskHoldsUpItsTeamForABoundedTime(t *testing.T) {
	t.Parallel()
	s, clock := passing(t)
	_, second := begun(t, s, clock, "silent"), begun(t, s, clock, "second")
	room, open := asks(t, s, second, demand(4, 0, nil))
	require.Equal(t, 2, room.Position)
	second = waits(t, s, second, open)

	clock.Pass(10*time.Minute + time.Second)
	storetest.Step(t, s, second.ID)
	room, _ = asks(t, s, second, demand(4, 0, nil))
	require.Empty(t, room.Wait)

	// One that goes without having asked is no longer waited for, and those who counted on it are told.
	s, clock = passing(t)
	gone, third := begun(t, s, clock, "gone"), begun(t, s, clock, "third")
	_, open = asks(t, s, third, demand(4, 0, nil))
	third = waits(t, s, third, open)
	storetest.Lose(t, s)
	_, err := s.Destroy(t.Context(), gone.ID, clusters.Origin{Actor: "github:maya", Why: "enough"})
	require.NoError(t, err)
	require.Len(t, storetest.RiverJobs(t, s, "capacity_queue"), 1)
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, third.ID).Open, "it is next now, so it looks at once")
}

// passing is a store where the front of the line holds up others for ten minutes at most.
func passing(t *testing.T) (*store.Store, *storetest.Clock) {
	t.Helper()
	c, l := storetest.NewClock(), storetest.Limits
	l.LetPast = 10 * time.Minute
	return storetest.OpenAt(t, pgtest.New(t), db.Options{Limits: l, Lease: 15 * time.Minute, Now: c.Now}), c
}

func TestWhatNeedsLessIsLetPastAfterABoundedTimeOneAtATime(t *testing.T) {
	t.Parallel()
	s, clock := passing(t)
	full, big := begun(t, s, clock, "full"), begun(t, s, clock, "big")
	asks(t, s, full, demand(2, 0, nil))
	_, open := asks(t, s, big, demand(6, 0, nil))
	big = waits(t, s, big, open)
	looks := func(row clusters.Row) (attempts.ReservationAnswer, clusters.Row) {
		t.Helper()
		room, open := asks(t, s, row, demand(2, 0, nil))
		if room.Wait == "" {
			return room, storetest.Settled(t, s, row.ID)
		}
		return room, waits(t, s, row, open)
	}
	one, two := begun(t, s, clock, "one"), begun(t, s, clock, "two")
	room, one := looks(one)
	require.Equal(t, attempts.ReservationAnswer{Wait: "Elastic IPs: 2 needed, 2 of 6 are in use or reserved, and clusters ahead in the queue need 6", Position: 2}, room)
	_, two = looks(two)
	asked := clock.Now()

	clock.Pass(9 * time.Minute)
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, one.ID).Open)
	room, one = looks(one)
	require.Equal(t, 2, room.Position, "not before the time is over")
	require.Equal(t, asked.Add(10*time.Minute), storetest.Step(t, s, one.ID).Next.RetryAt, "and then at once")

	clock.Pass(time.Minute)
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, two.ID).Open)
	room, two = looks(two)
	require.NotEmpty(t, room.Wait, "one before it in line fits, too, and comes first")
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, one.ID).Open)
	room, one = looks(one)
	require.Empty(t, room.Wait, "it is let past")
	require.Equal(t, lifecycle.Preflight, one.Phase)
	require.Contains(t, reasons(t, s, one.ID), "started before others that need more capacity than is free, because they held it up for 10 min, the longest time allowed")

	big = storetest.Settled(t, s, big.ID)
	require.Equal(t, "waiting for capacity in the cloud account: Elastic IPs: 6 needed, 2 of 6 are in use or reserved; one needs less and was let past at "+
		clock.Now().UTC().Format("15:04 UTC on 2 January"), big.Why.String(), "the line says so")
	require.Equal(t, 1, big.Position)

	// The next has to wait as long again, so that the big one is not overtaken by a stream of small ones.
	clock.Pass(9 * time.Minute)
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, two.ID).Open)
	room, two = looks(two)
	require.NotEmpty(t, room.Wait)
	clock.Pass(time.Minute)
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, two.ID).Open)
	room, _ = looks(two)
	require.Empty(t, room.Wait)
}

// reasons are what the timeline says of a cluster.
func reasons(t *testing.T, s *store.Store, id string) (words []string) {
	t.Helper()
	events, err := s.Timeline(t.Context(), id)
	require.NoError(t, err)
	for _, e := range events {
		words = append(words, e.Why)
	}
	return words
}
