package duration_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/internal/duration"
)

func TestADurationIsReadAsPeopleTypeIt(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"24h": 24 * time.Hour, "2d": 48 * time.Hour, "1d12h": 36 * time.Hour, "90m": 90 * time.Minute, "2days": 48 * time.Hour, "2 days": 48 * time.Hour,
		"1H30M": 90 * time.Minute, " 3h ": 3 * time.Hour, "1.5h": 90 * time.Minute, "0.5d": 12 * time.Hour, "90s": 90 * time.Second, "250ms": 250 * time.Millisecond,
		"-4h": -4 * time.Hour, "4 d 5 h": 101 * time.Hour, "23 h 58 min": 24*time.Hour - 2*time.Minute, "0s": 0, "1h30m0s": 90 * time.Minute,
	} {
		got, ok := duration.Parse(text)
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "h", "8", "12h1d", "1h1h", "3x", "99999999h", "--4h", "4h-1m", "1.h", "-", "never", "1 2h", "+4h", "200000d", "-999999d", "106751d999999h"} {
		_, ok := duration.Parse(text)
		require.False(t, ok, text)
	}
}

func TestAPlainNumberIsHoursWherePeopleGiveLifetimes(t *testing.T) {
	for text, want := range map[string]time.Duration{"8": 8 * time.Hour, "1.5": 90 * time.Minute, "-2": -2 * time.Hour, "0": 0, "90m": 90 * time.Minute} {
		got, ok := duration.ParseHours(text)
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "8x", "1e3", "0x10", "inf", "nan"} {
		_, ok := duration.ParseHours(text)
		require.False(t, ok, text)
	}
}

func TestAWordForNoEndIsALifetimeOfZero(t *testing.T) {
	for text, want := range map[string]time.Duration{"never": 0, "∞": 0, " Forever ": 0, "0": 0, "8": 8 * time.Hour, "90m": 90 * time.Minute} {
		got, ok := duration.ParseLifetime(text)
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	_, ok := duration.ParseLifetime("soon")
	require.False(t, ok)
}

func TestADurationIsWrittenInItsTwoLargestUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 45 * time.Second: "45 s", 90 * time.Second: "1 min 30 s", 5 * time.Minute: "5 min", 12*time.Minute + 20*time.Second: "12 min",
		59*time.Minute + 59*time.Second + 700*time.Millisecond: "1 h", 24*time.Hour - 2*time.Minute: "23 h 58 min", 25*time.Hour + 30*time.Minute: "25 h 30 min",
		72 * time.Hour: "72 h", 96 * time.Hour: "96 h", 101*time.Hour + 47*time.Minute: "4 d 5 h", 168 * time.Hour: "7 d", 168*time.Hour + 30*time.Minute: "7 d 30 min",
		-90 * time.Minute: "-1 h 30 min", 400 * time.Millisecond: "0 s",
	} {
		require.Equal(t, want, duration.Format(d))
	}
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0s", 90 * time.Second: "1m30s", 4 * time.Hour: "4h", 90 * time.Minute: "1h30m", 20 * time.Minute: "20m", 48 * time.Hour: "48h"} {
		require.Equal(t, want, duration.Typed(d))
	}
	rapid.Check(t, func(r *rapid.T) {
		d := time.Duration(rapid.Int64Range(-1e6, 1e6).Draw(r, "seconds")) * time.Second
		got, ok := duration.Parse(duration.Typed(d))
		require.True(r, ok)
		require.Equal(r, d, got)
		_, ok = duration.Parse(duration.Format(d))
		require.True(r, ok, "a person can type what was shown")
	})
}

func TestATimeIsAwayFromNow(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for d, want := range map[time.Duration]string{0: "now", 3 * time.Hour: "in 3 h", -5 * time.Minute: "5 min ago"} {
		require.Equal(t, want, duration.Away(now.Add(d), now))
	}
	require.Empty(t, duration.Away(time.Time{}, now))
}
