//go:build installer

package real_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
	"github.com/ocpctl/ocpctl/internal/names"
)

// prepare makes an install directory with what the runner puts into it: manifests with ccoctl's credentials, and the ignition.
func (w *world) prepare(version, config, cco string) (dir string) {
	w.t.Helper()
	dir = installertest.Dir(w.t, config)
	w.must(version, "openshift-install", "create", "manifests", "--dir", dir)
	addCredentials(w.t, cco, dir)
	w.must(version, "openshift-install", "create", "ignition-configs", "--dir", dir)
	return dir
}

// credentials makes the cluster's credentials with the real ccoctl, and returns the folder that it wrote.
func (w *world) credentials(config string) (dir string) {
	w.t.Helper()
	dir = filepath.Join(w.t.TempDir(), "cc")
	args := []string{"aws", "create-all", "--region", "us-east-2"}
	if w.IBM != nil {
		args = []string{"ibmcloud", "create-service-id"}
	}
	w.must(installer.RealVersion, "ccoctl", append(args, "--name", ccoName, "--credentials-requests-dir", w.requests(installer.RealVersion, config), "--output-dir", dir)...)
	return dir
}

// addCredentials puts what ccoctl wrote into an install directory.
func addCredentials(t *testing.T, cco, dir string) {
	t.Helper()
	for _, folder := range []string{"manifests", "tls"} {
		if _, err := os.Stat(filepath.Join(cco, folder)); err == nil {
			copyFiles(t, filepath.Join(cco, folder), filepath.Join(dir, folder))
		}
	}
}

func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(to, 0o750))
	for _, entry := range entries {
		raw, err := os.ReadFile(filepath.Join(from, entry.Name()))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(to, entry.Name()), raw, 0o600))
	}
}

func TestALifeOnAWS(t *testing.T) {
	w := newWorld(t, installertest.Start(t))
	config := strings.Replace(installertest.InstallConfig("shop", "us-east-2", 0), "Mint", "Manual", 1)
	dir := w.prepare(installer.RealVersion, config, w.credentials(config))
	w.must(installer.RealVersion, "openshift-install", "create", "cluster", "--dir", dir)
	w.must(installer.RealVersion, "openshift-install", "destroy", "cluster", "--dir", dir)
	w.must(installer.RealVersion, "ccoctl", "aws", "delete", "--name", ccoName, "--region", "us-east-2")
	w.printUsage()
	require.Empty(t, w.Left(t, "shop"))
}

// As from the product, the cluster is in a resource group that was made for it. What is left then is what the product removes itself: the
// group, and the image, which the real destroyer does not see among the first fifty.
func TestALifeOnIBMCloud(t *testing.T) {
	w := newWorld(t, installertest.StartIBMCloud(t))
	const name = ccoName
	_, err := w.IBM.Plant(ibmcloud.Resource{Service: "resource-controller", Type: "resource-group", Name: name, State: "ACTIVE"})
	require.NoError(t, err)
	config := installertest.IBMConfig("shop", name, 0)
	requests, cco := w.requests(installer.RealVersion, config), filepath.Join(t.TempDir(), "cc")
	w.must(installer.RealVersion, "ccoctl", "ibmcloud", "create-service-id", "--name", name, "--resource-group-name", name, "--credentials-requests-dir", requests, "--output-dir", cco)
	dir := w.prepare(installer.RealVersion, config, cco)
	w.must(installer.RealVersion, "openshift-install", "create", "cluster", "--dir", dir)
	w.must(installer.RealVersion, "openshift-install", "destroy", "cluster", "--dir", dir)
	w.must(installer.RealVersion, "ccoctl", "ibmcloud", "delete-service-id", "--name", name, "--credentials-requests-dir", requests, "--force")
	w.printUsage()
	kinds := map[string]int{}
	for _, line := range w.Left(t, "shop") {
		kind, _, _ := strings.Cut(line, " ")
		kinds[kind]++
	}
	for _, kind := range []string{"network-acl", "routing-table", "tag"} { // which end with others, later
		delete(kinds, kind)
	}
	require.Equal(t, map[string]int{"resource-group": 1, "image": 1}, kinds)
}

// A cluster whose install directory is lost is found by its tags alone, as Hive does it, and by the metadata.json that ocpctl builds from its
// record. Both leave the same: nothing of the cluster, and what is another's.
func TestTheTagsAloneFindWhatARebuiltStateFinds(t *testing.T) {
	left := map[string][]string{}
	for name, build := range map[string]func(infraID, clusterID string) []byte{
		"tags": func(infraID, _ string) []byte {
			return fmt.Appendf(nil, `{"infraID":%q,"aws":{"region":"us-east-2","identifier":[{"kubernetes.io/cluster/%s":"owned"}]}}`, infraID, infraID)
		},
		"rebuilt": func(infraID, clusterID string) []byte {
			scope := names.Scope{Platform: names.AWS, Name: "shop", BaseDomain: "labs.example.com", Region: "us-east-2"}
			return scope.MetadataJSON(names.Identity{InfraID: infraID, ClusterUUID: clusterID})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, installertest.Start(t))
			dir := w.prepare(installer.RealVersion, installertest.InstallConfig("shop", "us-east-2", 0), "")
			w.must(installer.RealVersion, "openshift-install", "create", "cluster", "--dir", dir)
			raw, err := os.ReadFile(filepath.Join(dir, "metadata.json"))
			require.NoError(t, err)
			infraID, clusterID, err := names.ReadIdentity(raw)
			require.NoError(t, err)
			require.NoError(t, os.RemoveAll(dir))
			for _, owner := range []string{infraID, "shop-other"} { // a volume of a workload, and one of another cluster with the same name
				_, err := w.AWS.Plant(aws.Resource{Service: "ec2", Type: "volume", Region: "us-east-2", State: "available", Tags: map[string]string{"kubernetes.io/cluster/" + owner: "owned"}})
				require.NoError(t, err)
			}
			lost := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(lost, "metadata.json"), build(infraID, clusterID), 0o640))
			w.must(installer.RealVersion, "openshift-install", "destroy", "cluster", "--dir", lost)
			for _, r := range w.AWS.Resources("") {
				left[name] = append(left[name], strings.Join([]string{r.Type, r.Name, strings.Join(slices.Sorted(maps.Keys(r.Tags)), " ")}, " "))
			}
			slices.Sort(left[name])
		})
	}
	require.Equal(t, []string{"volume  kubernetes.io/cluster/shop-other"}, left["tags"])
	require.Equal(t, left["tags"], left["rebuilt"])
}
