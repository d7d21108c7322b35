package runner_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/devstack/hub"
	"github.com/ocpctl/ocpctl/devstack/s3/s3test"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/runner"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes"
	"github.com/ocpctl/ocpctl/runner/provision/namespace"
)

const ordered = "quota: {cpu: \"4\", memory: 8Gi, storage: 20Gi, pods: 20}\nlimits: {cpu: 500m, memory: 512Mi}\nisolated: true\npull: true\n"

// hubPlace is how a hub is reached.
type hubPlace struct {
	url, uid, credentials string
	ca                    []byte
}

// hubWorld is a runner's world with a hub, on which a cluster is or will be.
type hubWorld struct {
	*world
	hub   *hub.Hub // nil: a real one
	place hubPlace
}

func newHub(t *testing.T) *hub.Hub {
	t.Helper()
	h, err := hub.Start(t.Context(), hub.Config{Addr: "127.0.0.1:0", Delay: 20 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Stop()) })
	return h
}

// onHub is an attempt at a namespace.
func onHub(t *testing.T, h *hub.Hub, kind string) *hubWorld {
	w := onPlace(t, hubPlace{h.URL(), h.UID(), h.Credentials(), h.CA()}, kind)
	w.hub = h
	return w
}

func onPlace(t *testing.T, at hubPlace, kind string) *hubWorld {
	t.Helper()
	w := newWorld(t, kind)
	ref := filepath.Join(w.dir, "hub")
	require.NoError(t, os.WriteFile(ref, []byte(at.credentials), 0o600))
	w.spec.Platform, w.spec.Provisioner, w.spec.Region, w.spec.Account, w.spec.Server = names.Kubernetes, kinds.Namespace, "lab", at.uid, "https://hub.example.com:6443"
	w.spec.InstallConfig, w.spec.Version, w.spec.BaseDomain, w.spec.CloudCredentialsRef = ordered, "hub", "hub.internal", "file:"+ref
	w.spec.Tags = map[string]string{"Owner": "maya", "ClusterId": "clu_1"}
	w.spec.Accepted = &contract.Accepted{At: time.Now()}
	w.cfg.Provisioners = map[string]runner.OpenProvisioner{kinds.Namespace: openNamespace}
	return &hubWorld{world: w, place: at}
}

func openNamespace(region string, keys cloud.Keys) (runner.Provisioner, error) {
	opened, err := kubernetes.New(region, keys)
	if err != nil {
		return nil, err
	}
	return namespace.New(opened), nil
}

// after is another attempt at the cluster of an earlier one.
func (w *hubWorld) after(t *testing.T, kind string) *hubWorld {
	next := onPlace(t, w.place, kind)
	next.hub = w.hub
	next.spec.Bucket, next.spec.Number, next.spec.Accepted = w.spec.Bucket, w.spec.Number+1, w.spec.Accepted
	for _, r := range w.records {
		next.spec.Identities = append(next.spec.Identities, r.Identity)
		next.spec.Snapshots = append(next.spec.Snapshots, r.Snapshots...)
	}
	return next
}

func (w *hubWorld) recordedName() string {
	w.t.Helper()
	require.Len(w.t, w.records, 1)
	return w.records[0].Identity.InfraID
}

