package installer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// shell returns a tool that is a shell, so that a test's script plays the installer.
func shell(t *testing.T, env ...string) *Tool {
	t.Helper()
	return &Tool{Binary: "/bin/sh", Home: filepath.Join(t.TempDir(), "home"), Env: append(env, "PATH="+os.Getenv("PATH")), Redact: NewRedactor(), StopWait: 10 * time.Second}
}

type said struct {
	mu    sync.Mutex
	lines []string
	heard chan string
}

func listen() *said { return &said{heard: make(chan string, 100)} }

func (s *said) add(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line)
	s.heard <- line
}

func TestARunTellsItsLinesAndItsExitCode(t *testing.T) {
	out := listen()
	exit, err := shell(t).Run(t.Context(), Command{Args: []string{"-c", `echo "level=info msg=one" >&2; echo two; printf three; exit 5`}, OnLine: out.add})
	require.NoError(t, err)
	require.Equal(t, 5, exit.Code)
	require.False(t, exit.Stopped)
	require.ElementsMatch(t, []string{"level=info msg=one", "two", "three"}, out.lines)
}

func TestARunReadsWhatItIsGivenAndNothingElse(t *testing.T) {
	out := listen()
	exit, err := shell(t).Run(t.Context(), Command{Args: []string{"-c", `cat; echo; readlink /proc/self/fd/0`}, Input: []byte("kind: List"), OnLine: out.add})
	require.NoError(t, err)
	require.Zero(t, exit.Code)
	require.Equal(t, "kind: List", out.lines[0])
	require.Contains(t, out.lines[1], "pipe:")
	large := []byte(strings.Repeat("x", 1<<20))
	exit, err = shell(t).Run(t.Context(), Command{Args: []string{"-c", `exit 3`}, Input: large})
	require.NoError(t, err)
	require.Equal(t, 3, exit.Code, "who does not read keeps nobody waiting")
}

func TestTheInstallerHasNoTerminalAndItsOwnHome(t *testing.T) {
	out := listen()
	tool := shell(t, "HOME=/home/me", "AWS_REGION=us-east-1", "OPENSHIFT_INSTALL_PRESERVE_BOOTSTRAP=true", "DATABASE_URL=postgres://x", "OCPCTL_STANDIN_PACE=1ms")
	tool.Cloud = map[string]string{"AWS_REGION": "eu-west-1"}
	_, err := tool.Run(t.Context(), Command{Args: []string{"-c", `readlink /proc/self/fd/0; env | sort`}, OnLine: out.add})
	require.NoError(t, err)
	got := strings.Join(out.lines, "\n")
	require.Contains(t, got, "/dev/null")
	for _, want := range []string{
		"HOME=" + tool.Home, "TMPDIR=" + tool.Home + "/tmp", "XDG_CACHE_HOME=" + tool.Home + "/cache",
		"AWS_REGION=eu-west-1", "OCPCTL_STANDIN_PACE=1ms",
	} {
		require.Contains(t, out.lines, want)
	}
	require.NotContains(t, got, "DATABASE_URL")
	require.NotContains(t, got, "PRESERVE_BOOTSTRAP")
}

func TestACancelledRunIsAskedOnceAndMayEndByItself(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := listen()
	go func() {
		for line := range out.heard {
			if line == "ready" {
				cancel()
				return
			}
		}
	}()
	exit, err := shell(t).Run(ctx, Command{OnLine: out.add, Args: []string{"-c", `trap 'echo asked; exit 8' TERM; echo ready; while :; do sleep 0.01; done`}})
	require.NoError(t, err)
	require.Equal(t, 8, exit.Code)
	require.True(t, exit.Stopped)
	require.False(t, exit.TimedOut)
	require.Equal(t, []string{"ready", "asked"}, out.lines)
}

func TestADeafInstallerIsKilledWithItsChildren(t *testing.T) {
	tool, out := shell(t), listen()
	tool.StopWait = 50 * time.Millisecond
	exit, err := tool.Run(t.Context(), Command{
		Deadline: time.Second, OnLine: out.add,
		Args: []string{"-c", `trap '' TERM; sleep 1000 & echo $!; while :; do sleep 0.01; done`},
	})
	require.NoError(t, err)
	require.Equal(t, -1, exit.Code)
	require.True(t, exit.TimedOut)
	requireGone(t, out.lines[0])
}

func TestAChildLeftBehindByACrashIsKilled(t *testing.T) {
	out := listen()
	exit, err := shell(t).Run(t.Context(), Command{Args: []string{"-c", `sleep 1000 & echo $!; kill -9 $$`}, OnLine: out.add})
	require.NoError(t, err)
	require.Equal(t, -1, exit.Code)
	requireGone(t, out.lines[0])
}

