package installer_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
)

func manual(name string) string {
	return strings.Replace(installertest.InstallConfig(name, "us-east-1", 2), "credentialsMode: Mint", "credentialsMode: Manual", 1)
}

// bring copies ccoctl's output into an install directory, as the documentation says.
func bring(t *testing.T, cc, dir string) {
	t.Helper()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "tls"), os.DirFS(filepath.Join(cc, "tls"))))
	files, err := filepath.Glob(filepath.Join(cc, "manifests", "*"))
	require.NoError(t, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "manifests", filepath.Base(file)), raw, 0o600))
	}
}

func TestInManualModeOperatorsNeedWhatCcoctlMade(t *testing.T) {
	w := installertest.Start(t)
	t.Run("with it the install goes through and no user is minted", func(t *testing.T) {
		cc := createIdentity(t, w, "cco-manual-0123456789", "us-east-1")
		dir := installertest.Dir(t, manual("manual"))
		w.Must(t, dir, "create manifests")
		require.NoFileExists(t, filepath.Join(dir, "openshift", "99_cloud-creds-secret.yaml"))
		bring(t, cc, dir)
		w.Must(t, dir, "create ignition-configs")
		require.NoFileExists(t, filepath.Join(dir, "tls", "bound-service-account-signing-key.key"), "consumed")
		w.Must(t, dir, "create cluster")
		require.Zero(t, kinds(w.Left(t, "manual"))["user"])
		w.Must(t, dir, "destroy cluster")
		require.Equal(t, 7, kinds(w.Left(t, "cco-manual"))["role"], "destroy never touches them")
	})
	t.Run("without it the operators are degraded", func(t *testing.T) {
		dir := installertest.Dir(t, manual("bare"))
		out := w.Run(t, dir, "create cluster")
		require.Equal(t, 6, out.Code, out.Stderr)
		inOrder(t, out.Stderr, "level=error msg=Cluster operator ingress Degraded is True with", "level=error msg=failed to initialize the cluster: Cluster operators")
		require.Equal(t, 6, w.Run(t, dir, "wait-for install-complete").Code)
		w.Must(t, dir, "destroy cluster")
		require.Empty(t, w.Left(t, "bare"))
	})
}

func TestWaitForInstallCompleteMayStillSucceed(t *testing.T) {
	for step, code := range map[string]int{"initialize": 6, "stable": 7} {
		t.Run(step, func(t *testing.T) {
			w := installertest.Start(t)
			name := "late-" + step
			dir := installertest.Dir(t, installertest.InstallConfig(name, "us-east-1", 0))
			require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{
				"create": {FailAt: step, Times: 1}, "wait-for/" + name: {FailAt: step, Times: 1},
			}))
			require.Equal(t, code, w.Run(t, dir, "create cluster", "--skip-password-print").Code)
			require.Equal(t, code, w.Run(t, dir, "wait-for install-complete").Code)
			out := w.Must(t, dir, "wait-for install-complete")
			inOrder(t, out.Stderr, "to initialize...", "Install complete!", `Login to the console with user: "kubeadmin", and password: "`)
			require.Equal(t, 1, w.Run(t, dir, "wait-for install-complete", "--skip-password-print").Code, "it has no such flag")
			w.Must(t, dir, "wait-for bootstrap-complete")
			w.Must(t, dir, "destroy cluster")
			require.Empty(t, w.Left(t, name))
		})
	}
}

func TestWithoutAClusterWaitForFails(t *testing.T) {
	w := installertest.Start(t)
	dir := installertest.Dir(t, installertest.InstallConfig("none", "us-east-1", 0))
	w.Must(t, dir, "create ignition-configs")
	require.Equal(t, 6, w.Run(t, dir, "wait-for install-complete").Code)
	require.Equal(t, 5, w.Run(t, dir, "wait-for bootstrap-complete").Code)
	require.Equal(t, 1, w.Run(t, dir, "gather bootstrap").Code)
	require.Equal(t, 1, w.Run(t, t.TempDir(), "wait-for install-complete").Code)
}

// bundles unpacks every log bundle of a directory.
func bundles(t *testing.T, dir string) (names []string, text string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "log-bundle-*.tar.gz"))
	require.NoError(t, err)
	for _, path := range paths {
		file, err := os.Open(path)
		require.NoError(t, err)
		defer file.Close()
		zipped, err := gzip.NewReader(file)
		require.NoError(t, err)
		packed := tar.NewReader(zipped)
		for {
			header, err := packed.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			raw, err := io.ReadAll(packed)
			require.NoError(t, err)
			names, text = append(names, header.Name), text+string(raw)
		}
	}
	return names, text
}

