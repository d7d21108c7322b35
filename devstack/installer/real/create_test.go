//go:build installer && clusterapi

package real_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
	"github.com/ocpctl/ocpctl/devstack/installer/real"
)

// The whole life is real: Cluster API makes the network and the machines, the bootstrap machine reads its ignition from S3, and the installer
// hears of the cluster's progress from the cluster's own API.
func TestTheRealInstallerCreatesACluster(t *testing.T) {
	w := newWorld(t, installertest.Start(t))
	w.env, w.patience = append(w.env, real.CreateVariable+"=1"), 10*time.Minute
	config := strings.Replace(installertest.InstallConfig("shop", "us-east-2", 2), "Mint", "Manual", 1)
	cco := filepath.Join(t.TempDir(), "cc")
	w.must(installer.RealVersion, "ccoctl", "aws", "create-all", "--name", "shop-0123456789", "--region", "us-east-2",
		"--credentials-requests-dir", w.requests(installer.RealVersion, config), "--output-dir", cco)
	dir := w.prepare(installer.RealVersion, config, cco)
	t.Cleanup(func() {
		if t.Failed() {
			w.printUsage()
		}
	})
	made := w.must(installer.RealVersion, "openshift-install", "create", "cluster", "--dir", dir)
	require.Contains(t, made.Stderr, "Install complete!")
	require.Contains(t, made.Stderr, "https://console-openshift-console.apps.shop.labs.example.com")
	kinds := map[string]int{}
	for _, line := range w.Left(t, "shop") {
		kind, _, _ := strings.Cut(line, " ")
		kinds[kind]++
	}
	t.Log(kinds)
	require.Equal(t, 5, kinds["instance"], "three of the control plane, two workers, and no bootstrap machine")
	log, err := os.ReadFile(filepath.Join(dir, ".openshift_install.log"))
	require.NoError(t, err)
	require.Contains(t, string(log), "Created VPC", "what the provider says is in the log")
	w.must(installer.RealVersion, "openshift-install", "destroy", "cluster", "--dir", dir)
	w.must(installer.RealVersion, "ccoctl", "aws", "delete", "--name", "shop-0123456789", "--region", "us-east-2")
	w.printUsage()
	left := slices.DeleteFunc(w.Left(t, "shop"), func(line string) bool { return strings.HasPrefix(line, "instance ") }) // a terminated one is listed for an hour
	require.Empty(t, left)
}
