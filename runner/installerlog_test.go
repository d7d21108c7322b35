package runner_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// packedLog is the content of the installer log that was stored; empty: none was.
func (w *world) packedLog() string {
	for _, s := range w.logsKept() {
		if !strings.Contains(s.Key, "/installer-log-") {
			continue
		}
		raw, err := storeOf(w.t, w).Read(w.t.Context(), "s3://"+w.spec.Bucket+"/"+s.Key)
		require.NoError(w.t, err)
		plain, err := gzip.NewReader(bytes.NewReader(raw))
		require.NoError(w.t, err)
		archive := tar.NewReader(plain)
		header, err := archive.Next()
		require.NoError(w.t, err)
		require.Equal(w.t, "openshift_install.log", header.Name)
		text, err := io.ReadAll(archive)
		require.NoError(w.t, err)
		return string(text)
	}
	return ""
}

func TestTheInstallersOwnLogIsKeptOfEveryFailedInstallWithoutItsSecrets(t *testing.T) {
	for name, script := range map[string]string{
		"the bootstrap failed": `exit 5`,
		"the network failed":   `exit 4`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, contract.KindCreate)
			w.on("create", `echo 'time="2026" level=debug msg="login with password: CANARY-pull"' >>"$dir/.openshift_install.log"; `+script)
			require.NoError(t, w.run(t.Context()))
			require.Contains(t, w.packedLog(), "a trace line")
			require.Contains(t, w.packedLog(), "login with password")
			require.NotContains(t, w.packedLog(), "CANARY")
		})
	}
}

func TestTheInstallersLogIsKeptAlsoWhereItWasStoppedEarly(t *testing.T) {
	w := impatient(t, repeating(fatalInLog))
	require.NoError(t, w.run(t.Context()))
	require.Contains(t, w.packedLog(), "VcpuLimitExceeded")
}

func TestASuccessfulInstallLeavesNoLogBundle(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	require.NoError(t, w.run(t.Context()))
	require.Empty(t, w.logsKept())
}
