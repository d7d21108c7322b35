package installer_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// account makes a service account that is bound to roles.
func (l *living) account(name string, roles ...string) {
	l.t.Helper()
	items := []string{
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"people"}}`,
		fmt.Sprintf(`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":%q,"namespace":"people","labels":{"ocpctl.io/access":"true"}}}`, name),
	}
	for _, role := range roles {
		items = append(items, fmt.Sprintf(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"%s-%s"},"roleRef":{"kind":"ClusterRole","name":%q},
			"subjects":[{"kind":"ServiceAccount","name":%q,"namespace":"people"}]}`, name, role, role, name))
	}
	out := l.apply(`{"apiVersion":"v1","kind":"List","items":[` + strings.Join(items, ",") + `]}`)
	require.Zero(l.t, out.Code, out.Stderr)
}

// token makes a token, and a kubeconfig with it.
func (l *living) token(account string) (token string, expires time.Time, kubeconfig string) {
	l.t.Helper()
	out := l.oc("create", "token", account, "-n", "people", "--duration=600s", "-o", "json")
	require.Zero(l.t, out.Code, out.Stderr)
	var answer struct {
		Status struct {
			Token               string
			ExpirationTimestamp time.Time
		}
	}
	require.NoError(l.t, json.Unmarshal([]byte(out.Stdout), &answer))
	return answer.Status.Token, answer.Status.ExpirationTimestamp, l.with("token: " + answer.Status.Token)
}

// with writes a kubeconfig whose user logs in so.
func (l *living) with(login string) string {
	l.t.Helper()
	path := filepath.Join(l.t.TempDir(), "kubeconfig")
	content := "clusters: [{name: a, cluster: {server: 'https://api.shop.labs.example.com:6443'}}]\nusers:\n- name: a\n  user:\n    " + login + "\n"
	require.NoError(l.t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func (l *living) as(kubeconfig string, args ...string) (code int, stderr string) {
	l.t.Helper()
	out := l.Tool(l.t, "oc", l.dir, append([]string{"--kubeconfig=" + kubeconfig}, args...)...)
	return out.Code, out.Stderr
}

func TestATokenOpensWhatItsAccountIsBoundTo(t *testing.T) {
	l := live(t, 0)
	l.account("viewer", "view")
	l.account("reader", "view", "cluster-reader")
	l.account("editor", "edit")
	l.account("admin", "cluster-admin")
	config := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"people"}}`
	for account, may := range map[string]struct{ read, nodes, write, bind bool }{
		"viewer": {read: true}, "reader": {read: true, nodes: true}, "editor": {read: true, write: true}, "admin": {true, true, true, true},
	} {
		_, expires, kubeconfig := l.token(account)
		require.WithinDuration(t, time.Now().Add(10*time.Minute), expires, time.Minute)
		allows := func(want bool, code int, said string) {
			t.Helper()
			if want {
				require.Zero(t, code, said)
				return
			}
			require.Contains(t, said, `is forbidden: User "system:serviceaccount:people:`+account+`" cannot`, account)
		}
		code, said := l.as(kubeconfig, "get", "configmaps", "-n", "people", "-o", "json")
		allows(may.read, code, said)
		code, said = l.as(kubeconfig, "get", "nodes", "-o", "json")
		allows(may.nodes, code, said)
		for manifest, want := range map[string]bool{config: may.write, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"mine"}}`: may.bind} {
			out := l.Feed(t, "oc", l.dir, manifest, "--kubeconfig="+kubeconfig, "apply", "--server-side", "-f", "-")
			allows(want, out.Code, out.Stderr)
		}
		out := l.Tool(t, "oc", l.dir, "--kubeconfig="+kubeconfig, "whoami")
		require.Equal(t, "system:serviceaccount:people:"+account+"\n", out.Stdout)
	}
}

func TestABindingInANamespaceGivesARoleThereOnly(t *testing.T) {
	l := live(t, 0)
	l.account("first", "view")
	l.account("second", "view")
	out := l.apply(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}},
		{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"editors","namespace":"shop","labels":{"ocpctl.io/access":"editors"}},
		"roleRef":{"kind":"ClusterRole","name":"edit"},"subjects":[{"kind":"ServiceAccount","name":"first","namespace":"people"},{"kind":"ServiceAccount","name":"second","namespace":"people"}]}]}`)
	require.Zero(t, out.Code, out.Stderr)
	writes := func(account, namespace string) string {
		_, _, kubeconfig := l.token(account)
		manifest := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"namespace":%q}}`, account, namespace)
		return l.Feed(t, "oc", l.dir, manifest, "--kubeconfig="+kubeconfig, "apply", "--server-side", "-f", "-").Stderr
	}
	for _, account := range []string{"first", "second"} {
		require.Empty(t, writes(account, "shop"))
		require.Contains(t, writes(account, "people"), "(Forbidden)")
	}
	listed := l.oc("get", "clusterrolebindings.rbac.authorization.k8s.io,rolebindings.rbac.authorization.k8s.io", "-A", "-l", "ocpctl.io/access", "-o", "json").Stdout
	require.Contains(t, listed, `"name": "editors"`)
	require.Equal(t, 2, strings.Count(listed, `"kind": "ServiceAccount"`))
	require.Contains(t, l.oc("delete", "rolebindings.rbac.authorization.k8s.io", "-A", "-l", "ocpctl.io/access=editors", "--wait=false").Stdout, `rolebinding "editors" deleted`)
	require.Contains(t, writes("first", "shop"), "(Forbidden)")
}

func TestATokenOfAnAccountThatWasDeletedOpensNothing(t *testing.T) {
	l := live(t, 0)
	l.account("viewer", "view")
	token, _, kubeconfig := l.token("viewer")
	code, said := l.as(kubeconfig, "get", "configmaps", "-o", "json")
	require.Zero(t, code, said)
	require.Contains(t, l.oc("get", "serviceaccounts", "-n", "people", "-l", "ocpctl.io/access", "-o", "json").Stdout, `"name": "viewer"`)
	require.NotContains(t, l.oc("get", "serviceaccounts", "-n", "people", "-l", "other", "-o", "json").Stdout, `"name": "viewer"`)

	out := l.oc("delete", "serviceaccounts", "viewer", "nobody", "-n", "people", "--ignore-not-found")
	require.Equal(t, []any{0, "serviceaccount \"viewer\" deleted\n"}, []any{out.Code, out.Stdout})
	require.Contains(t, l.oc("delete", "serviceaccounts", "viewer", "-n", "people").Stderr, "(NotFound)")
	unauthorized := "error: You must be logged in to the server (Unauthorized)\n"
	_, said = l.as(kubeconfig, "get", "configmaps", "-o", "json")
	require.Equal(t, unauthorized, said)
	l.account("viewer", "view")
	_, said = l.as(kubeconfig, "get", "configmaps", "-o", "json")
	require.Equal(t, unauthorized, said, "another account has its name, and its tokens are its own")

	head, rest, _ := strings.Cut(token, ".")
	for name, bad := range map[string]string{"no token": "abc", "another signature": token + "x", "another payload": head + ".e30." + rest[strings.Index(rest, ".")+1:]} {
		_, said := l.as(l.with("token: "+bad), "get", "configmaps", "-o", "json")
		require.Equal(t, unauthorized, said, name)
	}
	require.Contains(t, l.oc("create", "token", "viewer", "-n", "people", "--duration=60s", "-o", "json").Stderr, "may not specify a duration less than 10 minutes")
	require.Contains(t, l.oc("create", "token", "nobody", "-n", "people", "-o", "json").Stderr, `serviceaccounts "nobody" not found`)
	require.Zero(t, l.oc("delete", "clusterrolebindings", "viewer-view").Code)
	_, _, kubeconfig = l.token("viewer")
	_, said = l.as(kubeconfig, "get", "configmaps", "-o", "json")
	require.Contains(t, said, "(Forbidden)", "without a binding it may nothing")
}

func TestAnExecPluginLogsIn(t *testing.T) {
	l := live(t, 0)
	l.account("viewer", "view")
	token, _, _ := l.token("viewer")
	plugin := filepath.Join(t.TempDir(), "plugin")
	write := func(document string) {
		require.NoError(t, os.WriteFile(plugin, []byte("#!/bin/sh\ncat <<'END'\n"+document+"\nEND\n"), 0o755))
	}
	kubeconfig := l.with("exec: {apiVersion: client.authentication.k8s.io/v1, command: " + plugin + ", interactiveMode: Never}")
	write(`{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"` + token + `"}}`)
	code, said := l.as(kubeconfig, "get", "configmaps", "-o", "json")
	require.Zero(t, code, said)
	write(`{"kind":"Other"}`)
	_, said = l.as(kubeconfig, "get", "configmaps", "-o", "json")
	require.Contains(t, said, "decoding stdout")
}
