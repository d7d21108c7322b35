//go:build kubernetes

package runner_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/kubernetes"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// This test runs with make test-kubernetes: a real API server has the types of openshift/api, and the rights of Kubernetes.
func TestTheCardInARealCluster(t *testing.T) {
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

	w := reachable(t, server, oc)
	w.spec.Kind, w.spec.RouteLabel = contract.KindInform, "ocpctl/show=true"
	w.spec.Card = &contract.Card{Owner: "Maya", Team: "payments", Ends: time.Date(2030, 1, 2, 15, 0, 0, 0, time.UTC), Page: "https://ocpctl.example.com/clusters/clu_1"}
	admin := reader{t, oc, filepath.Join(t.TempDir(), "admin")}
	admin.write(w)
	for _, namespace := range []string{"openshift-config-managed", "shop"} {
		admin.may("create", "namespace", namespace)
	}
	for _, crd := range []string{"console/v1/zz_generated.crd-manifests/00_consolenotifications.crd.yaml", "route/v1/zz_generated.crd-manifests/routes.crd.yaml"} {
		admin.may("apply", "--server-side", "-f", filepath.Join(module.Dir, crd))
	}
	for _, crd := range []string{"consolenotifications.console.openshift.io", "routes.route.openshift.io"} {
		admin.may("wait", "crd/"+crd, "--for=condition=Established", "--timeout=30s")
	}
	w.file("route.json", `{"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{"name":"web","namespace":"shop","labels":{"ocpctl/show":"true"},"annotations":{"ocpctl/title":"The \"shop\""}},
		"spec":{"host":"web.apps.shop.labs.example.com","path":"/login","tls":{"termination":"edge"},"to":{"kind":"Service","name":"web","weight":100},"wildcardPolicy":"None"}}`)
	admin.may("apply", "--server-side", "-f", filepath.Join(w.dir, "route.json"))
	admin.may("patch", "route", "web", "-n", "shop", "--subresource=status", "--type=merge", "-p",
		`{"status":{"ingress":[{"host":"web.apps.shop.labs.example.com","routerName":"default","conditions":[{"type":"Admitted","status":"True"}]}]}}`)

	require.NoError(t, w.run(t.Context()))
	got := w.result()
	require.Equal(t, "succeeded", got.Outcome, got.Message)
	require.Equal(t, &[]contract.Link{{Title: `The "shop"`, URL: "https://web.apps.shop.labs.example.com/login"}}, got.Links)
	require.Contains(t, admin.may("get", "consolenotification", "ocpctl-info", "-o", "jsonpath={.spec.text} {.spec.link.href}"), "shop belongs to Maya and ends at 15:00 UTC on 2 January 2030")
	anybody := []string{"-n", "openshift-config-managed", "--as=system:serviceaccount:shop:default", "-o", "jsonpath={.data.owner}"}
	require.Equal(t, "Maya", admin.may(append([]string{"get", "configmap", "ocpctl-info"}, anybody...)...), "everybody who is signed in may read it")
	admin.mayNot(append([]string{"get", "configmap", "kube-root-ca.crt"}, anybody...)...)
}
