package runner_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/profiles"
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

// bound is a binding of accounts to a cluster role, in a namespace or in the whole cluster.
func (w *world) bound(in, name, role string, accounts ...string) {
	kind, where := "ClusterRoleBinding", ""
	if in != "" {
		kind, where = "RoleBinding", fmt.Sprintf(`,"namespace":%q`, in)
	}
	var subjects []string
	for _, account := range accounts {
		subjects = append(subjects, fmt.Sprintf(`{"kind":"ServiceAccount","name":%q,"namespace":"ocpctl-access"}`, account))
	}
	w.append("bindings", fmt.Sprintf(`{"kind":%q,"metadata":{"name":%q%s},"roleRef":{"kind":"ClusterRole","name":%q},"subjects":[%s]}`, kind, name, where, role, strings.Join(subjects, ",")))
}

// append adds an object to a list of the scripted cluster.
func (w *world) append(list, object string) {
	path := filepath.Join(w.dir, list)
	before, err := os.ReadFile(path)
	if err == nil {
		object = string(before) + "," + object
	} else if list == "namespaces" {
		object = "," + object
	}
	require.NoError(w.t, os.WriteFile(path, []byte(object), 0o600))
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
	w.bound("", "ocpctl-access-nobody-knows-view", "view", "nobody-knows")
	w.bound("", "ocpctl-access-saml-ada-a9-view", "view", "saml-ada-a9")
	revoked := contract.Access{ID: "acc_0", Account: "saml-rob-a0", Reader: "saml:rob@acme.example", Role: "edit"}
	w.access = func(int) contract.AccessWork {
		return contract.AccessWork{Give: []contract.Access{willView, mayaAdmin}, Take: []contract.Access{revoked}, Keep: []string{"saml-ada-a9"}}
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
	require.Equal(t, []string{"restoring", "accessing"}, w.phases())
	asked := w.asked()
	require.Equal(t, []string{
		"delete clusterrolebindings.rbac.authorization.k8s.io --ignore-not-found --wait=false ocpctl-access-nobody-knows-view",
		"delete serviceaccounts -n ocpctl-access --ignore-not-found --wait=false nobody-knows saml-rob-a0 saml-will-a1",
		"apply --server-side --force-conflicts --field-manager=ocpctl -f -",
		"create token saml-will-a1 -n ocpctl-access --duration=3600s -o json",
		"create token saml-maya-a2 -n ocpctl-access --duration=600s -o json",
	}, asked, "what no row names, what was revoked, and what an earlier attempt began; not what is valid. Kubernetes makes no token for less than ten minutes")

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
	for role, bound := range map[string][]string{
		"view": {"view", "cluster-reader"}, "edit": {"view", "cluster-reader", "self-provisioner"}, "admin": {"cluster-admin"},
	} {
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
			require.Equal(t, "saml-will-a1", item.Metadata.Labels["ocpctl.io/access"])
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
			require.Contains(t, w.logText(), "giving access failed; a separate attempt tries again: oc create: error: failed to create token")
			continue
		}
		calls := strings.Join(w.asked(), "\n")
		require.Less(t, strings.Index(calls, "create token"), strings.Index(calls, "wait crd"))
		require.False(t, w.did("installer: oc get serviceaccounts"), "a new cluster has nothing to remove")
	}
}

// mark makes a file of the scripted cluster for an account.
func (w *world) mark(what, account string) {
	require.NoError(w.t, os.MkdirAll(filepath.Join(w.dir, what), 0o755))
	require.NoError(w.t, os.WriteFile(filepath.Join(w.dir, what, account), nil, 0o600))
}

var robEdit = contract.Access{ID: "acc_3", Account: "saml-rob-a3", Reader: "saml:rob@acme.example", Role: "edit", Lifetime: 2 * time.Hour}

