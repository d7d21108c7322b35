package ibmcloud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/internal/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

func TestNothingOfAClusterAloneIsContested(t *testing.T) {
	s := newScene(t)
	s.cluster(t, mine, myCCO, "shop")
	s.cluster(t, "cart-k4j2m", "cart-k3j2m4n5p6", "cart")
	_, err := s.client.Tag(t.Context(), s.target, map[string]string{"ClusterId": s.target.Cluster, "InstallationId": "test", "Environment": "dev"})
	require.NoError(t, err)
	found, err := s.client.Contested(t.Context(), s.target)
	require.NoError(t, err)
	require.Empty(t, found)
}

// The installer's destroyer takes every name that contains the infraID.
func TestNamesThatMentionTheInfraIDAreContested(t *testing.T) {
	s := newScene(t)
	s.cluster(t, mine, myCCO, "shop")
	s.Pages(2)
	for _, name := range []string{neighbour + "-vpc", longer + "-vpc", namesake + "-vpc"} {
		planted := s.vpcObject(t, "vpc", name, "", "")
		found, err := s.client.Contested(t.Context(), s.target)
		require.NoError(t, err)
		require.Equal(t, []cloud.Contested{{ID: planted.CRN(), Mark: "named after this cluster, but in resource group Default"}}, found, name)
		require.NoError(t, s.Free(planted.ID))
	}
}

func TestWhatHasAnotherClustersTagIsContested(t *testing.T) {
	for _, mark := range []string{"clusterid:clu_01jyyyyyyyyyyyyyyyyyyyyyyy", "installationid:prod", "cart-k4j2m", "kubernetes-io-cluster-cart-k4j2m:owned", "kubernetes.io_cluster_cart-k4j2m:owned"} {
		s := newScene(t)
		s.cluster(t, mine, myCCO, "shop")
		var crn string
		for _, r := range s.Resources("pvc-") {
			crn = r.CRN()
		}
		require.NoError(t, s.Retag(func(r standin.Resource) bool { return r.CRN() == crn }, mark))
		found, err := s.client.Contested(t.Context(), s.target)
		require.NoError(t, err)
		require.Equal(t, []cloud.Contested{{ID: crn, Mark: mark}}, found)
	}
}

func TestAnIncompleteSearchForContestedResourcesIsAnError(t *testing.T) {
	s := newScene(t)
	s.cluster(t, mine, myCCO, "shop")
	for _, call := range []string{"rc:list_resource_groups", "rc:list_resource_instances", "vpc:list_images", "tags:list_tags"} {
		s.Refuse(call, 1, standin.Denied)
		_, err := s.client.Contested(t.Context(), s.target)
		require.ErrorContains(t, err, "(403)", call)
	}
	_, err := s.as(t, "theirs").Contested(t.Context(), s.target)
	require.ErrorContains(t, err, "the cluster belongs to account")
}
