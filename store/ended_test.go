package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
)

func TestMetricsCountWhatEndedOnceAndMissNothing(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	counted := func(s *store.Store) (int64, int64, []store.JobCount) {
		census, err := s.Census(t.Context())
		require.NoError(t, err)
		return census.Clusters[lifecycle.Pending], census.Clusters[lifecycle.Destroyed], census.Jobs
	}
	accept(t, s, granted("lives"))
	for i := range int64(4) {
		released(t, s, string(rune('a'+i)))
		pending, destroyed, jobs := counted(s)
		require.Equal(t, []int64{1, i + 1}, []int64{pending, destroyed})
		again, destroyedAgain, jobsAgain := counted(s)
		require.Equal(t, []any{pending, destroyed, jobs}, []any{again, destroyedAgain, jobsAgain}, "counting changes nothing")
		clock.pass(10 * time.Minute)
	}
	clock.pass(24 * time.Hour)
	pending, destroyed, jobs := counted(s)
	fresh, destroyedFresh, jobsFresh := counted(openAt(t, s.Pool().Config().ConnString(), db.Options{Limits: limits, Lease: time.Minute, Now: clock.now}))
	require.Equal(t, []any{fresh, destroyedFresh, jobsFresh}, []any{pending, destroyed, jobs}, "as by a server that counts for the first time")
}

func TestALookForFindingsReadsAReadyClusterOnlyWhenItIsDue(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row, open := claimed(t, s, "shop")
	ready(t, s, row, open, "shop-abcde")
	read := func(seen lifecycle.Seen) int {
		k, err := s.Reports.Known(t.Context(), seen)
		require.NoError(t, err)
		return len(k.Clusters)
	}
	require.Zero(t, read(lifecycle.Seen{}))
	require.Equal(t, 1, read(lifecycle.Seen{Groups: []lifecycle.Group{{Identity: "shop-abcde"}}}), "by its name it is known all the same")
	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	clock.pass(now.WakeAt.Sub(clock.now()))
	require.Equal(t, 1, read(lifecycle.Seen{}))
}
