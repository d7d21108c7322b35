package aws_test

import (
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

// become waits until all machines of the scene are in the state, and returns them.
func (s *scene) become(t *testing.T, state string) (machines []cloud.Machine) {
	t.Helper()
	require.Eventually(t, func() bool {
		all, err := s.client.Machines(t.Context(), s.target)
		require.NoError(t, err)
		machines = all
		for _, m := range all {
			if m.State != state {
				return false
			}
		}
		return true
	}, 30*time.Second, 5*time.Millisecond)
	return machines
}

func TestMachinesAreThoseWithTheExactMarkAndAreStoppedAndStarted(t *testing.T) {
	s := newScene(t, "shop", "us-east-2")
	s.render(t)
	s.Must(t, s.dir, "create cluster")
	other := &scene{World: s.World, client: s.client, target: s.target}
	other.target.Name, other.target.Cluster, other.target.Identities = "other", "clu_other", nil
	other.render(t)
	other.Must(t, other.dir, "create cluster")

	machines := s.become(t, cloud.MachineRunning)
	require.Len(t, machines, 3, "neither the bootstrap machine nor another cluster's")
	var ids []string
	for _, m := range machines {
		require.True(t, m.ControlPlane, m.Name)
		require.True(t, m.Ours)
		require.False(t, m.Spot)
		ids = append(ids, m.ID)
	}
	_, err := s.ec2(t).CreateTags(t.Context(), &ec2.CreateTagsInput{Resources: ids[:1], Tags: []types.Tag{{Key: awssdk.String("ClusterId"), Value: awssdk.String("clu_other")}}})
	require.NoError(t, err)
	machines, err = s.client.Machines(t.Context(), s.target)
	require.NoError(t, err)
	for _, m := range machines {
		require.Equal(t, m.ID != ids[0], m.Ours, "the mark alone does not make it ours")
	}

	require.NoError(t, s.client.SetRunning(t.Context(), s.target, ids, false))
	stopped := s.become(t, cloud.MachineStopped)
	require.NoError(t, s.client.SetRunning(t.Context(), s.target, ids, false), "again")
	require.NoError(t, s.client.SetRunning(t.Context(), s.target, ids, true))
	started := s.become(t, cloud.MachineRunning)
	for i, m := range started {
		require.True(t, m.Started.After(stopped[i].Started), "the launch time is that of the last start")
	}
	for _, m := range other.become(t, cloud.MachineRunning) {
		require.NotContains(t, ids, m.ID)
	}
	require.Error(t, s.client.SetRunning(t.Context(), s.target, []string{"i-0000000000000000f"}, false))

	bare := s.target
	bare.Identities = nil
	_, err = s.client.Machines(t.Context(), bare)
	require.ErrorContains(t, err, "no infraID of cluster clu_shop is recorded")
}
