package attempts_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestAnExpectedEndIsWhatOthersTookOrAbsent(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	progress := func(row clusters.Row, open attempts.LaunchSpec, seq int) time.Time {
		t.Helper()
		_, err := s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: seq, Phase: "preflight", Percent: seq, Step: "looking"})
		require.NoError(t, err)
		storetest.Step(t, s, row.ID)
		row, err = s.Cluster(t.Context(), row.ID)
		require.NoError(t, err)
		return row.Progress.ETA
	}

	row, first := storetest.Claimed(t, s, "first")
	require.Zero(t, progress(row, first, 1), "nobody can know how long the first one takes")
	clock.Pass(30 * time.Minute)
	_, err := s.Pool().Exec(t.Context(), `UPDATE attempts SET closed_at = $2, outcome = 'succeeded' WHERE id = $1`, first.Attempt, clock.Now())
	require.NoError(t, err)

	opened := clock.Now()
	row, second := storetest.Claimed(t, s, "second")
	eta := progress(row, second, 1)
	require.Equal(t, opened.Add(30*time.Minute), eta.UTC())
	clock.Pass(10 * time.Minute)
	require.True(t, eta.Equal(progress(row, second, 2)), "it stands still while time passes")
	clock.Pass(20 * time.Minute)
	require.Zero(t, progress(row, second, 3), "once it has passed it is not told any more")

	other := storetest.Granted("third")
	other.Row.Profile = "aws-standard"
	row = storetest.Accept(t, s, other)
	storetest.Step(t, s, row.ID)
	third, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), third.Attempt, third.Token, "pod-1")
	require.NoError(t, err)
	require.Zero(t, progress(row, third, 1), "another profile's time says nothing about this one")
}

func TestWhatOthersTookInTheSameRegionCountsFirst(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	begin := func(name, region string) (clusters.Row, attempts.LaunchSpec) {
		a := storetest.Granted(name)
		a.Row.Region = region
		row := storetest.Accept(t, s, a)
		storetest.Step(t, s, row.ID)
		open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
		require.NoError(t, err)
		_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
		require.NoError(t, err)
		return row, open
	}
	past := func(name, region string, took time.Duration) {
		_, open := begin(name, region)
		_, err := s.Pool().Exec(t.Context(), `UPDATE attempts SET closed_at = opened_at + $2::interval, outcome = 'succeeded' WHERE id = $1`, open.Attempt, took)
		require.NoError(t, err)
	}
	expected := func(name, region string) []time.Duration {
		row, open := begin(name, region)
		_, err := s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: 1, Phase: "preflight", Step: "looking"})
		require.NoError(t, err)
		p := storetest.Settled(t, s, row.ID).Progress
		return []time.Duration{p.ETA.Sub(clock.Now()), p.Late.Sub(clock.Now())}
	}
	for i := range 11 {
		past("east-"+string(rune('a'+i)), "us-east-1", time.Duration(30+i)*time.Minute)
	}
	require.Equal(t, []time.Duration{35 * time.Minute, 39 * time.Minute}, expected("first-west", "us-west-2"), "none was made there yet")
	past("west", "us-west-2", 50*time.Minute)
	require.Equal(t, []time.Duration{50 * time.Minute, 50 * time.Minute}, expected("west-2", "us-west-2"))
	require.Equal(t, []time.Duration{35 * time.Minute, 39 * time.Minute}, expected("east", "us-east-1"), "half were done by then, and nine of ten")

	row, open := begin("slow", "us-east-1")
	for seq, at := range []struct {
		pass      time.Duration
		eta, late bool
	}{{34 * time.Minute, true, true}, {2 * time.Minute, false, true}, {4 * time.Minute, false, false}} {
		clock.Pass(at.pass)
		_, err := s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: seq + 1, Phase: "preflight", Percent: seq})
		require.NoError(t, err)
		p := storetest.Settled(t, s, row.ID).Progress
		require.Equal(t, []bool{at.eta, at.late}, []bool{!p.ETA.IsZero(), !p.Late.IsZero()}, "what is past is not told any more")
	}
}
