package command_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
)

// caller is how a kubeconfig calls us.
type caller struct {
	APIVersion string   `yaml:"apiVersion"`
	Command    string   `yaml:"command"`
	Args       []string `yaml:"args"`
	Env        []struct{ Name, Value string }
	Mode       string `yaml:"interactiveMode"`
}

// calls reads how a kubeconfig calls us; it must hold no secret.
func (d *service) calls(raw string) caller {
	require.NotContains(d, raw, "not-a-token")
	var k struct {
		Clusters []struct{ Cluster struct{ Server string } }
		Users    []struct{ User struct{ Exec caller } }
	}
	require.NoError(d, yaml.Unmarshal([]byte(raw), &k))
	require.Equal(d, "https://api.team-a-smoke-01.labs.example.com:6443", k.Clusters[0].Cluster.Server)
	return k.Users[0].User.Exec
}

// credential is what we answered to kubectl.
func (d *service) credential() (token string, expires time.Time) {
	var said struct {
		APIVersion, Kind string
		Status           struct {
			Token   string
			Expires time.Time `json:"expirationTimestamp"`
		}
	}
	require.NoError(d, json.Unmarshal([]byte(d.out.String()), &said), d.out.String())
	require.Equal(d, "client.authentication.k8s.io/v1 ExecCredential", said.APIVersion+" "+said.Kind)
	return said.Status.Token, said.Status.Expires
}

// asks is how often a line asks the server.
func (d *service) asks(code exit.Code, args ...string) int {
	d.Helper()
	d.Asked() // what was asked before does not count
	require.Equal(d, code, d.run(args...), d.err.String())
	return len(d.Asked())
}

// tokens are the files of tokens that are kept anywhere.
func (d *service) tokens() (paths []string) {
	for _, dir := range []string{d.env["HOME"], d.env["XDG_RUNTIME_DIR"]} {
		require.NoError(d, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			raw, err := os.ReadFile(path)
			if json.Valid(raw) {
				paths = append(paths, path)
			}
			return err
		}))
	}
	return paths
}

func TestAKubeconfigOnAMachineHoldsNoTokenAndCallsUsForOne(t *testing.T) {
	d := newService(t)
	now := d.world.Now()
	d.world.Now = func() time.Time { return now }
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.Equal(t, exit.OK, d.run("kubeconfig", "team-a-smoke-01", "--role", "edit", "--lifetime", "2h", "-f", path), d.err.String())
	d.forOwner(path)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	call := d.calls(string(raw))
	require.Equal(t, caller{
		APIVersion: "client.authentication.k8s.io/v1", Command: "/usr/local/bin/ocpctl", Mode: "Never",
		Args: []string{"credential", "--cluster-id", cluster, "--role", "edit", "--lifetime", "2h", "--server", d.URL},
	}, call)

	require.Zero(t, d.asks(exit.OK, call.Args...), "the token that came with the kubeconfig is kept")
	token, expires := d.credential()
	require.Equal(t, "not-a-token", token)
	require.Equal(t, now.Add(10*time.Minute), expires, "kubectl asks again when the server has to be asked, long before the token expires")
	for _, kept := range d.tokens() {
		d.forOwner(kept)
	}

	now = now.Add(11 * time.Minute)
	require.Equal(t, 1, d.asks(exit.OK, call.Args...), "the server may have revoked it meanwhile")
	require.Zero(t, d.asks(exit.OK, call.Args...))

	now = now.Add(11 * time.Minute)
	d.Refuse("getKubeconfig", http.StatusInternalServerError, map[string]any{"title": "Error", "status": 500, "detail": "The database is away."})
	require.Equal(t, 1, d.asks(exit.OK, call.Args...), "clusters work without the server")
	require.Zero(t, d.asks(exit.OK, call.Args...), "and it is not asked every time")

	now = now.Add(11 * time.Minute)
	d.Refuse("getKubeconfig", http.StatusForbidden, map[string]any{"title": "Forbidden", "status": 403, "detail": "The cluster is no longer shared with you."})
	require.Equal(t, 1, d.asks(exit.Denied, call.Args...))
	require.Contains(t, d.err.String(), "no longer shared with you")
	require.Empty(t, d.tokens())
}

func TestATokenThatWorksIsKeptUnlessTheServerSaysNo(t *testing.T) {
	for status, c := range map[int]struct {
		code exit.Code
		kept bool
	}{
		http.StatusUnauthorized: {exit.Denied, false}, http.StatusForbidden: {exit.Denied, false}, http.StatusNotFound: {exit.NotFound, false},
		http.StatusBadRequest: {exit.OK, true}, http.StatusConflict: {exit.OK, true}, http.StatusTooManyRequests: {exit.OK, true},
		http.StatusInternalServerError: {exit.OK, true}, http.StatusServiceUnavailable: {exit.OK, true},
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			d := newService(t)
			now := d.world.Now()
			d.world.Now = func() time.Time { return now }
			require.Equal(t, exit.OK, d.run("credential", "team-a-smoke-01"), d.err.String())
			now = now.Add(11 * time.Minute)
			d.Refuse("getKubeconfig", status, map[string]any{"title": http.StatusText(status), "status": status, "detail": "The kubeconfig could not be made."})
			require.Equal(t, c.code, d.run("credential", "team-a-smoke-01"), d.err.String())
			require.Equal(t, c.kept, len(d.tokens()) == 1)
			if c.kept {
				token, expires := d.credential()
				require.Equal(t, "not-a-token", token)
				require.Equal(t, now.Add(time.Minute), expires, "the server is asked again soon")
			}
		})
	}
}

