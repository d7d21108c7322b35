package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func Load(t testing.TB, s *store.Store, id string) clusters.Row {
	t.Helper()
	row, err := s.Cluster(t.Context(), id)
	require.NoError(t, err)
	return row
}

// Powers lets a runner do what the cluster waits for, and see that.
func Powers(t testing.TB, s *store.Store, id string, kind lifecycle.Kind) {
	t.Helper()
	open, err := s.Attempts.OpenAttempt(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, kind, open.Kind)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	asleep := kind == lifecycle.Sleep
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded, Asleep: &asleep})
	require.NoError(t, err)
	Step(t, s, id)
}
