package kube_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/kube"
)

const added = `apiVersion: v1
kind: Config
clusters:
- {name: smoke, cluster: {server: "https://api.smoke.labs.example.com:6443"}}
users:
- {name: admin, user: {token: not-a-token}}
contexts:
- {name: admin, context: {cluster: smoke, user: admin, namespace: default}}
current-context: admin
`

const own = `# mine
apiVersion: v1
kind: Config
clusters:
  - name: work
    cluster: {server: 'https://work.example.com'} # do not touch
contexts: []
users: null
current-context: work
`

func read(t *testing.T, path string) string {
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	return string(raw)
}

func TestAMergeKeepsWhatIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(path, []byte(own), 0o644))
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(path, link))
	require.NoError(t, kube.Merge(link, "smoke", []byte(added), false))
	want := `# mine
apiVersion: v1
kind: Config
clusters:
  - name: work
    cluster: {server: 'https://work.example.com'} # do not touch
  - {name: smoke, cluster: {server: "https://api.smoke.labs.example.com:6443", extensions: [{name: ocpctl.io/merged, extension: {}}]}}
contexts:
  - {name: smoke, context: {cluster: smoke, user: smoke, namespace: default, extensions: [{name: ocpctl.io/merged, extension: {}}]}}
users:
  - {name: smoke, user: {token: not-a-token, extensions: [{name: ocpctl.io/merged, extension: {}}]}}
current-context: work
`
	require.Equal(t, want, read(t, path))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink, "a link stays a link")

	require.NoError(t, kube.Merge(path, "smoke", []byte(added), false))
	require.Equal(t, want, read(t, path), "again changes nothing")
	require.NoError(t, kube.Merge(path, "smoke", []byte(added), true))
	require.Contains(t, read(t, path), "current-context: smoke\n")
}

func TestAMergeIntoNothingMakesAKubeconfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".kube", "config")
	require.NoError(t, kube.Merge(path, "smoke", []byte(added), false))
	require.Contains(t, read(t, path), "kind: Config\n")
	require.Contains(t, read(t, path), "current-context: smoke\n", "there was none")
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1, "neither a lock nor a draft is left")
}

func TestWhatCannotBeMergedChangesNothing(t *testing.T) {
	for name, c := range map[string]struct{ own, added, text string }{
		"a file that is no YAML":         {"a: [", added, "nothing was changed"},
		"a file that is no kubeconfig":   {"- a", added, "it is not a kubeconfig"},
		"no kubeconfig from the cluster": {own, "nope", "it is not a valid kubeconfig"},
		"two users from the cluster":     {own, "clusters: [{name: a, cluster: {}}]\nusers: [{name: a}, {name: b}]\n", "exactly one entry in users"},
		"an empty context":               {own, "clusters: [{name: a, cluster: {}}]\nusers: [{name: a, user: {}}]\ncontexts: [{name: a}]\n", "its context is empty"},
		"a person's context":             {"contexts: [{name: x, context: {cluster: work, user: me}}]\n", added, "already has the context x, which ocpctl did not write"},
		"a person's cluster and user":    {"clusters: [{name: x, cluster: {}}]\nusers: [{name: x, user: {token: mine}}]\n", added, "already has the cluster and the user x"},
		"an entry without content":       {"users: [{name: x}]\n", added, "already has the user x"},
		"a second entry with the name":   {"users: [{name: x, user: {extensions: [{name: ocpctl.io/merged}]}}, {name: x, user: {token: mine}}]\n", added, "already has the user x"},
		"an extension of somebody else":  {"users: [{name: x, user: {extensions: [{name: cluster_info}]}}]\n", added, "already has the user x"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config")
			require.NoError(t, os.WriteFile(path, []byte(c.own), 0o600))
			require.ErrorContains(t, kube.Merge(path, "x", []byte(c.added), true), c.text)
			require.Equal(t, c.own, read(t, path))
		})
	}
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(path+".lock", nil, 0o600))
	require.ErrorContains(t, kube.Merge(path, "x", []byte(added), true), "delete "+path+".lock")
}

func TestWhatAMergeWroteIsReplacedAlsoAfterKubectlRewroteTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, kube.Merge(path, "smoke", []byte(added), false))
	config, err := clientcmd.LoadFromFile(path)
	require.NoError(t, err)
	config.Contexts["smoke"].Namespace = "mine"
	require.NoError(t, clientcmd.WriteToFile(*config, path))
	require.NoError(t, kube.Merge(path, "smoke", []byte(strings.Replace(added, "not-a-token", "the-next-one", 1)), false))
	config, err = clientcmd.LoadFromFile(path)
	require.NoError(t, err)
	require.Equal(t, "the-next-one", config.AuthInfos["smoke"].Token)
	require.Len(t, config.AuthInfos, 1)
}

func TestAPrivateFolderGoesAway(t *testing.T) {
	place := t.TempDir()
	folder, remove, err := kube.Private(func(string) string { return place })
	require.NoError(t, err)
	require.Equal(t, place, filepath.Dir(folder))
	info, err := os.Stat(folder)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	require.NoError(t, kube.Write(filepath.Join(folder, "kubeconfig"), []byte(added)))
	require.Equal(t, added, read(t, filepath.Join(folder, "kubeconfig")))
	require.NoError(t, remove())
	require.NoDirExists(t, folder)
}

func TestTheDefaultIsKubectls(t *testing.T) {
	env := map[string]string{"HOME": "/home/maya"}
	get := func(name string) string { return env[name] }
	require.Equal(t, "/home/maya/.kube/config", kube.Default(get))
	env["KUBECONFIG"] = ":/a:/b"
	require.Equal(t, "/a", kube.Default(get))
}

func TestEverySecretOfAKubeconfigIsFound(t *testing.T) {
	key := "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END RSA PRIVATE KEY-----\n"
	coded := base64.StdEncoding.EncodeToString([]byte(key))
	secrets, err := kube.Secrets([]byte(`
clusters: [{name: c, cluster: {server: "https://api.example.com:6443", certificate-authority-data: cHVibGlj}}]
users:
- name: admin
  user: {client-key-data: ` + coded + `, token: abcdefgh, username: kubeadmin, password: "1234-5678"}
- {name: other, user: {auth-provider: {name: oidc, config: {refresh-token: refresh-me}}, exec: {command: ocpctl, args: [credential], env: [{name: T, value: from-env}]}}}
`))
	require.NoError(t, err)
	require.Equal(t, []string{coded, key, "abcdefgh", "1234-5678", "refresh-me", "from-env"}, secrets)

	secrets, err = kube.Secrets([]byte("kind: Config\n"))
	require.NoError(t, err)
	require.Empty(t, secrets)
	for _, broken := range []string{"", "[]", "a: [", "users: [{name: x, user: &a {token: *a}}]", "t: &t secret\nusers: [{name: x, user: {token: *t}}]"} {
		_, err := kube.Secrets([]byte(broken))
		require.ErrorContains(t, err, "read the kubeconfig", broken)
	}
}