func TestATokenThatExpiresIsReplaced(t *testing.T) {
	d := newService(t)
	now := d.world.Now()
	d.world.Now = func() time.Time { return now }
	require.Equal(t, 1, d.asks(exit.OK, "credential", "team-a-smoke-01"))
	d.being(1)
	now = now.Add(7 * time.Hour)
	require.Equal(t, 1, d.asks(exit.OK, "credential", "team-a-smoke-01"), "the next one is being made, and this one still works")
	now = now.Add(time.Hour)
	d.being(2)
	require.Equal(t, 3, d.asks(exit.OK, "credential", "team-a-smoke-01"), "it no longer does, so the next one is waited for")
	require.Contains(t, d.err.String(), "A kubeconfig is being made for you.")
}

// being lets a kubeconfig be made while it is asked for so many times.
func (d *service) being(made int) {
	d.Handle("getKubeconfig", func(w http.ResponseWriter, r *http.Request) {
		if made--; made >= 0 {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprint(w, `{"accessId":"acc_1","reader":"maya","readerName":"Maya","role":"admin","state":"asked","by":"role","user":"u","askedAt":"2025-03-01T10:40:00Z"}`)
			return
		}
		w.Header().Set("Content-Type", "application/yaml")
		w.Header().Set("Ocpctl-Access-Expires", "2025-03-02T10:00:00Z")
		fmt.Fprint(w, kubeconfig)
	})
}

func TestAKubeconfigThatIsBeingMadeIsWaitedFor(t *testing.T) {
	d := newService(t)
	d.being(2)
	require.Equal(t, exit.OK, d.run("kubeconfig", "team-a-smoke-01", "--static", "--renew"))
	require.Equal(t, kubeconfig, d.out.String())
	asked := d.Asked()
	require.Len(t, asked, 3)
	require.Contains(t, asked[0].Path, "renew=true")
	require.NotContains(t, asked[1].Path, "renew", "one new one is enough")

	d.being(1000)
	require.Equal(t, 101, d.asks(exit.TimedOut, "kubeconfig", "team-a-smoke-01", "--static"), "five minutes of three seconds")
	require.Contains(t, d.err.String(), "it is still being made. Repeat the command later")
}

func TestAPipelinesKubeconfigHoldsItsToken(t *testing.T) {
	d := newService(t)
	d.env["CI"] = "true"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.Equal(t, exit.OK, d.run("kubeconfig", "team-a-smoke-01", "-f", path))
	d.private(path)
	require.Contains(t, d.err.String(), "Its token is valid until 2025-03-01 20:00")
	d.world.Run = func(cmd *exec.Cmd) error {
		d.private(filepath.Join(d.inside(cmd), "kubeconfig"))
		return nil
	}
	require.Equal(t, exit.OK, d.run("shell", "team-a-smoke-01", "--", "true"))
	require.Empty(t, d.tokens())
}

func TestAShellsTokenIsGoneWithTheShell(t *testing.T) {
	d := newService(t)
	d.env["OCPCTL_CONFIG"] = filepath.Join(t.TempDir(), "contexts.yaml")
	d.world.Run = func(cmd *exec.Cmd) error {
		folder := d.inside(cmd)
		raw, err := os.ReadFile(filepath.Join(folder, "kubeconfig"))
		require.NoError(t, err)
		call := d.calls(string(raw))
		require.Equal(t, []string{"credential", "--cluster-id", cluster, "--role", "view", "--keep", folder, "--server", d.URL}, call.Args)
		require.Equal(t, "OCPCTL_CONFIG", call.Env[0].Name)
		require.Equal(t, d.env["OCPCTL_CONFIG"], call.Env[0].Value)
		require.NotEmpty(t, d.tokens())
		return nil
	}
	require.Equal(t, exit.OK, d.run("shell", "team-a-smoke-01", "--role", "view", "--", "true"), d.err.String())
	require.Empty(t, d.tokens())
}

func TestALogoutDeletesTheTokensOfItsServer(t *testing.T) {
	d := newService(t)
	require.Equal(t, exit.OK, d.run("login", "--name", "here", "--token-command", "echo "+d.env["OCPCTL_TOKEN"], "--no-check"), d.err.String())
	delete(d.env, "OCPCTL_TOKEN")
	require.Equal(t, exit.OK, d.run("kubeconfig", "team-a-smoke-01"), d.err.String())
	call := d.calls(d.out.String())
	require.Equal(t, []string{"credential", "--cluster-id", cluster, "--context", "here"}, call.Args)
	require.NotEmpty(t, d.tokens())
	require.Equal(t, exit.OK, d.run("logout", "here"))
	require.Empty(t, d.tokens())
}
