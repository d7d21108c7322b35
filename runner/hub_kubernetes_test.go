//go:build kubernetes

package runner_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/deploy"
	"github.com/ocpctl/ocpctl/devstack/kubernetes"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// This test runs with make test-kubernetes: a namespace lives on a real Kubernetes API server, with no rights but those of deploy/hub.yaml.
func TestANamespaceInARealCluster(t *testing.T) {
	server, err := kubernetes.Start(t.Context(), kubernetes.Config{Dir: filepath.Join(t.TempDir(), "kubernetes"), Nodes: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	paths := map[string]string{
		"Namespace": "/api/v1/namespaces", "ServiceAccount": "/api/v1/namespaces/ocpctl/serviceaccounts", "Secret": "/api/v1/namespaces/ocpctl/secrets",
		"ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles", "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
		"ValidatingAdmissionPolicy": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", "ValidatingAdmissionPolicyBinding": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
	}
	decoder := yaml.NewDecoder(bytes.NewReader(deploy.Hub))
	for {
		var o map[string]any
		if err := decoder.Decode(&o); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		require.NoError(t, server.Admin(t.Context(), http.MethodPost, paths[fmt.Sprint(o["kind"])]+"?fieldValidation=Strict", o, nil))
	}
	var system struct{ Metadata struct{ UID string } }
	require.NoError(t, server.Admin(t.Context(), http.MethodGet, "/api/v1/namespaces/kube-system", nil, &system))
	var token struct{ Status struct{ Token string } }
	require.NoError(t, server.Admin(t.Context(), http.MethodPost, "/api/v1/namespaces/ocpctl/serviceaccounts/ocpctl-runner/token", map[string]any{"spec": map[string]any{}}, &token))
	url, err := server.URL()
	require.NoError(t, err)
	ca, err := os.ReadFile(server.CA())
	require.NoError(t, err)
	credentials, err := json.Marshal(map[string]string{"server": url, "token": token.Status.Token, "ca": string(ca)})
	require.NoError(t, err)

	w := onPlace(t, hubPlace{url, system.Metadata.UID, string(credentials), ca}, contract.KindCreate)
	w.access = func(int) contract.AccessWork {
		return contract.AccessWork{Give: []contract.Access{willView, mayaAdmin}}
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
	name := w.recordedName()
	own := "/api/v1/namespaces/" + name
	states := w.accessStates()
	_, admin := w.stored(states[mayaAdmin.ID].StoredAt, artifacts.AccessFile(mayaAdmin.ID))
	_, view := w.stored(states[willView.ID].StoredAt, artifacts.AccessFile(willView.ID))
	require.Equal(t, http.StatusCreated, w.as(admin, http.MethodPost, own+"/configmaps", `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"mine"}}`))
	require.Equal(t, http.StatusOK, w.as(admin, http.MethodGet, own+"/secrets", ""))
	require.Equal(t, http.StatusOK, w.as(view, http.MethodGet, own+"/pods", ""))
	require.Equal(t, http.StatusForbidden, w.as(view, http.MethodGet, own+"/secrets", ""))
	for _, path := range []string{"/api/v1/namespaces", "/api/v1/namespaces/kube-system/secrets", "/api/v1/secrets", "/api/v1/persistentvolumes"} {
		require.Equal(t, http.StatusForbidden, w.as(admin, http.MethodGet, path, ""), path)
	}
	for _, path := range []string{own, own + "/resourcequotas/ocpctl", own + "/limitranges/ocpctl", "/apis/networking.k8s.io/v1/namespaces/" + name + "/networkpolicies/ocpctl-isolated"} {
		require.Equal(t, http.StatusForbidden, w.as(admin, http.MethodDelete, path, ""), path)
	}
	require.Equal(t, http.StatusForbidden, w.as(admin, http.MethodPost, own+"/serviceaccounts/"+willView.Account+"/token", `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}`))
	require.Equal(t, http.StatusForbidden, w.as(admin, http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/namespaces/"+name+"/rolebindings",
		`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"more"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"}}`))

	w.assertNobodyReachesNodes(admin, own)
	w.assertTheRunnersAccountIsKept(token.Status.Token, own)
	w.assertHostedClustersAreKept(server, token.Status.Token, name)

	taken := w.after(t, contract.KindAccess)
	taken.access = func(int) contract.AccessWork {
		return contract.AccessWork{Take: []contract.Access{willView}, Keep: []string{mayaAdmin.Account}}
	}
	require.NoError(t, taken.run(t.Context()))
	require.Equal(t, "succeeded", taken.result().Outcome, taken.result().Message)
	require.Eventually(t, func() bool { return w.as(view, http.MethodGet, own+"/pods", "") == http.StatusUnauthorized }, time.Minute, 100*time.Millisecond)

	gone := w.after(t, contract.KindDestroy)
	gone.cfg.Timings.UncleanPasses, gone.spec.VerifyGap = 100, 200*time.Millisecond
	require.NoError(t, gone.run(t.Context()))
	require.Equal(t, "succeeded", gone.result().Outcome, gone.result().Message)
	require.Error(t, server.Admin(t.Context(), http.MethodGet, own, nil, nil), "the namespace is gone")
}

// assertNobodyReachesNodes checks that a reader's pods cannot take over a node, and that load balancers cost somebody a decision.
func (w *hubWorld) assertNobodyReachesNodes(reader, own string) {
	w.t.Helper()
	pod := func(more string) int {
		return w.as(reader, http.MethodPost, own+"/pods?dryRun=All", fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"mine"},"spec":{"containers":[{"name":"c","image":"registry.example.com/c"%s}`, more))
	}
	require.Eventually(w.t, func() bool { return pod(`}]}`) == http.StatusCreated }, time.Minute, 100*time.Millisecond, "a usual pod")
	require.NotEqual(w.t, http.StatusCreated, pod(`,"securityContext":{"privileged":true}}]}`), "a privileged pod, which this API server refuses anyway")
	require.Equal(w.t, http.StatusForbidden, pod(`,"securityContext":{"capabilities":{"add":["SYS_ADMIN"]}}}]}`), "a pod that administers its node")
	require.Equal(w.t, http.StatusForbidden, pod(`}],"volumes":[{"name":"v","hostPath":{"path":"/"}}]}`), "a pod with a node's files")
	require.Equal(w.t, http.StatusForbidden, pod(`}],"hostNetwork":true}`), "a pod in a node's network")
	require.Equal(w.t, http.StatusForbidden, w.as(reader, http.MethodPatch, own, `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"privileged"}}}`), "the label that says so")
	for kind, code := range map[string]int{"ClusterIP": http.StatusCreated, "LoadBalancer": http.StatusForbidden, "NodePort": http.StatusForbidden} {
		service := fmt.Sprintf(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"spec":{"type":%q,"ports":[{"port":80}]}}`, kind)
		require.Equal(w.t, code, w.as(reader, http.MethodPost, own+"/services?dryRun=All", service), kind)
	}
}

