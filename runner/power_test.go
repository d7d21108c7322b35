package runner_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// started is when the machines of the tests were started last.
var started = time.Date(2030, 1, 1, 8, 0, 0, 0, time.UTC)

// newSleeper is a ready cluster of one control-plane machine and two workers, and a runner that puts it to sleep or wakes it.
func newSleeper(t *testing.T, kind, state string) *world {
	t.Helper()
	w := newScaling(t, 0, 1, 1)
	w.spec.Kind, w.spec.Power, w.spec.Scale = kind, &contract.Power{Mode: contract.PowerStopped, KubeconfigRef: w.spec.Scale.KubeconfigRef}, nil
	w.cfg.Timings.Power, w.spec.VerifyGap = 20*time.Second, 2*time.Millisecond
	for i, name := range []string{"master-0", "worker-a-1", "worker-b-1"} {
		w.machines = append(w.machines, cloud.Machine{
			ID: fmt.Sprintf("i-%d", i), Name: "shop-00001-" + name, ControlPlane: i == 0, State: state, Started: started, Ours: true,
		})
	}
	w.file("operators", operators("True", "False", "False"))
	w.file("nodes", nodes("True", started.Add(time.Minute)))
	return w
}

func (w *world) file(name, body string) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(filepath.Join(w.dir, name), []byte(body), 0o600))
}

func operators(available, degraded, progressing string) string {
	return fmt.Sprintf("{\n\"items\": [{\"metadata\": {\"name\": \"ingress\"}, \"status\": {\"conditions\": [{\"type\": \"Available\", \"status\": %q}, "+
		"{\"type\": \"Degraded\", \"status\": %q}, {\"type\": \"Progressing\", \"status\": %q}]}}]\n}\n", available, degraded, progressing)
}

// nodes are those of the three machines.
func nodes(ready string, reported time.Time) string { return nodesOf(3, ready, reported) }

func nodesOf(machines int, ready string, reported time.Time) string {
	var items []string
	for i := range machines {
		items = append(items, fmt.Sprintf(`{"metadata": {"name": "node-%d"}, "spec": {"providerID": "aws:///us-east-1a/i-%d"}, "status": {"conditions": [
			{"type": "Ready", "status": %q, "reason": "NodeStatusUnknown", "message": "Kubelet stopped posting node status.", "lastHeartbeatTime": %q}]}}`,
			i, i, ready, reported.Format(time.RFC3339)))
	}
	return "{\n\"items\": [" + strings.Join(items, ",") + "]\n}\n"
}

// turned is in which order machines were started or stopped.
func (w *world) turned() (events []string) {
	for _, event := range w.happened() {
		if text, ok := strings.CutPrefix(event, "cloud: running "); ok {
			events = append(events, text)
		}
	}
	return events
}

func TestMachinesAreStoppedInOrder(t *testing.T) {
	w := newSleeper(t, contract.KindSleep, cloud.MachineRunning)
	require.NoError(t, w.run(t.Context()))
	result := w.result()
	require.Equal(t, "succeeded", result.Outcome, result.Message)
	require.True(t, *result.Asleep)
	require.Nil(t, result.Workers)
	require.Equal(t, []string{"false i-1", "false i-2", "false i-0"}, w.turned(), "the control plane is last")
	require.Equal(t, []string{"restoring", "going_to_sleep"}, w.phases())
	require.Empty(t, w.records)

	again := newSleeper(t, contract.KindSleep, cloud.MachineStopped)
	again.machines[0].State = cloud.MachineRunning
	require.NoError(t, again.run(t.Context()))
	require.Equal(t, []string{"false i-0"}, again.turned(), "what an earlier attempt did is not done again")
}