func TestEditIsBoundInNamespacesThatOfferIt(t *testing.T) {
	w := opened(t, contract.KindAccess, "saml-ada-a9", "saml-maya-a2")
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "accounts", "saml-ada-a9"), []byte("edit"), 0o600))
	for _, name := range []string{"shop", "kube-system", "kubeflow", "openshift", "openshift-monitoring", "openshiftish", "ocpctl-access", "has-ada", "has-others"} {
		w.append("namespaces", fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"ocpctl.io/edit":"true"}}}`, name))
	}
	w.append("namespaces", `{"metadata":{"name":"going","deletionTimestamp":"2030-01-01T08:00:00Z","labels":{"ocpctl.io/edit":"true"}}}`)
	w.append("namespaces", `{"metadata":{"name":"operator","labels":{"ocpctl.io/edit":"false"}}}`)
	w.append("namespaces", `{"metadata":{"name":"somebodys"}}`)
	w.append("namespaces", `{"metadata":{"name":"another-value","labels":{"ocpctl.io/edit":"yes"}}}`)
	w.bound("somebodys", "ocpctl-access-edit", "edit", "saml-ada-a9")
	w.bound("has-ada", "ocpctl-access-edit", "edit", "saml-ada-a9", "saml-rob-a3")
	w.bound("has-others", "ocpctl-access-edit", "edit", "saml-gus-a8")
	w.bound("kube-system", "ocpctl-access-edit", "edit", "saml-ada-a9")
	w.bound("shop", "of-the-project", "admin", "saml-ada-a9")
	w.access = func(int) contract.AccessWork {
		return contract.AccessWork{Give: []contract.Access{robEdit}, Keep: []string{"saml-ada-a9", "saml-maya-a2"}}
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
	require.False(t, w.accessReported()["acc_3"].StoredAt.IsZero())
	require.Contains(t, w.asked(), "delete rolebindings.rbac.authorization.k8s.io -n kube-system --ignore-not-found --wait=false ocpctl-access-edit")
	require.Contains(t, w.asked(), "delete rolebindings.rbac.authorization.k8s.io -n somebodys --ignore-not-found --wait=false ocpctl-access-edit")
	require.NotContains(t, strings.Join(w.asked(), "\n"), "of-the-project", "what others bound in their projects is theirs")

	both := []string{"saml-ada-a9", "saml-rob-a3"}
	require.Equal(t, map[string][]string{"shop": both, "kubeflow": both, "openshiftish": both, "has-others": both}, w.editors(), "has-ada is as it should be")
}

// editors are the accounts that the runner bound to edit, by namespace.
func (w *world) editors() map[string][]string {
	t := w.t
	t.Helper()
	type binding struct {
		Kind     string
		Metadata struct {
			Name, Namespace string
			Labels          map[string]string
		}
		RoleRef  struct{ Name string }
		Subjects []struct{ Name string }
	}
	in := map[string][]string{}
	for lists := json.NewDecoder(strings.NewReader(readFile(t, filepath.Join(w.dir, "applied")))); lists.More(); {
		var list struct{ Items []binding }
		require.NoError(t, lists.Decode(&list))
		for _, b := range list.Items {
			if b.Kind != "RoleBinding" {
				require.NotEqual(t, "edit", b.RoleRef.Name, "not in the whole cluster")
				continue
			}
			require.Equal(t, []string{"ocpctl-access-edit", "edit", "ocpctl-access-edit"}, []string{b.Metadata.Name, b.RoleRef.Name, b.Metadata.Labels["ocpctl.io/access"]})
			for _, s := range b.Subjects {
				in[b.Metadata.Namespace] = append(in[b.Metadata.Namespace], s.Name)
			}
		}
	}
	return in
}

func TestAProjectThatAnEditorMadeOffersEdit(t *testing.T) {
	w := opened(t, contract.KindAccess, "saml-ada-a9", "saml-maya-a2", "saml-will-a1")
	for account, role := range map[string]string{"saml-ada-a9": "edit", "saml-maya-a2": "admin", "saml-will-a1": "view"} {
		require.NoError(t, os.WriteFile(filepath.Join(w.dir, "accounts", account), []byte(role), 0o600))
	}
	project := func(name, requester, labels string) {
		w.append("namespaces", fmt.Sprintf(`{"metadata":{"name":%q,"annotations":{"openshift.io/requester":%q},"labels":{%s}}}`, name, requester, labels))
	}
	project("adas", "system:serviceaccount:ocpctl-access:saml-ada-a9", "")
	project("adas-closed", "system:serviceaccount:ocpctl-access:saml-ada-a9", `"ocpctl.io/edit":"false"`)
	project("openshift-adas", "system:serviceaccount:ocpctl-access:saml-ada-a9", "")
	project("operator", "system:serviceaccount:ocpctl-access:saml-maya-a2", "")
	project("gone", "system:serviceaccount:ocpctl-access:saml-gus-a8", "")
	project("another", "system:serviceaccount:other:saml-ada-a9", "")
	project("admins", "kube:admin", "")
	w.access = func(int) contract.AccessWork { // ada gets another account
		return contract.AccessWork{Give: []contract.Access{robEdit}, Keep: []string{"saml-maya-a2", "saml-will-a1"}}
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
	var labelled []string
	for _, call := range w.asked() {
		if strings.HasPrefix(call, "label ") {
			labelled = append(labelled, call)
		}
	}
	require.Equal(t, []string{"label namespaces adas ocpctl.io/edit=true"}, labelled, "who has edit in a project that an admin made could get the rights of what the admin installed there")
	require.Equal(t, map[string][]string{"adas": {"saml-rob-a3"}}, w.editors())
}

func TestEditIsBoundInNoNamespaceOfAnOperatorThatAnAddonInstalls(t *testing.T) {
	require.Equal(t, profiles.EditLabel, names.EditLabel)
	shipped, err := profiles.Load(profiles.EmbeddedFiles())
	require.NoError(t, err)
	require.NotEmpty(t, shipped.Addons)
	w := opened(t, contract.KindAccess)
	var operators, offered []string
	for _, addon := range shipped.Addons {
		n, err := addon.Namespaces()
		require.NoError(t, err)
		for name, edit := range n.Edit {
			require.Contains(t, []string{"true", "false"}, edit, "%s does not say whether edit is bound in %s", addon.Name, name)
			w.append("namespaces", fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"ocpctl.io/edit":%q}}}`, name, edit))
			if edit == "true" {
				offered = append(offered, name)
			}
		}
		for _, name := range n.Privileged {
			operators = append(operators, name)
			require.NotEqual(t, "true", n.Edit[name])
		}
		for _, wait := range addon.Waits { // what the operator makes by itself
			if wait.Namespace != "" && len(n.Privileged) > 0 {
				operators = append(operators, wait.Namespace)
			}
		}
	}
	require.NotEmpty(t, operators)
	w.access = func(int) contract.AccessWork { return contract.AccessWork{Give: []contract.Access{robEdit}} }
	require.NoError(t, w.run(t.Context()))
	bound := slices.Sorted(maps.Keys(w.editors()))
	slices.Sort(offered)
	require.Equal(t, offered, bound)
	for _, name := range operators {
		require.NotContains(t, bound, name)
	}
}