// as calls the hub's API with the token of a kubeconfig that was stored, and returns the status.
func (w *hubWorld) as(token, method, path, body string) int {
	w.t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(w.place.ca)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.place.url+path, strings.NewReader(body))
	require.NoError(w.t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := client.Do(r)
	require.NoError(w.t, err)
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// stored reads a kubeconfig from the bucket, and returns the namespace and the token in it.
func (w *hubWorld) stored(at time.Time, file string) (in, token string) {
	w.t.Helper()
	raw, err := storeOf(w.t, w.world).Read(w.t.Context(), artifacts.CredentialRef(w.spec.Bucket, "clu_1", w.spec.Number, at, file))
	require.NoError(w.t, err)
	var k struct {
		Clusters []struct {
			Cluster struct {
				Server string
				CA     string `yaml:"certificate-authority-data"`
			}
		}
		Contexts []struct{ Context struct{ Namespace string } }
		Users    []struct{ User struct{ Token string } }
	}
	require.NoError(w.t, yaml.Unmarshal(raw, &k))
	require.Equal(w.t, "https://hub.example.com:6443", k.Clusters[0].Cluster.Server, "people use the document's address")
	require.Equal(w.t, base64.StdEncoding.EncodeToString(w.place.ca), k.Clusters[0].Cluster.CA)
	return k.Contexts[0].Context.Namespace, k.Users[0].User.Token
}

func TestANamespaceLivesFromItsRecordToItsProof(t *testing.T) {
	h := newHub(t)
	before := h.Left("")
	w := onHub(t, h, contract.KindCreate)
	w.spec.SnapshotMaxAge = time.Nanosecond // nothing in it ages
	w.access = func(int) contract.AccessWork {
		return contract.AccessWork{Give: []contract.Access{willView, mayaAdmin}}
	}
	w.hear = func(what string, _ int, _ []byte) {
		if what == "record" {
			require.Equal(t, before, h.Left(""), "nothing is made before the record")
		}
	}
	require.NoError(t, w.run(t.Context()))
	result := w.result()
	require.Equal(t, "succeeded", result.Outcome, result.Message)
	require.Equal(t, []string{"preflight", "rendering", "recording", "installing", "configuring"}, w.phases())
	require.Equal(t, "https://hub.example.com:6443", result.Outputs.APIURL)
	require.Empty(t, result.Outputs.ConsoleURL)
	name := w.recordedName()
	require.Regexp(t, `^shop-[a-z0-9]{5}$`, name)
	require.Equal(t, h.UID(), w.records[0].Identity.Account)
	of := names.Scope{Platform: names.Kubernetes, Name: "shop", Region: "lab"}
	require.NoError(t, of.CheckMetadata([]byte(w.records[0].Identity.Metadata), names.Identity{InfraID: name, ClusterUUID: w.records[0].Identity.ClusterUUID, Account: h.UID()}))
	require.Equal(t, []string{"INSTALL_DIR_SNAPSHOT"}, typesOf(w.records[0].Snapshots), "with what is applied, and nothing to operate it")
	for _, kind := range []string{"resourcequotas/ocpctl", "limitranges/ocpctl", "networkpolicies/ocpctl-isolated", "secrets/ocpctl-pull", "rolebindings/ocpctl-runner"} {
		require.True(t, slices.ContainsFunc(h.Left(name), func(path string) bool { return strings.HasSuffix(path, name+"/"+kind) }), kind)
	}

	own := "/api/v1/namespaces/" + name
	states := w.accessStates()
	require.Len(t, states, 2)
	in, token := w.stored(states[mayaAdmin.ID].StoredAt, artifacts.AccessFile(mayaAdmin.ID))
	require.Equal(t, name, in)
	require.Equal(t, http.StatusCreated, w.as(token, http.MethodPost, own+"/configmaps", `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"mine"}}`))
	for what, path := range map[string]string{
		"another namespace": "/api/v1/namespaces/kube-system/secrets", "all namespaces": "/api/v1/namespaces", "volumes": "/api/v1/persistentvolumes", "all secrets": "/api/v1/secrets",
	} {
		require.Equal(t, http.StatusForbidden, w.as(token, http.MethodGet, path, ""), what)
	}
	for _, path := range []string{own, own + "/resourcequotas/ocpctl", own + "/limitranges/ocpctl", "/apis/networking.k8s.io/v1/namespaces/" + name + "/networkpolicies/ocpctl-isolated", "/apis/rbac.authorization.k8s.io/v1/namespaces/" + name + "/rolebindings/ocpctl-runner"} {
		require.Equal(t, http.StatusForbidden, w.as(token, http.MethodDelete, path, ""), path)
	}
	require.Equal(t, http.StatusForbidden, w.as(token, http.MethodPatch, own, `{}`), "nobody takes the label away that keeps privileged pods out")
	require.Equal(t, http.StatusForbidden, w.as(token, http.MethodPost, own+"/serviceaccounts/"+willView.Account+"/token", `{}`), "nobody makes tokens of others")
	require.False(t, slices.ContainsFunc(h.Left(name), func(path string) bool { return strings.HasSuffix(path, "/serviceaccounts/ocpctl-cluster") }), "no account is made that nobody uses")
	_, reads := w.stored(states[willView.ID].StoredAt, artifacts.AccessFile(willView.ID))
	require.Equal(t, http.StatusOK, w.as(reads, http.MethodGet, own+"/pods", ""))
	require.Equal(t, http.StatusForbidden, w.as(reads, http.MethodGet, own+"/secrets", ""))
	require.NotContains(t, w.logText()+w.log.String(), token, "no token is in a log")

	taken := w.after(t, contract.KindAccess)
	taken.access = func(int) contract.AccessWork {
		return contract.AccessWork{Take: []contract.Access{willView}, Keep: []string{mayaAdmin.Account}}
	}
	require.NoError(t, taken.run(t.Context()))
	require.Equal(t, "succeeded", taken.result().Outcome, taken.result().Message)
	require.True(t, taken.accessStates()[willView.ID].Removed)
	require.Equal(t, http.StatusUnauthorized, w.as(reads, http.MethodGet, own+"/pods", ""), "what was taken opens nothing")
	require.Equal(t, http.StatusOK, w.as(token, http.MethodGet, own+"/secrets", ""))

	require.NoError(t, h.Put(own+"/persistentvolumeclaims/data", map[string]any{"kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": "data", "namespace": name}}))
	gone := w.after(t, contract.KindDestroy)
	gone.cfg.Timings.UncleanPasses = 50
	gone.spec.VerifyGap = 20 * time.Millisecond
	require.NoError(t, gone.run(t.Context()))
	require.Equal(t, "succeeded", gone.result().Outcome, gone.result().Message)
	require.Empty(t, h.Left(name))
	require.Equal(t, before, h.Left(""))
	passes := gone.allPasses()
	last := passes[len(passes)-1]
	require.True(t, last.Clean)
	require.Equal(t, []string{name}, last.Identities)
	require.Contains(t, last.Control, h.UID())
	require.GreaterOrEqual(t, len(last.Queries), 7)

	late := w.after(t, contract.KindAccess)
	late.access = func(int) contract.AccessWork { return contract.AccessWork{Take: []contract.Access{mayaAdmin}} }
	require.NoError(t, late.run(t.Context()))
	require.Equal(t, "succeeded", late.result().Outcome, late.result().Message)
	require.True(t, late.accessStates()[mayaAdmin.ID].Removed, "who had access to a namespace that is gone has none")
}

