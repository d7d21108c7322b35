//go:build kubernetes

package runner_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/kubernetes"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// This test runs with make test-kubernetes: a real API server decides which kubeconfig it accepts. What OpenShift's operator does is done here: it
// gives the API server the signers in the ConfigMap as its client CA.
func TestTheCredentialsOfAnInstallAreReplacedInARealCluster(t *testing.T) {
	server, err := kubernetes.Start(t.Context(), kubernetes.Config{Dir: filepath.Join(t.TempDir(), "kubernetes")})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	oc := filepath.Join(t.TempDir(), "oc")
	printed, err := exec.CommandContext(t.Context(), "go", "-C", "../tools/tekton", "build", "-o", oc, "./oc").CombinedOutput()
	require.NoError(t, err, "%s", printed)
	described, err := exec.CommandContext(t.Context(), "go", "-C", "../tools/helm", "mod", "download", "-json", "github.com/openshift/api").Output()
	require.NoError(t, err)
	var module struct{ Dir string }
	require.NoError(t, json.Unmarshal(described, &module))
	operators, err := filepath.Glob(filepath.Join(module.Dir, "config/v1/zz_generated.crd-manifests/*clusteroperators*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, operators)

	w := reachable(t, server, oc)
	w.spec.Kind, w.cfg.Timings.Health = contract.KindPrepare, time.Minute
	admin := reader{t, oc, filepath.Join(t.TempDir(), "admin")}
	admin.write(w)
	signer, kubeconfig := newInstall(t, readFile(t, admin.kubeconfig))
	w.file("signer.crt", signer)
	for _, namespace := range []string{"openshift-config", "openshift-config-managed"} {
		admin.may("create", "namespace", namespace)
	}
	admin.may("apply", "--server-side", "-f", operators[0])
	admin.may("wait", "crd/clusteroperators.config.openshift.io", "--for=condition=Established", "--timeout=30s")
	w.file("operator.json", `{"apiVersion":"config.openshift.io/v1","kind":"ClusterOperator","metadata":{"name":"ingress"},"spec":{}}`)
	admin.may("apply", "--server-side", "-f", filepath.Join(w.dir, "operator.json"))
	admin.may("patch", "clusteroperator", "ingress", "--subresource=status", "--type=merge", "-p", `{"status":{"conditions":[
		{"type":"Available","status":"True","lastTransitionTime":"2030-01-01T00:00:00Z"},{"type":"Degraded","status":"False","lastTransitionTime":"2030-01-01T00:00:00Z"}]}}`)
	admin.may("create", "configmap", "admin-kubeconfig-client-ca", "-n", "openshift-config", "--from-file=ca-bundle.crt="+filepath.Join(w.dir, "signer.crt"))
	admin.may("create", "secret", "generic", "kubeadmin", "-n", "kube-system", "--from-literal=kubeadmin=old")

	base := readFile(t, server.CA())
	done := make(chan struct{})
	go func() { // the operator
		defer close(done)
		for t.Context().Err() == nil {
			if signers, refusal := admin.try("get", "configmap", "admin-kubeconfig-client-ca", "-n", "openshift-config", `-o=jsonpath={.data.ca-bundle\.crt}`); refusal == "" {
				if now, _ := os.ReadFile(server.CA()); string(now) != base+signers {
					_ = os.WriteFile(server.CA()+".new", []byte(base+signers), 0o600)
					_ = os.Rename(server.CA()+".new", server.CA())
				}
			}
			time.Sleep(200 * time.Millisecond)
		}
	}()
	t.Cleanup(func() { <-done })

	old := reader{t, oc, filepath.Join(t.TempDir(), "old")}
	w.spec.KubeconfigRef, err = storeOf(t, w).PutOnce(t.Context(), artifacts.CredentialKey("clu_1", 2, time.Now(), "kubeconfig"), kubeconfig)
	require.NoError(t, err)
	old.write(w)
	require.Eventually(t, func() bool { _, refusal := old.try("get", "nodes"); return refusal == "" }, 2*time.Minute, 200*time.Millisecond)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
	w.spec.KubeconfigRef, _ = w.replaced()
	fresh := reader{t, oc, filepath.Join(t.TempDir(), "fresh")}
	fresh.write(w)
	require.Equal(t, "system:admin", fresh.user())
	_, refusal := old.try("get", "nodes")
	require.Contains(t, refusal, "must be logged in")
	require.NotEqual(t, "b2xk", fresh.may("get", "secret", "kubeadmin", "-n", "kube-system", "-o=jsonpath={.data.kubeadmin}"))
}
