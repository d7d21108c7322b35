//go:build kubernetes

package runner_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/devstack/kubernetes"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
)

// This test runs with make test-kubernetes: the runner makes and removes accounts in a real Kubernetes API server, and kubectl uses them.

// reachable is the world of an access attempt in a cluster, with kubectl as its oc.
func reachable(t *testing.T, server *kubernetes.Server, oc string) *world {
	t.Helper()
	w := newWorld(t, contract.KindAccess)
	w.cfg.Timings.Reach, w.cfg.Timings.ScalePoll = time.Minute, 100*time.Millisecond
	url, err := server.URL()
	require.NoError(t, err)
	token, err := server.Token()
	require.NoError(t, err)
	ca, err := os.ReadFile(server.CA())
	require.NoError(t, err)
	installers, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "admin",
		"clusters": []any{map[string]any{"name": "shop", "cluster": map[string]any{"server": url, "certificate-authority-data": base64.StdEncoding.EncodeToString(ca)}}},
		"contexts": []any{map[string]any{"name": "admin", "context": map[string]any{"cluster": "shop", "user": "admin"}}},
		"users":    []any{map[string]any{"name": "admin", "user": map[string]any{"token": token}}},
	})
	require.NoError(t, err)
	w.spec.KubeconfigRef, err = storeOf(t, w).PutOnce(t.Context(), artifacts.CredentialKey("clu_1", 1, time.Now(), "kubeconfig"), installers)
	require.NoError(t, err)
	at := filepath.Join(w.cfg.Installers, "4.20.3", "oc")
	require.NoError(t, os.Remove(at))
	require.NoError(t, os.Symlink(oc, at))
	return w
}

// reader uses a cluster with the kubeconfig that was made for them.
type reader struct {
	*testing.T
	oc, kubeconfig string
}

// given is the kubeconfig that a runner stored.
func (w *world) given(t *testing.T, oc, access string) reader {
	t.Helper()
	said := w.accessReported()[access]
	require.Empty(t, said.Trouble)
	raw, err := storeOf(t, w).Read(t.Context(), artifacts.CredentialRef(w.spec.Bucket, "clu_1", 3, said.StoredAt, artifacts.AccessFile(access)))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	return reader{t, oc, path}
}