func typesOf(all []contract.Snapshot) (types []string) {
	for _, s := range all {
		types = append(types, s.Type)
	}
	return types
}

func (w *hubWorld) accessStates() map[string]contract.AccessState {
	w.mu.Lock()
	defer w.mu.Unlock()
	states := map[string]contract.AccessState{}
	for _, r := range w.reports {
		for _, a := range r.Access {
			states[a.ID] = a
		}
	}
	return states
}

func (w *hubWorld) allPasses() (all []contract.Pass) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.reports {
		if r.Pass != nil {
			all = append(all, *r.Pass)
		}
	}
	return all
}

// runUntil runs an attempt with a bucket of its own whose runner dies after a change of the hub, and returns how many were made.
func (w *hubWorld) runUntil(strike int) (changes int) {
	w.spec.Bucket = s3test.Bucket(w.t)
	w.hub.Strike(func(string, string) {
		if changes++; changes == strike {
			w.mu.Lock()
			w.reply = func(string, int) int { return http.StatusConflict } // its attempt was closed: it is fenced
			w.mu.Unlock()
			w.hub.RefuseTokens(true) // and reaches nothing from now on
		}
	})
	_ = w.run(w.t.Context())
	w.hub.Strike(nil)
	w.hub.RefuseTokens(false)
	return changes
}

