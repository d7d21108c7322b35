package db_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

const listening = `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ocpctl follow' AND datname = current_database() AND query LIKE 'LISTEN%'`

func TestWhoFollowsIsTold(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	one, open := storetest.Claimed(t, s, "one")
	two := storetest.Accept(t, s, storetest.Granted("two"))
	all := storetest.First(t, s)
	both, _ := storetest.Follow(t, s, one.ID, two.ID)
	second, stop := storetest.Follow(t, s, two.ID)
	require.Equal(t, 1, storetest.Count(t, s, listening), "one connection serves all")

	storetest.Extended(t, s, one.ID)
	require.Equal(t, []string{one.ID}, storetest.Next(t, all, storetest.Named).Clusters)
	named := storetest.Next(t, both, storetest.Named)
	require.Equal(t, []string{one.ID}, named.Clusters)
	logged := func(c db.Change) bool { return slices.Contains(c.Logs, one.ID) } // the lines of two's acceptance may be told late
	if !logged(named) {                                                         // a busy follower is told both at once
		storetest.Next(t, both, logged)
	}
	_, err := s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: 1, Phase: lifecycle.Preflight, Percent: 1, Log: "hello\n"})
	require.NoError(t, err)
	storetest.Next(t, both, logged)
	storetest.Extended(t, s, two.ID)
	require.Equal(t, []string{two.ID}, storetest.Next(t, second, storetest.Named).Clusters, "of another's changes nothing was told")
	stop()
	stop()
	_, more := <-second
	require.False(t, more)
}

// Whoever takes nothing finds everything since in one change, and holds up nobody.
func TestASlowFollowerMissesNothing(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	var ids []string
	for i := range 5 {
		ids = append(ids, storetest.Accept(t, s, storetest.Granted(fmt.Sprintf("c%d", i))).ID)
	}
	slow := storetest.First(t, s)
	quick, _ := storetest.Follow(t, s, ids[4])
	for range 20 {
		for _, id := range ids {
			storetest.Extended(t, s, id)
		}
	}
	storetest.Next(t, quick, storetest.Named)
	require.Eventually(t, func() bool { return len(slow) == 1 }, storetest.Patience, time.Millisecond)
	var seen []string
	for len(seen) < len(ids) {
		seen = append(seen, storetest.Next(t, slow, storetest.Named).Clusters...)
	}
	require.ElementsMatch(t, ids, seen[:len(ids)])
}

func TestTooManyChangesAreAll(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	seed := storetest.Accept(t, s, storetest.Granted("seed"))
	changes := storetest.First(t, s)
	mark, _ := storetest.Follow(t, s, seed.ID)
	for i := range 150 {
		_, err := s.Pool().Exec(t.Context(), `SELECT pg_notify('ocpctl_changes', 'cluster clu_' || $1)`, fmt.Sprint(i))
		require.NoError(t, err)
	}
	storetest.Extended(t, s, seed.ID)
	storetest.Next(t, mark, storetest.Named)
	require.Equal(t, db.Change{All: true}, storetest.Next(t, changes, storetest.Everything))
}

// A connection that was cut off is made anew, and everybody looks again.
func TestNothingIsMissedWhereTheConnectionBreaks(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	one := storetest.First(t, s, row.ID)
	all, _ := storetest.Follow(t, s)
	for range 3 {
		require.Equal(t, 1, storetest.Count(t, s, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
			WHERE application_name = 'ocpctl follow' AND datname = current_database()`))
		storetest.Extended(t, s, row.ID) // nobody hears this one
		storetest.Next(t, one, storetest.Everything)
		storetest.Next(t, all, storetest.Everything)
		storetest.Extended(t, s, row.ID)
		require.Equal(t, []string{row.ID}, storetest.Next(t, one, storetest.Named).Clusters, "and changes are told again")
	}
}

func TestFollowingEndsWithItsContextAndWithTheStore(t *testing.T) {
	t.Parallel()
	s := storetest.OpenAt(t, pgtest.New(t), db.Options{Limits: storetest.Limits, Lease: time.Minute})
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
	require.Eventually(t, over(changes), storetest.Patience, time.Millisecond)
	left, _ := s.Follow(t.Context(), "clu_1")
	s.Close()
	require.Eventually(t, over(left), storetest.Patience, time.Millisecond)
	late, stop := s.Follow(t.Context())
	_, open := <-late
	require.False(t, open)
	stop()
	s.Close()
}
