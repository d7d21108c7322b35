package runner

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/installer"
)

// The reporter here sends nothing by itself: its reports are taken one by one, as slow sending would.
func TestAPhaseThatIsQuickerThanAReportIsReportedNevertheless(t *testing.T) {
	r := &reporter{log: slog.New(slog.DiscardHandler), redact: &installer.Redactor{}, kick: make(chan struct{}, 1), settled: make(chan struct{})}
	for i, phase := range []string{"preflight", "claiming", "rendering"} {
		r.Phase(phase, 10*i, "step of "+phase)
	}
	r.Fact(contract.Report{ToolExit: &contract.ToolExit{Code: 5}})
	r.Step(25, "further")
	var got []string
	exits := 0
	for n := 1; r.awaitNext(false); n++ {
		require.Equal(t, n, r.unsent.Seq)
		got = append(got, r.unsent.Phase+": "+r.unsent.Step)
		if r.unsent.ToolExit != nil {
			exits++
			require.Equal(t, "rendering", r.unsent.Phase)
		}
		r.unsent = nil
	}
	require.Equal(t, []string{"preflight: step of preflight", "claiming: step of claiming", "rendering: further"}, got)
	require.Equal(t, 1, exits)
	require.True(t, r.drainReports(context.Background()))

	r.Phase("recording", 30, "keeping")
	require.True(t, r.awaitNext(false))
	require.Equal(t, "recording", r.unsent.Phase)
	r.unsent = nil
	require.False(t, r.awaitNext(false), "a phase that was sent is not sent twice")
}
