package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWhetherAClusterEndsByIdlenessIsAValue(t *testing.T) {
	for name, c := range map[string]struct {
		ends Ends
		idle bool
	}{
		"nobody uses it":                    {Ends{Max: epoch.Add(24 * time.Hour), TTL: epoch.Add(8 * time.Hour), Idle: epoch.Add(time.Hour)}, true},
		"nobody uses it, and it is held":    {Ends{Max: epoch.Add(24 * time.Hour), TTL: epoch.Add(8 * time.Hour), Idle: epoch.Add(time.Hour), Hold: epoch.Add(9 * time.Hour)}, true},
		"it is held to the maximum":         {Ends{Max: epoch.Add(24 * time.Hour), TTL: epoch.Add(8 * time.Hour), Idle: epoch.Add(time.Hour), Hold: epoch.Add(24 * time.Hour)}, false},
		"its time to live ends before":      {Ends{Max: epoch.Add(24 * time.Hour), TTL: epoch.Add(time.Hour), Idle: epoch.Add(2 * time.Hour)}, false},
		"its time to live ends at the same": {Ends{Max: epoch.Add(24 * time.Hour), TTL: epoch.Add(time.Hour), Idle: epoch.Add(time.Hour)}, false},
	} {
		require.Equal(t, c.idle, c.ends.IsIdle(), name)
	}
}
