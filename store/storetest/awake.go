package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
)

// Decides lets the schedule say what it says of a cluster now, and applies what follows.
func Decides(t testing.TB, s *store.Store, id string, h lifecycle.Hours) lifecycle.Decision {
	t.Helper()
	cluster, facts, err := s.Load(t.Context(), id)
	require.NoError(t, err)
	facts.Hours = &h
	d := lifecycle.Decide(cluster, facts, Limits)
	require.NoError(t, s.Apply(t.Context(), d, cluster.Version))
	return d
}

// Night begins after that time, and lasts for twelve hours.
func Night(now time.Time, after time.Duration) lifecycle.Hours {
	h := lifecycle.Hours{Scheduled: true, Open: after > 0, Opens: now.Add(after + 12*time.Hour), WakeAhead: 15 * time.Minute, AwakeFor: time.Hour}
	if h.Open {
		h.Closes = now.Add(after)
	}
	return h
}
