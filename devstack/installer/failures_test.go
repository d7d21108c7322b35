package installer_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
)

// interruptAt starts a command that stays at a step, sends SIGTERM once the mark is in its log, and returns exit code and log.
func interruptAt(t *testing.T, w *installertest.World, dir, command, step, mark string) (int, string) {
	t.Helper()
	require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{command: {FailAt: step, Hang: true}}))
	cmd := w.Command(t, dir, command, "cluster", "--log-level=debug")
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	guard := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	defer guard.Stop()
	var log strings.Builder
	sent := false
	for scanner := bufio.NewScanner(stderr); scanner.Scan(); {
		log.WriteString(scanner.Text() + "\n")
		if strings.Contains(scanner.Text(), mark) && !sent {
			sent = true
			require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		}
	}
	_ = cmd.Wait() // the exit code is what is asked
	require.NoError(t, installer.WriteFaults(w.Faults, nil))
	return cmd.ProcessState.ExitCode(), log.String()
}

func TestATerminatedInstallExits8AndDestroyFindsWhatItMade(t *testing.T) {
	for step, mark := range map[string]string{
		"iam": "Reconciling IAM roles", "network": "network infrastructure to become ready", "machines": "Created manifest *v1beta2.AWSMachine",
		"bootstrap": "for bootstrapping to complete", "stable": "has finished progressing",
	} {
		t.Run(step, func(t *testing.T) {
			w := installertest.Start(t)
			name := "cut-" + step
			dir := installertest.Dir(t, installertest.InstallConfig(name, "us-east-1", 1))
			code, log := interruptAt(t, w, dir, "create", step, mark)
			require.Equal(t, 8, code, log)
			require.Contains(t, log, "Received interrupt signal")
			require.FileExists(t, filepath.Join(dir, "metadata.json"))
			if step != "iam" {
				require.NotEmpty(t, w.Left(t, name))
			}
			w.Must(t, dir, "destroy cluster", "--log-level=debug")
			require.Empty(t, w.Left(t, name))
		})
	}
}

func TestInTheWrongAccountDestroyFindsNothingAndForgets(t *testing.T) {
	w := installertest.Start(t)
	dir := installertest.Dir(t, installertest.InstallConfig("lost", "us-east-1", 0))
	w.Must(t, dir, "create cluster")
	before := awsOnly(w.Left(t, "lost"))
	metadata, err := os.ReadFile(filepath.Join(dir, "metadata.json"))
	require.NoError(t, err)

	require.NoError(t, w.AWS.SetAccount("999999999999"))
	out := w.Must(t, dir, "destroy cluster", "--log-level=debug")
	require.Contains(t, out.Stderr, "Uninstallation complete!")
	require.NoFileExists(t, filepath.Join(dir, "metadata.json"), "the trap")
	require.Equal(t, before, awsOnly(w.Left(t, "lost")), "everything is still there")

	require.NoError(t, w.AWS.SetAccount("123456789012"))
	byHand := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(byHand, "metadata.json"), metadata, 0o640))
	w.Must(t, byHand, "destroy cluster")
	require.Empty(t, w.Left(t, "lost"))
	require.FileExists(t, filepath.Join(byHand, "metadata.json"), "without a state file nothing is forgotten")
}

// awsOnly leaves out buckets: the S3 server knows no accounts.
func awsOnly(left []string) []string {
	var out []string
	for _, line := range left {
		if !strings.HasPrefix(line, "bucket ") {
			out = append(out, line)
		}
	}
	return out
}

func TestKilledBetweenTwoCallsItLeaksWhatTheRealOneLeaks(t *testing.T) {
	for step, leaked := range map[string]string{
		"zone-tags": "hostedzone ", "private-records": "record ", "bucket-tags": "bucket openshift-bootstrap-data-",
	} {
		t.Run(step, func(t *testing.T) {
			w := installertest.Start(t)
			name := "leak-" + step
			dir := installertest.Dir(t, installertest.InstallConfig(name, "us-east-1", 0))
			require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{"create": {FailAt: step, Kill: true, Times: 1}}))
			require.Equal(t, -1, w.Run(t, dir, "create cluster").Code)
			w.Must(t, dir, "destroy cluster", "--log-level=debug")
			left := w.Left(t, name)
			require.NotEmpty(t, left)
			for _, line := range left {
				if step == "zone-tags" && strings.HasPrefix(line, "record ") {
					continue // the zone's own
				}
				require.True(t, strings.HasPrefix(line, leaked), line)
			}
		})
	}
}

func TestExitCodesAndWordsOfFailures(t *testing.T) {
	for _, c := range []struct {
		step, text string
		code       int
	}{
		{"quota", "MissingQuota", 1},
		{"network", "failed to create cluster: infrastructure was not ready within", 4},
		{"api", "Failed waiting for Kubernetes API. This error usually happens", 5},
		{"bootstrap", "Bootstrap failed to complete", 5},
		{"initialize", "failed to initialize the cluster:", 6},
		{"stable", "not stable", 7},
	} {
		t.Run(c.step, func(t *testing.T) {
			w := installertest.Start(t)
			dir := installertest.Dir(t, installertest.InstallConfig("fail-"+c.step, "us-east-1", 0))
			require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{"create": {FailAt: c.step, Times: 1}}))
			out := w.Run(t, dir, "create cluster")
			require.Equal(t, c.code, out.Code, out.Stderr)
			require.Contains(t, out.Stderr, "level=error msg=")
			require.Contains(t, out.Stderr, c.text)
			raw, err := os.ReadFile(w.Faults)
			require.NoError(t, err)
			require.JSONEq(t, `{}`, string(raw), "spent")
			if c.step == "quota" {
				require.Empty(t, w.Left(t, "fail-"+c.step))
				return
			}
			w.Must(t, dir, "destroy cluster", "--log-level=debug")
			require.Empty(t, w.Left(t, "fail-"+c.step))
		})
	}
}

func TestDestroyToldToLieLeavesSomethingAndExits0(t *testing.T) {
	w := installertest.Start(t)
	dir := installertest.Dir(t, installertest.InstallConfig("liar", "us-east-1", 0))
	w.Must(t, dir, "create cluster")
	metadata, err := os.ReadFile(filepath.Join(dir, "metadata.json"))
	require.NoError(t, err)
	require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{"destroy": {Leave: []string{"address"}, Times: 1}}))
	w.Must(t, dir, "destroy cluster", "--log-level=debug")
	left := w.Left(t, "liar")
	require.Len(t, left, 1)
	require.True(t, strings.HasPrefix(left[0], "elastic-ip "), left[0])
	require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.json"), metadata, 0o640))
	w.Must(t, dir, "destroy cluster", "--log-level=debug")
	require.Empty(t, w.Left(t, "liar"))
}

func TestATerminatedDestroyExits8AndKeepsItsMetadata(t *testing.T) {
	w := installertest.Start(t)
	dir := installertest.Dir(t, installertest.InstallConfig("halt", "us-east-1", 0))
	w.Must(t, dir, "create cluster")
	code, log := interruptAt(t, w, dir, "destroy", "start", "search for matching resources by tag")
	require.Equal(t, 8, code, log)
	require.FileExists(t, filepath.Join(dir, "metadata.json"))
	w.Must(t, dir, "destroy cluster")
	require.Empty(t, w.Left(t, "halt"))
}
