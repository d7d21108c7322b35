package ibmcloud_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

func (s *scene) machines(t *testing.T) []cloud.Machine {
	t.Helper()
	all, err := s.client.Machines(t.Context(), s.target)
	require.NoError(t, err)
	return all
}

func TestMachinesAreStoppedAndStarted(t *testing.T) {
	s := newScene(t)
	s.cluster(t, namesake, "shop-x7k2p-k3j2m4n5p6", "shop-x7k2p")
	s.cluster(t, mine, myCCO, "shop")
	all := s.machines(t)
	require.Len(t, all, 4)
	var ids []string
	controlPlane := 0
	for _, m := range all {
		require.True(t, m.Ours)
		require.Equal(t, cloud.MachineRunning, m.State)
		require.Zero(t, m.Started, "IBM Cloud does not tell it, and what one attempt remembers the next does not know")
		ids = append(ids, m.ID)
		if m.ControlPlane {
			controlPlane++
		}
	}
	require.Equal(t, 3, controlPlane)
	inState := func(state string) func() bool {
		return func() bool {
			for _, m := range s.machines(t) {
				if m.State != state {
					return false
				}
			}
			return true
		}
	}
	for _, c := range []struct {
		running bool
		state   string
	}{{false, cloud.MachineStopped}, {true, cloud.MachineRunning}} {
		before := s.Calls()["vpc:create_instance_action"].Calls
		require.NoError(t, s.client.SetRunning(t.Context(), s.target, ids, c.running))
		require.Eventually(t, inState(c.state), patience, time.Millisecond)
		require.NoError(t, s.client.SetRunning(t.Context(), s.target, ids, c.running), "they are as they should be")
		require.Equal(t, before+4, s.Calls()["vpc:create_instance_action"].Calls)
	}
	require.ErrorContains(t, s.client.SetRunning(t.Context(), s.target, []string{"0701_none"}, true), "start instance 0701_none: it does not exist")
}

func TestAMachineIsOursByItsTagsOrByItsResourceGroup(t *testing.T) {
	s := newScene(t)
	group := s.cluster(t, mine, myCCO, "shop")
	s.vpcObject(t, "instance", mine+"-worker-9-2lbln", "", "")
	s.vpcObject(t, "instance", mine+"-gpu-abcde", group, "")
	tag := func(name string, tags ...string) {
		for _, tag := range tags {
			require.NoError(t, s.Retag(func(r standin.Resource) bool { return r.Name == mine+name }, tag))
		}
	}
	tag("-master-0", "ClusterId:"+s.target.Cluster, "InstallationId:test")
	tag("-master-1", "ClusterId:clu_01JYYYYYYYYYYYYYYYYYYYYYYY")
	tag("-master-2", "ClusterId:"+s.target.Cluster, "InstallationId:prod")
	ours := map[string]bool{}
	for _, m := range s.machines(t) {
		ours[m.Name[len(mine):]] = m.Ours
	}
	require.Equal(t, map[string]bool{
		"-master-0": true, "-master-1": false, "-master-2": false, "-worker-1-2lbln": true, "-worker-9-2lbln": false, "-gpu-abcde": true,
	}, ours)
	s.target.Identities = nil
	_, err := s.client.Machines(t.Context(), s.target)
	require.ErrorContains(t, err, "no infraID")
}
