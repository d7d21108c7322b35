package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
)

const Patience = 20 * time.Second

// Next waits for a change that fits.
func Next(t testing.TB, changes <-chan db.Change, fits func(db.Change) bool) db.Change {
	t.Helper()
	for deadline := time.After(Patience); ; {
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

func Everything(c db.Change) bool { return c.All }

// First follows as the first one: the connection is made then, and each change from now on is named.
func First(t testing.TB, s *store.Store, clusters ...string) <-chan db.Change {
	t.Helper()
	changes, _ := Follow(t, s, clusters...)
	Next(t, changes, Everything)
	return changes
}

func Follow(t testing.TB, s *store.Store, clusters ...string) (<-chan db.Change, func()) {
	t.Helper()
	changes, stop := s.Follow(t.Context(), clusters...)
	t.Cleanup(stop)
	return changes, stop
}

func Extended(t testing.TB, s *store.Store, id string) {
	t.Helper()
	_, err := s.Extend(t.Context(), id, time.Second, Maya(""))
	require.NoError(t, err)
}

func Named(c db.Change) bool { return len(c.Clusters) > 0 }