// A runner that dies after any change of the hub leaves nothing that the teardown by the record does not find.
func TestANamespaceWhoseRunnerDiesAtAnyChangeIsRemovedByItsRecord(t *testing.T) {
	h := newHub(t)
	before, changes := h.Left(""), 0
	count := onHub(t, h, contract.KindCreate)
	h.Strike(func(string, string) { changes++ })
	require.NoError(t, count.run(t.Context()))
	require.Equal(t, "succeeded", count.result().Outcome, count.result().Message)
	require.Greater(t, changes, 8)
	destroyed := func(w *hubWorld) {
		h.Strike(nil)
		gone := w.after(t, contract.KindDestroy)
		gone.cfg.Timings.UncleanPasses, gone.spec.VerifyGap = 50, 10*time.Millisecond
		require.NoError(t, gone.run(t.Context()))
		require.Equal(t, "succeeded", gone.result().Outcome, gone.result().Message)
		require.Equal(t, before, h.Left(""))
	}
	destroyed(count)
	for strike := 1; strike <= changes; strike++ {
		w := onHub(t, h, contract.KindCreate)
		w.runUntil(strike)
		if len(w.records) == 0 {
			require.Equal(t, before, h.Left(""), "strike %d came before the record", strike)
			continue
		}
		destroyed(w)
	}
}

func TestWhatHoldsANamespaceIsNamed(t *testing.T) {
	h := newHub(t)
	w := onHub(t, h, contract.KindCreate)
	require.NoError(t, w.run(t.Context()))
	name := w.recordedName()
	service := "/api/v1/namespaces/" + name + "/services/web"
	require.NoError(t, h.Put(service, map[string]any{"kind": "Service", "metadata": map[string]any{"name": "web", "namespace": name}, "spec": map[string]any{"type": "LoadBalancer"}}))
	require.NoError(t, h.Hold(service, "service.kubernetes.io/load-balancer-cleanup"))
	gone := w.after(t, contract.KindDestroy)
	gone.spec.VerifyGap = 30 * time.Millisecond
	require.NoError(t, gone.run(t.Context()))
	require.Equal(t, "LeftoversFound", gone.result().Reason)
	passes := gone.allPasses()
	left := passes[len(passes)-1].Leftovers
	require.Equal(t, []string{"namespace " + name, "load-balancer " + name + "/web"}, []string{left[0].Type + " " + left[0].ID, left[1].Type + " " + left[1].ID})
	require.Contains(t, left[0].Remark, "service.kubernetes.io/load-balancer-cleanup in 1 resource instances")
	require.Contains(t, left[1].Remark, "service.kubernetes.io/load-balancer-cleanup")
	require.NoError(t, h.Free(service))
	again := w.after(t, contract.KindDestroy)
	again.cfg.Timings.UncleanPasses, again.spec.VerifyGap = 50, 10*time.Millisecond
	require.NoError(t, again.run(t.Context()))
	require.Equal(t, "succeeded", again.result().Outcome, again.result().Message)
}

