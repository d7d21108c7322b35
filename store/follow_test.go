package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/db"
)

const patience = 20 * time.Second

// next waits for a change that fits.
func next(t testing.TB, changes <-chan db.Change, fits func(db.Change) bool) db.Change {
	t.Helper()
	for deadline := time.After(patience); ; {
		select {
		case c, open := <-changes:
			require.True(t, open, "the following ended")
			if fits(c) {
				return c
			}
		case <-deadline:
			require.Fail(t, "nothing was told")
		}
	}
}

func everything(c db.Change) bool { return c.All }

// first follows as the first one: the connection is made then, and each change from now on is named.
func first(t testing.TB, s *store.Store, clusters ...string) <-chan db.Change {
	t.Helper()
	changes, _ := follow(t, s, clusters...)
	next(t, changes, everything)
	return changes
}

func follow(t testing.TB, s *store.Store, clusters ...string) (<-chan db.Change, func()) {
	t.Helper()
	changes, stop := s.Follow(t.Context(), clusters...)
	t.Cleanup(stop)
	return changes, stop
}

const listening = `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ocpctl follow' AND datname = current_database() AND query LIKE 'LISTEN%'`

func extended(t testing.TB, s *store.Store, id string) {
	t.Helper()
	_, err := s.Extend(t.Context(), id, time.Second, maya(""))
	require.NoError(t, err)
}

func TestWhoFollowsIsTold(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	one, open := claimed(t, s, "one")
	two := accept(t, s, granted("two"))
	all := first(t, s)
	both, _ := follow(t, s, one.ID, two.ID)
	second, stop := follow(t, s, two.ID)
	require.Equal(t, 1, count(t, s, listening), "one connection serves all")

	extended(t, s, one.ID)
	require.Equal(t, []string{one.ID}, next(t, all, named).Clusters)
	require.Equal(t, []string{one.ID}, next(t, both, named).Clusters)
	_, err := s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: 1, Phase: lifecycle.Preflight, Percent: 1, Log: "hello\n"})
	require.NoError(t, err)
	require.Equal(t, []string{one.ID}, next(t, both, func(c db.Change) bool { return len(c.Logs) > 0 }).Logs)
	extended(t, s, two.ID)
	require.Equal(t, []string{two.ID}, next(t, second, named).Clusters, "of another's changes nothing was told")
	stop()
	stop()
	_, more := <-second
	require.False(t, more)
}

func named(c db.Change) bool { return !c.All }

// Whoever takes nothing finds everything since in one change, and holds up nobody.
func TestASlowFollowerMissesNothing(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	var ids []string
	for i := range 5 {
		ids = append(ids, accept(t, s, granted(fmt.Sprintf("c%d", i))).ID)
	}
	slow := first(t, s)
	quick, _ := follow(t, s, ids[4])
	for range 20 {
		for _, id := range ids {
			extended(t, s, id)
		}
	}
	next(t, quick, named)
	require.Eventually(t, func() bool { return len(slow) == 1 }, patience, time.Millisecond)
	var seen []string
	for len(seen) < len(ids) {
		seen = append(seen, next(t, slow, named).Clusters...)
	}
	require.ElementsMatch(t, ids, seen[:len(ids)])
}

func TestTooManyChangesAreAll(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	seed := accept(t, s, granted("seed"))
	changes := first(t, s)
	mark, _ := follow(t, s, seed.ID)
	for i := range 150 {
		_, err := s.Pool().Exec(t.Context(), `SELECT pg_notify('ocpctl_changes', 'cluster clu_' || $1)`, fmt.Sprint(i))
		require.NoError(t, err)
	}
	extended(t, s, seed.ID)
	next(t, mark, named)
	require.Equal(t, db.Change{All: true}, next(t, changes, everything))
}

// A connection that was cut off is made anew, and everybody looks again.
func TestNothingIsMissedWhereTheConnectionBreaks(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	row := accept(t, s, granted("shop"))
	one := first(t, s, row.ID)
	all, _ := follow(t, s)
	for range 3 {
		require.Equal(t, 1, count(t, s, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
			WHERE application_name = 'ocpctl follow' AND datname = current_database()`))
		extended(t, s, row.ID) // nobody hears this one
		next(t, one, everything)
		next(t, all, everything)
		extended(t, s, row.ID)
		require.Equal(t, []string{row.ID}, next(t, one, named).Clusters, "and changes are told again")
	}
}

func TestFollowingEndsWithItsContextAndWithTheStore(t *testing.T) {
	t.Parallel()
	s := openAt(t, pgtest.New(t), db.Options{Limits: limits, Lease: time.Minute})
	ctx, cancel := context.WithCancel(t.Context())
	changes, stop := s.Follow(ctx)
	defer stop()
	cancel()
	over := func(changes <-chan db.Change) func() bool {
		return func() bool {
			select {
			case _, open := <-changes:
				return !open
			default:
				return false
			}
		}
	}
	require.Eventually(t, over(changes), patience, time.Millisecond)
	left, _ := s.Follow(t.Context(), "clu_1")
	s.Close()
	require.Eventually(t, over(left), patience, time.Millisecond)
	late, stop := s.Follow(t.Context())
	_, open := <-late
	require.False(t, open)
	stop()
	s.Close()
}
