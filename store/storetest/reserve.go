package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func Settled(t testing.TB, s *store.Store, id string) clusters.Row {
	t.Helper()
	Step(t, s, id)
	row, err := s.Cluster(t.Context(), id)
	require.NoError(t, err)
	return row
}

// Ready brings a cluster with room to READY and returns what it uses then.
func Ready(t testing.TB, s *store.Store, row clusters.Row, open attempts.LaunchSpec, infra string) map[string]int {
	t.Helper()
	_, err := s.Record(t.Context(), open.Attempt, open.Token, Identity(infra), Bundles(infra))
	require.NoError(t, err)
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded})
	require.NoError(t, err)
	require.Equal(t, lifecycle.Ready, Settled(t, s, row.ID).Status)
	return map[string]int{row.ID: 2}
}
