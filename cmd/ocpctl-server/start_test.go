package main

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/binaries"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/internal/token"
)

// programs has the built server.
var programs string

func TestMain(m *testing.M) {
	os.Exit(binaries.With(m.Run, &programs, "cmd/ocpctl-server"))
}

// role is a running server of one role.
type role struct {
	t   *testing.T
	cmd *exec.Cmd
	url string // of its only listener
	log *bufio.Scanner
}

// start runs the program with a file and an environment that hold nothing but what they are given, until it listens.
func start(t *testing.T, roles, file string) *role {
	t.Helper()
	cmd := exec.Command(filepath.Join(programs, "ocpctl-server"), "-config", write(t, "ocpctl.yaml", file), "-roles", roles)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")} // no cloud credentials, no home
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // does nothing after a polite end
	s := &role{t: t, cmd: cmd, log: bufio.NewScanner(stderr)}
	said := ""
	for s.url == "" && s.log.Scan() {
		said += s.log.Text() + "\n"
		var line struct{ Msg, Addr string }
		if json.Unmarshal(s.log.Bytes(), &line) == nil && line.Msg == "listening" {
			s.url = "http://" + line.Addr
		}
	}
	require.NotEmpty(t, s.url, said)
	return s
}

// stop ends the server politely.
func (s *role) stop() {
	s.t.Helper()
	require.NoError(s.t, s.cmd.Process.Signal(syscall.SIGTERM))
	for s.log.Scan() { // until it ended
	}
	require.NoError(s.t, s.cmd.Wait())
}

func (s *role) get(path string) int {
	s.t.Helper()
	answer, err := http.Get(s.url + path)
	require.NoError(s.t, err)
	answer.Body.Close()
	return answer.StatusCode
}