func TestTheLastEditorLeavesNoBindingInANamespace(t *testing.T) {
	w := opened(t, contract.KindAccess, "saml-rob-a3")
	w.bound("shop", "ocpctl-access-edit", "edit", "saml-rob-a3")
	w.access = func(int) contract.AccessWork { return contract.AccessWork{Take: []contract.Access{robEdit}} }
	require.NoError(t, w.run(t.Context()))
	require.True(t, w.accessReported()["acc_3"].Removed)
	require.Contains(t, w.asked(), "delete rolebindings.rbac.authorization.k8s.io -A -l ocpctl.io/access=ocpctl-access-edit --wait=false")
}

func TestANamespaceThatRefusesItsBindingKeepsNobodyFromTheOthers(t *testing.T) {
	for name, c := range map[string]struct {
		bound string // what is there after the attempt to apply
		made  bool
	}{"one of two": {"shop", true}, "all": {"", false}} {
		t.Run(name, func(t *testing.T) {
			w := opened(t, contract.KindAccess)
			w.append("namespaces", `{"metadata":{"name":"shop","labels":{"ocpctl.io/edit":"true"}}},{"metadata":{"name":"locked","labels":{"ocpctl.io/edit":"true"}}}`)
			if c.bound != "" {
				w.bound(c.bound, "ocpctl-access-edit", "edit", robEdit.Account)
			}
			w.on("oc", `case "$asked" in *apply*) content=$(cat); case "$content" in *'"RoleBinding"'*) echo 'Error from server (Forbidden): admission webhook "locked" denied the request' >&2; exit 1;; esac; echo applied; exit 0;; esac`)
			w.access = func(int) contract.AccessWork {
				return contract.AccessWork{Give: []contract.Access{robEdit, willView}}
			}
			require.NoError(t, w.run(t.Context()))
			require.False(t, w.accessReported()["acc_1"].StoredAt.IsZero(), "who only looks needs no such binding")
			require.Equal(t, c.made, !w.accessReported()["acc_3"].StoredAt.IsZero())
			if c.made {
				require.Contains(t, w.logText(), "some namespaces refused the role edit")
				return
			}
			require.Contains(t, w.accessReported()["acc_3"].Trouble, "denied the request")
		})
	}
}