func TestWhatKeepsANamespaceFromBeingMade(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(*hubWorld)
		reason  string
	}{
		"another hub":         {func(w *hubWorld) { w.spec.Account = "00000000-0000-4000-8000-000000000000" }, "WrongAccount"},
		"a refused token":     {func(w *hubWorld) { w.hub.RefuseTokens(true) }, "CredentialsRefused"},
		"a hub that is away":  {func(w *hubWorld) { w.hub.Away(time.Minute) }, "CloudUnanswered"},
		"an unknown kind":     {func(w *hubWorld) { w.spec.Provisioner = "hive" }, "UnknownKind"},
		"no usable document":  {func(w *hubWorld) { w.spec.InstallConfig = "[" }, "ProfileUnusable"},
		"credentials of AWS":  {func(w *hubWorld) { w.rewrite(`{"aws_access_key_id":"A","aws_secret_access_key":"b"}`) }, "InvalidCloudCredentials"},
		"a certificate":       {func(w *hubWorld) { w.rewrite(`{"server":"https://x","token":"t","ca":"x"}`) }, "InvalidCloudCredentials"},
		"no pull secret":      {func(w *hubWorld) { w.spec.PullSecretRef = "file:/nowhere" }, "SecretMissing"},
		"work of other kinds": {func(w *hubWorld) { w.spec.Kind = contract.KindScale }, "NotOfKind"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			before := h.Left("")
			w := onHub(t, h, contract.KindCreate)
			c.arrange(w)
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, c.reason, w.result().Reason, w.result().Message)
			require.NotEmpty(t, w.result().Next)
			require.Empty(t, w.records)
			h.Away(0)
			require.Equal(t, before, h.Left(""))
		})
	}
}

// rewrite puts something else behind the reference to the hub's credentials.
func (w *hubWorld) rewrite(document string) {
	require.NoError(w.t, os.WriteFile(strings.TrimPrefix(w.spec.CloudCredentialsRef, "file:"), []byte(document), 0o600))
}

func TestAPullSecretIsReadOnlyForAProfileThatAsksForIt(t *testing.T) {
	w := onHub(t, newHub(t), contract.KindCreate)
	w.spec.PullSecretRef, w.spec.InstallConfig = "file:/nowhere", strings.Replace(ordered, "pull: true", "pull: false", 1)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
}

func TestANamespaceThatIsThereIsTakenOverOnlyIfItIsTheClustersOwn(t *testing.T) {
	for name, c := range map[string]struct {
		labels  map[string]any
		reason  string
		objects int
	}{
		"nobody's":         {nil, "HubRefused", 2},
		"another's":        {map[string]any{"ocpctl.io/cluster": "clu_2"}, "HubRefused", 2},
		"made by this one": {map[string]any{"ocpctl.io/cluster": "clu_1"}, "", 7},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			w := onHub(t, h, contract.KindCreate)
			w.hear = func(what string, _ int, body []byte) {
				var record contract.Record
				if what == "record" && json.Unmarshal(body, &record) == nil {
					infraID := record.Identity.InfraID
					_ = h.Put("/api/v1/namespaces/"+infraID, map[string]any{"kind": "Namespace", "metadata": map[string]any{"name": infraID, "labels": c.labels}})
				}
			}
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, c.reason, w.result().Reason, w.result().Message)
			require.Len(t, h.Left(w.recordedName()), c.objects)
		})
	}
}

func TestANamespaceOfAnotherClusterIsLeftAlone(t *testing.T) {
	h := newHub(t)
	w := onHub(t, h, contract.KindCreate)
	require.NoError(t, w.run(t.Context()))
	theirs := w.after(t, contract.KindDestroy)
	theirs.spec.Cluster = "clu_2"
	require.NoError(t, theirs.run(t.Context()))
	require.Equal(t, "ResourcesContested", theirs.result().Reason)
	require.Contains(t, theirs.result().Message, "ocpctl.io/cluster=clu_1")
	require.NotEmpty(t, h.Left(w.recordedName()))
}

func TestAKubeconfigIsCredentialsOfAHubToo(t *testing.T) {
	h := newHub(t)
	var keys struct{ Server, Token, CA string }
	require.NoError(t, json.Unmarshal([]byte(h.Credentials()), &keys))
	var k bytes.Buffer
	fmt.Fprintf(&k, "current-context: hub\nclusters: [{name: c, cluster: {server: %q, certificate-authority-data: %s}}]\ncontexts: [{name: other, context: {cluster: x, user: x}}, {name: hub, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {token: %q}}]\n",
		keys.Server, base64.StdEncoding.EncodeToString([]byte(keys.CA)), keys.Token)
	w := onHub(t, h, contract.KindCreate)
	w.rewrite(k.String())
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
}
