package command_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/standtest"
)

// inside looks at what a started program would find, and gives the folder of its kubeconfig.
func (d *service) inside(cmd *exec.Cmd) string {
	var path string
	for _, pair := range cmd.Env {
		if value, ok := strings.CutPrefix(pair, "KUBECONFIG="); ok {
			path = value
		}
	}
	d.forOwner(path)
	require.Contains(d, cmd.Env, "OCPCTL_CLUSTER=team-a-smoke-01")
	require.Equal(d, d.env["XDG_RUNTIME_DIR"], filepath.Dir(filepath.Dir(path)))
	return filepath.Dir(path)
}

// private says that a kubeconfig is there for its owner alone.
func (d *service) private(path string) {
	raw, err := os.ReadFile(path)
	require.NoError(d, err)
	require.Equal(d, kubeconfig, string(raw))
	d.forOwner(path)
}

// forOwner says that nobody else may read a file.
func (d *service) forOwner(path string) {
	info, err := os.Stat(path)
	require.NoError(d, err)
	require.Equal(d, os.FileMode(0o600), info.Mode().Perm())
}

func TestAKubeconfigIsKeptForItsOwnerAlone(t *testing.T) {
	d := newService(t)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o644))
	require.Equal(t, exit.OK, d.run("kubeconfig", "team-a-smoke-01", "--static", "-f", path))
	require.Empty(t, d.out.String())
	d.private(path)
	d.Refuse("getKubeconfig", http.StatusConflict, map[string]any{"title": "Conflict", "status": 409, "detail": "It is not ready."})
	require.Equal(t, exit.Conflict, d.run("kubeconfig", "team-a-smoke-01", "--static", "-f", path))
	d.private(path)

	d = newService(t)
	require.Equal(t, exit.OK, d.run("kubeconfig", "--cluster-id", cluster, "--merge"))
	raw, err := os.ReadFile(filepath.Join(d.env["HOME"], ".kube", "config"))
	require.NoError(t, err)
	require.Contains(t, string(raw), "current-context: team-a-smoke-01")
	require.Contains(t, d.err.String(), "kubectl --context team-a-smoke-01 get nodes")
}

func TestALinkIsReadWhereNoListOfProcessesShowsIt(t *testing.T) {
	d := newService(t)
	d.in = d.URL + "/links/abc\n"
	require.Equal(t, exit.OK, d.run("redeem", "-"))
	require.Contains(t, d.out.String(), "demo-not-a-password")
	d.Handle("redeemLink", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/yaml")
		_, _ = w.Write([]byte(kubeconfig))
	})
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.Equal(t, exit.OK, d.run("redeem", "-", "-f", path))
	d.private(path)
	require.Equal(t, exit.Other, d.run("redeem", "-", "-f", "/nowhere/kubeconfig"))
	require.Equal(t, kubeconfig, d.out.String(), "the link is used up, so what it gave is not thrown away")
}

func TestARequestComesFromAFile(t *testing.T) {
	for name, text := range map[string]string{
		"request.yaml": "name: from-file\nprofile: aws-standard\nversion: 4.20.3\nttlHours: 24\nextraTags: {a: b}\n",
		"request.json": `{"name": "from-file", "profile": "aws-standard", "version": "4.20.3", "ttlHours": 24, "extraTags": {"a": "b"}}`,
	} {
		d := newService(t)
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.Equal(t, exit.OK, d.run("create", "-f", path), d.err.String())
		require.JSONEq(t, `{"name":"from-file","profile":"aws-standard","version":"4.20.3","ttlHours":24,"extraTags":{"a":"b"}}`, d.Asked()[0].Body)
		require.Equal(t, exit.OK, d.run("create", "aws-minimal-test", "-f", path, "--ttl", "2d", "--tag", "c=d"), "flags go over it")
		require.JSONEq(t, `{"name":"from-file","profile":"aws-minimal-test","version":"4.20.3","ttl":"48h","extraTags":{"a":"b","c":"d"}}`, d.Asked()[0].Body)
		d.in = text
		require.Equal(t, exit.OK, d.run("create", "--from-file", "-"))
	}
	for text, message := range map[string]string{
		"name: x\nregio: y\nttk: 4\n": "line 2: field regio not found.\n  --from-file: line 3: field ttk not found. Accepted: name, profile, ttl, ttlHours",
		"name: x\nttlHours: 0\n":      "ttlHours: 0 is not a lifetime. Every cluster has an end. Accepted: whole hours above 0.",
		"name: [\n":                   "--from-file: line",
		"- name\n":                    "cannot unmarshal",
	} {
		d := newService(t)
		d.in = text
		require.Equal(t, exit.Usage, d.run("create", "-f", "-"))
		require.Contains(t, d.err.String(), message)
		require.Empty(t, d.Asked())
	}
}

