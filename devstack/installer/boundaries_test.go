package installer_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
)

// trace sets the variable and returns a reader of the file's lines.
func trace(t *testing.T) func() []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace")
	t.Setenv(installer.TraceVariable, path)
	return func() []string {
		raw, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil
		}
		require.NoError(t, err)
		return strings.Split(strings.TrimSpace(string(raw)), "\n")
	}
}

// writes are the lines of a command that tell of a write.
func writes(lines []string, command string) []string {
	var out []string
	for _, line := range lines {
		if f := strings.Fields(line); f[1] == command && strings.Contains(f[3], ":") {
			out = append(out, f[3])
		}
	}
	return out
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	require.Eventually(t, holds, 30*time.Second, 5*time.Millisecond, what)
}

// started runs a command in the background; ended waits for its exit code and gives its log.
func started(t *testing.T, w *installertest.World, dir string, args ...string) (cmd *exec.Cmd, ended func() (int, string)) {
	t.Helper()
	cmd = w.Command(t, dir, args...)
	var log bytes.Buffer
	cmd.Stderr = &log
	require.NoError(t, cmd.Start())
	guard := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	return cmd, func() (int, string) {
		_ = cmd.Wait() // the exit code is what is asked
		guard.Stop()
		return cmd.ProcessState.ExitCode(), log.String()
	}
}

func TestEveryWriteOfACommandIsInTheTrace(t *testing.T) {
	w := installertest.Start(t)
	lines := trace(t)
	dir := installertest.Dir(t, installertest.InstallConfig("traced", "us-east-1", 0))
	w.Must(t, dir, "create cluster")
	w.Must(t, dir, "destroy cluster")
	all := lines()
	require.Equal(t, "traced create 0 start", all[0])
	created, destroyed := writes(all, "create"), writes(all, "destroy")
	require.Greater(t, len(created), 50)
	require.Greater(t, len(destroyed), 20)
	for _, action := range []string{"ec2:CreateVpc", "ec2:AllocateAddress", "elb:CreateLoadBalancer", "iam:CreateRole", "route53:CreateHostedZone", "s3:CreateBucket"} {
		require.Contains(t, created, action)
	}
	require.Contains(t, destroyed, "ec2:TerminateInstances")
	require.Regexp(t, `^traced destroy \d+ end 0$`, all[len(all)-1])
}

func TestAfterTheNthWriteItIsKilledOrFails(t *testing.T) {
	w := installertest.Start(t)
	lines := trace(t)
	dir := installertest.Dir(t, installertest.InstallConfig("nth", "us-east-1", 0))
	require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{
		"create":      {AfterWrites: 7, Kill: true},
		"destroy/nth": {AfterWrites: 2, Exit: 1, Message: "no more", Times: 1},
		"destroy":     {Exit: 9},
	}))
	require.Equal(t, -1, w.Run(t, dir, "create cluster").Code)
	require.Len(t, writes(lines(), "create"), 7)
	out := w.Run(t, dir, "destroy cluster")
	require.Equal(t, 1, out.Code, "its own fault comes before the command's: %s", out.Stderr)
	require.Contains(t, out.Stderr, "level=error msg=no more")
	require.Len(t, writes(lines(), "destroy"), 2)
	require.NoError(t, installer.WriteFaults(w.Faults, nil))
	w.Must(t, dir, "destroy cluster")
	require.Empty(t, w.Left(t, "nth"))
}

func TestPausedItGoesOnWhenItsFaultIsGone(t *testing.T) {
	w := installertest.Start(t)
	lines := trace(t)
	dir := installertest.Dir(t, installertest.InstallConfig("paused", "us-east-1", 0))
	require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{"create/paused": {AfterWrites: 12, Pause: true, Say: []string{"level=warning msg=still here"}}}))
	_, ended := started(t, w, dir, "create", "cluster")
	eventually(t, "it pauses", func() bool { l := lines(); return len(l) > 0 && l[len(l)-1] == "paused create 12 pause" })
	log := filepath.Join(dir, ".openshift_install.log")
	eventually(t, "it says its line again and again", func() bool {
		raw, err := os.ReadFile(log)
		return err == nil && strings.Count(string(raw), `level=warning msg="still here"`) > 3
	})
	require.NoError(t, installer.WriteFaults(w.Faults, nil))
	code, text := ended()
	require.Zero(t, code, text)
	require.Contains(t, lines(), "paused create 12 resume")
}

func TestDeafItIgnoresTheFirstSignalAndExits1OnTheSecond(t *testing.T) {
	w := installertest.Start(t)
	lines := trace(t)
	dir := installertest.Dir(t, installertest.InstallConfig("deaf", "us-east-1", 0))
	require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{"create": {FailAt: "bootstrap", Hang: true, Deaf: 1}}))
	cmd, ended := started(t, w, dir, "create", "cluster")
	eventually(t, "it hangs", func() bool { l := lines(); return len(l) > 0 && strings.HasSuffix(l[len(l)-1], " hang bootstrap") })
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	log := filepath.Join(dir, ".openshift_install.log")
	eventually(t, "it says that it heard", func() bool {
		raw, err := os.ReadFile(log)
		return err == nil && strings.Contains(string(raw), "Received interrupt signal")
	})
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	code, text := ended()
	require.Equal(t, 1, code, text)
	require.NoError(t, installer.WriteFaults(w.Faults, nil))
	w.Must(t, dir, "destroy cluster")
	require.Empty(t, w.Left(t, "deaf"))
}

func TestAFaultThatOnlySpeaksLetsTheCommandGoOn(t *testing.T) {
	w := installertest.Start(t)
	dir := installertest.Dir(t, installertest.InstallConfig("spoken", "us-east-1", 0))
	require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{"create": {FailAt: "machines", Say: []string{"Throttling: Rate exceeded", "level=warning msg=odd"}}}))
	out := w.Must(t, dir, "create cluster")
	require.Contains(t, out.Stderr, "level=error msg=Throttling: Rate exceeded\nlevel=warning msg=odd\n")
}
