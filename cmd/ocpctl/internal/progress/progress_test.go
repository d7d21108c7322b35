package progress_test

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/follow"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/progress"
)

var noon = time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)

func installing(percent int, step string) follow.State {
	return follow.State{Cluster: v1.Cluster{
		ClusterID: "clu_1", Name: "smoke", Status: v1.CREATING, Phase: "installing",
		Progress: v1.Progress{Percent: percent, Step: step, Eta: noon.Add(20 * time.Minute)},
	}}
}

func TestALogGetsALineForEachChange(t *testing.T) {
	var out bytes.Buffer
	now := noon
	l := &progress.Lines{Out: &out, Now: func() time.Time { return now }}
	l.Show(follow.State{Cluster: v1.Cluster{Name: "smoke", Status: v1.PENDING, Phase: "awaiting_approval", NeedsApproval: true}})
	l.Show(follow.State{Cluster: v1.Cluster{Name: "smoke", Status: v1.PENDING, Phase: "awaiting_capacity", Position: 3}})
	l.Show(installing(45, "bootstrap\x1b[31m complete"))
	now = noon.Add(time.Minute)
	later := installing(45, "bootstrap complete")
	later.Progress.Eta = noon.Add(25 * time.Minute)
	l.Show(later)
	l.Tick(now)
	l.Note("The server cannot be reached; trying again.")
	l.Show(follow.State{Cluster: v1.Cluster{Name: "smoke", Status: v1.READY, Phase: "ready", Progress: v1.Progress{Percent: 100, Step: "done"}}})
	l.Close()
	require.Equal(t, `12:00:00  smoke  PENDING awaiting approval  waiting for approval
12:00:00  smoke  PENDING awaiting capacity  number 3 in the queue
12:00:00  smoke  CREATING installing  45 %  bootstrap complete  done in about 20 min
12:01:00  The server cannot be reached; trying again.
12:01:00  smoke  READY
`, out.String())
	require.Zero(t, l.Every())
}

func TestATryThatFailedIsToldOnceWithWhatFollows(t *testing.T) {
	failed := installing(0, "destroying")
	failed.Phase, failed.Why = "cleaning", "attempt 1 of 2 did not finish (no capacity); what it created is removed, then the next attempt begins"
	const told = "smoke: attempt 1 of 2 did not finish (no capacity); what it created is removed, then the next attempt begins\n"
	var log, terminal bytes.Buffer
	l := &progress.Lines{Out: &log, Now: func() time.Time { return noon }}
	b := &progress.Bar{Out: &terminal, Now: func() time.Time { return noon }, Width: func() int { return 80 }, Since: noon}
	for _, s := range []follow.State{installing(45, ""), failed, failed, installing(5, "")} {
		l.Show(s)
		b.Show(s)
	}
	require.Equal(t, 1, strings.Count(log.String(), told))
	require.Equal(t, 1, strings.Count(terminal.String(), told))
	require.Contains(t, terminal.String(), "done in about 20 min", "80 columns are enough for the expected end")
}

func TestATerminalHasOneLineThatIsDrawnOver(t *testing.T) {
	var out bytes.Buffer
	now, width := noon, 200
	b := &progress.Bar{Out: &out, Now: func() time.Time { return now }, Width: func() int { return width }, Since: noon.Add(-12 * time.Minute)}
	drawn := func() string {
		text := out.String()
		out.Reset()
		require.True(t, strings.HasPrefix(text, "\r\x1b[K"))
		return strings.TrimPrefix(text, "\r\x1b[K")
	}
	b.Tick(now)
	require.Empty(t, out.String(), "nothing is known yet")
	b.Show(installing(45, "bootstrap complete"))
	require.Equal(t, "⠙ ████░░░░░░  smoke  CREATING installing  45 %  done in about 20 min  12 min  bootstrap complete", drawn())
	now = noon.Add(30 * time.Minute)
	b.Tick(now)
	require.Equal(t, "⠹ ████░░░░░░  smoke  CREATING installing  45 %  42 min  bootstrap complete", drawn(), "an arrival that is past is not shown")
	width = 40
	b.Tick(now)
	require.Equal(t, 39, utf8.RuneCountInString(drawn()), "what is wrapped cannot be drawn over")
	b.Note("The server cannot be reached; trying again.")
	require.Contains(t, drawn(), "trying again.\n\r\x1b[K")
	b.Close()
	require.Empty(t, drawn())
	require.Equal(t, 250*time.Millisecond, b.Every())
}

func TestAPercentageOutOfBoundsStaysInTheBar(t *testing.T) {
	var out bytes.Buffer
	b := &progress.Bar{Out: &out, Now: func() time.Time { return noon }, Width: func() int { return 0 }, Since: noon}
	b.Show(installing(250, ""))
	b.Show(installing(-3, ""))
	require.Contains(t, out.String(), strings.Repeat("█", 10)+"  smoke")
	require.Contains(t, out.String(), strings.Repeat("░", 10)+"  smoke")
}

func TestLateIsSaid(t *testing.T) {
	var out bytes.Buffer
	l := &progress.Lines{Out: &out, Now: func() time.Time { return noon }}
	s := installing(80, "")
	s.Progress.Eta, s.Progress.Late = time.Time{}, noon.Add(10*time.Minute)
	l.Show(s)
	require.Contains(t, out.String(), "slower than usual; 90 % are done in 10 min")
}
