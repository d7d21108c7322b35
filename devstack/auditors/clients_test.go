//go:build auditors

package auditors_test

import (
	"embed"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
	"github.com/ocpctl/ocpctl/devstack/npm"
	"github.com/ocpctl/ocpctl/devstack/s3/s3test"
)

//go:embed npm
var embedded embed.FS

// script runs one of the programs in npm with the clouds' own clients for Node.js, and returns what it found by call.
func script(t *testing.T, name string, env ...string) map[string]int {
	t.Helper()
	programs, err := fs.Sub(embedded, "npm")
	require.NoError(t, err)
	modules, err := npm.Install("auditors", programs)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, programs))
	require.NoError(t, os.Symlink(filepath.Join(modules, "node_modules"), filepath.Join(dir, "node_modules")))
	cmd := exec.CommandContext(t.Context(), "node", name)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), env...), os.Stderr
	raw, err := cmd.Output()
	require.NoError(t, err)
	var found map[string]int
	require.NoError(t, json.Unmarshal(raw, &found), "%s", raw)
	return found
}

// requireAll checks that every call found something.
func requireAll(t *testing.T, found map[string]int) {
	t.Helper()
	t.Log(found)
	for call, n := range found {
		require.Positive(t, n, call)
	}
}

func TestAmazonsClientForJavaScriptUnderstandsTheStandIn(t *testing.T) {
	w := installertest.Start(t)
	dir := installertest.Dir(t, installertest.InstallConfig("audited", "us-east-1", 1))
	w.Must(t, dir, "create cluster")
	found := script(t, "aws.mjs", "INFRA_ID="+infraID(t, dir), "AWS_ACCESS_KEY_ID="+s3test.AccessKey, "AWS_SECRET_ACCESS_KEY="+s3test.SecretKey)
	require.Greater(t, len(found), 35)
	requireAll(t, found)
}

func TestIBMCloudsClientForJavaScriptUnderstandsTheStandIn(t *testing.T) {
	w := installertest.StartIBMCloud(t)
	requests, pull := t.TempDir(), filepath.Join(t.TempDir(), "pull.json")
	require.NoError(t, os.WriteFile(pull, []byte(installertest.PullSecret), 0o600))
	out := w.Tool(t, "oc", t.TempDir(), "adm", "release", "extract", "--credentials-requests", "--cloud=ibmcloud", "-a", pull, "--to", requests,
		"quay.io/openshift-release-dev/ocp-release:4.20.3-x86_64")
	require.Zero(t, out.Code, out.Stderr)
	out = w.Tool(t, "ccoctl", t.TempDir(), "ibmcloud", "create-service-id", "--name", "audited", "--credentials-requests-dir", requests, "--output-dir", t.TempDir())
	require.Zero(t, out.Code, out.Stderr)
	requireAll(t, script(t, "ibm.mjs", "IBM_BASE="+w.IBM.Base(), "IC_API_KEY="+installertest.IBMKey, "IBM_ACCOUNT="+"0a1b2c3d4e5f60718293a4b5c6d7e8f9"))
}
