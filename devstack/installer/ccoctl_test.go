package installer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
	"github.com/ocpctl/ocpctl/devstack/installer/release"
)

// pullSecret writes a registry's credentials to a file.
func pullSecret(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pull-secret.json")
	require.NoError(t, os.WriteFile(path, []byte(installertest.PullSecret), 0o600))
	return path
}

// credentialsRequests extracts those of AWS.
func credentialsRequests(t *testing.T, w *installertest.World) string {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(t.TempDir(), "install-config.yaml")
	require.NoError(t, os.WriteFile(config, []byte(installertest.InstallConfig("any", "us-east-1", 0)), 0o600))
	out := w.Tool(t, "oc", dir, "adm", "release", "extract", "--credentials-requests", "--included", "--install-config="+config,
		"--from="+release.Image("4.20.3"), "--registry-config="+pullSecret(t), "--to=.")
	require.Zero(t, out.Code, out.Stderr)
	return dir
}

// createIdentity runs ccoctl aws create-all and returns its folder.
func createIdentity(t *testing.T, w *installertest.World, name, region string) string {
	t.Helper()
	dir := t.TempDir()
	out := w.Tool(t, "ccoctl", dir, "aws", "create-all", "--name", name, "--region", region, "--credentials-requests-dir", credentialsRequests(t, w), "--output-dir", "cc")
	require.Zero(t, out.Code, out.Stderr)
	return filepath.Join(dir, "cc")
}

func kinds(left []string) map[string]int {
	counted := map[string]int{}
	for _, line := range left {
		kind, _, _ := strings.Cut(line, " ")
		counted[kind]++
	}
	return counted
}

func TestCcoctlMakesBucketProviderAndRolesAndDeletesThem(t *testing.T) {
	w := installertest.Start(t)
	name := "cco-all-0123456789"
	cc := createIdentity(t, w, name, "us-east-2")
	got := kinds(w.Left(t, name))
	require.Equal(t, 1, got["bucket"])
	require.Equal(t, 1, got["oidc-provider"])
	require.Equal(t, 7, got["role"])
	for _, r := range w.AWS.Resources(name) {
		if r.Type == "role" || r.Type == "oidc-provider" {
			require.Equal(t, "owned", r.Tags["openshift.io/cloud-credential-operator/"+name], r.ID)
			require.LessOrEqual(t, len(r.Name), 64+20)
		}
	}
	for _, request := range release.AWSRequests() {
		raw, err := os.ReadFile(filepath.Join(cc, "manifests", request.File()))
		require.NoError(t, err)
		require.Regexp(t, `role_arn = arn:aws:iam::\d{12}:role/`+name+`-`, string(raw))
	}
	for file, mode := range map[string]os.FileMode{
		"manifests/cluster-authentication-02-config.yaml": 0o600, "tls/bound-service-account-signing-key.key": 0o600,
		"serviceaccount-signer.private": 0o600, "serviceaccount-signer.public": 0o600,
	} {
		info, err := os.Stat(filepath.Join(cc, file))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), file)
	}
	issuer, err := os.ReadFile(filepath.Join(cc, "manifests/cluster-authentication-02-config.yaml"))
	require.NoError(t, err)
	require.Contains(t, string(issuer), "serviceAccountIssuer: https://"+name+"-oidc.s3.us-east-2.amazonaws.com\n")

	out := w.Tool(t, "ccoctl", t.TempDir(), "aws", "delete", "--name", name, "--region", "us-east-2")
	require.Zero(t, out.Code)
	require.Contains(t, out.Stderr, "Identity Provider bucket "+name+"-oidc deleted")
	require.Empty(t, w.Left(t, name))
	out = w.Tool(t, "ccoctl", t.TempDir(), "aws", "delete", "--name", name, "--region", "us-east-2")
	require.Zero(t, out.Code, "it exits 0 although the bucket is not there")
	require.Contains(t, out.Stderr, "failed to fetch list of Identity Provider objects")
}

