package runner_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
)

const bundle = "log-bundle-20260227101213.tar.gz"

// kept lists the installer's own bundles of logs that the server was told of.
func (w *world) kept() []contract.Snapshot {
	return slices.DeleteFunc(w.logsKept(), func(s contract.Snapshot) bool { return strings.Contains(s.Key, "/installer-log-") })
}

// logsKept lists every archive of logs that the server was told of.
func (w *world) logsKept() (logs []contract.Snapshot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.reports {
		for _, s := range r.Snapshots {
			if s.Type == "LOG" {
				logs = append(logs, s)
			}
		}
	}
	return logs
}

func TestTheJournalsOfAFailedBootstrapAreFetchedAndKeptEncrypted(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	key := filepath.Join(w.dir, "ssh-key")
	require.NoError(t, os.WriteFile(key, []byte("CANARY-ssh-key\n"), 0o600))
	w.spec.SSHKeyRef = "file:" + key
	w.on("create", `exit 5`)
	w.on("gather", `note "with $(cat "${dir%/*}/secrets/ssh-key")"`)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "BootstrapFailed", w.result().Reason)
	require.Contains(t, readFile(t, filepath.Join(w.dir, "calls")),
		"openshift-install gather bootstrap --dir "+w.cfg.WorkDir+"/install-1 --log-level=info --key "+w.cfg.WorkDir+"/secrets/ssh-key\n")
	require.True(t, w.did("installer: with CANARY-ssh-key"))

	logs := w.kept()
	require.Len(t, logs, 1)
	require.Regexp(t, `^operate/clusters/clu_1/\d{8}T\d{6}\.\d{3}Z-a3/`+bundle+`$`, logs[0].Key)
	require.Equal(t, "shop-00001", logs[0].InfraID)
	content := "journals with CANARY-kubeadmin-password"
	sum := sha256.Sum256([]byte(content))
	require.Equal(t, hex.EncodeToString(sum[:]), logs[0].SHA256)
	require.Equal(t, int64(len(content)), logs[0].Size)
	raw, err := storeOf(t, w).Read(t.Context(), "s3://"+w.spec.Bucket+"/"+logs[0].Key)
	require.NoError(t, err)
	require.Equal(t, content, string(raw))
	require.Contains(t, w.logText(), bundle+" was stored, encrypted, with this cluster's state")
	require.NotContains(t, w.logText(), "s3://", "people are shown no storage address")
	require.NotContains(t, w.logText(), "CANARY-ssh-key")
}

func TestJournalsAreFetchedOnlyWhereMachinesFailedAndNoneAreThere(t *testing.T) {
	for name, c := range map[string]struct {
		script  string
		fetched bool
		kept    int
	}{
		"the bootstrap failed":              {`exit 5`, true, 1},
		"… and the installer gathered them": {`echo x >"$dir/` + bundle + `"; echo y >"$dir/capi-artifacts-bundle-1.tar.gz"; exit 5`, false, 2},
		"the control plane's machines failed": {
			`echo "level=error msg=failed to create cluster: failed to provision control-plane machines: machines are not ready" >&2; exit 4`, true, 1},
		"the network failed":         {`echo "level=error msg=infrastructure was not ready within 15m0s" >&2; exit 4`, false, 0},
		"it never began":             {`exit 1`, false, 0},
		"only a controllers' bundle": {`echo y >"$dir/serial-log-bundle-1.tar.gz"; exit 5`, true, 2},
		"something else lies there":  {`echo y >"$dir/log-bundle.txt"; exit 4`, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, contract.KindCreate)
			w.on("create", c.script)
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, c.fetched, w.did("installer: gather"))
			require.Len(t, w.kept(), c.kept)
		})
	}
}

func TestJournalsThatCannotBeFetchedFailNothingMore(t *testing.T) {
	for name, c := range map[string]struct{ script, text string }{
		"refused":  {`exit 1`, "openshift-install gather bootstrap ended with exit code 1"},
		"too long": {hanging, "openshift-install gather bootstrap ended with exit code 8"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, contract.KindCreate)
			w.cfg.Timings.Gather = time.Second
			w.on("create", `exit 5`)
			w.on("gather", c.script)
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, "BootstrapFailed", w.result().Reason)
			require.Contains(t, w.logText(), c.text)
			require.Empty(t, w.kept())
		})
	}
}

