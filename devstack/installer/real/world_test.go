//go:build installer

package real_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	neturl "net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/gateway"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
	"github.com/ocpctl/ocpctl/devstack/installer/real"
	"github.com/ocpctl/ocpctl/devstack/installer/release"
)

func TestMain(m *testing.M) { installertest.Main(m) }

// programs is the folder of make build-installer.
func programs(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../../../.demo/real")
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(dir, "openshift-install"), "make build-installer builds it")
	return dir
}

// patience is how long a program may take.
const patience = 4 * time.Minute

// world is a cloud with the programs of two versions: the stand-ins' and the real ones'.
type world struct {
	*installertest.World
	t     *testing.T
	dir   string
	env   []string
	usage string
	s3    atomic.Value // func(http.ResponseWriter): what S3 answers instead

	patience time.Duration
}

// front stands before S3, which a test can make refuse.
func (w *world) front(url string) string {
	target, err := neturl.Parse(url)
	require.NoError(w.t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host }} // signatures cover the host
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if refuse, ok := w.s3.Load().(func(http.ResponseWriter)); ok {
			refuse(rw)
			return
		}
		_ = http.NewResponseController(rw).EnableFullDuplex() // an answer may come before the request has ended
		proxy.ServeHTTP(rw, r)
	}))
	w.t.Cleanup(server.Close)
	return server.URL
}

// newWorld puts the gateway in front of a test's cloud.
func newWorld(t *testing.T, w *installertest.World) *world {
	t.Helper()
	out := &world{World: w, t: t, dir: t.TempDir(), patience: patience, usage: filepath.Join(t.TempDir(), "usage")}
	cfg := gateway.Config{Dir: t.TempDir()}
	if w.AWS != nil {
		cfg.AWS, cfg.S3, cfg.S3In = w.AWS.URL(), out.front(w.S3.URL()), map[string]string{}
		t.Setenv("AWS_ENDPOINT_URL_S3", cfg.S3)
		for _, region := range []string{"us-east-2", "us-west-2"} {
			s, err := w.S3.InRegion(t.Context(), region, 0)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, s.Stop()) })
			cfg.S3In[region] = out.front(s.URL())
		}
	}
	if w.IBM != nil {
		cfg.IBMCloud = w.IBM.Base()
	}
	g, err := gateway.Start(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Stop()) })
	out.env = append(append(os.Environ(), g.Environment()...), real.Variable+"="+programs(t), real.UsageVariable+"="+out.usage,
		installer.PaceVariable+"=5ms", installer.FaultsVariable+"="+w.Faults, "TMPDIR="+t.TempDir(), "HOME="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir())
	for _, version := range []string{installer.RealVersion, installer.Versions()[0]} {
		require.NoError(t, os.MkdirAll(filepath.Join(out.dir, version), 0o755))
		for _, name := range []string{"openshift-install", "ccoctl", "oc"} {
			require.NoError(t, os.Symlink(filepath.Join(filepath.Dir(w.Binary), name), filepath.Join(out.dir, version, name)))
		}
	}
	return out
}

// run calls a program of a version.
func (w *world) run(version, name string, args ...string) installertest.Result {
	w.t.Helper()
	cmd := exec.Command(filepath.Join(w.dir, version, name), args...)
	var stdout, stderr bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = w.env, w.dir, &stdout, &stderr
	require.NoError(w.t, cmd.Start())
	guard := time.AfterFunc(w.patience, func() { _ = cmd.Process.Kill() }) // a destroyer may loop for ever
	defer guard.Stop()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(w.t, err)
	}
	return installertest.Result{Code: cmd.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}
}

// must is run for a call that has to succeed.
func (w *world) must(version, name string, args ...string) installertest.Result {
	w.t.Helper()
	out := w.run(version, name, args...)
	require.Zero(w.t, out.Code, "%s %s: %s", name, strings.Join(args, " "), out.Stderr)
	return out
}

// requests extracts the credentials requests for an install-config.
func (w *world) requests(version, config string) string {
	w.t.Helper()
	dir := w.t.TempDir()
	for name, content := range map[string]string{"install-config.yaml": config, "pull-secret.json": installertest.PullSecret} {
		require.NoError(w.t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	to := filepath.Join(dir, "requests")
	w.must(version, "oc", "adm", "release", "extract", "--credentials-requests", "--included", "--install-config="+filepath.Join(dir, "install-config.yaml"),
		"--from="+release.Image(version), "--registry-config="+filepath.Join(dir, "pull-secret.json"), "--to="+to)
	return to
}

// printUsage prints how long the real programs ran, and their peak memory.
func (w *world) printUsage() {
	raw, err := os.ReadFile(w.usage)
	require.NoError(w.t, err)
	for line := range strings.Lines(string(raw)) {
		w.t.Log(strings.TrimSpace(line))
	}
}
