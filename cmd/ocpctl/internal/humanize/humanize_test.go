package humanize_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
)

func TestADurationIsReadAsPeopleTypeIt(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"24h": 24 * time.Hour, "2d": 48 * time.Hour, "1d12h": 36 * time.Hour, "90m": 90 * time.Minute, "8": 8 * time.Hour,
		"2 days": 0, "2days": 48 * time.Hour, "1H30M": 90 * time.Minute, " 3h ": 3 * time.Hour,
		"": 0, "h": 0, "12h1d": 0, "1h1h": 0, "1.5h": 0, "3x": 0, "99999999h": 0, "-4h": 0,
	} {
		got, ok := humanize.Span(text)
		require.Equal(t, want, got, text)
		require.Equal(t, want != 0, ok, text)
	}
}

func TestALifetimeIsWholeHoursAboveZero(t *testing.T) {
	hours, err := humanize.Hours("2d")
	require.NoError(t, err)
	require.Equal(t, 48, hours)
	for text, want := range map[string]string{
		"90m":   `"90m" is not in whole hours. Give 24h, 2d, 1d12h, or a number of hours, e.g. 2h`,
		"0":     "every cluster has an end",
		"never": "every cluster has an end",
		"-3h":   "every cluster has an end",
		"soon":  `"soon" is not a duration`,
	} {
		_, err := humanize.Hours(text)
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

func TestTimesAndMoneyAreSaid(t *testing.T) {
	now := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	require.Equal(t, "in 3 h 20 min", humanize.Away(now.Add(200*time.Minute), now))
	require.Equal(t, "2 d 5 h ago", humanize.Away(now.Add(-53*time.Hour), now))
	require.Equal(t, "now", humanize.Away(now, now))
	require.Equal(t, "2025-03-01 13:00 UTC (in 1 h)", humanize.When(now.Add(time.Hour), now))
	require.Empty(t, humanize.When(time.Time{}, now))
	require.Equal(t, "59 s", humanize.Long(59*time.Second))
	require.Equal(t, "$1,234,567.05", humanize.Dollars(123456705))
	require.Equal(t, "-$0.50", humanize.Dollars(-50))
	require.Equal(t, "1 policy", humanize.Count(1, "policy"))
	require.Equal(t, "0 policies", humanize.Count(0, "policy"))
}

func TestWhatOthersWroteCannotPlayWithATerminal(t *testing.T) {
	require.Equal(t, "red title\n\tdone", humanize.Clean("\x1b[31mred\x1b[0m\x07 title\r\n\tdone\x1b[2"))
	require.Equal(t, "]0;owned", humanize.Line("\x1b]0;owned\x07\n"), "a window's title")
	require.Equal(t, "abc def", humanize.Line("a\u202eb\u2066c\n def\u0085"), "text that is turned around")
	require.Equal(t, "größe ✓", humanize.Line("größe ✓"))
}
