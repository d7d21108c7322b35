package actions_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/devstack/servicetest"
	"github.com/ocpctl/ocpctl/store"
)

// soon makes the cluster ready as soon as the job's log shows the text.
func (j *job) soon(text string) (done func()) {
	made := make(chan struct{})
	go func() {
		defer close(made)
		for !strings.Contains(j.logged(), text) {
			select {
			case <-j.Context().Done():
				return
			case <-time.After(time.Millisecond):
			}
		}
		j.ready()
	}()
	return func() { <-made }
}

// ready makes the only live cluster ready.
func (j *job) ready() {
	rows, _, err := j.store.List(j.Context(), store.Filter{Live: true})
	require.NoError(j, err)
	require.Len(j, rows, 1)
	servicetest.Ready(j, j.store, j.shelf, rows[0])
}

func TestAJobGetsACluster(t *testing.T) {
	j := newJob(t)
	done := j.soon("PENDING queued")
	require.Zero(t, j.step("create-cluster", "profile", "aws-minimal-test", "ttl", "4h", "wait", "true", "export-kubeconfig", "true", "env-prefix", "BLUE_", "params", "environment: test"), j.logged())
	done()
	kubeconfig := j.outputs["kubeconfig"]
	info, err := os.Stat(kubeconfig)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	require.Equal(t, kubeconfig, j.env["KUBECONFIG"])
	require.True(t, strings.HasPrefix(kubeconfig, j.env["RUNNER_TEMP"]))
	raw, err := os.ReadFile(kubeconfig)
	require.NoError(t, err)
	require.Contains(t, string(raw), servicetest.ClientKey)
	require.Contains(t, j.logged(), "::add-mask::"+servicetest.ClientKey+"\n")

	require.Zero(t, j.step("extend-cluster", "duration", "2h"), j.logged())
	require.Zero(t, j.step("extend-cluster", "duration", "400h"), j.logged())
	require.Zero(t, j.step("wait-cluster", "export-kubeconfig", "false", "wait-timeout", "1m"), j.logged())
	require.Zero(t, j.step("collect-logs", "bundle", "true", "must-gather", "false", "upload", "true"), j.logged())
	require.FileExists(t, filepath.Join(j.outputs["path"], "cluster.json"))
	require.Zero(t, j.step("destroy-cluster"), j.logged())
	j.golden("cluster.txt")
}
