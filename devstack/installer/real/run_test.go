package real

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/gateway"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/release"
)

// playsTheStandIn makes this test's binary a stand-in, with the exit code after a signal.
const playsTheStandIn = "REAL_TEST_INTERRUPTED"

func init() {
	if interrupted, err := strconv.Atoi(os.Getenv(playsTheStandIn)); err == nil {
		code, _ := Main(os.Args, interrupted, os.Stdout, os.Stderr)
		os.Exit(code)
	}
}

func TestARealProgramEndsWithItsStandIn(t *testing.T) {
	g, err := gateway.Start(t.Context(), gateway.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Stop()) })
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "openshift-install"), []byte("#!/bin/sh\necho $$\nexec sleep 600\n"), 0o755))
	for name, c := range map[string]struct {
		signal            syscall.Signal
		interrupted, code int
	}{
		"that is killed":                   {syscall.SIGKILL, 8, -1},
		"that is told to end":              {syscall.SIGTERM, 8, 8},
		"that dies when it is told to end": {syscall.SIGTERM, 0, -1},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "create", "manifests")
			cmd.Args[0] = "openshift-install"
			cmd.Env = append(append(os.Environ(), g.Environment()...), playsTheStandIn+"="+strconv.Itoa(c.interrupted),
				Variable+"="+dir, release.VersionVariable+"="+installer.RealVersion, "TMPDIR="+t.TempDir())
			stdout, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			out := bufio.NewReader(stdout)
			line, err := out.ReadString('\n')
			require.NoError(t, err)
			pid, err := strconv.Atoi(strings.TrimSpace(line))
			require.NoError(t, err, line)
			t.Cleanup(func() {
				if t.Failed() {
					_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
				}
			})
			require.NoError(t, cmd.Process.Signal(c.signal))
			_, err = io.ReadAll(out) // until both are gone, which have it open
			require.NoError(t, err)
			_ = cmd.Wait() // the exit code says how it ended
			require.Equal(t, c.code, cmd.ProcessState.ExitCode())
		})
	}
}