func TestTroubleWithOneAccountKeepsNoOthers(t *testing.T) {
	rob := contract.Access{ID: "acc_0", Account: "saml-rob-a0", Reader: "saml:rob@acme.example", Role: "admin"}
	gus := contract.Access{ID: "acc_9", Account: "saml-gus-a9", Reader: "saml:gus@acme.example", Role: "view"}
	for name, c := range map[string]struct {
		arrange func(*world)
		removed bool // rob's account
		trouble string
	}{
		"finalizers are taken off": {func(w *world) { w.mark("finalizers", rob.Account) }, true, ""},
		"finalizers that stay, on an account that is being deleted and has no rights": {func(w *world) {
			w.mark("finalizers", rob.Account)
			w.on("oc", `case "$asked" in *"patch serviceaccounts"*) echo 'Error from server (Forbidden): denied the request' >&2; exit 1;; esac`)
		}, true, ""},
		"finalizers that stay, on the bindings too": {func(w *world) {
			w.mark("finalizers", rob.Account)
			w.bound("", "ocpctl-access-saml-rob-a0-cluster-admin", "cluster-admin", rob.Account)
			w.on("oc", `case "$asked" in *"patch serviceaccounts"*) echo 'Error from server (Forbidden): denied the request' >&2; exit 1;; esac`)
		}, false, "denied the request"},
		"an account that may not be deleted": {func(w *world) {
			w.on("oc", `case "$asked" in *"delete serviceaccounts"*) rm -f "$D/accounts/saml-gus-a9"; echo 'Error from server (Forbidden): admission webhook "keep" denied the request' >&2; exit 1;; esac`)
		}, false, "denied the request"},
		"a label that its reader took away": {func(w *world) {
			w.on("oc", `case "$asked" in *"get serviceaccounts"*) [ -e "$D/accounts/saml-rob-a0" ] && echo '{"items":[{"metadata":{"name":"saml-rob-a0"}},{"metadata":{"name":"builder"}}]}' || echo '{"items":[]}'; exit 0;; esac`)
		}, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := opened(t, contract.KindAccess, rob.Account, gus.Account)
			c.arrange(w)
			w.access = func(int) contract.AccessWork {
				return contract.AccessWork{Give: []contract.Access{willView}, Take: []contract.Access{rob, gus}}
			}
			require.NoError(t, w.run(t.Context()))
			said := w.accessReported()
			require.True(t, said["acc_9"].Removed)
			require.False(t, said["acc_1"].StoredAt.IsZero())
			require.Equal(t, c.removed, said["acc_0"].Removed)
			require.Contains(t, said["acc_0"].Trouble, c.trouble)
			require.NotContains(t, strings.Join(w.asked(), "\n"), " builder")
			if c.removed {
				require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
			}
		})
	}
}

func TestOneAccountThatCannotBeMadeKeepsNoOthers(t *testing.T) {
	w := opened(t, contract.KindAccess)
	w.on("oc", `case "$asked" in *apply*) content=$(cat); case "$content" in *saml-maya-a2*) echo 'Error from server (Invalid): saml-maya-a2 is invalid' >&2; exit 1;; esac; echo applied; exit 0;; esac`)
	owner := contract.Access{ID: "acc_7", Account: "a", Role: "owner"}
	w.access = func(int) contract.AccessWork {
		return contract.AccessWork{Give: []contract.Access{mayaAdmin, willView, owner}}
	}
	require.NoError(t, w.run(t.Context()))
	said := w.accessReported()
	require.False(t, said["acc_1"].StoredAt.IsZero())
	require.Contains(t, said["acc_2"].Trouble, "saml-maya-a2 is invalid")
	require.Contains(t, said["acc_7"].Trouble, `"owner" is not a role`)
}

func TestManyAccountsAreDeletedAndReportedInParts(t *testing.T) {
	var all []string
	var take []contract.Access
	for n := range 501 {
		one := contract.Access{ID: fmt.Sprintf("acc_%03d", n), Account: fmt.Sprintf("many-a%03d", n), Role: "view"}
		all, take = append(all, one.Account), append(take, one)
	}
	w := opened(t, contract.KindAccess, all...)
	w.access = func(int) contract.AccessWork { return contract.AccessWork{Take: take} }
	require.NoError(t, w.run(t.Context()))
	require.Len(t, w.accessReported(), 501)
	deletes := 0
	for _, asked := range w.asked() {
		if strings.HasPrefix(asked, "delete serviceaccounts") {
			deletes++
			require.LessOrEqual(t, strings.Count(asked, "many-a"), 100)
		}
	}
	require.Equal(t, 6, deletes)
	w.mu.Lock()
	defer w.mu.Unlock()
	most := 0
	for _, r := range w.reports {
		most = max(most, len(r.Access))
	}
	require.Equal(t, 500, most)
}