func TestFilesThatWouldNotBeReadAreValidatedToo(t *testing.T) {
	d, dir := newService(t), t.TempDir()
	for _, path := range []string{"profiles/a.yaml", "quotas/b.yml", "extras/c.yaml", "teams/notes.txt", ".git/d.yaml"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte("x: y\n"), 0o600))
	}
	var sent v1.CatalogueFiles
	d.Handle("validateCatalogue", func(w http.ResponseWriter, r *http.Request) {
		require.NoError(t, json.NewDecoder(r.Body).Decode(&sent))
		_, _ = w.Write([]byte(`{"valid": true, "hash": "0123", "problems": []}`))
	})
	require.Equal(t, exit.OK, d.run("catalog", "validate", dir), d.err.String())
	require.Equal(t, map[string]string{"profiles/a.yaml": "x: y\n", "quotas/b.yml": "x: y\n", "extras/c.yaml": "x: y\n"}, sent.Files)
}

func TestAPrivateKeyStaysWhereItIs(t *testing.T) {
	d := newService(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"id": "-----BEGIN OPENSSH PRIVATE KEY-----\n", "id.pub": "ssh-ed25519 AAAAC3Nza maya@example.com\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	require.Equal(t, exit.Usage, d.run("create", "--name", "x", "--ssh-key", filepath.Join(dir, "id")))
	require.Contains(t, d.err.String(), "is a private key. It was not sent. Accepted: "+filepath.Join(dir, "id")+".pub.")
	require.Equal(t, exit.OK, d.run("create", "--name", "x", "--ssh-key", filepath.Join(dir, "id.pub")))
	require.Contains(t, d.Asked()[0].Body, `"sshPublicKey":"ssh-ed25519 AAAAC3Nza maya@example.com"`)
}

func TestALoginIsRememberedWithoutASecret(t *testing.T) {
	d := newService(t)
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte(standtest.Token), 0o600))
	d.env = map[string]string{"HOME": t.TempDir()}
	require.Equal(t, exit.OK, d.run("login", "--server", d.URL, "--name", "prod", "--token-file", token), d.err.String())
	require.Contains(t, d.out.String(), "signed in with  token-file\n")
	path := filepath.Join(d.env["HOME"], ".config", "ocpctl", "config.yaml")
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "current: prod\ncontexts:\n    prod:\n        server: "+d.URL+"\n        auth: token-file\n        tokenFile: "+token+"\n", string(raw))
	require.NotContains(t, string(raw), standtest.Token)
	require.Equal(t, exit.OK, d.run("list"))

	require.Equal(t, exit.Denied, d.run("login", "--server", d.URL, "--name", "bad", "--token-command", "echo wrong"))
	require.Contains(t, d.err.String(), "nothing was changed")
	require.Equal(t, exit.OK, d.run("login", "--server", d.URL, "--name", "bad", "--token-command", "echo wrong", "--no-check"))
	require.Equal(t, exit.Denied, d.run("list"), "it is the current one now")
	require.Equal(t, exit.OK, d.run("list", "--context", "prod"))
	require.Equal(t, exit.OK, d.run("context", "use", "prod"))
	require.Equal(t, exit.OK, d.run("context", "list", "-o", "wide"))
	require.Contains(t, d.out.String(), "*        prod  "+d.URL+"  token-file")
	require.Equal(t, exit.NotFound, d.run("context", "use", "dev"))
	require.Contains(t, d.err.String(), "Accepted: bad, prod.")
	require.Equal(t, exit.OK, d.run("logout", "bad"))
	require.Equal(t, exit.OK, d.run("logout"))
	require.Equal(t, exit.Denied, d.run("list"))
	require.Equal(t, exit.NotFound, d.run("logout", "prod"))
}

func TestAnExportIsThereWhenItIsWhole(t *testing.T) {
	d := newService(t)
	path := filepath.Join(t.TempDir(), "trail.ndjson")
	require.Equal(t, exit.OK, d.run("audit", "export", "-f", path))
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, trail, string(raw))
	require.NoError(t, os.Remove(path))
	d.Handle("exportAudit", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "9999")
		_, _ = w.Write([]byte(trail))
	})
	require.Equal(t, exit.Other, d.run("audit", "export", "-f", path))
	require.NoFileExists(t, path)
}

func TestAFileForAccountingIsThereWhenItIsWhole(t *testing.T) {
	for command, operation := range map[string]string{"chargeback": "reportChargeback", "focus": "reportFocus"} {
		d := newService(t)
		path := filepath.Join(t.TempDir(), "costs.csv")
		d.Handle(operation, func(w http.ResponseWriter, r *http.Request) {
			require.Equal(t, "2025-02-01T00:00:00Z", r.URL.Query().Get("from"))
			_, _ = w.Write([]byte("a,b\n1,2\n"))
		})
		require.Equal(t, exit.OK, d.run("report", command, "--from", "2025-02-01", "--output", path), d.err.String())
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "a,b\n1,2\n", string(raw))
		require.Equal(t, exit.OK, d.run("report", command, "--from", "2025-02-01"))
		require.NoError(t, os.Remove(path))
		d.Handle(operation, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9999")
			_, _ = w.Write([]byte("a,b\n"))
		})
		require.Equal(t, exit.Other, d.run("report", command, "--output", path))
		require.NoFileExists(t, path)
		require.Equal(t, exit.Usage, d.run("report", command, "--from", "sometime"))
	}
}
