package devstack_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/oidc"
)

// terminal is somebody with the built ocpctl and contexts of their own.
type terminal struct {
	*life
	env []string
}

// cli is a terminal whose programs find one of the issuer's tokens in their environment; "": none.
func (l *life) cli(who string) terminal {
	l.t.Helper()
	home, err := os.MkdirTemp(l.Dir, "home-")
	require.NoError(l.t, err)
	s := terminal{l, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "OCPCTL_SERVER=" + l.PrivateURL(), "AWS_EC2_METADATA_DISABLED=true"}}
	if who != "" {
		s.env = append(s.env, "OCPCTL_TOKEN="+l.as(who).bearer)
	}
	return s
}

func (s terminal) with(env ...string) terminal {
	return terminal{s.life, append(append([]string{}, s.env...), env...)}
}

// ended is what a program left behind.
type ended struct {
	*life
	code     int
	out, err string
	what     []string
}

func (s terminal) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.ctx, filepath.Join(programs, "ocpctl"), args...)
	cmd.Env = s.env
	return cmd
}

func (s terminal) run(args ...string) ended {
	s.t.Helper()
	var out, complaints bytes.Buffer
	cmd := s.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err := cmd.Run()
	var left *exec.ExitError
	if err != nil && !errors.As(err, &left) {
		require.NoError(s.t, err)
	}
	return ended{s.life, cmd.ProcessState.ExitCode(), out.String(), complaints.String(), args}
}

// ends expects an exit code and returns all that was said.
func (e ended) ends(code int) string {
	e.t.Helper()
	require.Equal(e.t, code, e.code, "ocpctl %v: %s%s", e.what, e.out, e.err)
	return e.out + e.err
}

// commandLine signs in as each kind of caller does, and takes one cluster through its life.
func (l *life) commandLine(*testing.T) {
	tokens := filepath.Join(l.Dir, "tokens")
	gate := l.actionsIssuer()
	anybody := l.cli("")
	require.Contains(l.t, anybody.run("list").ends(3), "ocpctl login")
	for _, way := range []struct {
		name string
		env  []string
		args []string
		says []string
	}{
		{"aws", []string{"AWS_ENDPOINT_URL_STS=" + l.AWS.URL(), "AWS_ACCESS_KEY_ID=" + devstack.CLIKey, "AWS_SECRET_ACCESS_KEY=" + devstack.CLISecret}, nil,
			[]string{"aws:" + devstack.CLIUser, "requester of team team-a"}},
		{"github", []string{"ACTIONS_ID_TOKEN_REQUEST_URL=" + gate.URL + "/token?api=1", "ACTIONS_ID_TOKEN_REQUEST_TOKEN=the-job's-own"}, []string{"--audience", "ocpctl"},
			[]string{"repo:acme/shop:ref:refs/heads/main", "requester of team platform"}},
		{"token-command", nil, []string{"--token-command", "cat " + filepath.Join(tokens, "auditor.jwt")}, []string{"Demo auditor", "auditor of every team"}},
		{"token-file", nil, []string{"--token-file", filepath.Join(tokens, "kubernetes.jwt")}, []string{"system:serviceaccount:ci:builder", "requester of team payments"}},
	} {
		said := anybody.with(way.env...).run(append([]string{"login", "--name", way.name, "--auth", way.name}, way.args...)...).ends(0)
		for _, text := range way.says {
			require.Contains(l.t, said, text, way.name)
		}
		again := anybody.with(way.env...).run("whoami", "--context", way.name, "-o", "json").ends(0)
		require.Contains(l.t, again, way.says[0], way.name)
	}
	wrong := anybody.with("AWS_ENDPOINT_URL_STS="+l.AWS.URL(), "AWS_ACCESS_KEY_ID="+devstack.CLIKey, "AWS_SECRET_ACCESS_KEY=guessed")
	wrong.run("whoami", "--context", "aws").ends(3)
	kept, err := os.ReadFile(filepath.Join(l.homeOf(anybody), ".config", "ocpctl", "config.yaml"))
	require.NoError(l.t, err)
	require.NotContains(l.t, string(kept), l.as("kubernetes").bearer, "no secret is kept")

	builder := anybody.with("OCPCTL_CONTEXT=token-file")
	builder.refusals()
	builder.oneLife()
}

func (l *life) homeOf(s terminal) string { return s.env[0][len("HOME="):] }

// actionsIssuer gives a job of GitHub Actions its token, for whom it is asked.
func (l *life) actionsIssuer() *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer the-job's-own" || r.FormValue("api") != "1" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		claims := oidc.GitHubActions
		claims.Audience = jwt.Audience{r.FormValue("audience")}
		token, err := l.OIDC.Token(claims)
		if err == nil {
			err = json.NewEncoder(w).Encode(map[string]string{"value": token})
		}
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	l.t.Cleanup(server.Close)
	return server
}

// refusals: the exit code tells a script what kind of no it was.
func (s terminal) refusals() {
	require.Contains(s.t, s.run("create", "aws-minimal-test").ends(2), "--name")
	require.Contains(s.t, s.run("status", "nobody").ends(4), "nobody")
	require.Contains(s.t, s.run("audit", "list").ends(3), "auditor")
	require.Contains(s.t, s.run("create", "aws-minimal-test", "--name", "far", "--region", "mars-1").ends(6), "us-east-1")
	require.Contains(s.t, s.run("create", "aws-minimal-mint", "--name", "mint", "--dry-run").ends(6), "platform admin")
}

