package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
)

func TestAnExpectedEndIsWhatOthersTookOrAbsent(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	progress := func(row store.Row, open store.LaunchSpec, seq int) time.Time {
		t.Helper()
		_, err := s.Report(t.Context(), open.Attempt, open.Token, store.ReportRow{Seq: seq, Phase: "preflight", Percent: seq, Step: "looking"})
		require.NoError(t, err)
		step(t, s, row.ID)
		row, err = s.Cluster(t.Context(), row.ID)
		require.NoError(t, err)
		return row.Progress.ETA
	}

	row, first := claimed(t, s, "first")
	require.Zero(t, progress(row, first, 1), "nobody can know how long the first one takes")
	clock.pass(30 * time.Minute)
	_, err := s.Pool().Exec(t.Context(), `UPDATE attempts SET closed_at = $2, outcome = 'succeeded' WHERE id = $1`, first.Attempt, clock.now())
	require.NoError(t, err)

	opened := clock.now()
	row, second := claimed(t, s, "second")
	eta := progress(row, second, 1)
	require.Equal(t, opened.Add(30*time.Minute), eta.UTC())
	clock.pass(10 * time.Minute)
	require.True(t, eta.Equal(progress(row, second, 2)), "it stands still while time passes")
	clock.pass(20 * time.Minute)
	require.Zero(t, progress(row, second, 3), "once it has passed it is not told any more")

	other := granted("third")
	other.Row.Profile = "aws-standard"
	row = accept(t, s, other)
	step(t, s, row.ID)
	third, err := s.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Claim(t.Context(), third.Attempt, third.Token, "pod-1")
	require.NoError(t, err)
	require.Zero(t, progress(row, third, 1), "another profile's time says nothing about this one")
}
