package runner_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
)

var (
	willView  = contract.Access{ID: "acc_1", Account: "saml-will-a1", Reader: "saml:will@acme.example", Role: "view", Lifetime: time.Hour}
	mayaAdmin = contract.Access{ID: "acc_2", Account: "saml-maya-a2", Reader: "saml:maya@acme.example", Role: "admin", Lifetime: time.Minute}
)

// opened is a ready cluster in which accounts were made before.
func opened(t *testing.T, kind string, accounts ...string) *world {
	t.Helper()
	w := newWorld(t, kind)
	w.cfg.Timings.ScalePoll, w.cfg.Timings.Reach = time.Millisecond, 50*time.Millisecond
	key := artifacts.CredentialKey("clu_1", 1, time.Now(), "kubeconfig")
	ref, err := storeOf(t, w).PutOnce(t.Context(), key, []byte("clusters: [{name: shop, cluster: {server: 'https://api.shop.labs.example.com:6443', certificate-authority-data: Q0E=}}]\nusers:\n- name: admin\n  user: {client-key-data: "+adminKey+"}\n"))
	require.NoError(t, err)
	w.spec.KubeconfigRef = ref
	require.NoError(t, os.MkdirAll(filepath.Join(w.dir, "accounts"), 0o755))
	for _, account := range accounts {
		require.NoError(t, os.WriteFile(filepath.Join(w.dir, "accounts", account), nil, 0o600))
	}
	return w
}

// accessReported is the last that was told of each access.
func (w *world) accessReported() map[string]contract.AccessState {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]contract.AccessState{}
	for _, r := range w.reports {
		for _, state := range r.Access {
			out[state.ID] = state
		}
	}
	return out
}

func TestAccessIsRemovedBeforeItIsMade(t *testing.T) {
	w := opened(t, contract.KindAccess, "saml-rob-a0", "saml-ada-a9", "saml-will-a1", "nobody-knows")
	revoked := contract.Access{ID: "acc_0", Account: "saml-rob-a0", Reader: "saml:rob@acme.example", Role: "edit"}
	w.access = func(int) contract.AccessWork {
		return contract.AccessWork{Give: []contract.Access{willView, mayaAdmin}, Take: []contract.Access{revoked}, Keep: []string{"saml-ada-a9"}}
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
	require.Equal(t, []string{"restoring", "accessing"}, w.phases())
	asked := w.asked()
	require.Regexp(t, `^delete clusterrolebindings --ignore-not-found ocpctl-access-nobody-knows-view ocpctl-access-nobody-knows-cluster-reader .*ocpctl-access-saml-will-a1-cluster-admin$`, asked[0])
	require.Equal(t, "delete serviceaccounts -n ocpctl-access --ignore-not-found nobody-knows saml-rob-a0 saml-will-a1", asked[1],
		"what no row names, what was revoked, and what an earlier attempt began; not what is valid")
	require.Equal(t, []string{
		"apply --server-side --force-conflicts --field-manager=ocpctl -f -",
		"create token saml-will-a1 -n ocpctl-access --duration=3600s -o json",
		"create token saml-maya-a2 -n ocpctl-access --duration=600s -o json",
	}, asked[2:], "Kubernetes makes no token for less than ten minutes")

	said := w.accessReported()
	require.True(t, said["acc_0"].Removed)
	expires := time.Date(2030, 1, 1, 8, 0, 0, 0, time.UTC)
	require.Equal(t, []any{expires, expires}, []any{said["acc_1"].ExpiresAt, said["acc_2"].ExpiresAt})
	ref := artifacts.CredentialRef(w.spec.Bucket, "clu_1", 3, said["acc_1"].StoredAt, artifacts.AccessFile("acc_1"))
	raw, err := storeOf(t, w).Read(t.Context(), ref)
	require.NoError(t, err)
	var kubeconfig map[string]any
	require.NoError(t, yaml.Unmarshal(raw, &kubeconfig))
	require.Equal(t, []any{map[string]any{"name": "shop", "cluster": map[string]any{"server": "https://api.shop.labs.example.com:6443", "certificate-authority-data": "Q0E="}}}, kubeconfig["clusters"])
	require.Equal(t, []any{map[string]any{"name": "shop", "user": map[string]any{"token": "eyJhbGciOiJub25lIn0.CANARY-saml-will-a1.signature"}}}, kubeconfig["users"])
	require.NotContains(t, string(raw), adminKey)

	for _, text := range []string{w.logText(), w.log.String(), readFile(t, filepath.Join(w.dir, "calls")), readFile(t, filepath.Join(w.dir, "environ"))} {
		require.NotContains(t, text, "CANARY-saml")
		require.NotContains(t, text, adminKey)
	}
	require.Contains(t, w.logText(), "saml:will@acme.example has access as view until 2030-01-01T08:00:00Z")
	require.Empty(t, w.records, "it makes nothing under a name of its own")
	entries, err := os.ReadDir(w.cfg.WorkDir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "only the redacted log stays: %v", entries)
}

func TestAnAccountIsNamedAfterItsReaderAndBoundToItsRole(t *testing.T) {
	for role, bound := range map[string][]string{"view": {"view", "cluster-reader"}, "edit": {"edit"}, "admin": {"cluster-admin"}} {
		w := opened(t, contract.KindAccess)
		one := willView
		one.Role = role
		w.access = func(int) contract.AccessWork { return contract.AccessWork{Give: []contract.Access{one}} }
		require.NoError(t, w.run(t.Context()))
		var list struct {
			Items []struct {
				Kind     string
				Metadata struct {
					Name, Namespace     string
					Labels, Annotations map[string]string
				}
				RoleRef  struct{ Kind, Name string }
				Subjects []struct{ Kind, Name, Namespace string }
			}
		}
		require.NoError(t, json.Unmarshal([]byte(readFile(t, filepath.Join(w.dir, "applied"))), &list))
		require.Equal(t, []string{"Namespace", "ocpctl-access", "ServiceAccount", "saml-will-a1"}, []string{list.Items[0].Kind, list.Items[0].Metadata.Name, list.Items[1].Kind, list.Items[1].Metadata.Name})
		require.Equal(t, map[string]string{"ocpctl.io/reader": "saml:will@acme.example", "ocpctl.io/access-id": "acc_1"}, list.Items[1].Metadata.Annotations)
		var roles []string
		for _, item := range list.Items[2:] {
			require.Equal(t, []any{"ClusterRoleBinding", "saml-will-a1", "ocpctl-access"}, []any{item.Kind, item.Subjects[0].Name, item.Subjects[0].Namespace})
			require.NotEmpty(t, item.Metadata.Labels["ocpctl.io/access"])
			roles = append(roles, item.RoleRef.Name)
		}
		require.Equal(t, bound, roles)
	}
}

func TestAccessThatFailsSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		spoil     string
		change    func(*world)
		retryable bool
		trouble   string
	}{
		"a cluster that is away":    {`case "$asked" in *serviceaccounts*) echo 'Unable to connect to the server: EOF' >&2; exit 1;; esac`, nil, true, "Unable to connect to the server: EOF"},
		"a cluster that refuses":    {`case "$asked" in *apply*) echo 'Error from server (Forbidden): namespaces is forbidden' >&2; exit 1;; esac`, nil, false, "namespaces is forbidden"},
		"a token that is not made":  {`case "$asked" in *"create token"*) echo 'error: failed to create token: the server is too busy' >&2; exit 1;; esac`, nil, true, "failed to create token: the server is too busy"},
		"an answer without a token": {`case "$asked" in *"create token"*) echo '{"status":{}}'; exit 0;; esac`, nil, true, "the answer has no token"},
		"a role of a newer server": {"", func(w *world) {
			w.access = func(int) contract.AccessWork {
				return contract.AccessWork{Give: []contract.Access{{ID: "acc_1", Account: "a", Role: "owner"}}}
			}
		}, true, `"owner" is not a role`},
		"a stored kubeconfig of none": {"", func(w *world) { w.spec.KubeconfigRef = "" }, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := opened(t, contract.KindAccess)
			w.access = func(int) contract.AccessWork { return contract.AccessWork{Give: []contract.Access{willView}} }
			if c.spoil != "" {
				w.on("oc", c.spoil)
			}
			if c.change != nil {
				c.change(w)
			}
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, []any{"failed", c.retryable}, []any{w.result().Outcome, w.result().Retryable}, w.result().Message)
			require.Contains(t, w.accessReported()["acc_1"].Trouble, c.trouble)
			require.True(t, w.accessReported()["acc_1"].StoredAt.IsZero())
		})
	}
}

