package pace_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/runner/cloud/pace"
)

// calls makes some calls, throttled or not, and returns how long they took.
func calls(t *testing.T, l *pace.Lane, n int, throttled bool) time.Duration {
	t.Helper()
	began := time.Now()
	for range n {
		require.NoError(t, l.Wait(t.Context()))
		l.Note(throttled)
	}
	return time.Since(began).Round(time.Millisecond)
}

func TestEachServiceInEachRegionHasItsOwnRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pace.New(10, map[string]int{"dns": 3})
		require.Equal(t, time.Second, calls(t, p.Lane("us-south", "vpc"), 11, false))
		require.Zero(t, calls(t, p.Lane("eu-de", "vpc"), 1, false))
		require.Zero(t, calls(t, p.Lane("us-south", "tagging"), 1, false))
		require.Equal(t, 2*time.Second, calls(t, p.Lane("global", "dns"), 7, false))
		require.Equal(t, map[string]int{"vpc": 12, "tagging": 1, "dns": 7}, p.Calls())
		require.Equal(t, 11, p.CallsIn("us-south", "vpc"))
		require.Equal(t, 12, p.CallsIn("", "vpc"))
		require.Zero(t, p.CallsIn("us-south", "dns"))
	})
}

func TestThrottlingHalvesTheRateAndAnswersRaiseItAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pace.New(10, nil)
		l := p.Lane("us-south", "vpc")
		calls(t, l, 2, true)
		require.InDelta(t, 2.5, l.Rate(), 0.001)
		require.Equal(t, 2, p.Slowed())
		require.InDelta(t, 10, p.Lane("eu-de", "vpc").Rate(), 0.001, "other regions are not slowed")
		calls(t, l, 10, true)
		require.InDelta(t, pace.Slowest, l.Rate(), 0.001)
		calls(t, l, 100, false)
		require.InDelta(t, 10, l.Rate(), 0.001)
	})
}
