//go:build auditors

// Package auditors_test lets programs that others wrote look through the stand-in clouds.
package auditors_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/gateway"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
	"github.com/ocpctl/ocpctl/devstack/s3/s3test"
)

func TestMain(m *testing.M) { installertest.Main(m) }

// infraID returns the id of the cluster in an install directory.
func infraID(t *testing.T, dir string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "metadata.json"))
	require.NoError(t, err)
	var metadata struct{ InfraID string }
	require.NoError(t, json.Unmarshal(raw, &metadata))
	return metadata.InfraID
}

// janitor is a program of Kubernetes' own janitor, which cleans the accounts of its tests. It reaches the stand-in AWS by Amazon's names.
type janitor struct {
	path string
	env  []string
}

func newJanitor(t *testing.T, w *installertest.World, program string) janitor {
	t.Helper()
	return janitorOf(t, gateway.Config{AWS: w.AWS.URL(), S3: w.S3.URL()}, s3test.SecretKey, program)
}

// janitorOf looks through the account behind a gateway, with the administrator's key.
func janitorOf(t *testing.T, behind gateway.Config, secret, program string) janitor {
	t.Helper()
	find := exec.Command("go", "-C", filepath.Join("..", "..", "tools", "janitor"), "tool", "-n", program)
	raw, err := find.Output()
	require.NoError(t, err)
	behind.Dir = t.TempDir()
	g, err := gateway.Start(t.Context(), behind)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Stop()) })
	return janitor{path: strings.TrimSpace(string(raw)), env: []string{
		"HOME=" + t.TempDir(), "HTTPS_PROXY=" + g.URL(), "AWS_CA_BUNDLE=" + g.CAFile(), "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=" + s3test.AccessKey, "AWS_SECRET_ACCESS_KEY=" + secret,
	}}
}

// run returns what the program printed, and what it logged.
func (j janitor) run(t *testing.T, args ...string) (printed []string, logged string) {
	t.Helper()
	cmd := exec.Command(j.path, args...)
	cmd.Env = j.env
	var errors bytes.Buffer
	cmd.Stderr = &errors
	raw, err := cmd.Output()
	require.NoError(t, err, "%s", errors.String()[max(0, errors.Len()-3000):])
	return strings.Split(strings.TrimSpace(string(raw)), "\n"), errors.String()
}

// list returns the account's resources. An error of one kind is only printed.
func (j janitor) list(t *testing.T) []string {
	t.Helper()
	printed, wrong := j.run(t)
	require.NotContains(t, wrong, "error listing")
	return printed
}

// listed counts a list's resources by their kind, such as vpc.
func listed(lines []string) map[string]int {
	counts := map[string]int{}
	for _, line := range lines {
		if kind, found := strings.CutPrefix(line, "arn:"); found {
			kind = strings.TrimLeft(kind[strings.LastIndex(kind, ":")+1:], "/")
			counts[strings.SplitN(kind, "/", 2)[0]]++
		}
	}
	return counts
}

func TestAJanitorOfTheFieldFindsAClusterAndNothingOfItAfterItsEnd(t *testing.T) {
	w := installertest.Start(t)
	resources := newJanitor(t, w, "aws-resources-list")
	before := resources.list(t)
	dir := installertest.Dir(t, installertest.InstallConfig("audited", "us-east-1", 0))
	w.Must(t, dir, "create cluster")
	infra := infraID(t, dir)
	found := listed(resources.list(t))
	t.Logf("%s: %v", infra, found)
	for _, kind := range []string{"instance", "vpc", "subnet", "security-group", "internet-gateway", "natgateway", "address", "volume", "loadbalancer", "route-table", "network-interface", "role", "instance-profile"} {
		require.Positive(t, found[kind], kind)
	}
	w.Must(t, dir, "destroy cluster")
	after := slices.DeleteFunc(resources.list(t), func(line string) bool { return slices.Contains(before, line) })
	for _, line := range after { // the cloud lists these for an hour after their end, and the janitor does not look at their state
		require.Regexp(t, "/(i|nat)-", line)
	}
}

func TestAJanitorOfTheFieldRemovesWhatCostsMoneyOfALostCluster(t *testing.T) {
	w := installertest.Start(t)
	dir := installertest.Dir(t, installertest.InstallConfig("orphan", "us-east-1", 0))
	w.Must(t, dir, "create cluster")
	infra := infraID(t, dir)
	require.NoError(t, os.RemoveAll(dir)) // its state is lost
	_, _ = newJanitor(t, w, "aws-janitor").run(t, "-all", "-include-tags", "kubernetes.io/cluster/"+infra+"=owned")
	left := map[string]int{}
	for _, line := range w.Left(t, "orphan") {
		kind, _, _ := strings.Cut(line, " ")
		left[kind]++
	}
	t.Log(left)
	for _, costly := range []string{"instance", "loadbalancer", "volume", "natgateway"} {
		require.Zero(t, left[costly], costly)
	}
}