func TestNothingIsFetchedAfterAStop(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("create", strings.ReplaceAll(hanging, "exit 8", "exit 5"))
	w.whenHanging(func() {
		w.mu.Lock()
		w.stop = "destroy was asked for"
		w.mu.Unlock()
	})
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "StopAsked", w.result().Reason)
	require.False(t, w.did("installer: gather"))
}

// collected makes oc adm must-gather leave a small tree, with a link that leads out of it.
const collected = `case "$asked" in *"adm must-gather"*) to=$(echo "$asked" | sed 's/.*--dest-dir=\([^ ]*\).*/\1/'); mkdir -p "$to/image"; echo operators >"$to/image/version"; ln -s /etc/hostname "$to/link"; exit 0;; esac`

func TestTheStateOfAClusterThatCameUpTooLateIsCollected(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("create", `exit 6`)
	w.on("wait-for", `exit 6`)
	w.on("oc", collected)
	require.NoError(t, w.run(t.Context()))
	logs := slices.DeleteFunc(w.kept(), func(s contract.Snapshot) bool { return !strings.Contains(s.Key, "/must-gather-") })
	require.Len(t, logs, 1)
	require.Regexp(t, `^operate/clusters/clu_1/\d{8}T\d{6}\.\d{3}Z-a3/must-gather-\d{14}\.tar\.gz$`, logs[0].Key)
	raw, err := storeOf(t, w).Read(t.Context(), "s3://"+w.spec.Bucket+"/"+logs[0].Key)
	require.NoError(t, err)
	plain, err := gzip.NewReader(bytes.NewReader(raw))
	require.NoError(t, err)
	archive := tar.NewReader(plain)
	header, err := archive.Next()
	require.NoError(t, err)
	require.Equal(t, "must-gather/image/version", header.Name)
	content, err := io.ReadAll(archive)
	require.NoError(t, err)
	require.Equal(t, "operators\n", string(content))
	_, err = archive.Next()
	require.ErrorIs(t, err, io.EOF, "a link is left out")
	require.NoDirExists(t, filepath.Join(w.cfg.WorkDir, "install-1", "must-gather"))
}

func TestAStateThatCannotBeCollectedFailsNothingMore(t *testing.T) {
	for name, c := range map[string]struct{ create, oc, text string }{
		"the cluster does not answer": {`exit 6`, `case "$asked" in *"adm must-gather"*) echo "Unable to connect to the server: EOF" >&2; exit 1;; esac`, "oc adm must-gather ended with exit code 1"},
		"the bootstrap failed":        {`exit 5`, collected, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, contract.KindCreate)
			w.on("create", c.create)
			w.on("wait-for", `exit 6`)
			w.on("oc", c.oc)
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, "failed", w.result().Outcome)
			require.Contains(t, w.logText(), c.text)
			require.False(t, slices.ContainsFunc(w.kept(), func(s contract.Snapshot) bool { return strings.Contains(s.Key, "/must-gather-") }))
		})
	}
}

func TestWhatTheMachinesJournalsSayExplainsAFailedBootstrap(t *testing.T) {
	const said = `echo "level=error msg=The bootstrap machine failed to download the release image" >&2
echo "level=info msg=Error: reading manifest sha256:0a1b in quay.io/openshift-release-dev/ocp-release: unauthorized: access to the requested resource is not authorized" >&2`
	for code, reason := range map[int]string{0: "PullSecretRefused", 1: "KubeAPIWaitFailed"} {
		w := newWorld(t, contract.KindCreate)
		w.on("create", `echo "level=error msg=Failed waiting for Kubernetes API. This error usually happens when there is a problem on the bootstrap host" >&2; exit 5`)
		w.on("gather", fmt.Sprintf("%s\nexit %d", said, code))
		require.NoError(t, w.run(t.Context()))
		require.Equal(t, reason, w.result().Reason, "gathering ended with %d", code)
		require.Equal(t, code != 0, w.result().Retryable)
	}
}
