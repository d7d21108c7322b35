package ibmcloud_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
	"github.com/ocpctl/ocpctl/devstack/installer/release"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/cloudtest"
)

func TestMain(m *testing.M) { installertest.Main(m) }

func TestIBMCloudIsACloud(t *testing.T) {
	cloudtest.Run(t, func(t *testing.T) cloudtest.Scene {
		w := installertest.StartIBMCloud(t)
		c := &conforming{World: w, scene: &scene{Server: w.IBM, auth: &core.IamAuthenticator{ApiKey: installertest.IBMKey, URL: w.IBM.URL("iam", "")}}, requests: t.TempDir(), t: t}
		c.client = c.as(t, installertest.IBMKey)
		secret := filepath.Join(t.TempDir(), "pull-secret.json")
		require.NoError(t, os.WriteFile(secret, []byte(installertest.PullSecret), 0o600))
		c.tool("oc", "adm", "release", "extract", "--credentials-requests", "--cloud=ibmcloud", "--from="+release.Image("4.20.3"), "--registry-config="+secret, "--to="+c.requests)
		return c
	})
}

// conforming is a scene for the suite that every cloud passes, with the programs that make clusters and remove them.
type conforming struct {
	*installertest.World
	*scene
	requests string // folder with the operators' requests
	t        *testing.T
}

func (c *conforming) tool(name string, args ...string) {
	c.t.Helper()
	out := c.Tool(c.t, name, c.t.TempDir(), args...)
	require.Zero(c.t, out.Code, out.Stderr)
}

func (c *conforming) Client() runner.Cloud { return c.client }

func (c *conforming) Stranger(t *testing.T) runner.Cloud { return c.as(t, "unknown") }

func (c *conforming) Target(name string) cloud.Target {
	return cloud.Target{Region: region, Name: name, BaseDomain: domain, Cluster: "clu_" + name, Installation: "test", Account: account}
}

func (*conforming) Plan() cloud.Plan {
	return cloud.Plan{Zones: []string{"us-east-1"}, Machines: []cloud.Machines{{Type: "bx2-4x16", Lasting: 3, Transient: 1}}}
}

func (c *conforming) Create(t *testing.T, target cloud.Target) cloud.Target {
	id := contract.Identity{CCOName: target.Name + "-b2c3d4e5f6", Account: account, Region: region}
	var err error
	id.ResourceGroupID, err = c.client.Prepare(t.Context(), target, id.CCOName)
	require.NoError(t, err)
	cc, dir := t.TempDir(), installertest.Dir(t, installertest.IBMConfig(target.Name, id.CCOName, 0))
	c.tool("ccoctl", "ibmcloud", "create-service-id", "--name", id.CCOName, "--credentials-requests-dir", c.requests, "--output-dir", cc, "--resource-group-name", id.CCOName)
	c.Must(t, dir, "create manifests")
	files, err := filepath.Glob(filepath.Join(cc, "manifests", "*"))
	require.NoError(t, err)
	for _, file := range files {
		require.NoError(t, os.Rename(file, filepath.Join(dir, "manifests", filepath.Base(file))))
	}
	c.Must(t, dir, "create ignition-configs")
	raw, err := os.ReadFile(filepath.Join(dir, "metadata.json"))
	require.NoError(t, err)
	var m struct{ InfraID, ClusterID string }
	require.NoError(t, json.Unmarshal(raw, &m))
	id.InfraID, id.ClusterUUID, id.Metadata = m.InfraID, m.ClusterID, string(raw)
	c.Must(t, dir, "create cluster")
	target.Identities = []contract.Identity{id}
	return target
}

func (c *conforming) Destroy(t *testing.T, target cloud.Target, destroyer bool) {
	for _, id := range target.Identities {
		if destroyer {
			work := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(work, "metadata.json"), []byte(id.Metadata), 0o600))
			c.Must(t, work, "destroy cluster")
		}
		c.tool("ccoctl", "ibmcloud", "delete-service-id", "--name", id.CCOName, "--credentials-requests-dir", c.requests, "--force")
	}
}

// LookAlikes also makes two whole clusters, of which the installer's destroyer would take every part with a name.
func (c *conforming) LookAlikes(t *testing.T, target cloud.Target) (ids []string) {
	before := map[string]bool{}
	for _, r := range c.Resources("") {
		before[r.ID] = true
	}
	infraID, ccoName := target.Identities[0].InfraID, target.Identities[0].CCOName
	for i, each := range []string{infraID + "q", infraID + "-q8w2z"} {
		c.cluster(t, each, fmt.Sprintf("alike%d-b2c3d4e5f6", i), fmt.Sprintf("alike%d", i))
	}
	c.vpcObject(t, "vpc", "my-"+infraID+"-vpc", "", "")
	c.serviceID(t, ccoName+"x-openshift-ingress", c.group(t, ccoName+"x"))
	for _, r := range c.Resources("") {
		if !before[r.ID] {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// PlantOlder gives names, and puts things into the cluster's resource group and network.
func (c *conforming) PlantOlder(t *testing.T, target cloud.Target, made time.Time) (ids []string) {
	for _, old := range oldThings(c.scene, target) {
		old.Created = made
		planted := c.plant(t, old)
		ids = append(ids, idOf(planted))
	}
	return ids
}

func (c *conforming) PlantElsewhere(t *testing.T, target cloud.Target, made time.Time) (deleted, left []string) {
	exact := []string{"clusterid:" + strings.ToLower(target.Cluster), "installationid:" + target.Installation}
	in := func(kind string, created time.Time, tags ...string) string {
		return c.plant(t, standin.Resource{Service: "is", Type: kind, Name: "backup-" + kind, Region: "eu-de", Tags: tags, Created: created, Attrs: map[string]string{"visibility": "private"}}).ID
	}
	deleted = []string{in("snapshot", time.Time{}, exact...), in("image", time.Time{}, exact...)}
	left = []string{in("snapshot", made, exact...), in("snapshot", time.Time{}, exact[0]), in("volume", time.Time{}, exact...)}
	return deleted, left
}

func (c *conforming) Left(text string) (lines []string) {
	for _, r := range c.Resources(text) {
		kind := r.Type
		if kind == "dns-record" {
			kind = "record"
		}
		lines = append(lines, kind+" "+r.ID+" "+r.Name)
	}
	return lines
}

func (c *conforming) Refuse() { c.Server.Refuse("vpc:list_instances", -1, standin.Denied) }

func (c *conforming) Answer() { c.Lift("vpc:list_instances") }

func (c *conforming) Busy() {
	c.Pages(2)
	c.Throttle("*", 0, 7)
}
