package aws_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/aws"
)

func TestTheTagsOfAnOwnerAreReplacedOnWhatIsTheClusters(t *testing.T) {
	s := leaky(t)
	s.target.Installation = "test"
	waited := map[string]string{"kubernetes.io/cluster/" + mine: "owned", "ClusterId": s.target.Cluster, "InstallationId": "test", "Owner": "pool", "Team": "platform"}
	with := func(key, value string) map[string]string {
		tags := maps.Clone(waited)
		tags[key] = value
		return tags
	}
	var changed []string
	for range 25 { // more than one call takes
		changed = append(changed, s.plant(t, standin.Resource{Service: "ec2", Type: "volume", Tags: maps.Clone(waited)}).ID)
	}
	changed = append(changed, s.plant(t, standin.Resource{ID: "arn:aws:elasticloadbalancing:us-east-1:" + account + ":loadbalancer/net/a/b", Tags: maps.Clone(waited)}).ID)
	unmarked := s.plant(t, standin.Resource{Service: "ec2", Type: "volume", Tags: map[string]string{"kubernetes.io/cluster/" + mine: "owned"}})
	for _, tags := range []map[string]string{with("ClusterId", "clu_other"), with("InstallationId", "other")} {
		s.plant(t, standin.Resource{Service: "ec2", Type: "volume", Tags: tags})
	}
	s.role(t, mine+"-master-role", "ClusterId="+s.target.Cluster)
	claimed := map[string]string{"Owner": "maya@example.com", "Team": "payments", "TTLExpiry": "2030-01-02T00:00:00Z", "ClusterId": "never", "Cost": "never"}
	want := maps.Clone(waited)
	maps.Copy(want, map[string]string{"Owner": "maya@example.com", "Team": "payments", "TTLExpiry": "2030-01-02T00:00:00Z"})

	n, err := s.client.Tag(t.Context(), s.target, claimed)
	require.NoError(t, err)
	require.Equal(t, len(changed)+1, n, "and the role")
	after := map[string]map[string]string{}
	for _, r := range s.AWS.Resources("") {
		after[r.ID] = r.Tags
	}
	for _, id := range changed {
		require.Equal(t, want, after[id], id)
	}
	require.Equal(t, map[string]string{"kubernetes.io/cluster/" + mine: "owned"}, after[unmarked.ID])
	kept := 0
	for _, tags := range after {
		if tags["Owner"] == "pool" {
			kept++
		}
	}
	require.Equal(t, 2, kept, "what another cluster or installation owns too")
	n, err = s.client.Tag(t.Context(), s.target, claimed)
	require.NoError(t, err)
	require.Zero(t, n)

	claimed["Owner"] = "will@example.com"
	s.AWS.Refuse("tagging:TagResources", 1, "AccessDenied")
	_, err = s.client.Tag(t.Context(), s.target, claimed)
	require.ErrorContains(t, err, "tag 20 resources in us-east-1")
	s.AWS.Refuse("tagging:GetResources", 1, "AccessDenied")
	_, err = s.client.Tag(t.Context(), s.target, claimed)
	require.ErrorContains(t, err, "look for resources with ") // of which of its marks first is left to chance
}
