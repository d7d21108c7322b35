package ibmcloud_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/ibmcloud"
)

// Policies and API keys of service IDs have no tags.
func TestTagsAreAttachedToWhateverLacksThem(t *testing.T) {
	s := newScene(t)
	s.cluster(t, neighbour, theirCCO, "shop-2")
	group := s.cluster(t, mine, myCCO, "shop")
	tags := map[string]string{"ClusterId": s.target.Cluster, "InstallationId": "test", "Owner": "maya@example.com"}
	s.Pages(3)
	n, err := s.client.Tag(t.Context(), s.target, tags)
	require.NoError(t, err)
	in := 0
	for _, r := range s.Resources("") {
		want := r.Group == group || r.Type == "serviceid" && strings.HasPrefix(r.Name, myCCO+"-openshift-")
		require.Equal(t, want, len(r.Tags) >= 3, "%s %s: %v", r.Type, r.Name, r.Tags)
		if want {
			in++
			require.Subset(t, r.Tags, []string{"clusterid:clu_01jzzzzzzzzzzzzzzzzzzzzzzz", "installationid:test", "owner:maya-example.com"})
		}
	}
	require.Equal(t, in, n)
	n, err = s.client.Tag(t.Context(), s.target, tags)
	require.NoError(t, err)
	require.Zero(t, n)
	s.vpcObject(t, "volume", "pvc-later", group, "")
	n, err = s.client.Tag(t.Context(), s.target, tags)
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

// The tagging service answers with success and says per resource what it refused.
func TestATagThatWasRefusedForAResourceIsToldOf(t *testing.T) {
	s := newScene(t)
	s.vpcObject(t, "volume", "pvc-1", s.group(t, myCCO), "")
	crn := ""
	for _, r := range s.Resources("pvc-1") {
		crn = r.CRN()
	}
	s.Fail("tags:attach_tag", 1, 200, `{"results":[{"resource_id":"`+crn+`","is_error":true}]}`)
	n, err := s.client.Tag(t.Context(), s.target, map[string]string{"ClusterId": "x"})
	require.EqualError(t, err, "IBM Cloud did not attach the tags to "+crn)
	require.Zero(t, n)
	s.Fail("tags:attach_tag", 1, 200, `{"results":[]}`)
	_, err = s.client.Tag(t.Context(), s.target, map[string]string{"ClusterId": "x"})
	require.ErrorContains(t, err, crn, "no result is no success")
	s.Refuse("rc:list_resource_instances", 1, standin.Denied)
	_, err = s.client.Tag(t.Context(), s.target, map[string]string{"ClusterId": "x"})
	require.ErrorContains(t, err, "(403)")
}

func TestTheTagsOfAClusterWithoutAnInfraIDAreDeleted(t *testing.T) {
	s := newScene(t)
	for i := range s.target.Identities {
		s.target.Identities[i].InfraID = ""
	}
	s.vpcObject(t, "volume", "pvc-1", s.group(t, myCCO), "")
	n, err := s.client.Tag(t.Context(), s.target, map[string]string{"ClusterId": s.target.Cluster})
	require.NoError(t, err)
	require.NotZero(t, n)
	deleted, err := s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	require.Contains(t, deleted, "tag clusterid:"+strings.ToLower(s.target.Cluster))
}

func TestTheTagsBeforeAClaimAreDeletedToo(t *testing.T) {
	s := newScene(t)
	s.cluster(t, mine, myCCO, "shop")
	waited := map[string]string{"RequestId": "job_01waited", "TTLExpiry": "2030-01-01T00:00:00Z"}
	_, err := s.client.Tag(t.Context(), s.target, waited)
	require.NoError(t, err)
	s.target.WaitedTags, s.target.Tags = waited, map[string]string{"RequestId": "job_01claimed"}
	deleted, err := s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	require.Subset(t, deleted, []string{"tag requestid:job_01waited", "tag ttlexpiry:2030-01-01t00:00:00z"})
	require.Empty(t, s.Resources("job_01waited"))
}

func TestTheTagsOfAnOwnerAreReplaced(t *testing.T) {
	s := newScene(t)
	group := s.cluster(t, mine, myCCO, "shop")
	waited := map[string]string{"ClusterId": s.target.Cluster, "Owner": "pool", "Team": "platform", "TTLExpiry": "2030-01-01T00:00:00Z", "Cost": "a"}
	_, err := s.client.Tag(t.Context(), s.target, waited)
	require.NoError(t, err)
	claimed := map[string]string{"ClusterId": s.target.Cluster, "Owner": "maya@example.com", "Team": "platform", "TTLExpiry": "2030-01-02T00:00:00Z", "Cost": "b"}
	s.Pages(3)
	n, err := s.client.Tag(t.Context(), s.target, claimed)
	require.NoError(t, err)
	require.NotZero(t, n)
	seen := 0
	for _, r := range s.Resources("") {
		if r.Group != group || r.Type == "tag" {
			continue
		}
		seen++
		require.Subset(t, r.Tags, []string{"owner:maya-example.com", "team:platform", "ttlexpiry:2030-01-02t00:00:00z", "cost:a", "cost:b"}, r.Name)
		require.NotContains(t, r.Tags, "owner:pool", r.Name)
		require.NotContains(t, r.Tags, "ttlexpiry:2030-01-01t00:00:00z", r.Name)
	}
	require.NotZero(t, seen)
	require.Empty(t, s.Resources("ttlexpiry:2030-01-01t00:00:00z"), "the account's list forgets it")
	n, err = s.client.Tag(t.Context(), s.target, claimed)
	require.NoError(t, err)
	require.Zero(t, n)
	s.Refuse("tags:detach_tag", 1, standin.Denied)
	_, err = s.client.Tag(t.Context(), s.target, waited)
	require.ErrorContains(t, err, "detach the tags from")
}
