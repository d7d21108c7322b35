package installer_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
	"github.com/ocpctl/ocpctl/devstack/installer/release"
)

func TestOcExtractsTheProgramsOfTheReleasesVersion(t *testing.T) {
	w := installertest.Start(t)
	secret, dir := pullSecret(t), t.TempDir()
	out := w.Tool(t, "oc", dir, "adm", "release", "extract", "--command=openshift-install", "--from="+release.Image("4.20.1"), "--registry-config="+secret, "--to=bin")
	require.Zero(t, out.Code, out.Stderr)
	said, err := exec.Command(filepath.Join(dir, "bin", "openshift-install"), "version").Output()
	require.NoError(t, err)
	require.Contains(t, string(said), "openshift-install 4.20.1\n")
	require.Contains(t, string(said), "release image "+release.Image("4.20.1")+"\n")

	tagged := "quay.io/openshift-release-dev/ocp-release:4.20.1-x86_64"
	out = w.Tool(t, "oc", dir, "adm", "release", "info", "--image-for=cloud-credential-operator", tagged, "--registry-config="+secret)
	require.Zero(t, out.Code, out.Stderr)
	image := strings.TrimSpace(out.Stdout)
	require.Regexp(t, `^quay\.io/openshift-release-dev/ocp-v4\.0-art-dev@sha256:[0-9a-f]{64}$`, image)
	out = w.Tool(t, "oc", dir, "image", "extract", image, "--file=/usr/bin/ccoctl", "--registry-config="+secret)
	require.Zero(t, out.Code, out.Stderr)
	info, err := os.Stat(filepath.Join(dir, "ccoctl"))
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o111, "the caller makes it executable")
	require.NoError(t, os.Chmod(filepath.Join(dir, "ccoctl"), 0o755))
	said, err = exec.Command(filepath.Join(dir, "ccoctl"), "version").Output()
	require.NoError(t, err)
	require.Contains(t, string(said), "ccoctl 4.20.1\n")
}

func TestOcExtractsTheRequestsOfTheInstallConfigsCloudAlone(t *testing.T) {
	w := installertest.Start(t)
	entries, err := os.ReadDir(credentialsRequests(t, w))
	require.NoError(t, err)
	require.Len(t, entries, len(release.AWSRequests()))
}

func TestOcRefusesWhatARegistryWouldRefuse(t *testing.T) {
	w := installertest.Start(t)
	secret, dir := pullSecret(t), t.TempDir()
	broken := filepath.Join(dir, "broken.json")
	require.NoError(t, os.WriteFile(broken, []byte(`{"auths`), 0o600))
	extract := func(image, registry string) installertest.Result {
		return w.Tool(t, "oc", dir, "adm", "release", "extract", "--command=openshift-install", "--from="+image, "--registry-config="+registry, "--to=bin")
	}
	for _, c := range []struct{ name, image, registry, text string }{
		{"a digest nobody has", "quay.io/openshift-release-dev/ocp-release@sha256:" + strings.Repeat("0", 64), secret, "manifest unknown"},
		{"a version nobody has", "quay.io/openshift-release-dev/ocp-release:4.99.0-x86_64", secret, "manifest unknown"},
		{"an image that is not pinned", "quay.io/openshift-release-dev/ocp-release", secret, "is pinned by digest"},
		{"no pull secret", release.Image("4.20.3"), "", "unauthorized"},
		{"a broken pull secret", release.Image("4.20.3"), broken, "unable to load --registry-config"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := extract(c.image, c.registry)
			require.Equal(t, 1, out.Code)
			require.Contains(t, out.Stderr, "error: ")
			require.Contains(t, out.Stderr, c.text)
			require.NoFileExists(t, filepath.Join(dir, "bin", "openshift-install"))
		})
	}
	require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{"oc": {Times: 1}}))
	out := extract(release.Image("4.20.3"), secret)
	require.Equal(t, 1, out.Code)
	require.Contains(t, out.Stderr, "503 Service Unavailable")
	require.Zero(t, extract(release.Image("4.20.3"), secret).Code)
}
