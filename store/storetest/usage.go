package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/reports"
)

// Sized is a request for six machines at 70 cents an hour.
func Sized(name string) store.Judgement {
	a := Granted(name)
	a.Row.Nodes, a.Row.WorkersBase = 6, new(3)
	return a
}

// RequireReport compares with the report since then, which is made from the samples alone.
func RequireReport(t testing.TB, s *store.Store, from time.Time, hours, nodeHours float64, cents int64) {
	t.Helper()
	lines, err := s.Reports.UsageReport(t.Context(), reports.ReportFilter{From: from, By: "team"})
	require.NoError(t, err)
	require.Len(t, lines, 1)
	require.InDelta(t, hours, lines[0].ClusterHours, 0.01)
	require.InDelta(t, nodeHours, lines[0].NodeHours, 0.1)
	require.InDelta(t, cents, lines[0].Cents, 1)
}
