//go:build kubernetes

package scripts_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/ocpctl/ocpctl/devstack/kubernetes"
	"github.com/ocpctl/ocpctl/devstack/tekton/steps"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/tekton"
)

// These tests run with make test-tekton, on a control plane that this process starts.

// crd lets the API server store PipelineRuns as Tekton does, without Tekton's checks of their content.
const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pipelineruns.tekton.dev}
spec:
  group: tekton.dev
  scope: Namespaced
  names: {kind: PipelineRun, plural: pipelineruns, singular: pipelinerun, listKind: PipelineRunList}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// paths are where objects of a kind are created.
var paths = map[string]string{
	"Namespace": "/api/v1/namespaces", "ServiceAccount": "/api/v1/namespaces/%s/serviceaccounts", "Secret": "/api/v1/namespaces/%s/secrets",
	"ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles", "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
	"CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "PipelineRun": "/apis/tekton.dev/v1/namespaces/%s/pipelineruns",
}

const (
	patience = time.Minute
	tick     = 100 * time.Millisecond
)

// real is a cluster of Kubernetes.
type real struct {
	*testing.T
	*kubernetes.Server
}

func newReal(t *testing.T) *real {
	t.Helper()
	server, err := kubernetes.Start(t.Context(), kubernetes.Config{Dir: filepath.Join(t.TempDir(), "kubernetes"), Nodes: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	return &real{t, server}
}

// create creates the objects of a document, and returns the last one as the API server stored it.
func (r *real) create(documents []byte) (stored map[string]any) {
	r.Helper()
	for _, document := range bytes.Split(documents, []byte("\n---\n")) {
		var object struct {
			Kind     string
			Metadata struct{ Namespace string }
		}
		raw, err := yaml.YAMLToJSON(document)
		require.NoError(r, err)
		require.NoError(r, json.Unmarshal(raw, &object))
		path := paths[object.Kind]
		require.NotEmpty(r, path, object.Kind)
		if object.Metadata.Namespace != "" {
			path = fmt.Sprintf(path, object.Metadata.Namespace)
		}
		require.NoError(r, r.Admin(r.Context(), http.MethodPost, path, json.RawMessage(raw), &stored))
	}
	return stored
}

// token returns a token of a service account.
func (r *real) token(namespace, account string) string {
	r.Helper()
	var answer struct{ Status struct{ Token string } }
	require.NoError(r, r.Admin(r.Context(), http.MethodPost, "/api/v1/namespaces/"+namespace+"/serviceaccounts/"+account+"/token",
		map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": map[string]any{"expirationSeconds": 600}}, &answer))
	return answer.Status.Token
}

// client is a client of the cluster with a token.
func (r *real) client(token string) *tekton.Client {
	r.Helper()
	url, err := r.URL()
	require.NoError(r, err)
	client, err := tekton.New([]tekton.Cluster{{Issuer: "i", API: url, CAFile: r.CA(), Token: func(context.Context) (secret.Text, error) { return secret.New(token), nil }}})
	require.NoError(r, err)
	return client
}

// as asks for PipelineRuns with a token.
func (r *real) as(token string) func(namespace, name, uid string) (tekton.State, error) {
	r.Helper()
	client := r.client(token)
	return func(namespace, name, uid string) (tekton.State, error) {
		return client.PipelineRun(r.Context(), "i", namespace, name, uid)
	}
}

// stands sets the condition Succeeded of a PipelineRun.
func (r *real) stands(name, status, reason string) {
	r.Helper()
	require.NoError(r, r.Admin(r.Context(), http.MethodPatch, "/apis/tekton.dev/v1/namespaces/ci/pipelineruns/"+name+"/status", map[string]any{
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Succeeded", "status": status, "reason": reason}}, "completionTime": "2026-01-31T12:00:00Z"},
	}, nil))
}

func TestARealAPIServerShowsPipelineRunsToTheWatcherAlone(t *testing.T) {
	r := newReal(t)
	rights, err := os.ReadFile("../../../deploy/tekton/watch.yaml")
	require.NoError(t, err)
	r.create(rights)
	r.create([]byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: ci}"))
	watcher := r.as(r.token("ocpctl-watcher", "ocpctl-watcher"))
	_, err = watcher("ci", "e2e-1", "u")
	require.ErrorIs(t, err, tekton.ErrNoTekton)

	r.create([]byte(crd))
	run := "apiVersion: tekton.dev/v1\nkind: PipelineRun\nmetadata: {name: %s, namespace: ci}\nspec: {pipelineRef: {name: e2e}}"
	var created map[string]any
	require.Eventually(t, func() bool { // the API server serves a new kind after a moment
		raw, err := yaml.YAMLToJSON(fmt.Appendf(nil, run, "e2e-1"))
		require.NoError(t, err)
		return r.Admin(t.Context(), http.MethodPost, "/apis/tekton.dev/v1/namespaces/ci/pipelineruns", json.RawMessage(raw), &created) == nil
	}, patience, tick)
	uid, _ := created["metadata"].(map[string]any)["uid"].(string)
	state, err := watcher("ci", "e2e-1", uid)
	require.NoError(t, err)
	require.False(t, state.Finished)
	r.stands("e2e-1", "Unknown", "Running")
	state, err = watcher("ci", "e2e-1", uid)
	require.NoError(t, err)
	require.False(t, state.Finished)
	r.stands("e2e-1", "False", "Cancelled")
	state, err = watcher("ci", "e2e-1", uid)
	require.NoError(t, err)
	require.Equal(t, "cancelled", state.Conclusion)

	for name, c := range map[string]struct{ namespace, run, uid string }{
		"another uid":       {"ci", "e2e-1", "u"},
		"another name":      {"ci", "e2e-2", uid},
		"another namespace": {"nowhere", "e2e-1", uid},
	} {
		_, err = watcher(c.namespace, c.run, c.uid)
		require.ErrorIs(t, err, tekton.ErrNotFound, name)
	}
	require.NoError(t, r.Admin(t.Context(), http.MethodDelete, "/apis/tekton.dev/v1/namespaces/ci/pipelineruns/e2e-1", nil, nil))
	_, err = watcher("ci", "e2e-1", uid)
	require.ErrorIs(t, err, tekton.ErrNotFound)
	r.create(fmt.Appendf(nil, run, "e2e-1"))
	_, err = watcher("ci", "e2e-1", uid)
	require.ErrorIs(t, err, tekton.ErrNotFound, "a new one with the name of the old one")

	r.create([]byte("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: builder, namespace: ci}"))
	for account, namespace := range map[string]string{"ocpctl-watcher": "ocpctl-watcher", "builder": "ci"} {
		client := r.client(r.token(namespace, account))
		for _, right := range []tekton.Right{tekton.GetPipelineRuns, tekton.GetSecrets} {
			has, err := client.Has(t.Context(), "i", right)
			require.NoError(t, err)
			require.Equal(t, account == "ocpctl-watcher" && right == tekton.GetPipelineRuns, has, "%s: %v", account, right)
		}
	}
	_, err = r.as(r.token("ci", "builder"))("ci", "e2e-1", uid)
	require.ErrorIs(t, err, tekton.ErrForbidden)
	require.ErrorContains(t, err, "pipelineruns.tekton.dev")
	_, err = r.as("no.such.token")("ci", "e2e-1", uid)
	require.ErrorIs(t, err, tekton.ErrForbidden)
}

func TestSecretsAreCopiedToAClusterWithARealAPIServer(t *testing.T) {
	r := newReal(t)
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "oc"), "./oc")
	build.Dir = "../../../tools/tekton"
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	r.create([]byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: ci}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: tests}"))
	value := base64.StdEncoding.EncodeToString([]byte("canary: \"quoted\"\nand a line"))
	r.create(fmt.Appendf(nil, `
apiVersion: v1
kind: Secret
metadata:
  name: registry
  namespace: ci
  labels: {copy: "true", "example.com/team": shop}
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}
type: kubernetes.io/basic-auth
data: {username: bWF5YQ==, password: %[1]s}
---
apiVersion: v1
kind: Secret
metadata: {name: bare, namespace: ci, labels: {copy: "true"}}
---
apiVersion: v1
kind: Secret
metadata: {name: another, namespace: ci}
data: {password: %[1]s}`, value))

	catalog, err := steps.Load(documents)
	require.NoError(t, err)
	step := steps.Step{Name: "copy"}
	step.Ref.Name = "ocpctl-copy-secrets"
	step.Params = given("credentials", "credentials", "kubeconfig", "shop-kubeconfig", "namespace", "tests", "labelSelector", "copy=true")
	copying := task(t, "volumes: [{name: credentials}]")
	copying.Steps = []steps.Step{step}
	machine := steps.Machine{Catalog: catalog, Dir: filepath.Join(dir, "pods"), Path: dir + ":/usr/bin:/bin"}
	// The pod's own cluster, and the copy in the volume: here they are the same, in different namespaces.
	kubeconfig, err := os.ReadFile(r.Kubeconfig())
	require.NoError(t, err)
	machine.Env = []string{"KUBECONFIG=" + namespaced(t, dir, kubeconfig, "ci")}
	volume := filepath.Join(machine.Dir, "t-1", "volumes", "credentials")
	require.NoError(t, os.MkdirAll(volume, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(volume, "shop-kubeconfig"), kubeconfig, 0o600))
	for range 2 { // a retry changes nothing
		outcome, err := machine.Run(t.Context(), copying, steps.TaskRun{Name: "copy", UID: "t-1"})
		require.NoError(t, err, outcome.Log)
		require.NotContains(t, outcome.Log, value)
	}

	var list struct {
		Items []struct {
			Metadata struct {
				Name                string
				Labels, Annotations map[string]string
			}
			Type string
			Data map[string]string
		}
	}
	require.NoError(t, r.Admin(t.Context(), http.MethodGet, "/api/v1/namespaces/tests/secrets", nil, &list))
	require.Len(t, list.Items, 2)
	require.Equal(t, "bare", list.Items[0].Metadata.Name)
	copied := list.Items[1]
	require.Equal(t, "registry", copied.Metadata.Name)
	require.Equal(t, map[string]string{"copy": "true", "example.com/team": "shop"}, copied.Metadata.Labels)
	require.Empty(t, copied.Metadata.Annotations)
	require.Equal(t, "kubernetes.io/basic-auth", copied.Type)
	require.Equal(t, map[string]string{"username": "bWF5YQ==", "password": value}, copied.Data)

	copying.Steps[0].Params = given("credentials", "credentials", "kubeconfig", "shop-kubeconfig", "namespace", "tests", "labelSelector", "copy=never")
	outcome, err := machine.Run(t.Context(), copying, steps.TaskRun{Name: "copy", UID: "t-1"})
	require.Error(t, err)
	require.Contains(t, outcome.Log, "No Secret has the label copy=never")
}

// namespaced writes a kubeconfig whose context has a namespace, and returns its path.
func namespaced(t *testing.T, dir string, kubeconfig []byte, namespace string) string {
	t.Helper()
	var content map[string]any
	require.NoError(t, yaml.Unmarshal(kubeconfig, &content))
	for _, c := range content["contexts"].([]any) {
		c.(map[string]any)["context"].(map[string]any)["namespace"] = namespace
	}
	raw, err := yaml.Marshal(content)
	require.NoError(t, err)
	path := filepath.Join(dir, "own-kubeconfig")
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	return path
}
