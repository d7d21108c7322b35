package controller_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	hub "github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// While GitHub gives no answer little is asked; a minute after its return everything shows the last state, and nothing in between.
func TestTheLastStateIsShownWithinAMinuteOfGitHubsReturn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault  hub.APIFault
		lasts  time.Duration
		atMost int // calls while it lasts
	}{
		"an outage": {hub.APIFault{Status: 502, Message: "Server Error"}, 25 * time.Minute, 25 * 4},
		"a limit":   {hub.APIFault{Status: 403, RetryAfter: "1500", Message: "You have exceeded a secondary rate limit."}, 25*time.Minute - time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFront(t, documented)
			row, open := f.install(f.asked("shop", 41))
			other := f.asked("cart", 42)
			f.settle()
			calls, writes := len(f.hub.Calls()), len(f.writes)
			f.hub.FailNext(100_000, c.fault)
			end := f.now().Add(c.lasts)
			f.extended(row.ID)
			f.until(f.now().Add(c.lasts / 5))
			f.ends(open, attempts.ResultRow{Outcome: lifecycle.Succeeded, Outputs: &clusters.Outputs{ConsoleURL: "https://console.example.com", KubeconfigRef: "s3://b/operate/k"}})
			bumped(f, other.ID)
			f.until(end)
			require.LessOrEqual(t, len(f.hub.Calls())-calls, c.atMost)
			require.NotContains(t, f.ours(41)[0], "`shop` is ready")

			f.hub.Recover()
			f.until(end.Add(time.Minute + time.Second))
			f.shown(row)
			f.shown(other)
			require.Contains(t, f.ours(41)[0], "`shop` is ready")
			require.Less(t, len(f.writes)-writes, 100)
		})
	}
}