func TestTheBundleOfAFailedBootstrapHoldsSecrets(t *testing.T) {
	w := installertest.Start(t)
	dir := installertest.Dir(t, installertest.InstallConfig("bundle", "us-east-1", 0))
	require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{"create": {FailAt: "bootstrap", Times: 1}}))
	out := w.Run(t, dir, "create cluster")
	require.Equal(t, 5, out.Code)
	require.Regexp(t, `level=info msg=Bootstrap gather logs captured here "/.*log-bundle-\d{14}\.tar\.gz"`, out.Stderr)
	names, text := bundles(t, dir)
	require.Contains(t, strings.Join(names, "\n"), "/clusterapi/Secret-")
	require.Contains(t, text, "/opt/openshift/openshift/99_kubeadmin-password-secret.yaml", "the bootstrap ignition")
	require.Contains(t, text, "EC PRIVATE KEY")

	for _, old := range []string{filepath.Join(dir, "log-bundle-*.tar.gz")} {
		found, err := filepath.Glob(old)
		require.NoError(t, err)
		for _, path := range found {
			require.NoError(t, os.Remove(path))
		}
	}
	require.Equal(t, 1, w.Run(t, dir, "gather bootstrap", "--key", "/nowhere/id_rsa").Code)
	w.Must(t, dir, "gather bootstrap")
	names, _ = bundles(t, dir)
	require.NotEmpty(t, names)
	require.Equal(t, 1, w.Run(t, dir, "destroy bootstrap").Code, "the local control plane is gone")
	w.Must(t, dir, "destroy cluster")
	require.Empty(t, w.Left(t, "bundle"))
}

func TestDestroyBootstrapNeedsTheLocalControlPlane(t *testing.T) {
	w := installertest.Start(t)
	dir := installertest.Dir(t, installertest.InstallConfig("ladder", "us-east-1", 0))
	require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{"create": {FailAt: "bootstrap", Kill: true, Times: 1}}))
	require.Equal(t, -1, w.Run(t, dir, "create cluster").Code)
	before := kinds(w.Left(t, "ladder"))
	w.Must(t, dir, "destroy bootstrap")
	after := kinds(w.Left(t, "ladder"))
	require.Equal(t, before["instance"]-1, after["instance"])
	require.Zero(t, after["bucket"])
	w.Must(t, dir, "destroy cluster")
	require.Empty(t, w.Left(t, "ladder"))
}

func TestKeysComeFromASharedFileAndMintHandsThemOn(t *testing.T) {
	w := installertest.Start(t)
	id, secret := os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY")
	file := filepath.Join(t.TempDir(), "credentials")
	require.NoError(t, os.WriteFile(file, []byte("[default]\naws_access_key_id = "+id+"\naws_secret_access_key = "+secret+"\n"), 0o600))
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	dir := installertest.Dir(t, installertest.InstallConfig("keys", "us-east-1", 0))
	out := w.Must(t, dir, "create manifests")
	require.Contains(t, out.Stderr, "SharedConfigCredentials")
	raw, err := os.ReadFile(filepath.Join(dir, "openshift", "99_cloud-creds-secret.yaml"))
	require.NoError(t, err)
	require.Contains(t, string(raw), "aws_secret_access_key: "+encoded(secret))

	require.NoError(t, os.WriteFile(file, nil, 0o600))
	out = w.Run(t, installertest.Dir(t, installertest.InstallConfig("keyless", "us-east-1", 0)), "create manifests")
	require.Equal(t, 1, out.Code, "it asks, and reads the end of input")
	require.Contains(t, out.Stdout, "? AWS Access Key ID")
}

func TestTheRoutersBalancerIsAClassicOneByDefault(t *testing.T) {
	w := installertest.Start(t)
	dir := installertest.Dir(t, strings.Replace(installertest.InstallConfig("classic", "us-east-1", 0), "lbType: NLB", "lbType: Classic", 1))
	w.Must(t, dir, "create cluster")
	require.Equal(t, 1, kinds(w.Left(t, "classic-"))["classic"])
	w.Must(t, dir, "destroy cluster")
	require.Empty(t, w.Left(t, "classic-"))
}

func TestUnknownFlagsAreRefused(t *testing.T) {
	w := installertest.Start(t)
	for _, command := range []string{"create cluster", "create manifests", "destroy cluster", "wait-for install-complete", "gather bootstrap"} {
		out := w.Run(t, t.TempDir(), command, "--colour=blue")
		require.Equal(t, 1, out.Code)
		require.Contains(t, out.Stderr, "level=fatal msg=Error executing openshift-install: unknown flag: --colour")
	}
}
