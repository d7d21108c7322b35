package kube_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/kube"
)

func TestATokenIsReplacedByAProgram(t *testing.T) {
	token, err := kube.TokenOf([]byte(added))
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprintf("%v %+v %#v %s", token, token, token, token), "not-a-token")
	raw, err := kube.Renewing([]byte(added), kube.Program{Path: "/usr/local/bin/ocpctl", Args: []string{"credential", "--role", "view"}, Env: map[string]string{"A": "b c"}})
	require.NoError(t, err)
	require.Equal(t, `apiVersion: v1
kind: Config
clusters:
  - {name: smoke, cluster: {server: "https://api.smoke.labs.example.com:6443"}}
users:
  - {name: admin, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: /usr/local/bin/ocpctl, args: [credential, --role, view], env: [{name: A, value: b c}], interactiveMode: Never}}}
contexts:
  - {name: admin, context: {cluster: smoke, user: admin, namespace: default}}
current-context: admin
`, string(raw))
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, kube.Merge(path, "smoke", raw, true), "it can still be merged")
	for _, other := range []string{"", "- a", "users: []", "users: [{name: a}]", "users: [{name: a, user: {}}, {name: b, user: {}}]"} {
		_, err := kube.TokenOf([]byte(other))
		require.ErrorContains(t, err, "read the cluster's kubeconfig", other)
		_, err = kube.Renewing([]byte(other), kube.Program{})
		require.Error(t, err, other)
	}
	_, err = kube.TokenOf([]byte("users: [{name: a, user: {}}]"))
	require.ErrorContains(t, err, "it has no token")
}

// token is the one of added.
func token(t *testing.T) kube.Token {
	token, err := kube.TokenOf([]byte(added))
	require.NoError(t, err)
	return token
}

func TestACredentialIsWhatKubectlReads(t *testing.T) {
	var out bytes.Buffer
	at := time.Date(2025, 3, 1, 13, 0, 0, 0, time.FixedZone("", 3600))
	require.NoError(t, kube.WriteCredential(&out, token(t), at))
	require.JSONEq(t, `{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
		"status": {"token": "not-a-token", "expirationTimestamp": "2025-03-01T12:00:00Z"}}`, out.String())
}

func TestATokenIsKeptForItsOwnerAlone(t *testing.T) {
	const server = "https://ocpctl.example.com"
	keep := kube.Keep{Folder: filepath.Join(t.TempDir(), "tokens")}
	at := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	_, found := keep.Read(server, "q")
	require.False(t, found)
	kept := kube.Kept{Token: token(t), Expires: at.Add(time.Hour), Checked: at}
	require.NoError(t, keep.Write(server+"/", "q", kept))
	have, found := keep.Read(server, "q")
	require.True(t, found)
	require.Equal(t, kept, have)
	files, err := filepath.Glob(filepath.Join(keep.Folder, "*", "*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.Contains(t, read(t, files[0]), "not-a-token")
	for _, other := range [][2]string{{server, "other"}, {"https://other.example.com", "q"}} {
		_, found = keep.Read(other[0], other[1])
		require.False(t, found, other)
	}

	require.NoError(t, os.WriteFile(files[0], []byte("{"), 0o600))
	_, found = keep.Read(server, "q")
	require.False(t, found, "a broken file is nothing")
	require.NoError(t, keep.Write(server, "q", kept))
	require.NoError(t, keep.Write(server, "other", kept))
	require.NoError(t, keep.Drop(server, "q"))
	_, found = keep.Read(server, "other")
	require.True(t, found)
	require.NoError(t, keep.Drop(server, ""))
	require.NoError(t, keep.Drop(server, ""))
	_, found = keep.Read(server, "other")
	require.False(t, found)
}

func TestTokensAreKeptInMemoryWhereThereIsAFileSystemForThat(t *testing.T) {
	for want, env := range map[string]map[string]string{
		"/run/user/1000/ocpctl/tokens":    {"HOME": "/home/maya", "XDG_RUNTIME_DIR": "/run/user/1000", "XDG_CACHE_HOME": "/cache"},
		"/cache/ocpctl/tokens":            {"HOME": "/home/maya", "XDG_CACHE_HOME": "/cache"},
		"/home/maya/.cache/ocpctl/tokens": {"HOME": "/home/maya", "XDG_RUNTIME_DIR": "relative"},
	} {
		require.Equal(t, want, kube.DefaultKeep(func(name string) string { return env[name] }).Folder)
	}
}
