package devstack_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// A pull request's cluster is put to sleep by a comment and woken over the API, its runner is killed in the middle of both, and it is put to
// sleep once more and destroyed as it is: nothing is left of it.
func TestAClusterSleepsWakesAndIsDestroyedAsleep(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Hour)
	number, err := l.GitHub.Open("Save the night", "maya")
	require.NoError(t, err)
	require.NoError(t, l.GitHub.Label(number, label, "maya"))
	l.runUntil("ready", 60*time.Second, l.every(lifecycle.PhaseReady))
	id := l.clusters()[0].ID

	_, err = l.GitHub.Comment(number, "/ocp sleep --for 12h", "maya")
	require.NoError(t, err)
	l.killAt(lifecycle.GoingToSleep)
	l.runUntil("asleep", 60*time.Second, l.every(lifecycle.PhaseAsleep))
	states := l.instances()
	require.Equal(t, 3, states["stopped"], "%v", states)
	require.Zero(t, states["running"])
	asleep := ask[v1.ClusterDetail](l.as("admin"), http.MethodGet, "/api/v1/clusters/"+id, nil, http.StatusOK)
	require.False(t, asleep.Usable)
	require.Equal(t, v1.READY, asleep.Status)
	require.Equal(t, 17, asleep.HourlyCents)
	require.True(t, asleep.Sleep.Wanted)
	require.WithinDuration(t, time.Now().Add(12*time.Hour), asleep.Sleep.Until, time.Hour)
	refused := l.as("admin").refused(http.MethodGet, "/api/v1/clusters/"+id+"/kubeconfig", nil, http.StatusConflict)
	require.Contains(t, refused.Detail, "Wake it with ocpctl wake")

	ask[v1.Accepted](l.as("admin"), http.MethodPost, "/api/v1/clusters/"+id+"/wake", nil, http.StatusAccepted)
	l.killAt(lifecycle.Waking)
	l.runUntil("awake", 60*time.Second, func() bool {
		return l.count(`SELECT count(*) FROM clusters WHERE id = $1 AND phase = 'ready' AND power = ''`, id) == 1
	})
	require.Equal(t, 3, l.instances()["running"])
	require.Equal(t, 2, l.count(`SELECT count(*) FROM jobs WHERE cluster_id = $1 AND job_type IN ('SLEEP', 'WAKE') AND status = 'SUCCEEDED'`, id))

	_, err = l.GitHub.Comment(number, "/ocp sleep", "maya")
	require.NoError(t, err)
	l.runUntil("asleep again", 60*time.Second, l.every(lifecycle.PhaseAsleep))
	_, err = l.GitHub.Comment(number, "/ocp destroy", "will")
	require.NoError(t, err)
	l.runUntil("gone", 60*time.Second, l.every(lifecycle.Released))
	l.assertNothingLeft()
	l.assertSettled()
}

// killAt kills the runner that works in the phase, once.
func (l *life) killAt(phase lifecycle.Phase) {
	l.t.Helper()
	l.runUntil("a runner works in phase "+string(phase), 30*time.Second, func() bool {
		at, reached := l.reached(phase)
		if !reached {
			return false
		}
		l.killRunner(at.Attempt)
		return true
	})
}

// instances counts the machines in the cloud by their states.
func (l *life) instances() map[string]int {
	l.t.Helper()
	states := map[string]int{}
	for _, r := range l.AWS.Resources("") {
		if r.Type == "instance" {
			states[r.State]++
		}
	}
	return states
}
