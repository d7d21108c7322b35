package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// extend asks for more time, and returns what became of the cluster.
func extend(t *testing.T, s *store.Store, id string, by time.Duration) (row clusters.Row, capped bool, err error) {
	t.Helper()
	out, err := s.Extend(t.Context(), id, by, clusters.Origin{Actor: "github:maya"})
	if err != nil {
		return clusters.Row{}, false, err
	}
	row, err = s.Cluster(t.Context(), id)
	return row, out.Capped, err
}

func TestAnExtensionEndsAtTheMaximumAndSaysSo(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	now, capped, err := extend(t, s, row.ID, 3*time.Hour)
	require.NoError(t, err)
	require.False(t, capped)
	require.Equal(t, row.DestroyAt.Add(3*time.Hour), now.DestroyAt)
	now, capped, err = extend(t, s, row.ID, 3*time.Hour)
	require.NoError(t, err)
	require.True(t, capped)
	require.Equal(t, row.Ends.Max, now.DestroyAt)
	version := now.Version
	now, capped, err = extend(t, s, row.ID, time.Hour)
	require.NoError(t, err)
	require.True(t, capped)
	require.Equal(t, version, now.Version)
	_, _, err = extend(t, s, row.ID, -time.Hour)
	require.ErrorIs(t, err, db.ErrConflict)
}

func TestACauseExtendsOnce(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	by := clusters.Origin{Actor: "github:maya", Reply: &clusters.ReplyOnce{Cause: "comment:9:0", Build: func(out clusters.Outcome) clusters.Reply {
		require.Equal(t, time.Hour, out.After.TTL.Sub(out.Before.TTL))
		return clusters.Reply{Installation: 5001, Repo: "acme/shop", Number: 41, Body: "an hour more"}
	}}}
	for range 2 {
		_, err := s.Extend(t.Context(), row.ID, time.Hour, by)
		require.NoError(t, err)
	}
	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, row.DestroyAt.Add(time.Hour), now.DestroyAt)
	require.Len(t, storetest.RiverJobs(t, s, "reply"), 1)
}