func TestAClusterIsNotStopped(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*world)
		reason string
		awake  bool // that is known
	}{
		"with spot machines":             {func(w *world) { w.machines[2].Spot = true }, "SpotMachines", true},
		"with a machine that lacks tags": {func(w *world) { w.machines[1].Ours = false }, "MachineNotOurs", true},
		"without a control plane":        {func(w *world) { w.machines = w.machines[1:] }, "NoControlPlane", false},
		"with another account's keys":    {func(w *world) { w.account = "210987654321" }, "WrongAccount", false},
		"while the cloud does not say":   {func(w *world) { w.listing = errors.New("no route") }, "CloudUnanswered", false},
		"while the cloud refuses to":     {func(w *world) { w.listing = forbidden }, "PermissionMissing", false},
		"without a kubeconfig":           {func(w *world) { w.spec.Power.KubeconfigRef = "" }, "KubeconfigMissing", true},
		"without a way":                  {func(w *world) { w.spec.Power = nil }, "RunnerError", false},
		"in a way that is not known":     {func(w *world) { w.spec.Power.Mode = "paused" }, "UnknownMode", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSleeper(t, contract.KindSleep, cloud.MachineRunning)
			c.change(w)
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, c.reason, w.result().Reason)
			require.Equal(t, c.awake, w.result().Asleep != nil && !*w.result().Asleep)
			require.Empty(t, w.turned())
		})
	}
}

func TestAClusterWakesWhenItsNodesAndOperatorsAreWell(t *testing.T) {
	w := newSleeper(t, contract.KindWake, cloud.MachineStopped)
	w.file("nodes", nodes("Unknown", started))
	w.file("nodes-back", nodes("True", started.Add(time.Minute)))
	w.file("machines", `{
"items": [{"status": {"nodeRef": {"name": "node-1"}, "addresses": [{"type": "InternalIP", "address": "10.0.1.7"}]}}]
}
`)
	w.file("requests", requestOf(t, "node-1"))
	require.NoError(t, w.run(t.Context()))
	result := w.result()
	require.Equal(t, "succeeded", result.Outcome, result.Message)
	require.False(t, *result.Asleep)
	require.Equal(t, []string{"true i-0", "true i-1", "true i-2"}, w.turned(), "the control plane is first")
	require.Equal(t, []string{"adm certificate approve csr-node-1"}, w.asked())
	require.Equal(t, []string{"restoring", "waking"}, w.phases())
}

// requestOf is the list with a node's request for a client certificate.
func requestOf(t *testing.T, node string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "system:node:" + node, Organization: []string{"system:nodes"}}}, key)
	require.NoError(t, err)
	item, err := json.Marshal(map[string]any{"metadata": map[string]any{"name": "csr-" + node}, "spec": map[string]any{
		"request":    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
		"signerName": "kubernetes.io/kube-apiserver-client-kubelet", "usages": []string{"digital signature", "client auth"},
		"username": "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper",
		"groups":   []string{"system:serviceaccounts:openshift-machine-config-operator"},
	}})
	require.NoError(t, err)
	return "{\n\"items\": [" + string(item) + "]\n}\n"
}

func TestAClusterThatIsNotWellIsNotAwake(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*world)
		reason string
		says   string
	}{
		"a node did not report since": {func(w *world) { w.file("nodes", nodes("True", started.Add(-time.Hour))) }, "NodesNotReady", "did not report since 2030-01-01T08:00:00Z"},
		"a node is not ready":         {func(w *world) { w.file("nodes", nodes("Unknown", started.Add(time.Minute))) }, "NodesNotReady", "Kubelet stopped posting"},
		"a node is missing":           {func(w *world) { w.file("nodes", "{\n\"items\": []\n}\n") }, "NodesNotReady", "shop-00001-master-0 has no node"},
		"somebody else's request": {func(w *world) {
			w.file("requests", requestOf(t, "intruder"))
			w.file("nodes", nodes("Unknown", started))
			w.file("nodes-back", nodes("True", started.Add(time.Minute)))
		}, "NodesNotReady", "is not ready"},
		"the cloud has no capacity": {func(w *world) {
			w.power = func(cloud.Machine, bool) error { return noCapacity }
		}, "NoCapacity", "control plane are running"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSleeper(t, contract.KindWake, cloud.MachineStopped)
			w.cfg.Timings.Power = 1500 * time.Millisecond
			c.change(w)
			require.NoError(t, w.run(t.Context()))
			result := w.result()
			require.Equal(t, "failed", result.Outcome)
			require.Equal(t, c.reason, result.Reason, result.Message)
			require.Contains(t, result.Message, c.says)
			require.True(t, result.Retryable)
			require.Nil(t, result.Asleep)
			require.Empty(t, w.asked(), "nothing was approved")
		})
	}
}

