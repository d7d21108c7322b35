package kubernetes_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/devstack/kubernetes"
)

// program writes a shell script in the place of the program, which takes minutes to build: the program has tests in its own module.
func program(t *testing.T, script string) string {
	path := filepath.Join(t.TempDir(), "kubernetes")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755))
	return path
}

func TestAClusterIsStartedWithItsImagesAndStopped(t *testing.T) {
	dir := t.TempDir()
	server, err := kubernetes.Start(t.Context(), kubernetes.Config{Dir: dir, Nodes: 2, Heartbeat: time.Second, Images: []kubernetes.Image{{Name: "runner:1", Rootfs: "/"}},
		Program: program(t, `echo "$@" >"$2/arguments"; cat "$2/images.json" >"$2/seen"; echo ready "$2/admin.kubeconfig"; cat >/dev/null`)})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "admin.kubeconfig"), server.Kubeconfig())
	arguments, err := os.ReadFile(filepath.Join(dir, "arguments"))
	require.NoError(t, err)
	require.Equal(t, "-dir "+dir+" -nodes 2 -heartbeat 1s\n", string(arguments))
	seen, err := os.ReadFile(filepath.Join(dir, "seen"))
	require.NoError(t, err)
	require.Contains(t, string(seen), `"Name":"runner:1","Rootfs":"/"`)

	require.NoError(t, server.Stop())
	<-server.Ended()
	require.ErrorContains(t, server.LoseNode("node-1"), "find the process of the node node-1")
}

func TestAClusterThatCannotStartSaysWhy(t *testing.T) {
	_, err := kubernetes.Start(t.Context(), kubernetes.Config{Dir: t.TempDir(), Program: program(t, "echo the port is taken >&2; exit 1")})
	require.EqualError(t, err, "start Kubernetes: the port is taken")
	_, err = kubernetes.Start(t.Context(), kubernetes.Config{})
	require.ErrorContains(t, err, "a directory is needed")
}
