package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/standtest"
)

// mostBytes is what people can be asked to carry around.
const mostBytes = 25 << 20

// binaries is where the programs are built, for all tests; TestMain sets it.
const binaries = "OCPCTL_TEST_BINARIES"

// builtOnce builds them: ocpctl as make build does, but with the paths it was compiled in, which only make it larger, and the
// least program there is beside it.
var builtOnce = sync.OnceValue(func() error {
	dir := os.Getenv(binaries)
	hello := filepath.Join(dir, "hello.go")
	if err := os.WriteFile(hello, []byte("package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello\") }\n"), 0o600); err != nil {
		return err
	}
	for name, source := range map[string]string{"ocpctl": ".", "hello": hello} {
		out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", filepath.Join(dir, name), source).CombinedOutput()
		if err != nil {
			return fmt.Errorf("build %s: %w: %s", name, err, out)
		}
	}
	return nil
})

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "ocpctl-test-")
	if err == nil {
		err = os.Setenv(binaries, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func program(t testing.TB, name string) string {
	t.Helper()
	require.NoError(t, builtOnce())
	return filepath.Join(os.Getenv(binaries), name)
}

// said is what a program writes, while it writes.
type said struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// start starts the real program against a stand-in server whose cluster is in the state given.
func start(t *testing.T, state map[string]any, args ...string) (cmd *exec.Cmd, out, errs *said) {
	s := standtest.New(t)
	var all map[string]any
	require.NoError(t, json.Unmarshal(s.Body("getCluster"), &all))
	maps.Copy(all, state)
	s.Answer("getCluster", all)
	raw, err := json.Marshal(all)
	require.NoError(t, err)
	s.Handle("watchClusters", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "event: cluster\ndata: %s\n\n", raw)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	s.Handle("getKubeconfig", standtest.Kubeconfig("kind: Config\n"))
	path := program(t, "ocpctl") // the first test builds it, which takes its time and is no part of the minute
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	cmd, out, errs = exec.CommandContext(ctx, path, args...), &said{}, &said{}
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "OCPCTL_SERVER=" + s.URL, "OCPCTL_TOKEN=" + standtest.Token}
	require.NoError(t, cmd.Start())
	return cmd, out, errs
}

func codeOf(err error) int {
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return ended.ExitCode()
	}
	return 0
}

func TestTheProgramIsSmallEnoughToCarryAround(t *testing.T) {
	info, err := os.Stat(program(t, "ocpctl"))
	require.NoError(t, err)
	t.Logf("%.1f MB", float64(info.Size())/1e6)
	require.LessOrEqual(t, info.Size(), int64(mostBytes))
}

func TestCtrlCEndsTheWaitingAlone(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		cmd, out, errs := start(t, map[string]any{"status": "CREATING", "phase": "installing"}, "wait", "team-a-smoke-01")
		require.Eventually(t, func() bool { return strings.Contains(errs.String(), "CREATING installing") }, time.Minute, time.Millisecond)
		require.NoError(t, cmd.Process.Signal(signal))
		require.Equal(t, 130, codeOf(cmd.Wait()))
		require.Contains(t, errs.String(), "Stopped waiting; team-a-smoke-01 continues. Wait again with: ocpctl wait team-a-smoke-01 --for=ready\n")
		require.Empty(t, out.String())
	}
}

func TestAProgramInTheShellEndsAsItEnds(t *testing.T) {
	cmd, out, errs := start(t, nil, "shell", "--static", "team-a-smoke-01", "--", "sh", "-c", `cat "$KUBECONFIG"; echo "$OCPCTL_CLUSTER"; exit 42`)
	require.Equal(t, 42, codeOf(cmd.Wait()), errs.String())
	require.Equal(t, "kind: Config\nteam-a-smoke-01\n", out.String())
}

func TestAKubeconfigIsGoneThoughTheShellWasKilled(t *testing.T) {
	cmd, out, errs := start(t, nil, "shell", "--static", "team-a-smoke-01", "--", "sh", "-c", `echo "$KUBECONFIG"; exec sleep 60`)
	require.Eventually(t, func() bool { return strings.HasSuffix(out.String(), "\n") }, time.Minute, time.Millisecond)
	path := strings.TrimSpace(out.String())
	require.FileExists(t, path)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NotZero(t, codeOf(cmd.Wait()), errs.String())
	require.NoDirExists(t, filepath.Dir(path))
}

func TestTheVersionIsTheBuilds(t *testing.T) {
	out, err := exec.Command(program(t, "ocpctl"), "version", "-o", "json").Output()
	require.NoError(t, err)
	var v struct{ Version, Go, Platform string }
	require.NoError(t, json.Unmarshal(out, &v))
	require.NotEmpty(t, v.Version)
	require.NotEmpty(t, v.Go)
}

// BenchmarkStart is how long a person waits before anything happens, beside the least Go program there is.
func BenchmarkStart(b *testing.B) {
	for _, line := range [][]string{{"hello"}, {"ocpctl", "version"}, {"ocpctl", "--help"}, {"ocpctl", "completion", "bash"}} {
		b.Run(strings.Join(line, "_"), func(b *testing.B) {
			path := program(b, line[0])
			for b.Loop() {
				if err := exec.Command(path, line[1:]...).Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
