package installer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
)

// living is a cluster of three machines of the control plane, and its kubeconfig.
type living struct {
	*installertest.World
	t               *testing.T
	dir, kubeconfig string
	infraID         string
}

func live(t *testing.T, workers int) *living {
	t.Helper()
	w := installertest.Start(t)
	dir := installertest.Dir(t, installertest.InstallConfig("shop", "us-east-2", workers))
	w.Must(t, dir, "create cluster")
	raw, err := os.ReadFile(filepath.Join(dir, "metadata.json"))
	require.NoError(t, err)
	var metadata struct{ InfraID string }
	require.NoError(t, json.Unmarshal(raw, &metadata))
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig") // destroy takes the installer's own away
	raw, err = os.ReadFile(filepath.Join(dir, "auth", "kubeconfig"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(kubeconfig, raw, 0o600))
	return &living{World: w, t: t, dir: dir, kubeconfig: kubeconfig, infraID: metadata.InfraID}
}

func (l *living) oc(args ...string) installertest.Result {
	l.t.Helper()
	return l.Tool(l.t, "oc", l.dir, append([]string{"--kubeconfig=" + l.kubeconfig}, args...)...)
}

func (l *living) scale(n string) installertest.Result {
	l.t.Helper()
	return l.oc("scale", "machineset", l.infraID+"-worker-us-east-2a", "-n", "openshift-machine-api", "--replicas="+n)
}

// set is the one machine set: how many it was asked for, has, and has ready.
func (l *living) set() [3]int {
	l.t.Helper()
	out := l.oc("get", "machinesets.machine.openshift.io", "-n", "openshift-machine-api", "-o", "json")
	require.Zero(l.t, out.Code, out.Stderr)
	var list struct {
		Items []struct {
			Spec   struct{ Replicas int }
			Status struct{ Replicas, ReadyReplicas int }
		}
	}
	require.NoError(l.t, json.Unmarshal([]byte(out.Stdout), &list))
	require.Len(l.t, list.Items, 1)
	return [3]int{list.Items[0].Spec.Replicas, list.Items[0].Status.Replicas, list.Items[0].Status.ReadyReplicas}
}

// get is what oc says of something, as text.
func (l *living) get(what ...string) string {
	l.t.Helper()
	out := l.oc(append(append([]string{"get"}, what...), "-n", "openshift-machine-api", "-o", "json")...)
	require.Zero(l.t, out.Code, out.Stderr)
	return out.Stdout
}

func (l *living) becomes(want [3]int) {
	l.t.Helper()
	for l.set() != want {
		if l.t.Context().Err() != nil {
			l.t.Fatalf("the set stays at %v", l.set())
		}
	}
}

func TestScaledWorkersAreTheClustersAndGoWithIt(t *testing.T) {
	l := live(t, 0)
	require.Equal(t, [3]int{}, l.set(), "the installer makes a set for every zone, of no machines too")
	require.Contains(t, l.get("schedulers.config.openshift.io", "cluster"), `"mastersSchedulable": true`)

	out := l.scale("3")
	require.Equal(t, []any{0, "machineset.machine.openshift.io/" + l.infraID + "-worker-us-east-2a scaled\n"}, []any{out.Code, out.Stdout}, out.Stderr)
	l.becomes([3]int{3, 3, 3})
	instances := 0
	for _, line := range l.Left(t, l.infraID) {
		if strings.HasPrefix(line, "instance ") && strings.Contains(line, "-worker-us-east-2a-") {
			instances++
		}
	}
	require.Equal(t, 3, instances, "they are named and tagged as the installer's")
	require.Equal(t, 3, strings.Count(l.get("nodes"), `"name": "`+l.infraID+"-worker-"))

	require.Zero(t, l.scale("1").Code)
	l.becomes([3]int{1, 1, 1})
	require.Zero(t, l.scale("2").Code)
	l.Must(t, l.dir, "destroy cluster")
	require.Empty(t, l.Left(t, l.infraID))
	out = l.oc("get", "nodes", "-o", "json")
	require.Equal(t, 1, out.Code)
	require.Contains(t, out.Stderr, "Unable to connect to the server: dial tcp: lookup api.shop.labs.example.com: no such host")
}

func TestTheControlPlaneTakesWorkloadsWhenItIsTold(t *testing.T) {
	l := live(t, 2)
	require.Contains(t, l.get("nodes"), "NoSchedule")
	out := l.oc("patch", "schedulers.config.openshift.io", "cluster", "--type=merge", `--patch={"spec":{"mastersSchedulable":true}}`)
	require.Zero(t, out.Code, out.Stderr)
	require.NotContains(t, l.get("nodes"), "NoSchedule")
	require.Contains(t, l.get("schedulers.config.openshift.io", "cluster"), `"mastersSchedulable": true`)
}

func TestScalingFailsTheWaysItReallyDoes(t *testing.T) {
	l := live(t, 1)
	l.becomes([3]int{1, 1, 1})
	fault := func(f installer.Fault) {
		require.NoError(t, installer.WriteFaults(l.Faults, installer.Faults{"oc-scale/shop": f}))
	}
	fault(installer.Fault{Times: 1, Message: "Error from server (Forbidden): machinesets is forbidden"})
	out := l.scale("2")
	require.Equal(t, []any{1, "Error from server (Forbidden): machinesets is forbidden\n"}, []any{out.Code, out.Stderr})
	require.Equal(t, [3]int{1, 1, 1}, l.set())

	fault(installer.Fault{Times: 1, FailAt: "launch", Message: "VcpuLimitExceeded: You have requested more vCPU capacity"})
	require.Zero(t, l.scale("2").Code, "the machine API fails on its own")
	require.Equal(t, [3]int{2, 1, 1}, l.set())
	require.Contains(t, l.get("machines.machine.openshift.io"), "error launching instance: VcpuLimitExceeded")

	fault(installer.Fault{Times: 1, FailAt: "ready"})
	require.Zero(t, l.scale("2").Code)
	require.Equal(t, [3]int{2, 2, 1}, l.set())
	require.Contains(t, l.get("nodes"), "KubeletNotReady")
	require.NotContains(t, l.get("machines.machine.openshift.io"), "VcpuLimitExceeded")
	require.Zero(t, l.scale("1").Code, "the newest goes first")

	out = l.oc("scale", "machineset", "other", "-n", "openshift-machine-api", "--replicas=1")
	require.Equal(t, "Error from server (NotFound): machinesets.machine.openshift.io \"other\" not found\n", out.Stderr)
	require.NoError(t, os.WriteFile(l.kubeconfig, []byte("clusters: [{cluster: {server: 'https://api.shop.labs.example.com:6443'}}]\n"), 0o600))
	require.Contains(t, l.oc("get", "nodes", "-o", "json").Stderr, "(Unauthorized)")
	l.Must(t, l.dir, "destroy cluster")
	require.Empty(t, l.Left(t, l.infraID))
}

func TestMustGatherLeavesAFolderOfTheImageThatCollected(t *testing.T) {
	l := live(t, 0)
	into := filepath.Join(t.TempDir(), "must-gather")
	out := l.oc("adm", "must-gather", "--dest-dir="+into, "--timeout=10m0s")
	require.Zero(t, out.Code, out.Stderr)
	operators, err := filepath.Glob(filepath.Join(into, "quay-io-*", "cluster-scoped-resources", "config.openshift.io", "clusteroperators.yaml"))
	require.NoError(t, err)
	require.Len(t, operators, 1)
	require.FileExists(t, filepath.Join(into, "timestamp"))

	require.NoError(t, installer.WriteFaults(l.Faults, installer.Faults{"oc-must-gather/shop": {Times: 1}}))
	require.Equal(t, "Unable to connect to the server: EOF\n", l.oc("adm", "must-gather", "--dest-dir="+into).Stderr)
	l.Must(t, l.dir, "destroy cluster")
	require.Contains(t, l.oc("adm", "must-gather", "--dest-dir="+into).Stderr, "no such host")
}