func write(t *testing.T, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestTheRoleHooksNeedsPostgreSQLAlone(t *testing.T) {
	db := pgtest.Empty(t)
	s := start(t, "hooks", fmt.Sprintf(`
database_url_ref: file:%s
listen: {public: "127.0.0.1:0", drain_delay: 0s}
github: {webhook_secret_ref: "file:%s"}
`, write(t, "database-url", db), write(t, "webhook-secret", "s3cr3t")))
	body := []byte(`{"action":"labeled","number":41,"repository":{"full_name":"acme/shop"},"installation":{"id":1},"pull_request":{"number":41}}`)
	require.Equal(t, http.StatusAccepted, s.deliver(body, "s3cr3t"))
	require.Equal(t, http.StatusUnauthorized, s.deliver(body, "guessed"))
	require.Equal(t, http.StatusNotFound, s.get("/metrics"), "everything else is private")
	require.Equal(t, http.StatusNotFound, s.get("/healthz"), "probes have a listener of their own")
	s.stop()

	conn, err := pgx.Connect(t.Context(), db)
	require.NoError(t, err)
	defer conn.Close(t.Context())
	var stored int
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM deliveries`).Scan(&stored))
	require.Equal(t, 1, stored)
}

// deliver posts a webhook signed with the secret.
func (s *role) deliver(body []byte, secret string) int {
	s.t.Helper()
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+"/webhooks/github", bytes.NewReader(body))
	require.NoError(s.t, err)
	for key, value := range map[string]string{
		"Content-Type": "application/json", "X-GitHub-Event": "pull_request", "X-GitHub-Delivery": "d-" + secret,
		"X-Hub-Signature-256": "sha256=" + hex.EncodeToString(mac.Sum(nil)),
	} {
		r.Header.Set(key, value)
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	require.NoError(s.t, err)
	return answer.StatusCode
}

// startAPI starts the role api, which stops its listener so long after it was asked to.
func startAPI(t *testing.T, delay time.Duration) *role {
	t.Helper()
	key := filepath.Join(t.TempDir(), "status-key.pem")
	_, err := token.LoadOrCreateKey(key)
	require.NoError(t, err)
	return start(t, "api", fmt.Sprintf(`
installation: test
database_url_ref: file:%s
listen: {private: "127.0.0.1:0", drain_delay: %s}
ui_url: https://ocpctl.example.com
artifacts: {bucket: cluster-ops-artifacts}
runner: {status_key_ref: "file:%s", pull_secret_ref: "file:/run/secrets/pull-secret"}
`, write(t, "database-url", pgtest.New(t)), delay, key))
}

// A load balancer that asks for readiness sends nothing to a stopping server before its listener is closed.
func TestAStoppingServerIsNotReadyAndAnswersUntilTheDelayIsOver(t *testing.T) {
	const delay = time.Second
	s := startAPI(t, delay)
	require.Equal(t, http.StatusOK, s.get("/readyz"))
	asked := time.Now()
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	require.Eventually(t, func() bool { return s.get("/readyz") == http.StatusServiceUnavailable }, delay/2, time.Millisecond)
	require.Equal(t, http.StatusOK, s.get("/healthz"), "it still serves who has not noticed")
	for s.log.Scan() { // until it ended
	}
	require.NoError(t, s.cmd.Wait())
	require.GreaterOrEqual(t, time.Since(asked), delay)
}

func TestTheRoleAPINeedsNoGitHub(t *testing.T) {
	s := startAPI(t, 0)
	require.Equal(t, http.StatusOK, s.get("/healthz"))
	require.Equal(t, http.StatusOK, s.get("/readyz"))
	require.Equal(t, http.StatusOK, s.get("/metrics"))
	require.Equal(t, http.StatusUnauthorized, s.get("/api/v1/clusters"))
	require.NotEqual(t, http.StatusAccepted, s.get("/webhooks/github"))
	s.stop()
}

// The listener for probes is the only one that this worker opens.
func TestAWorkerIsProbedAtAListenerOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "status-key.pem")
	_, err := token.LoadOrCreateKey(key)
	require.NoError(t, err)
	app, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	appKey := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(app)})
	s := start(t, "worker", fmt.Sprintf(`
installation: test
database_url_ref: file:%s
listen: {probes: "127.0.0.1:0"}
ui_url: https://ocpctl.example.com
artifacts: {bucket: cluster-ops-artifacts}
github: {app_id: 1, private_key_ref: "file:%s"}
runner: {status_key_ref: "file:%s", pull_secret_ref: "file:/none", program: /bin/true, installers: %s, work_dir: %s, status_url: "http://127.0.0.1:1"}
`, write(t, "database-url", pgtest.New(t)), write(t, "app.pem", string(appKey)), key, dir, dir))
	require.Equal(t, http.StatusOK, s.get("/healthz"))
	require.Equal(t, http.StatusOK, s.get("/readyz"))
	require.Equal(t, http.StatusOK, s.get("/metrics"))
	require.Equal(t, http.StatusNotFound, s.get("/api/v1/clusters"), "probes and nothing else")
	s.stop()
}

func TestAServerThatCannotStartSaysWhyAndEnds(t *testing.T) {
	url := write(t, "database-url", "postgres://nobody@127.0.0.1:1/none")
	for name, c := range map[string]struct{ roles, file, want string }{
		"a role that is none":   {"hooks,web", "", `-roles: "web" is not a role; give one or more of hooks, api, worker`},
		"an incomplete file":    {"worker", "", "github.private_key_ref is empty; the role worker needs"},
		"no database":           {"hooks", "database_url_ref: file:" + url + "\ngithub: {webhook_secret_ref: file:" + url + "}", "reach the database"},
		"a secret that is gone": {"hooks", "database_url_ref: file:/none\ngithub: {webhook_secret_ref: file:/none}", "database_url_ref: read secret reference"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), filepath.Join(programs, "ocpctl-server"), "-config", write(t, "ocpctl.yaml", c.file), "-roles", c.roles)
			cmd.Env, cmd.WaitDelay = []string{"PATH=" + os.Getenv("PATH")}, time.Minute
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, string(out))
			require.Equal(t, 1, exit.ExitCode())
			require.Contains(t, string(out), c.want)
		})
	}
}
