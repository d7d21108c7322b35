package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/runs"
	"github.com/ocpctl/ocpctl/store/usage"
)

// AskedWithSignal is a cluster of run 7001 that wants to be told.
func AskedWithSignal(t testing.TB, s *store.Store, name string) clusters.Row {
	t.Helper()
	g := Granted(name)
	g.Row.Spec.RunGrace = 15 * time.Minute
	ask, in := Requests(g), InSlot(1, "")
	ask.Run, ask.Signal = &in, &runs.SignalAsk{Ref: RunRef(1), Kind: lifecycle.SignalDeployment}
	judged, err := s.Judge(t.Context(), ask, func(usage.Usage) (store.Judgement, error) { return g, nil })
	require.NoError(t, err)
	return Read(t, s, judged.Row.ID)
}

func Read(t testing.TB, s *store.Store, id string) clusters.Row {
	t.Helper()
	row, err := s.Cluster(t.Context(), id)
	require.NoError(t, err)
	return row
}

// Readies brings a cluster to READY.
func Readies(t testing.TB, s *store.Store, row clusters.Row) {
	t.Helper()
	require.Equal(t, lifecycle.Create, Step(t, s, row.ID).Open)
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	Ready(t, s, row, open, row.Name+"-abcde")
}

func SignalOf(t testing.TB, s *store.Store, row clusters.Row) runs.Signal {
	t.Helper()
	g, err := s.Runs.Signal(t.Context(), Text(t, s, `SELECT id FROM signals WHERE cluster_id = $1 ORDER BY asked_at DESC LIMIT 1`, row.ID))
	require.NoError(t, err)
	return g
}
