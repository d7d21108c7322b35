package kubernetes_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/ocpctl/ocpctl/devstack/kubernetes"
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

func TestTheServersRoleHasTheRulesOfTheChart(t *testing.T) {
	helpers, err := os.ReadFile("../../deploy/helm/ocpctl/templates/_helpers.tpl")
	require.NoError(t, err)
	_, chart, found := strings.Cut(string(helpers), `{{- define "ocpctl.runnerRules" -}}`)
	require.True(t, found)
	chart, _, _ = strings.Cut(chart, "{{- end -}}")
	var want []any
	require.NoError(t, yaml.Unmarshal([]byte(chart), &want))
	ours, err := os.ReadFile("runners.yaml")
	require.NoError(t, err)
	for document := range strings.SplitSeq(string(ours), "\n---\n") {
		var object struct {
			Kind  string
			Rules []any
		}
		require.NoError(t, yaml.Unmarshal([]byte(document), &object))
		if object.Kind == "Role" {
			require.Equal(t, want, object.Rules)
			return
		}
	}
	require.Fail(t, "there is no role")
}
