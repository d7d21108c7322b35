package runner_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
)

func contains(body []byte, text string) bool { return bytes.Contains(body, []byte(text)) }

// touch lets a script that waits for a file of this name go on.
func (w *world) touch(name string) {
	require.NoError(w.t, os.WriteFile(filepath.Join(w.dir, name), nil, 0o600))
}

func TestLateOperatorsGetTheRestOfTheDeadline(t *testing.T) {
	for _, code := range []string{"6", "7"} {
		w := newWorld(t, contract.KindCreate)
		w.on("create", `exit `+code)
		require.NoError(t, w.run(t.Context()))
		require.Equal(t, "succeeded", w.result().Outcome, "as if the installer had ended well at once")
		require.Equal(t, "https://console-openshift-console.apps.shop.labs.example.com", w.result().Outputs.ConsoleURL)
		require.Contains(t, readFile(t, filepath.Join(w.dir, "calls")), "openshift-install wait-for install-complete --dir "+w.cfg.WorkDir+"/install-1 --log-level=info\n")
		require.Contains(t, w.logText(), `Login to the console with user: "kubeadmin", and password:[redacted]`)
		require.NotContains(t, w.logText(), "CANARY-kubeadmin-password")
		_, exits := w.passesAndExits()
		require.Len(t, exits, 1)
		require.Zero(t, exits[0].Code)
	}
}

func TestOperatorsThatStayLateAreExplainedByWhatTheInstallSaid(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("create", `echo "level=error msg=Cluster operator ingress Degraded is True with IngressDegraded: no load balancer" >&2; exit 6`)
	w.on("wait-for", `echo "level=error msg=failed to initialize the cluster: Cluster operator monitoring is still updating" >&2; exit 6`)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "IngressOperatorDegraded", w.result().Reason)
	require.Contains(t, w.result().Message, "exit code 6). The installer said: Cluster operator ingress Degraded is True with IngressDegraded: no load balancer")
	require.True(t, w.result().Retryable)
	require.False(t, w.did("installer: gather"), "the bootstrap machine is gone")
}

func TestWaitingForOperatorsEndsWithTheDeadline(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.spec.CreateDeadline = 2 * time.Second
	w.on("create", `exit 7`)
	w.on("wait-for", hanging)
	began := time.Now()
	require.NoError(t, w.run(t.Context()))
	require.Less(t, time.Since(began), 10*time.Second)
	require.True(t, w.did("installer: asked"))
	require.Equal(t, "OperatorsNotStable", w.result().Reason)
}

func TestWithoutTimeLeftNobodyWaits(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.spec.CreateDeadline = 50 * time.Millisecond
	w.on("create", `trap 'exit 6' TERM; while :; do sleep 0.01; done`)
	require.NoError(t, w.run(t.Context()))
	require.False(t, w.did("installer: wait-for"))
	require.Equal(t, "DeadlineExceeded", w.result().Reason)
}

func TestAStopWhileWaitingForOperatorsIsPolite(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("create", `exit 6`)
	w.on("wait-for", hanging)
	w.whenHanging(func() {
		w.mu.Lock()
		w.stop = "destroy was asked for"
		w.mu.Unlock()
	})
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "stopped", w.result().Outcome)
	require.Equal(t, "StopAsked", w.result().Reason)
	require.True(t, w.did("installer: asked"))
}
