//go:build install

package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/kubernetes"
)

const (
	repository = "../.."
	chart      = repository + "/deploy/helm/ocpctl"
	release    = "ocpctl"
	namespace  = "ocpctl"
	runners    = "ocpctl-runners"
)

// The images, as values name them.
const (
	serverImage = "registry.example.com/ocpctl-server"
	runnerImage = "registry.example.com/ocpctl-runner"
	tag         = "test"
)

// program is a program that make build, make build-kubernetes or make test-install built.
func program(name string) string { return filepath.Join(repository, ".demo", "bin", name) }

// images unpacks the images of make images, and one on top of the runner's with the stand-in installers.
func images(t *testing.T) []kubernetes.Image {
	t.Helper()
	built := filepath.Join(repository, "dist", "images")
	tool, dir := filepath.Join(built, "bin", "images"), t.TempDir()
	withInstallers := filepath.Join(dir, "runner.oci.tar")
	args := []string{"build", "-base", filepath.Join(built, "ocpctl-runner.oci.tar"), "-program", filepath.Join(built, "bin", "ocpctl-runner"),
		"-version", tag, "-created", "2026-01-31T12:00:00Z", "-dir", "/work", "-out", withInstallers}
	for _, version := range []string{"4.20.1", "4.20.3"} {
		for _, name := range []string{"openshift-install", "ccoctl", "oc"} {
			args = append(args, "-add", "/installers/"+version+"/"+name+"="+filepath.Join(built, "standins", name))
		}
	}
	run(t, tool, args...)
	var all []kubernetes.Image
	for name, archive := range map[string]string{serverImage: filepath.Join(built, "ocpctl-server.oci.tar"), runnerImage: withInstallers} {
		base := filepath.Base(name)
		root := filepath.Join(dir, base)
		run(t, tool, "unpack", "-archive", archive, "-to", root)
		all = append(all, kubernetes.Image{Name: name + ":" + tag, Rootfs: root, User: "65532", Entrypoint: []string{"/usr/bin/" + base}, Dir: "/",
			Env: []string{"PATH=/usr/bin", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"}})
	}
	openTo65532(t, dir)
	return all
}

// openTo65532 lets the images' user look into the directories above their root file systems.
func openTo65532(t *testing.T, dir string) {
	for ; strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		require.NoError(t, os.Chmod(dir, 0o755))
	}
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", filepath.Base(name), strings.Join(args, " "), out)
	return string(out)
}

// helm runs Helm's own program as a person would.
func (c *cluster) helm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program("helm"), args...)
	home := t.TempDir()
	command.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil {
		return out.String(), fmt.Errorf("helm %s: %w\n%s%s", strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String(), nil
}

// valuesFile writes values for Helm.
func valuesFile(t *testing.T, values map[string]any) string {
	t.Helper()
	raw, err := json.MarshalIndent(values, "", "  ") // JSON is YAML
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "values.yaml")
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	return path
}
