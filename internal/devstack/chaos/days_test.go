package chaos

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/workhours"
)

// The product reads the working hours by its own clock. They must mean the same moments as opening and closing by the soak's, or hours that
// pass at once would be other hours than those that clusters sleep.
func TestWorkingHoursMeanTheSameByTheProductsClock(t *testing.T) {
	start := time.Date(2025, 3, 3, 0, 0, 0, 0, time.UTC)
	for ahead := time.Duration(0); ahead < 50*time.Hour; ahead += 37 * time.Minute {
		hours, err := workhours.Parse("UTC", []string{hoursBehind(ahead)}, nil)
		require.NoError(t, err)
		for at := time.Duration(0); at < 24*time.Hour; at += 15 * time.Minute {
			ofDay := (at + ahead) % (24 * time.Hour)
			require.Equal(t, ofDay >= opening && ofDay < closing, hours.Open(start.Add(at)), "%s ahead, at %s: %s", ahead, at, hoursBehind(ahead))
		}
	}
}

// Each night says what a cluster is at each moment, and nothing follows its release.
func TestEveryNightSaysWhatAClusterIsAtEachMoment(t *testing.T) {
	for _, n := range nights() {
		ended := false
		for at, is := range n.is {
			require.Contains(t, []state{awake, asleep, gone}, is, "%s, %s", n.name, moments()[at].name)
			require.False(t, ended && is != gone, "%s, %s", n.name, moments()[at].name)
			ended = ended || is == gone
		}
	}
}