func TestAnAnswerThatSaysStopIsNotWorkedOn(t *testing.T) {
	w := opened(t, contract.KindAccess)
	w.access = func(int) contract.AccessWork {
		w.stop = "it is no longer wanted"
		return contract.AccessWork{Give: []contract.Access{willView}}
	}
	w.reply = func(what string, _ int) int {
		if what == "access" {
			w.stop = "it is no longer wanted"
		}
		return 0
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "stopped", w.result().Outcome)
	require.Empty(t, w.asked())
}

func TestARunnerThatWaitsForAddonsChangesAccessMeanwhile(t *testing.T) {
	w := refreshed(t)
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "never-certificates.cert-manager.io"), nil, 0o600))
	w.asksFor = 7
	w.access = func(int) contract.AccessWork { return contract.AccessWork{Give: []contract.Access{willView}} }
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, []any{"failed", "AddonsMissing"}, []any{w.result().Outcome, w.result().Reason})
	require.False(t, w.accessReported()["acc_1"].StoredAt.IsZero())
	w.mu.Lock()
	defer w.mu.Unlock()
	require.Equal(t, 1, w.calls["access"], "once for each request")
}

func TestACreateGivesAccessBeforeItBringsAddonsAndFailsBecauseOfNeither(t *testing.T) {
	for _, broken := range []bool{false, true} {
		w := furnished(t, contract.KindCreate)
		w.access = func(int) contract.AccessWork { return contract.AccessWork{Give: []contract.Access{willView}} }
		if broken {
			w.on("oc", `case "$asked" in *"create token"*) echo 'error: failed to create token' >&2; exit 1;; esac`)
		}
		require.NoError(t, w.run(t.Context()))
		require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
		require.Equal(t, broken, w.accessReported()["acc_1"].StoredAt.IsZero())
		require.Equal(t, 2, *w.result().Addons)
		if broken {
			require.Contains(t, w.logText(), "giving access failed, and an attempt of its own tries again: oc create: error: failed to create token")
			continue
		}
		calls := strings.Join(w.asked(), "\n")
		require.Less(t, strings.Index(calls, "create token"), strings.Index(calls, "wait crd"))
		require.False(t, w.did("installer: oc get serviceaccounts"), "a new cluster has nothing to remove")
	}
}