// try runs kubectl, and returns what it printed and the error that it printed.
func (r reader) try(args ...string) (answer, refusal string) {
	r.Helper()
	var out, said bytes.Buffer
	cmd := exec.CommandContext(r.Context(), r.oc, append([]string{"--kubeconfig=" + r.kubeconfig, "--cache-dir=" + r.TempDir()}, args...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = []string{"HOME=" + r.TempDir(), "PATH=/nowhere"}, &out, &said
	if err := cmd.Run(); err != nil {
		require.NotEmpty(r, said.String(), "%v: %v", args, err)
		return "", said.String()
	}
	return out.String(), ""
}

func (r reader) may(args ...string) string {
	r.Helper()
	answer, refusal := r.try(args...)
	require.Empty(r, refusal, "%v", args)
	return answer
}

func (r reader) mayNot(args ...string) {
	r.Helper()
	_, refusal := r.try(args...)
	require.Contains(r, strings.ToLower(refusal), "forbidden", "%v", args)
}

// write gives the reader the installer's kubeconfig.
func (r reader) write(w *world) {
	r.Helper()
	raw, err := storeOf(r.T, w).Read(r.Context(), w.spec.KubeconfigRef)
	require.NoError(r, err)
	require.NoError(r, os.WriteFile(r.kubeconfig, raw, 0o600))
}

// user is who the cluster takes the reader for (SelfSubjectReview).
func (r reader) user() string {
	r.Helper()
	var review struct {
		Status struct{ UserInfo struct{ Username string } }
	}
	require.NoError(r, json.Unmarshal([]byte(r.may("auth", "whoami", "-o", "json")), &review))
	return review.Status.UserInfo.Username
}

// life is when the token was issued and for how long, as it says itself.
func (r reader) life() (issued time.Time, lasts time.Duration) {
	r.Helper()
	raw, err := os.ReadFile(r.kubeconfig)
	require.NoError(r, err)
	var k struct {
		Users []struct{ User struct{ Token string } }
	}
	require.NoError(r, yaml.Unmarshal(raw, &k))
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(k.Users[0].User.Token, ".")[1])
	require.NoError(r, err)
	var said struct{ Iat, Exp int64 }
	require.NoError(r, json.Unmarshal(payload, &said))
	return time.Unix(said.Iat, 0), time.Duration(said.Exp-said.Iat) * time.Second
}

func TestAccessInARealCluster(t *testing.T) {
	server, err := kubernetes.Start(t.Context(), kubernetes.Config{Dir: filepath.Join(t.TempDir(), "kubernetes"), Nodes: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	oc := filepath.Join(t.TempDir(), "oc")
	build := exec.CommandContext(t.Context(), "go", "-C", "../tools/tekton", "build", "-o", oc, "./oc") // kubectl, of which oc knows every command that is used here
	printed, err := build.CombinedOutput()
	require.NoError(t, err, "%s", printed)

	installers := reader{t, oc, filepath.Join(t.TempDir(), "installers")}
	installers.write(reachable(t, server, oc))
	installers.may("create", "namespace", "shop")
	installers.may("label", "namespace", "shop", "ocpctl.io/edit=true")
	installers.may("create", "namespace", "operator")
	made := reachable(t, server, oc)
	made.access = func(int) contract.AccessWork {
		return contract.AccessWork{Give: []contract.Access{willView, mayaAdmin, robEdit}}
	}
	require.NoError(t, made.run(t.Context()))
	require.Equal(t, "succeeded", made.result().Outcome, made.result().Message)
	will, maya, rob := made.given(t, oc, "acc_1"), made.given(t, oc, "acc_2"), made.given(t, oc, "acc_3")

	for user, r := range map[string]reader{"saml-will-a1": will, "saml-maya-a2": maya, "saml-rob-a3": rob} {
		require.Equal(t, names.AccessUser(user), r.user(), "the cluster's own audit shows the reader")
	}
	create := func(name string) []string {
		return []string{"create", "configmap", name, "-n", "shop", "--from-literal=a=b"}
	}
	will.may("get", "configmaps", "-A")
	will.mayNot(create("by-will")...)
	will.mayNot("get", "secrets", "-A")
	will.mayNot("create", "token", "saml-maya-a2", "-n", names.AccessNamespace)
	will.mayNot("get", "configmaps", "-n", "shop", "--as=system:admin")
	rob.may(create("by-rob")...)
	rob.may("create", "deployment", "front", "-n", "shop", "--image=registry.example/front:1")
	rob.may("get", "configmaps", "-A")
	for _, refused := range [][]string{
		{"create", "token", "saml-maya-a2", "-n", names.AccessNamespace}, {"get", "serviceaccounts", "-n", names.AccessNamespace, "--as=" + names.AccessUser("saml-maya-a2")},
		{"get", "secrets", "-n", "kube-system"}, {"get", "secrets", "-A"}, {"create", "token", "default", "-n", "kube-system"}, {"get", "configmaps", "-n", "kube-system", "--as=system:serviceaccount:kube-system:default"},
		{"create", "deployment", "front", "-n", "kube-system", "--image=registry.example/front:1"}, {"create", "deployment", "front", "-n", "default", "--image=registry.example/front:1"},
		{"create", "deployment", "front", "-n", "operator", "--image=registry.example/front:1"}, {"create", "token", "default", "-n", "operator"},
		{"label", "namespace", "operator", "ocpctl.io/edit=true"},
		{"create", "deployment", "front", "-n", names.AccessNamespace, "--image=registry.example/front:1"},
		{"create", "rolebinding", "more", "-n", "shop", "--clusterrole=admin", "--serviceaccount=" + names.AccessNamespace + ":saml-rob-a3"},
		{"delete", "rolebinding", "ocpctl-access-edit", "-n", "shop"}, {"create", "namespace", "mine"},
	} {
		rob.mayNot(refused...)
	}
	will.mayNot("create", "deployment", "front", "-n", "shop", "--image=registry.example/front:1")
	rob.mayNot("create", "clusterrolebinding", "more", "--clusterrole=cluster-admin", "--serviceaccount="+names.AccessNamespace+":saml-rob-a3")
	maya.may(create("by-maya")...)
	maya.may("get", "secrets", "-A")
	maya.may("create", "clusterrole", "reads-nodes", "--verb=get", "--resource=nodes")

	for _, c := range []struct {
		of     reader
		access string
		lasts  time.Duration
	}{{will, "acc_1", time.Hour}, {maya, "acc_2", 10 * time.Minute}, {rob, "acc_3", 2 * time.Hour}} {
		issued, lasts := c.of.life()
		require.Equal(t, c.lasts, lasts, "the API server refuses the token afterwards; ten minutes are the least that it gives")
		require.WithinDuration(t, issued.Add(lasts), made.accessReported()[c.access].ExpiresAt, time.Second)
	}

	installers.may("create", "namespace", "later")
	installers.may("label", "namespace", "later", "ocpctl.io/edit=true")
	rob.mayNot("create", "configmap", "by-rob", "-n", "later", "--from-literal=a=b")
	renewed := reachable(t, server, oc)
	renewed.access = func(int) contract.AccessWork {
		return contract.AccessWork{Keep: []string{willView.Account, mayaAdmin.Account, robEdit.Account}}
	}
	require.NoError(t, renewed.run(t.Context()))
	require.Equal(t, "succeeded", renewed.result().Outcome, renewed.result().Message)
	rob.may("create", "configmap", "by-rob", "-n", "later", "--from-literal=a=b")
	maya.may("patch", "serviceaccount", willView.Account, "-n", names.AccessNamespace, "--type=merge", "-p", `{"metadata":{"finalizers":["a.example/stays"]}}`)

	taken := reachable(t, server, oc)
	taken.access = func(int) contract.AccessWork {
		return contract.AccessWork{Take: []contract.Access{willView}, Keep: []string{mayaAdmin.Account}} // and nobody knows rob's
	}
	require.NoError(t, taken.run(t.Context()))
	require.Equal(t, "succeeded", taken.result().Outcome, taken.result().Message)
	require.True(t, taken.accessReported()["acc_1"].Removed)
	for name, gone := range map[string]reader{"will": will, "rob": rob} {
		refused := func() bool { // the API server keeps for ten seconds that a token was valid
			_, refusal := gone.try("get", "configmaps", "-n", "default")
			return strings.Contains(refusal, "Unauthorized") || strings.Contains(refusal, "must be logged in")
		}
		require.Eventually(t, refused, time.Minute, 200*time.Millisecond, name)
	}
	require.Equal(t, names.AccessUser("saml-maya-a2"), maya.user(), "it goes on")
	require.Equal(t, "saml-maya-a2", strings.TrimSpace(maya.may("get", "serviceaccounts", "-n", names.AccessNamespace, "-l", "ocpctl.io/access", "-o", "jsonpath={.items[*].metadata.name}")), "a finalizer keeps no account")
	require.NotContains(t, maya.may("get", "rolebindings", "-A", "-o", "name"), "ocpctl-access-edit")
	require.NotContains(t, maya.may("get", "clusterrolebindings", "-o", "name"), "ocpctl-access-saml-will", fmt.Sprint(taken.asked()))

	again := reachable(t, server, oc)
	again.access = func(int) contract.AccessWork {
		return contract.AccessWork{Give: []contract.Access{willView}, Keep: []string{mayaAdmin.Account}}
	}
	require.NoError(t, again.run(t.Context()))
	again.given(t, oc, "acc_1").may("get", "configmaps", "-A")
	_, refusal := will.try("get", "configmaps", "-A")
	require.NotEmpty(t, refusal, "an older token of an account with the same name stays dead")
}
