package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestMetricsCountWhatEndedOnceAndMissNothing(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	counted := func(s *store.Store) (int64, int64, []store.JobCount) {
		census, err := s.Census(t.Context())
		require.NoError(t, err)
		return census.Clusters[lifecycle.Pending], census.Clusters[lifecycle.Destroyed], census.Jobs
	}
	storetest.Accept(t, s, storetest.Granted("lives"))
	for i := range int64(4) {
		storetest.Released(t, s, string(rune('a'+i)))
		pending, destroyed, jobs := counted(s)
		require.Equal(t, []int64{1, i + 1}, []int64{pending, destroyed})
		again, destroyedAgain, jobsAgain := counted(s)
		require.Equal(t, []any{pending, destroyed, jobs}, []any{again, destroyedAgain, jobsAgain}, "counting changes nothing")
		clock.Pass(10 * time.Minute)
	}
	clock.Pass(24 * time.Hour)
	pending, destroyed, jobs := counted(s)
	fresh, destroyedFresh, jobsFresh := counted(storetest.OpenAt(t, s.Pool().Config().ConnString(), db.Options{Limits: storetest.Limits, Lease: time.Minute, Now: clock.Now}))
	require.Equal(t, []any{fresh, destroyedFresh, jobsFresh}, []any{pending, destroyed, jobs}, "as by a server that counts for the first time")
}

func TestALookForFindingsReadsAReadyClusterOnlyWhenItIsDue(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	storetest.Ready(t, s, row, open, "shop-abcde")
	read := func(seen lifecycle.Seen) int {
		k, err := s.Reports.Known(t.Context(), seen)
		require.NoError(t, err)
		return len(k.Clusters)
	}
	require.Zero(t, read(lifecycle.Seen{}))
	require.Equal(t, 1, read(lifecycle.Seen{Groups: []lifecycle.Group{{Identity: "shop-abcde"}}}), "by its name it is known all the same")
	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	clock.Pass(now.WakeAt.Sub(clock.Now()))
	require.Equal(t, 1, read(lifecycle.Seen{}))
}