// As the real installer starts its controllers: each leads a group of its own.
func TestAChildInAGroupOfItsOwnIsKilledToo(t *testing.T) {
	for name, script := range map[string]string{
		"after a crash":           `set -m; sleep 1000 & echo $!; kill -9 $$`,
		"after it ended":          `set -m; sleep 1000 & echo $!`,
		"after it was not heeded": `set -m; trap "" TERM; sleep 1000 & echo $!; wait`,
	} {
		t.Run(name, func(t *testing.T) {
			out, tool := listen(), shell(t)
			tool.Binary, tool.StopWait = "/bin/bash", 100*time.Millisecond // sh has no groups without a terminal
			_, err := tool.Run(t.Context(), Command{Args: []string{"-c", script}, Deadline: 2 * time.Second, OnLine: out.add})
			require.NoError(t, err)
			require.NotEmpty(t, out.lines)
			pid, err := strconv.Atoi(out.lines[0])
			require.NoError(t, err)
			require.True(t, dead(pid), "when Run returns, nothing of it lives")
		})
	}
}

// requireGone waits until a process is dead: gone, or a zombie nobody has collected yet.
func requireGone(t *testing.T, text string) {
	t.Helper()
	pid, err := strconv.Atoi(text)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return dead(pid) }, 5*time.Second, 5*time.Millisecond)
}

func dead(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ") || syscall.Kill(pid, 0) != nil
}

func TestABinaryThatIsNotThereWasNotRun(t *testing.T) {
	tool := shell(t)
	tool.Binary = "/no/such/openshift-install"
	_, err := tool.Run(t.Context(), Command{})
	require.ErrorIs(t, err, os.ErrNotExist)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = shell(t).Run(ctx, Command{Args: []string{"-c", "true"}})
	require.ErrorIs(t, err, context.Canceled)
}

func TestProgressRisesThroughAnInstall(t *testing.T) {
	last := 0
	var moments []Moment
	for _, line := range []string{
		"level=info msg=Creating infrastructure resources...",
		"level=info msg=Reconciling IAM roles for control-plane and compute nodes",
		"level=info msg=Network infrastructure is ready",
		"level=info msg=Creating Route53 records for control plane load balancer",
		"level=info msg=Control-plane machines are ready",
		"level=info msg=Waiting up to 20m0s (until 3:04PM UTC) for the Kubernetes API at https://api.shop.labs.example.com:6443...",
		"level=info msg=API v1.33.2 up",
		"level=info msg=Waiting up to 45m0s (until 3:29PM UTC) for bootstrapping to complete...",
		"level=info msg=Destroying the bootstrap resources...",
		"level=info msg=Waiting up to 40m0s (until 3:49PM UTC) for the cluster at https://api.shop.labs.example.com:6443 to initialize...",
		`time="2026" level=debug msg="Still waiting for the cluster to initialize: Working towards 4.20.3: 312 of 903 done (34% complete)"`,
		`time="2026" level=debug msg="Still waiting for the cluster to initialize: Working towards 4.20.3: 884 of 903 done (97% complete)"`,
		"level=info msg=All cluster operators have completed progressing",
		"level=info msg=Install complete!",
	} {
		p, ok := ReadProgress(line)
		require.True(t, ok, line)
		require.Greater(t, p.Percent, last, line)
		require.NotEmpty(t, p.Step)
		last = p.Percent
		if p.Moment != "" {
			moments = append(moments, p.Moment)
		}
	}
	require.Equal(t, []Moment{InfrastructureReady, BootstrapComplete}, moments)
	_, ok := ReadProgress("level=debug msg=something else")
	require.False(t, ok)
}

func TestTheConsoleIsReadFromTheLog(t *testing.T) {
	url, ok := ReadConsole("level=info msg=Access the OpenShift web-console here: https://console-openshift-console.apps.shop.labs.example.com")
	require.True(t, ok)
	require.Equal(t, "https://console-openshift-console.apps.shop.labs.example.com", url)
	_, ok = ReadConsole("level=info msg=Install complete!")
	require.False(t, ok)
}

func TestTheInstallersComplaintIsReadFromTheLog(t *testing.T) {
	text, ok := ReadComplaint("level=error msg=failed to provision: no capacity")
	require.True(t, ok)
	require.Equal(t, "failed to provision: no capacity", text)
	text, ok = ReadComplaint("level=fatal msg=" + "begin" + strings.Repeat("ü", 400) + "end")
	require.True(t, ok)
	require.Equal(t, "begin"+strings.Repeat("ü", 72)+" … "+strings.Repeat("ü", 173)+"end", text)
	_, ok = ReadComplaint("level=info msg=level is fine")
	require.False(t, ok)
}

func TestTheReleaseIsNamedByDigest(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0123456789abcdef", 4)
	tool := shell(t)
	require.NoError(t, os.MkdirAll(tool.Home, 0o700))
	// "sh version" runs the file named version in the working directory.
	require.NoError(t, os.WriteFile(filepath.Join(tool.Home, "version"), []byte("echo openshift-install 4.20.0\necho release image quay.io/openshift-release-dev/ocp-release@"+digest+"\n"), 0o600))
	got, err := tool.Release(t.Context())
	require.NoError(t, err)
	require.Equal(t, "quay.io/openshift-release-dev/ocp-release@"+digest, got)
	require.True(t, Pinned(got))
	require.Equal(t, digest, Digest(got))
	require.False(t, Pinned("quay.io/openshift-release-dev/ocp-release:4.20.0-x86_64"))
	require.NoError(t, os.WriteFile(filepath.Join(tool.Home, "version"), []byte("echo nothing\n"), 0o600))
	_, err = tool.Release(t.Context())
	require.ErrorContains(t, err, "no release image")
}