// assertTheRunnersAccountIsKept checks that its token is worth nothing outside of the namespaces that ocpctl made, as the policy in deploy/hub.yaml says.
func (w *hubWorld) assertTheRunnersAccountIsKept(token, own string) {
	w.t.Helper()
	bind := func(namespace string) int {
		return w.as(token, http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/namespaces/"+namespace+"/rolebindings?dryRun=All",
			`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"more"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"ocpctl-namespace-edit"},"subjects":[{"kind":"ServiceAccount","name":"ocpctl-runner","namespace":"ocpctl"}]}`)
	}
	require.Eventually(w.t, func() bool { return bind("kube-system") == http.StatusForbidden }, time.Minute, 100*time.Millisecond, "the policy is known everywhere after a while")
	require.Equal(w.t, http.StatusCreated, bind(filepath.Base(own)))
	create := func(name, labels string) int {
		return w.as(token, http.MethodPost, "/api/v1/namespaces?dryRun=All", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"`+name+`","labels":{`+labels+`}}}`)
	}
	require.Equal(w.t, http.StatusForbidden, create("more-abcde", ``))
	require.Equal(w.t, http.StatusForbidden, create("more-abcde", `"ocpctl.io/cluster":"clu_1"`), "it lets in privileged pods")
	require.Equal(w.t, http.StatusForbidden, create("more-abcde", `"ocpctl.io/cluster":"clu_1","pod-security.kubernetes.io/enforce":"privileged"`))
	for name, code := range map[string]int{"more-abcde": http.StatusCreated, "m-abcde": http.StatusCreated, "more": http.StatusForbidden, "openshift-monitoring": http.StatusForbidden} {
		require.Equal(w.t, code, create(name, `"ocpctl.io/cluster":"clu_1","pod-security.kubernetes.io/enforce":"baseline"`), name)
	}
	require.Equal(w.t, http.StatusForbidden, w.as(token, http.MethodDelete, "/api/v1/namespaces/default?dryRun=All", ""))
	require.Equal(w.t, http.StatusForbidden, w.as(token, http.MethodDelete, "/api/v1/namespaces/ocpctl?dryRun=All", ""))
}

// assertHostedClustersAreKept checks that the token makes no control plane in another's namespace, and has HyperShift run no image by annotation.
func (w *hubWorld) assertHostedClustersAreKept(server *kubernetes.Server, token, namespace string) {
	w.t.Helper()
	var crd any
	require.NoError(w.t, yaml.Unmarshal([]byte(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: hostedclusters.hypershift.openshift.io}, spec: {
		group: hypershift.openshift.io, scope: Namespaced, names: {kind: HostedCluster, plural: hostedclusters},
		versions: [{name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`), &crd))
	require.NoError(w.t, server.Admin(w.t.Context(), http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd, nil))
	all := "/apis/hypershift.openshift.io/v1beta1/namespaces/%s/hostedclusters"
	newOne := func(name, annotations string) string {
		return fmt.Sprintf(`{"apiVersion":"hypershift.openshift.io/v1beta1","kind":"HostedCluster","metadata":{"name":%q,"annotations":{%s}}}`, name, annotations)
	}
	for _, c := range []struct{ infraID, name, other string }{
		{namespace, "shop", "web"}, {"pr-41-abcde", "pr--41", "pr-4"}, {"a-name-that-is-longer-abcde", "a-name-that-is-longer-than-its-part", "a-name-that-is-longe"}, {"cut-where-the-dash-is-abcde", "cut-where-the-dash-is", "cut-where-the-dash"},
	} {
		if c.infraID != namespace {
			require.Equal(w.t, http.StatusCreated, w.as(token, http.MethodPost, "/api/v1/namespaces",
				`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"`+c.infraID+`","labels":{"ocpctl.io/cluster":"clu_2","pod-security.kubernetes.io/enforce":"baseline"}}}`), c.infraID)
		}
		require.Equal(w.t, http.StatusCreated, w.as(token, http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/namespaces/"+c.infraID+"/rolebindings",
			`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"hosted"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"ocpctl-hypershift-runner"},"subjects":[{"kind":"ServiceAccount","name":"ocpctl-runner","namespace":"ocpctl"}]}`))
		path := fmt.Sprintf(all, c.infraID)
		require.Eventually(w.t, func() bool {
			return w.as(token, http.MethodPost, path+"?dryRun=All", newOne(c.name, "")) == http.StatusCreated
		}, time.Minute, 100*time.Millisecond, c.name)
		require.Equal(w.t, http.StatusForbidden, w.as(token, http.MethodPost, path+"?dryRun=All", newOne(c.other, "")), c.other)
		require.Equal(w.t, http.StatusForbidden, w.as(token, http.MethodPost, path+"?dryRun=All", newOne(c.name, `"hypershift.openshift.io/control-plane-operator-image":"x"`)))
		require.Equal(w.t, http.StatusCreated, w.as(token, http.MethodPost, path+"?dryRun=All", newOne(c.name, `"ocpctl.io/note":"x"`)))
	}
	path := fmt.Sprintf(all, namespace)
	var made any
	require.NoError(w.t, json.Unmarshal([]byte(newOne("shop", `"hypershift.openshift.io/HasBeenAvailable":"true"`)), &made))
	require.NoError(w.t, server.Admin(w.t.Context(), http.MethodPost, path, made, nil))
	require.Equal(w.t, http.StatusOK, w.as(token, http.MethodPatch, path+"/shop", `{"metadata":{"labels":{"ocpctl.io/cluster":"clu_1"}}}`), "what the operator set stays")
	require.Equal(w.t, http.StatusForbidden, w.as(token, http.MethodPatch, path+"/shop", `{"metadata":{"annotations":{"hypershift.openshift.io/HasBeenAvailable":"false"}}}`))
}
