package installer_test

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
)

func TestMain(m *testing.M) { installertest.Main(m) }

// infraID reads metadata.json.
func infraID(t *testing.T, dir string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "metadata.json"))
	require.NoError(t, err)
	var m struct{ InfraID string }
	require.NoError(t, json.Unmarshal(raw, &m))
	return m.InfraID
}

func TestACreateAndADestroyLeaveNothing(t *testing.T) {
	w := installertest.Start(t)
	dir := installertest.Dir(t, installertest.InstallConfig("whole", "us-east-2", 2))

	w.Must(t, dir, "create manifests")
	require.NoFileExists(t, filepath.Join(dir, "install-config.yaml"), "consumed")
	require.Empty(t, w.Left(t, "whole"), "nothing in the cloud yet")
	w.Must(t, dir, "create ignition-configs")
	require.Empty(t, w.Left(t, "whole"), "still nothing in the cloud")
	infra := infraID(t, dir)
	require.Regexp(t, `^whole-[a-z0-9]{5}$`, infra)

	out := w.Must(t, dir, "create cluster", "--log-level=info", "--skip-password-print")
	inOrder(t, out.Stderr,
		"level=info msg=Creating infrastructure resources...",
		"level=info msg=Reconciling IAM roles for control-plane and compute nodes",
		"level=info msg=Network infrastructure is ready",
		"level=info msg=Creating Route53 records for control plane load balancer",
		"level=info msg=Control-plane machines are ready",
		"level=info msg=Waiting up to 20m0s (until ",
		"level=info msg=API v1.33.5 up",
		"level=info msg=Waiting up to 45m0s (until ",
		"level=info msg=Destroying the bootstrap resources...",
		"level=info msg=Waiting up to 40m0s (until ",
		"level=info msg=All cluster operators have completed progressing",
		"level=info msg=Install complete!",
		"level=info msg=Access the OpenShift web-console here: https://console-openshift-console.apps.whole.labs.example.com",
		"level=info msg=Time elapsed: ",
	)
	require.NotContains(t, out.Stderr, "password: ")
	require.Equal(t, infra, infraID(t, dir), "the same infraID as in ignition-configs")
	counted := map[string]int{}
	for _, line := range w.Left(t, "whole") {
		kind, _, _ := strings.Cut(line, " ")
		counted[kind]++
	}
	require.Equal(t, 5, counted["instance"], "three masters, two workers, no bootstrap: %v", counted)
	require.Equal(t, 2, counted["role"])
	require.Equal(t, 2, counted["instance-profile"])
	require.Equal(t, 6, counted["user"], "Mint makes a user per operator")
	require.Equal(t, 1, counted["vpc"])
	require.Equal(t, 2, counted["subnet"])
	require.Equal(t, 1, counted["natgateway"])
	require.Equal(t, 1, counted["elastic-ip"])
	require.Equal(t, 3, counted["loadbalancer"])
	require.Equal(t, 1, counted["hostedzone"])
	require.Equal(t, 1, counted["bucket"], "the registry's; the bootstrap's is gone")

	again := w.Run(t, dir, "create cluster")
	require.Equal(t, 1, again.Code)
	require.Contains(t, again.Stderr, "local infrastructure provisioning artifacts already exist")

	out = w.Must(t, dir, "destroy cluster", "--log-level=debug")
	require.Contains(t, out.Stderr, "level=info msg=Uninstallation complete!")
	require.Empty(t, w.Left(t, "whole"))
	for _, gone := range []string{"metadata.json", ".openshift_install_state.json", "auth", "tls", "terraform.tfvars.json"} {
		require.NoFileExists(t, filepath.Join(dir, gone))
		require.NoDirExists(t, filepath.Join(dir, gone))
	}
	require.FileExists(t, filepath.Join(dir, "bootstrap.ign"))
	require.FileExists(t, filepath.Join(dir, ".openshift_install.log"))
}

func TestFilesAreTheRealOnesWithTheirModes(t *testing.T) {
	w := installertest.Start(t)
	dir := installertest.Dir(t, installertest.InstallConfig("files", "us-east-1", 0))
	out := w.Must(t, dir, "create manifests")
	require.Contains(t, out.Stderr, "level=warning msg=Making control-plane schedulable")
	for _, name := range []string{"manifests/cluster-scheduler-02-config.yml", "openshift/99_cloud-creds-secret.yaml", "cluster-api/02_infra-cluster.yaml"} {
		require.FileExists(t, filepath.Join(dir, name))
	}
	w.Must(t, dir, "create ignition-configs")
	require.NoDirExists(t, filepath.Join(dir, "manifests"), "consumed")
	require.NoDirExists(t, filepath.Join(dir, "openshift"), "consumed")
	require.DirExists(t, filepath.Join(dir, "cluster-api"), "remains")
	for name, mode := range map[string]os.FileMode{
		".openshift_install_state.json": 0o640, ".openshift_install.log": 0o644, "metadata.json": 0o640, "bootstrap.ign": 0o640,
		"master.ign": 0o640, "worker.ign": 0o640, "auth": 0o750, "auth/kubeconfig": 0o640, "auth/kubeadmin-password": 0o640,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err, name)
		require.Equal(t, mode, info.Mode().Perm(), name)
	}
	state, err := os.ReadFile(filepath.Join(dir, ".openshift_install_state.json"))
	require.NoError(t, err)
	password, err := os.ReadFile(filepath.Join(dir, "auth", "kubeadmin-password"))
	require.NoError(t, err)
	require.Contains(t, string(state), "cHVsbC1tZTpzZWNyZXQ=", "the pull secret stands in the state file")
	require.Contains(t, string(state), string(password))
	require.Regexp(t, `^[a-z0-9]{5}(-[a-z0-9]{5}){3}$`, string(password))

	raw, err := os.ReadFile(filepath.Join(dir, "metadata.json"))
	require.NoError(t, err)
	infra := infraID(t, dir)
	var m map[string]any
	require.NoError(t, json.Unmarshal(raw, &m))
	require.JSONEq(t, `{"clusterName":"files","clusterID":"`+m["clusterID"].(string)+`","infraID":"`+infra+`","aws":{"region":"us-east-1","identifier":[
		{"kubernetes.io/cluster/`+infra+`":"owned"},{"openshiftClusterID":"`+m["clusterID"].(string)+`"},{"sigs.k8s.io/cluster-api-provider-aws/cluster/`+infra+`":"owned"}],
		"clusterDomain":"files.labs.example.com"},"featureSet":"","customFeatureSet":null}`, string(raw))
	log, err := os.ReadFile(filepath.Join(dir, ".openshift_install.log"))
	require.NoError(t, err)
	require.Regexp(t, `(?m)^time="\d{4}-\d\d-\d\dT[^"]+Z" level=debug msg="OpenShift Installer 4\.20\.3"$`, string(log))
}