// oneLife takes a cluster from its request to its proof.
func (s terminal) oneLife() {
	const name = "by-hand"
	key := []string{"--idempotency-key", "by-hand-1"}
	first := s.run(append([]string{"create", "aws-standard", "--name", name, "--ttl", "12h", "-o", "json"}, key...)...)
	var made v1.Accepted
	first.ends(0)
	require.NoError(s.t, json.Unmarshal([]byte(first.out), &made))
	followed := make(chan ended)
	go func() { followed <- s.run("logs", name, "-f") }()
	ready := s.run(append([]string{"create", "aws-standard", "--name", name, "--ttl", "12h", "--wait", "--timeout", "2m", "-o", "name"}, key...)...)
	require.Contains(s.t, ready.ends(0), "was already accepted with this key")
	require.Equal(s.t, name+"\n", ready.out, "the answer alone goes to the standard output")
	require.Contains(s.t, (<-followed).ends(0), "Install complete!")
	require.Contains(s.t, s.run("wait", name, "--for", "destroyed", "--timeout", "200ms").ends(124), "The operation continues")

	list := s.run("list").ends(0)
	require.Contains(s.t, list, name)
	require.NotContains(s.t, list, "team-a-smoke-01", "another team's is not shown")
	require.Contains(s.t, s.run("scale-workers", name, "--replicas", "2", "--wait").ends(0), "READY")
	require.Equal(s.t, 2, s.workersOf(name))
	s.run("scale-workers", name, "--replicas", "9").ends(6)

	file := filepath.Join(s.homeOf(s), "kubeconfig")
	s.run("kubeconfig", name, "-f", file).ends(0)
	info, err := os.Stat(file)
	require.NoError(s.t, err)
	require.Equal(s.t, os.FileMode(0o600), info.Mode())
	s.with("OCPCTL_CONTEXT=aws").run("kubeconfig", made.ClusterID).ends(3)
	s.opens(name, file)

	began := time.Now()
	require.Contains(s.t, s.run("destroy", name, "--wait", "--timeout", "2m").ends(0), "DESTROYED")
	s.t.Logf("destroy --wait took %s", time.Since(began).Round(time.Millisecond))
	require.Empty(s.t, s.AWS.Resources(name))
	s.run("kubeconfig", name).ends(5)
	for _, read := range []string{"status", "explain", "timeline", "logs"} { // its name is for reading from now on
		s.run(read, name).ends(0)
	}
	require.Contains(s.t, s.run("destroy", name).ends(0), "gone since")
	require.Contains(s.t, s.run("wait", name, "--for", "destroyed").ends(0), "gone since")
}

// oc runs the cluster's own command line with a kubeconfig, in the person's environment: the kubeconfig calls ocpctl for a token.
func (s terminal) oc(kubeconfig string, args ...string) (out, complaint string) {
	s.t.Helper()
	var said, complaints bytes.Buffer
	cmd := exec.CommandContext(s.ctx, filepath.Join(programs, "oc"), append([]string{"--kubeconfig=" + kubeconfig}, args...)...)
	cmd.Env = append(s.env[:len(s.env):len(s.env)], installer.AWSVariable+"="+s.AWS.URL())
	cmd.Stdout, cmd.Stderr = &said, &complaints
	if err := cmd.Run(); err != nil {
		return "", complaints.String()
	}
	return said.String(), ""
}

// opens uses a ready cluster with a kubeconfig of one's own, and with one of less, until each is revoked.
func (s terminal) opens(name, file string) {
	s.t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(s.t, err)
	require.Contains(s.t, string(raw), "client.authentication.k8s.io/v1")
	require.NotContains(s.t, string(raw), "token:", "the file opens nothing by itself")
	who, complaint := s.oc(file, "whoami")
	require.Empty(s.t, complaint)
	require.Regexp(s.t, `^system:serviceaccount:ocpctl-access:[a-z0-9-]+\n$`, who)
	_, complaint = s.oc(file, "get", "nodes", "-o", "json")
	require.Empty(s.t, complaint)

	looks := filepath.Join(s.homeOf(s), "looks")
	s.run("kubeconfig", name, "--role", "view", "--static", "-f", looks).ends(0)
	_, complaint = s.oc(looks, "get", "nodes", "-o", "json")
	require.Empty(s.t, complaint)
	_, complaint = s.oc(looks, "delete", "serviceaccounts", "x", "-n", "ocpctl-access")
	require.Contains(s.t, complaint, "(Forbidden)", "a viewer changes nothing")

	var list v1.Accesses
	listed := s.run("access", "list", name, "-o", "json")
	listed.ends(0)
	require.NoError(s.t, json.Unmarshal([]byte(listed.out), &list))
	require.Len(s.t, list.Items, 2, "the one of the create, and the viewer's")
	for _, a := range list.Items {
		s.run("access", "revoke", name, a.AccessID, "--reason", "the file was in a public log").ends(0)
	}
	s.runUntil("the accounts are removed", time.Minute, func() bool {
		return s.count(`SELECT count(*) FROM access a JOIN clusters c ON c.id = a.cluster_id WHERE c.name = $1 AND a.removed_at IS NULL`, name) == 0
	})
	_, complaint = s.oc(looks, "get", "nodes", "-o", "json")
	require.Contains(s.t, complaint, "Unauthorized")
	require.Contains(s.t, s.run("shell", name, "--role", "view", "--static", "--", "sh", "-c", `test -s "$KUBECONFIG" && echo open`).ends(0), "open", "they may have a new one")
}
