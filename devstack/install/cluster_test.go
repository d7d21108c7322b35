//go:build install

package install

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/devstack/kubernetes"
)

// patience is how long a test waits for a condition.
const patience = 3 * time.Minute

// nodes leaves one for each pod of the server, which listen at their nodes' addresses, during every upgrade.
const nodes = 6

// cluster is the Kubernetes cluster of one test.
type cluster struct {
	*kubernetes.Server
	url, token string
	client     *http.Client
}

// object is a Kubernetes object.
type object map[string]any

func (o object) kind() string      { return o["kind"].(string) }
func (o object) name() string      { return text(o, "metadata", "name") }
func (o object) namespace() string { return text(o, "metadata", "namespace") }

// text returns the string at a path; empty if there is none.
func text(o object, path ...string) string {
	var at any = map[string]any(o)
	for _, key := range path {
		inner, ok := at.(map[string]any)
		if !ok {
			return ""
		}
		at = inner[key]
	}
	found, _ := at.(string)
	return found
}

func startCluster(t *testing.T, images []kubernetes.Image) *cluster {
	server, err := kubernetes.Start(t.Context(), kubernetes.Config{Dir: t.TempDir(), Nodes: nodes, Images: images, Program: program("kubernetes")})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	c := &cluster{Server: server}
	c.url, err = server.URL()
	require.NoError(t, err)
	c.token, err = server.Token()
	require.NoError(t, err)
	ca, err := os.ReadFile(server.CA())
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(ca))
	c.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}, Timeout: 30 * time.Second}
	return c
}

// answer is what the API server says.
type answer struct {
	status   int
	warnings []string
	body     []byte
}

func (c *cluster) call(t *testing.T, method, path, contentType string, body []byte) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, c.url+path, bytes.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", contentType)
	response, err := c.client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return answer{response.StatusCode, response.Header.Values("Warning"), raw}
}

// get returns an object or a list.
func (c *cluster) get(t *testing.T, path string) (o object, found bool) {
	t.Helper()
	got := c.call(t, http.MethodGet, path, "", nil)
	if got.status == http.StatusNotFound {
		return nil, false
	}
	require.Equal(t, http.StatusOK, got.status, "%s: %s", path, got.body)
	require.NoError(t, json.Unmarshal(got.body, &o))
	return o, true
}

func (c *cluster) list(t *testing.T, path string) (all []object) {
	t.Helper()
	list, found := c.get(t, path)
	require.True(t, found, path)
	items, _ := list["items"].([]any)
	for _, item := range items {
		all = append(all, object(item.(map[string]any)))
	}
	return all
}

// path finds where an object of a kind is, as kubectl does.
func (c *cluster) path(t *testing.T, o object) string {
	t.Helper()
	version := text(o, "apiVersion")
	root := "/apis/" + version
	if !strings.Contains(version, "/") {
		root = "/api/" + version
	}
	list, found := c.get(t, root)
	require.True(t, found, "the API server does not serve %s", version)
	for _, one := range list["resources"].([]any) {
		resource := object(one.(map[string]any))
		if resource.kind() != o.kind() || strings.Contains(text(resource, "name"), "/") {
			continue
		}
		if resource["namespaced"] == true {
			root += "/namespaces/" + o.namespace()
		}
		return root + "/" + text(resource, "name") + "/" + o.name()
	}
	require.Fail(t, "the API server does not know "+version+" "+o.kind())
	return ""
}

// apply creates or changes an object, or, in a dry run, only has it checked.
func (c *cluster) apply(t *testing.T, o object, dryRun bool) answer {
	t.Helper()
	raw, err := json.Marshal(o)
	require.NoError(t, err)
	query := "?fieldManager=test&force=true&fieldValidation=Strict"
	if dryRun {
		query += "&dryRun=All"
	}
	return c.call(t, http.MethodPatch, c.path(t, o)+query, "application/apply-patch+yaml", raw)
}

// create creates an object that must be accepted.
func (c *cluster) create(t *testing.T, o object) {
	t.Helper()
	got := c.apply(t, o, false)
	require.Contains(t, []int{http.StatusOK, http.StatusCreated}, got.status, "%s", got.body)
}

func (c *cluster) createNamespace(t *testing.T, name string) {
	t.Helper()
	c.create(t, object{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name, "labels": map[string]any{
		"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/warn": "restricted",
	}}})
}

func (c *cluster) createSecret(t *testing.T, namespace, name string, files map[string]string) {
	t.Helper()
	c.create(t, object{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": namespace, "name": name}, "stringData": files})
}

// objects reads YAML documents.
func objects(t *testing.T, raw []byte) (all []object) {
	t.Helper()
	for decoder := yaml.NewDecoder(bytes.NewReader(raw)); ; {
		var o map[string]any
		err := decoder.Decode(&o)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		if o != nil {
			all = append(all, o)
		}
	}
}

// logsOfPods returns the logs of all pods of a namespace, for the report of a failure.
func (c *cluster) logsOfPods(t *testing.T, namespace string) string {
	var b strings.Builder
	for _, pod := range c.list(t, "/api/v1/namespaces/"+namespace+"/pods") {
		status, _ := json.Marshal(pod["status"])
		got := c.call(t, http.MethodGet, "/api/v1/namespaces/"+namespace+"/pods/"+pod.name()+"/log?tailLines=40", "", nil)
		fmt.Fprintf(&b, "--- %s: %s\n%s\n", pod.name(), status, got.body)
	}
	return b.String()
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	require.Eventually(t, holds, patience, 200*time.Millisecond, what)
}