func TestTheKubeconfigIsAnAdminsForTenYears(t *testing.T) {
	w := installertest.Start(t)
	dir := installertest.Dir(t, installertest.InstallConfig("kube", "us-east-1", 0))
	w.Must(t, dir, "create ignition-configs")
	raw, err := os.ReadFile(filepath.Join(dir, "auth", "kubeconfig"))
	require.NoError(t, err)
	var config struct {
		Clusters []struct{ Cluster struct{ Server string } }
		Users    []struct {
			User struct {
				Cert string `yaml:"client-certificate-data"`
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(raw, &config))
	require.Equal(t, "https://api.kube.labs.example.com:6443", config.Clusters[0].Cluster.Server)
	der, err := base64.StdEncoding.DecodeString(config.Users[0].User.Cert)
	require.NoError(t, err)
	block, _ := pem.Decode(der)
	cert, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	require.Equal(t, "system:admin", cert.Subject.CommonName)
	require.Greater(t, time.Until(cert.NotAfter), 9*365*24*time.Hour)
}

func encoded(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// inOrder requires every mark, in this order.
func inOrder(t *testing.T, text string, marks ...string) {
	t.Helper()
	rest := text
	for _, mark := range marks {
		i := strings.Index(rest, mark)
		require.GreaterOrEqual(t, i, 0, "%q is missing, or out of order, in:\n%s", mark, text)
		rest = rest[i+len(mark):]
	}
}

func TestBadInput(t *testing.T) {
	w := installertest.Start(t)
	good := installertest.InstallConfig("bad", "us-east-1", 0)
	for _, c := range []struct {
		name, config, text string
		code               int
	}{
		{"a bad pull secret is printed whole", strings.Replace(good, `{"auths"`, `{"auths`, 1), "registry.example.com", 3},
		{"an unknown key only warns", good + "colour: blue\n", "level=warning msg=failed to parse first occurrence of unknown field", 0},
		{"a reserved tag", strings.Replace(good, "ClusterId:", "kubernetes.io/x:", 1), "platform.aws.userTags", 3},
		{"no name", strings.Replace(good, "name: bad", "name: ''", 1), "metadata.name: Required value", 3},
		{"a base domain nobody has", strings.Replace(good, "labs.example.com", "nowhere.example.org", 1), "cannot find base domain", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := w.Run(t, installertest.Dir(t, c.config), "create manifests")
			require.Equal(t, c.code, out.Code, out.Stderr)
			require.Contains(t, out.Stderr, c.text)
		})
	}
	out := w.Run(t, t.TempDir(), "create manifests")
	require.Equal(t, 1, out.Code, "without install-config it asks, and reads the end of input")
	out = w.Run(t, t.TempDir(), "destroy cluster")
	require.Equal(t, 1, out.Code)
	require.Contains(t, out.Stderr, "metadata.json: no such file")
}

func TestItSpeaksToThisMachineOnly(t *testing.T) {
	w := installertest.Start(t)
	t.Setenv("AWS_ENDPOINT_URL", "https://ec2.us-east-1.amazonaws.com")
	out := w.Run(t, installertest.Dir(t, installertest.InstallConfig("far", "us-east-1", 0)), "create manifests")
	require.Equal(t, 1, out.Code)
	require.Contains(t, out.Stderr, "is a stand-in")
}

func TestTheVersionIsTheFoldersAndItSaysWhatItIs(t *testing.T) {
	w := installertest.Start(t)
	folder := filepath.Join(t.TempDir(), "4.20.1")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	require.NoError(t, os.Symlink(w.Binary, filepath.Join(folder, "openshift-install")))
	w.Binary = filepath.Join(folder, "openshift-install")
	out := w.Must(t, t.TempDir(), "version")
	require.Contains(t, out.Stdout, "openshift-install 4.20.1\n")
	require.Regexp(t, `release image quay\.io/openshift-release-dev/ocp-release@sha256:[0-9a-f]{64}`, out.Stdout)
	require.Contains(t, out.Stdout, "stand-in")
}

func TestFaultsAreCountedAcrossProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "faults.json")
	require.NoError(t, installer.WriteFaults(path, installer.Faults{"create": {FailAt: "api", Times: 5, Cluster: "one"}}))
	struck := make(chan bool)
	for range 20 {
		go func() {
			_, strikes, err := installer.TakeFault(path, "create", "one", "api")
			struck <- strikes && err == nil
		}()
	}
	n := 0
	for range 20 {
		if <-struck {
			n++
		}
	}
	require.Equal(t, 5, n)
	_, strikes, err := installer.TakeFault(path, "create", "two", "api")
	require.NoError(t, err)
	require.False(t, strikes)
}
