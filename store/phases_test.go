package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// moves are the phases that a timeline tells of, in its order.
func moves(t *testing.T, s *store.Store, cluster string) (phases []string, times []time.Time) {
	t.Helper()
	events, err := s.Timeline(t.Context(), cluster)
	require.NoError(t, err)
	for _, e := range events {
		if _, phase, moved := strings.Cut(e.To, "/"); moved && e.From != e.To {
			require.NotEmpty(t, e.Why)
			phases, times = append(phases, phase), append(times, e.At)
		}
	}
	return phases, times
}

func TestAPhaseThatWasOverBeforeAnybodyDecidedStandsInTheTimelineWithItsTime(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	before, _ := moves(t, s, row.ID)
	began := map[string]time.Time{}
	for seq, phase := range []lifecycle.Phase{lifecycle.Preflight, lifecycle.Claiming, lifecycle.Rendering, lifecycle.Recording, lifecycle.Installing} {
		clock.Pass(time.Second)
		began[string(phase)] = clock.Now()
		_, err := s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: seq + 1, Phase: phase, Percent: 10})
		require.NoError(t, err)
	}
	clock.Pass(time.Second)
	storetest.Step(t, s, row.ID) // the first decision since the claim sees the last phase alone
	phases, times := moves(t, s, row.ID)
	require.Equal(t, append(before, "claiming", "rendering", "recording", "installing"), phases)
	for i, phase := range phases {
		if phase == "claiming" || phase == "rendering" || phase == "recording" {
			require.True(t, began[phase].Equal(times[i]), "%s", phase)
		}
	}

	clock.Pass(time.Second)
	_, err := s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: 6, Phase: lifecycle.Installing, Percent: 50})
	require.NoError(t, err)
	storetest.Step(t, s, row.ID)
	again, _ := moves(t, s, row.ID)
	require.Equal(t, phases, again, "what was decided on is told once")
	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Installing, now.Phase)
}
