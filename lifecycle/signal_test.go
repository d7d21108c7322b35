package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestARunThatAskedForASignalLeavesItsClusterToTheNext(t *testing.T) {
	done, grace := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), 15*time.Minute
	of := func(conclusion string, ready time.Time) Bound {
		return Bound{
			Platform: GitHub, Lifetime: LifetimeRun, Attempt: 1, Newest: 1, Grace: grace, Run: Finish{conclusion, done}, Signalled: true, ReadyAt: ready,
		}
	}
	left := "its workflow run finished, and no run that its signal started took it over"
	silent, job, running := of("success", time.Time{}), of("success", time.Time{}), of("", time.Time{})
	silent.Signalled, running.Run = false, Finish{}
	job.Lifetime, job.Job = LifetimeJob, Finish{"success", done}
	for _, c := range []struct {
		name  string
		bound Bound
		at    time.Time
		why   string
	}{
		{"not ready yet", of("success", time.Time{}), time.Time{}, ""},
		{"ready after the run", of("success", done.Add(time.Hour)), done.Add(time.Hour + grace), left},
		{"ready before the run was over", of("success", done.Add(-time.Hour)), done.Add(grace), left},
		{"cancelled", of("cancelled", time.Time{}), done, "its workflow run was cancelled"},
		{"failed", of("failure", time.Time{}), done.Add(grace), "its workflow run failed"},
		{"no signal", silent, done, "its workflow run finished"},
		{"of a job", job, done, "its job finished"},
		{"still running", running, time.Time{}, ""},
	} {
		at, why := RunEnd(c.bound)
		require.Equal(t, c.at, at, c.name)
		require.Equal(t, c.why, why.String(), c.name)
	}
}

func TestASignalTellsWhatAPipelineCanDo(t *testing.T) {
	was := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		cluster Cluster
		want    SignalState
	}{
		{Cluster{Status: Pending}, SignalBegun},
		{Cluster{Status: Creating}, SignalBegun},
		{Cluster{Status: Ready, ReadyAt: was}, SignalReady},
		{Cluster{Status: Failed}, SignalFailed},
		{Cluster{Status: Destroying}, SignalFailed},
		{Cluster{Status: Destroyed}, SignalFailed},
		{Cluster{Status: Destroying, ReadyAt: was}, SignalEnded},
		{Cluster{Status: Destroyed, ReadyAt: was}, SignalEnded},
	} {
		require.Equal(t, c.want, SignalOf(c.cluster), c.cluster.Status)
	}
}

func TestTimeIsSavedFromTheRequestUntilTheClusterIsReady(t *testing.T) {
	asked := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	of := func(free, ready time.Time) time.Duration {
		c := Card{FreeSince: free}
		c.ReadyAt = ready
		return c.SavedTime()
	}
	require.Equal(t, 34*time.Minute, of(asked, asked.Add(34*time.Minute)))
	require.Zero(t, of(asked, time.Time{}), "it is not ready")
	require.Zero(t, of(time.Time{}, asked), "a runner waited")
	require.Zero(t, of(asked, asked.Add(-time.Hour)), "it was ready before")
}
