package ibmcloud_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	standin "github.com/ocpctl/ocpctl/internal/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/runner"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/cloudtest"
)

func TestIBMCloudIsACloud(t *testing.T) {
	cloudtest.Run(t, func(t *testing.T) cloudtest.Scene { return conforming{newScene(t)} })
}

// conforming is a scene for the suite that every cloud passes.
type conforming struct{ *scene }

func (c conforming) Client() runner.Cloud { return c.client }

func (c conforming) Stranger(t *testing.T) runner.Cloud { return c.as(t, "unknown") }

func (c conforming) Target(name string) cloud.Target {
	target := c.target
	target.Name, target.Cluster, target.Identities = name, "clu_"+name, nil
	return target
}

func (conforming) Plan() cloud.Plan {
	return cloud.Plan{Zones: []string{"us-east-1"}, Machines: []cloud.Machines{{Type: "bx2-4x16", Lasting: 3, Transient: 1}}}
}

func (c conforming) Create(t *testing.T, target cloud.Target) cloud.Target {
	infraID, ccoName := target.Name+"-x7k2p", target.Name+"-b2c3d4e5f6"
	c.cluster(t, infraID, ccoName, target.Name)
	for _, r := range c.Resources(infraID + "-worker") { // the suite's cluster has none
		require.NoError(t, c.Free(r.ID))
	}
	target.Identities = []contract.Identity{{InfraID: infraID, CCOName: ccoName, Account: account, Region: region}}
	return target
}

// Destroy does nothing, as a destroyer that was killed at once: the sweep has everything to do.
func (conforming) Destroy(*testing.T, cloud.Target) {}

// LookAlikes makes two whole clusters. One whose infraID ends with ours is not among them: the installer's destroyer would take it, so a teardown
// does not begin (Contested), and the count names it.
func (c conforming) LookAlikes(t *testing.T, target cloud.Target) (ids []string) {
	before := map[string]bool{}
	for _, r := range c.Resources("") {
		before[r.ID] = true
	}
	infraID := target.Identities[0].InfraID
	for i, each := range []string{infraID + "q", infraID + "-q8w2z"} {
		c.cluster(t, each, fmt.Sprintf("alike%d-b2c3d4e5f6", i), fmt.Sprintf("alike%d", i))
	}
	for _, r := range c.Resources("") {
		if !before[r.ID] {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

func (c conforming) Left(text string) (lines []string) {
	for _, r := range c.Resources(text) {
		kind := r.Type
		if kind == "dns-record" {
			kind = "record"
		}
		lines = append(lines, kind+" "+r.ID+" "+r.Name)
	}
	return lines
}

func (c conforming) Refuse() { c.Server.Refuse("vpc:list_instances", -1, standin.Denied) }

func (c conforming) Answer() { c.Lift("vpc:list_instances") }

func (c conforming) Busy() {
	c.Pages(2)
	c.Throttle("*", 0, 7)
}
