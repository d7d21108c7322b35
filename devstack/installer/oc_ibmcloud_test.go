package installer_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
	"github.com/ocpctl/ocpctl/runner/csr"
)

// power asks VPC to start or stop the machines, and waits until they are in that state.
func power(t *testing.T, w *installertest.World, infraID, action, state string) {
	t.Helper()
	for _, r := range w.IBM.Resources(infraID) {
		if r.Type != "instance" || r.Service != "is" {
			continue
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.IBM.URL("vpc", "us-east")+"/instances/"+r.ID+"/actions?version=2025-07-08&generation=2", bytes.NewReader([]byte(`{"type":"`+action+`"}`)))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+w.IBMToken(t))
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusCreated, resp.StatusCode)
	}
	eventually(t, "the machines are "+state, func() bool {
		for _, r := range w.IBM.Resources(infraID) {
			if r.Type == "instance" && r.Service == "is" && r.State != state {
				return false
			}
		}
		return true
	})
}

func TestOnIBMCloudAClusterScalesAndWakesUp(t *testing.T) {
	w := installertest.StartIBMCloud(t)
	ofGroup(t, w, "cco-awake")
	dir := ibmInstall(t, w, "awake", "cco-awake", nil)
	w.Must(t, dir, "create cluster")
	infraID, _ := ibmMetadata(t, dir)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig") // destroy removes the installer's own
	raw, err := os.ReadFile(filepath.Join(dir, "auth", "kubeconfig"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(kubeconfig, raw, 0o600))
	oc := func(args ...string) installertest.Result {
		return w.Tool(t, "oc", t.TempDir(), append(args, "--kubeconfig", kubeconfig)...)
	}
	get := func(what string) string {
		out := oc("get", what, "-n", "openshift-machine-api", "-o", "json")
		require.Zero(t, out.Code, out.Stderr)
		return out.Stdout
	}
	require.Contains(t, get("machinesets"), `"name": "`+infraID+`-worker-1"`)
	require.Contains(t, get("nodes"), `"providerID": "ibm://`+w.IBM.Account()+"///"+infraID+"/")
	scaled := oc("scale", "machineset", infraID+"-worker-1", "--replicas", "2", "-n", "openshift-machine-api")
	require.Zero(t, scaled.Code, scaled.Stderr)
	require.Contains(t, get("machinesets"), `"readyReplicas": 2`)
	require.Zero(t, oc("scale", "machineset", infraID+"-worker-1", "--replicas", "0", "-n", "openshift-machine-api").Code)
	require.Zero(t, oc("patch", "scheduler", "cluster", "--type", "merge", "-p", `{"spec":{"mastersSchedulable":true}}`).Code)
	require.Contains(t, get("scheduler"), `"mastersSchedulable": true`)
	eventually(t, "the workers are gone", func() bool { return kinds(w.Left(t, infraID+"-worker"))["instance"] == 0 })

	power(t, w, infraID, "stop", "stopped")
	require.Contains(t, oc("get", "nodes", "-o", "json").Stderr, "Unable to connect to the server: dial tcp: lookup api.awake.labs.example.com: i/o timeout")
	power(t, w, infraID, "start", "running")
	require.Contains(t, get("nodes"), "KubeletNotReady")
	for range 2 { // the client's certificate, then the server's
		pending, err := csr.Pending([]byte(get("csr")))
		require.NoError(t, err)
		require.Len(t, pending, 3)
		for _, request := range pending {
			require.Zero(t, oc("adm", "certificate", "approve", request.Name).Code)
		}
	}
	require.NotContains(t, get("nodes"), "KubeletNotReady")
	w.Must(t, dir, "destroy cluster")
	require.Contains(t, oc("get", "nodes", "-o", "json").Stderr, "no such host")
}
