package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
)

// extend asks for more time with a cause of its own, and returns what became of the cluster.
func extend(t *testing.T, s *store.Store, id string, by time.Duration) (row store.Row, capped bool, err error) {
	t.Helper()
	err = s.ExtendOnce(t.Context(), id, by, store.Deed{Actor: "github:maya"}, store.NewID("cause"),
		func(_, _ lifecycle.Ends, cut bool) store.Reply {
			capped = cut
			return store.Reply{Installation: 5001, Repo: "acme/shop", Number: 41, Body: "extended"}
		})
	if err != nil {
		return store.Row{}, false, err
	}
	row, err = s.Cluster(t.Context(), id)
	return row, capped, err
}

func TestAnExtensionEndsAtTheMaximumAndSaysSo(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	row := accept(t, s, granted("shop"))
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
	require.ErrorIs(t, err, store.ErrConflict)
}

func TestACauseExtendsOnce(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	row := accept(t, s, granted("shop"))
	for range 2 {
		err := s.ExtendOnce(t.Context(), row.ID, time.Hour, store.Deed{Actor: "github:maya"}, "comment:9:0", func(before, after lifecycle.Ends, _ bool) store.Reply {
			require.Equal(t, time.Hour, after.TTL.Sub(before.TTL))
			return store.Reply{Installation: 5001, Repo: "acme/shop", Number: 41, Body: "an hour more"}
		})
		require.NoError(t, err)
	}
	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, row.DestroyAt.Add(time.Hour), now.DestroyAt)
	require.Len(t, riverJobs(t, s, "reply"), 1)
}
