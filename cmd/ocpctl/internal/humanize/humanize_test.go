package humanize_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
)

func TestALifetimeIsAboveZero(t *testing.T) {
	for text, want := range map[string]string{"2d": "48h", "90m": "1h30m", "8": "8h"} {
		got, err := humanize.Lifetime(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for text, want := range map[string]string{
		"0": "every cluster has an end", "never": "every cluster has an end", "-3h": "every cluster has an end", "soon": `"soon" is not a duration. Give 90m`,
	} {
		_, err := humanize.Lifetime(text)
		require.ErrorContains(t, err, want)
	}
}

func TestATimeIsReadInUTC(t *testing.T) {
	now := time.Date(2025, 3, 8, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2025-03-01": time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC), "2025-03-01 15:04": time.Date(2025, 3, 1, 15, 4, 0, 0, time.UTC),
		"2025-03-01T15:04:05+01:00": time.Date(2025, 3, 1, 14, 4, 5, 0, time.UTC), "7d": now.AddDate(0, 0, -7),
	} {
		got, err := humanize.Past(text, now)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := humanize.Past("yesterday", now)
	require.ErrorContains(t, err, `"yesterday" is not a time`)
}

func TestTimesAndCountsAreWritten(t *testing.T) {
	now := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	require.Equal(t, "2025-03-01 13:00 UTC (in 1 h)", humanize.When(now.Add(time.Hour), now))
	require.Empty(t, humanize.When(time.Time{}, now))
	require.Equal(t, "1 policy", humanize.Count(1, "policy"))
	require.Equal(t, "0 policies", humanize.Count(0, "policy"))
}

func TestWhatOthersWroteCannotPlayWithATerminal(t *testing.T) {
	require.Equal(t, "red title\n\tdone", humanize.Clean("\x1b[31mred\x1b[0m\x07 title\r\n\tdone\x1b[2"))
	require.Equal(t, "]0;owned", humanize.Line("\x1b]0;owned\x07\n"), "a window's title")
	require.Equal(t, "abc def", humanize.Line("a\u202eb\u2066c\n def\u0085"), "text that is turned around")
	require.Equal(t, "größe ✓", humanize.Line("größe ✓"))
}