func TestCcoctlAgainTakesWhatIsThere(t *testing.T) {
	w := installertest.Start(t)
	requests, dir := credentialsRequests(t, w), t.TempDir()
	name := "cco-again-0123456789"
	args := []string{"aws", "create-all", "--name", name, "--region", "us-east-1", "--credentials-requests-dir", requests, "--output-dir", dir}
	require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{"ccoctl-create/cco-again": {AfterWrites: 9, Kill: true, Times: 1}}))
	require.Equal(t, -1, w.Tool(t, "ccoctl", dir, args...).Code, "the fault is found by the name before the dash")
	out := w.Tool(t, "ccoctl", dir, args...)
	require.Zero(t, out.Code, out.Stderr)
	for _, text := range []string{"Using existing RSA keypair", "already exists and is owned by the user", "Existing Identity Provider found", "Existing role"} {
		require.Contains(t, out.Stderr, text)
	}
	require.Equal(t, 7, kinds(w.Left(t, name))["role"])
	w.Tool(t, "ccoctl", dir, "aws", "delete", "--name", name, "--region", "us-east-1")
	require.Empty(t, w.Left(t, name))
}

func TestCcoctlDeleteGivesUpOnTheRolesAtTheFirstItMayNotRead(t *testing.T) {
	w := installertest.Start(t)
	name := "cco-deny-0123456789"
	createIdentity(t, w, name, "us-east-1")
	w.AWS.Refuse("iam:GetRole", 1, "AccessDenied")
	out := w.Tool(t, "ccoctl", t.TempDir(), "aws", "delete", "--name", name, "--region", "us-east-1")
	require.Zero(t, out.Code, "the trap")
	require.Contains(t, out.Stderr, "failed to fetch IAM role")
	got := kinds(w.Left(t, name))
	require.Equal(t, 7, got["role"], "none is deleted")
	require.Zero(t, got["oidc-provider"], "the next part goes on")
}

func TestCcoctlKilledBeforeTheTagsLeaksWhatDeleteCannotFind(t *testing.T) {
	w := installertest.Start(t)
	lines := trace(t)
	createIdentity(t, w, "cco-clean-0123456789", "us-east-1")
	var before []int
	for n, action := range writes(lines(), "ccoctl-create") {
		if action == "s3:PutBucketTagging" || action == "iam:TagOpenIDConnectProvider" {
			before = append(before, n)
		}
	}
	require.Len(t, before, 2)
	for i, kind := range []string{"bucket", "oidc-provider"} {
		t.Run(kind, func(t *testing.T) {
			name := "cco-cut-" + kind
			requests, dir := credentialsRequests(t, w), t.TempDir()
			require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{"ccoctl-create": {AfterWrites: before[i], Kill: true}}))
			require.Equal(t, -1, w.Tool(t, "ccoctl", dir, "aws", "create-all", "--name", name, "--region", "us-east-1", "--credentials-requests-dir", requests, "--output-dir", dir).Code)
			require.NoError(t, installer.WriteFaults(w.Faults, nil))
			require.Zero(t, w.Tool(t, "ccoctl", dir, "aws", "delete", "--name", name, "--region", "us-east-1").Code)
			require.Equal(t, map[string]int{kind: 1}, kinds(w.Left(t, name)))
		})
	}
}

func TestCcoctlRefusesWhatTheRealOneRefuses(t *testing.T) {
	w := installertest.Start(t)
	all := t.TempDir()
	out := w.Tool(t, "oc", all, "adm", "release", "extract", "--credentials-requests", "--from="+release.Image("4.20.3"), "-a", pullSecret(t), "--to=.")
	require.Zero(t, out.Code, out.Stderr)
	create := func(flags ...string) []string {
		return append([]string{"aws", "create-all", "--region", "us-east-1"}, flags...)
	}
	for _, c := range []struct {
		name, text string
		args       []string
	}{
		{"no name", `required flag(s) "credentials-requests-dir", "name" not set`, create()},
		{"an unknown flag", "unknown flag: --colour", create("--name", "n", "--credentials-requests-dir", all, "--colour", "blue")},
		{"another cloud's request", "is not of type AWS", create("--name", "cco-other", "--credentials-requests-dir", all, "--output-dir", t.TempDir())},
		{"a folder that is not there", "no such file", create("--name", "cco-none", "--credentials-requests-dir", "/nowhere", "--output-dir", t.TempDir())},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := w.Tool(t, "ccoctl", t.TempDir(), c.args...)
			require.Equal(t, 1, out.Code)
			require.Contains(t, out.Stderr, c.text)
		})
	}
	t.Setenv("AWS_ENDPOINT_URL", "https://iam.amazonaws.com")
	out = w.Tool(t, "ccoctl", t.TempDir(), "aws", "delete", "--name", "n", "--region", "us-east-1")
	require.Equal(t, 1, out.Code)
	require.Contains(t, out.Stderr, "is a stand-in")
	out = w.Tool(t, "ccoctl", t.TempDir(), "version")
	require.Contains(t, out.Stdout, "stand-in")
}