// An attempt that was ended after it had started the machines is followed by one that finds them running. On IBM Cloud nobody tells that one
// when they were started.
func TestANodeThatReportedBeforeItSleptIsNotAwakeInTheNextAttemptEither(t *testing.T) {
	w := newSleeper(t, contract.KindWake, cloud.MachineRunning)
	w.cfg.Timings.Power = 1500 * time.Millisecond
	for i := range w.machines {
		w.machines[i].Started = time.Time{}
	}
	w.file("nodes", nodes("True", time.Now().Add(-time.Minute)))
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "NodesNotReady", w.result().Reason, w.result().Message)
	require.Contains(t, w.result().Message, "did not report since ")

	w = newSleeper(t, contract.KindWake, cloud.MachineRunning)
	for i := range w.machines {
		w.machines[i].Started = time.Time{}
	}
	w.file("nodes", nodes("True", time.Now().Add(time.Minute)))
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
}

func TestAClusterWithAnOperatorThatIsNotWellIsAwakeWithAWarning(t *testing.T) {
	for says, c := range map[string][3]string{
		"ingress is not available": {"False", "False", "False"}, "ingress is degraded": {"True", "True", "False"}, "ingress is progressing": {"True", "False", "True"},
	} {
		t.Run(says, func(t *testing.T) {
			w := newSleeper(t, contract.KindWake, cloud.MachineStopped)
			w.cfg.Timings.Power = 1500 * time.Millisecond
			w.file("operators", operators(c[0], c[1], c[2]))
			require.NoError(t, w.run(t.Context()))
			result := w.result()
			require.Equal(t, "succeeded", result.Outcome, result.Message)
			require.Equal(t, "the cluster is awake, but not all of its operators are well: "+says, result.Message)
			require.False(t, *result.Asleep)
		})
	}
}

func TestAClusterThatDoesNotTellOfItsOperatorsIsNotAwake(t *testing.T) {
	w := newSleeper(t, contract.KindWake, cloud.MachineStopped)
	w.cfg.Timings.Power = 1500 * time.Millisecond
	w.file("operators", "{\n\"items\": []\n}\n")
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "failed", w.result().Outcome)
	require.Nil(t, w.result().Asleep)
}

func TestWorkersGoAndComeBack(t *testing.T) {
	sleeps := newScaling(t, 0, 1, 1, 1)
	sleeps.spec.Kind, sleeps.spec.Power = contract.KindSleep, &contract.Power{Mode: contract.PowerWorkers, KubeconfigRef: sleeps.spec.Scale.KubeconfigRef}
	require.NoError(t, sleeps.run(t.Context()))
	require.True(t, *sleeps.result().Asleep, sleeps.result().Message)
	require.Equal(t, []string{patched(true), scaled(0, 0), scaled(1, 0), scaled(2, 0)}, sleeps.asked())

	wakes := newScaling(t, 2, 0, 0, 0)
	wakes.spec.Kind, wakes.spec.Power = contract.KindWake, &contract.Power{Mode: contract.PowerWorkers, KubeconfigRef: wakes.spec.Scale.KubeconfigRef}
	wakes.spec.VerifyGap = time.Millisecond
	wakes.file("schedulable", "true")
	wakes.file("operators", operators("True", "False", "False"))
	require.NoError(t, wakes.run(t.Context()))
	require.False(t, *wakes.result().Asleep, wakes.result().Message)
	require.Nil(t, wakes.result().Workers)
	require.Equal(t, []string{scaled(0, 1), scaled(1, 1), patched(false)}, wakes.asked())
}

func (c *fakeCloud) Machines(context.Context, cloud.Target) ([]cloud.Machine, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.machines), c.listing
}

// SetRunning is done at once, unless a test refuses it.
func (c *fakeCloud) SetRunning(_ context.Context, _ cloud.Target, ids []string, running bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.power != nil {
		if err := c.power(c.machines[slices.IndexFunc(c.machines, func(m cloud.Machine) bool { return m.ID == ids[0] })], running); err != nil {
			return err
		}
	}
	(*world)(c).note("cloud: running %t %s", running, strings.Join(ids, " "))
	for i, m := range c.machines {
		if slices.Contains(ids, m.ID) {
			c.machines[i].State = map[bool]string{true: cloud.MachineRunning, false: cloud.MachineStopped}[running]
		}
	}
	return nil
}
