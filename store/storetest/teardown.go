package storetest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
)

// Leaves claims the open destroy attempt and ends it with something left.
func Leaves(t testing.TB, s *store.Store, id string) {
	t.Helper()
	open, err := s.Attempts.OpenAttempt(t.Context(), id)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-"+open.Attempt)
	require.NoError(t, err)
	p := Pass(1)
	p.Clean, p.Leftovers = false, json.RawMessage(`[{"type":"vpc","id":"vpc-1","free":"delete it"}]`)
	_, err = s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: 1, Phase: lifecycle.Verifying, ToolExit: &attempts.ToolExitRow{}, Pass: p})
	require.NoError(t, err)
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "LeftoversFound", Message: "vpc-1"})
	require.NoError(t, err)
}
