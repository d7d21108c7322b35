package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheLastTryTakesNoSpotMachines(t *testing.T) {
	c := Cluster{ID: "clu_1", Status: Pending, Phase: Queued, Desired: Present, MaxTries: 3, Spot: SpotWorkers, Ends: Ends{TTL: epoch.Add(8 * time.Hour), Max: epoch.Add(9 * time.Hour)}}
	f := Facts{Now: epoch}
	for try, want := range []struct {
		orders        bool
		is            Spot
		begins, after string
	}{
		{true, SpotWorkers, "attempt 1 of 3 begins", "attempt 1 of 3 did not finish (no spot machines); what it created is removed, then the next attempt begins"},
		{true, SpotWorkers, "attempt 2 of 3 begins", "attempt 2 of 3 did not finish (no spot machines); what it created is removed, then the next attempt begins, with its workers on demand instead of spot"},
		{false, SpotGivenUp, "attempt 3 of 3 begins, with its workers on demand instead of spot", ""},
	} {
		d := Decide(c, f, limits)
		require.Equal(t, Create, d.Open)
		require.Equal(t, want.orders, d.Spot, "try %d", try+1)
		require.Equal(t, want.is, d.Next.Spot)
		require.Equal(t, want.begins, d.Next.Why.String())
		failed := Attempt{Number: 2*try + 1, Kind: Create, OpenedAt: f.Now, Recorded: true, ClosedAt: f.Now, Outcome: Failure, Reason: SpotUnavailable, Message: "no spot machines", Whose: "cloud", Retryable: true}
		if want.after == "" {
			failed.Outcome = Succeeded
		}
		d = Decide(d.Next, Facts{Now: f.Now, Last: &failed}, limits)
		if want.after == "" {
			require.Equal(t, "installed on attempt 3 of 3, with its workers on demand instead of spot", d.Next.Why.String())
			require.Equal(t, SpotGivenUp, d.Next.Spot)
			return
		}
		require.Equal(t, want.after, d.Next.Why.String())
		cleaned := Attempt{Number: 2*try + 2, Kind: Destroy, Outcome: Succeeded, ToolExitedAt: f.Now, Passes: []Pass{{At: f.Now, Clean: true}, {At: f.Now.Add(limits.VerifyGap), Clean: true}}}
		f.Now = f.Now.Add(time.Hour)
		c, f.Last = d.Next, &cleaned
	}
}

func TestATryThatIsGivenBackOrdersWhatItOrdered(t *testing.T) {
	c := Cluster{ID: "clu_1", Status: Creating, Phase: Preflight, Desired: Present, MaxTries: 2, Tries: 2, Spot: SpotGivenUp, Ends: Ends{TTL: epoch.Add(8 * time.Hour), Max: epoch.Add(9 * time.Hour)}}
	waits := Attempt{Number: 3, Kind: Create, Outcome: Waiting, ClosedAt: epoch}
	d := Decide(c, Facts{Now: epoch, Last: &waits}, limits)
	require.Equal(t, 1, d.Next.Tries)
	c = d.Next
	d = Decide(c, Facts{Now: epoch.Add(time.Hour), Last: &waits}, limits)
	require.Equal(t, Create, d.Open)
	require.False(t, d.Spot)
}

func TestAClusterOfSpotMachinesSaysWhyItDoesNotSleep(t *testing.T) {
	require.Equal(t, "its profile has no way to sleep", Cluster{}.WhyNoSleep())
	c := Cluster{ID: "clu_1", Status: Ready, Phase: PhaseReady, Desired: Present, MaxTries: 2, Tries: 1, Spot: SpotWorkers, SleepWanted: true, ReadyAt: epoch, Seen: 1, Ends: Ends{TTL: epoch.Add(8 * time.Hour), Max: epoch.Add(9 * time.Hour)}}
	made := Attempt{Number: 1, Kind: Create, Outcome: Succeeded, Recorded: true, ClosedAt: epoch}
	d := Decide(c, Facts{Now: epoch, Last: &made}, limits)
	require.False(t, d.Next.SleepWanted)
	require.Contains(t, d.Jobs, JobMove{JobSleep, JobFailed, "CannotSleep", "its profile orders spot machines, which AWS ends instead of stopping them"})
}

// spotEndsWithTheLastTry: every try but the last orders spot machines for whom they are wanted, and nothing else changes that.
func spotEndsWithTheLastTry(_ *world, c Cluster, _ Facts, d Decision) string {
	n, opens := d.Next, d.Open == Create
	switch {
	case d.Spot != (opens && c.Spot == SpotWorkers && n.Tries < n.MaxTries):
		return "the wrong try orders spot machines"
	case n.Spot != c.Spot && !(opens && !d.Spot && n.Spot == SpotGivenUp):
		return "spot machines were given up before the last try"
	}
	return ""
}

// spotMutants are of the tries of clusters with spot machines.
var spotMutants = []mutant{
	{0, false, "the last try orders spot machines", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Open == Create && c.Spot == SpotWorkers && !d.Spot {
			d.Spot, d.Next.Spot = true, SpotWorkers
		}
		return d
	}},
	{0, false, "the second try gives spot machines up", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Spot && d.Next.Tries > 1 {
			d.Spot, d.Next.Spot = false, SpotGivenUp
		}
		return d
	}},
}
