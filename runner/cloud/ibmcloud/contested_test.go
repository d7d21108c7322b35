package ibmcloud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/ibmcloud"
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
func TestNamesThatMentionTheInfraIDAreMentions(t *testing.T) {
	s := newScene(t)
	s.cluster(t, mine, myCCO, "shop")
	s.Pages(2)
	for _, name := range []string{neighbour + "-vpc", longer + "-vpc", namesake + "-vpc"} {
		planted := s.vpcObject(t, "vpc", name, "", "")
		found, err := s.client.Contested(t.Context(), s.target)
		require.NoError(t, err)
		require.Equal(t, []cloud.Contested{{ID: planted.CRN(), Mark: "resource group Default", Mention: true}}, found, name)
		require.NoError(t, s.Free(planted.ID))
	}
}

func TestWhatHasAnotherClustersTagIsContested(t *testing.T) {
	for _, mark := range []string{"clusterid:clu_01jyyyyyyyyyyyyyyyyyyyyyyy", "installationid:prod", "cart-k4j2m", "kubernetes-io-cluster-cart-k4j2m:owned", "kubernetes.io_cluster_cart-k4j2m:owned"} {
		s := newScene(t)
		s.cluster(t, mine, myCCO, "shop")
		s.plant(t, standin.Resource{Service: "is", Type: "vpc", Name: "cart-k4j2m-vpc", Region: "us-south"})
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

// A person's tag may look like an infraID, of a cluster that does not exist.
func TestAPersonsTagIsNoOtherCluster(t *testing.T) {
	s := newScene(t)
	group := s.cluster(t, mine, myCCO, "shop")
	s.plant(t, standin.Resource{Service: "is", Type: "vpc", Name: "my-team-dc247-vpc", Region: region})
	ours := func(r standin.Resource) bool { return r.Group == group && r.Type != "resource-group" }
	require.NoError(t, s.Retag(ours, "team-dc247"))
	found, err := s.client.Contested(t.Context(), s.target)
	require.NoError(t, err)
	require.Empty(t, found)
	machines, err := s.client.Machines(t.Context(), s.target)
	require.NoError(t, err)
	require.NotEmpty(t, machines)
	for _, m := range machines {
		require.True(t, m.Ours, m.Name)
	}
	_, err = s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	require.NotContains(t, s.left(), "resource-group "+myCCO)

	s.storage(t, "team-dc247-cos", "")
	again := s.vpcObject(t, "volume", "pvc-1", s.group(t, myCCO), "")
	require.NoError(t, s.Retag(func(r standin.Resource) bool { return r.ID == again.ID }, "team-dc247"))
	found, err = s.client.Contested(t.Context(), s.target)
	require.NoError(t, err)
	require.Equal(t, []cloud.Contested{{ID: again.CRN(), Mark: "team-dc247"}}, found, "a cluster has that name")
	s.Refuse("rc:list_resource_instances", -1, standin.Denied)
	_, err = s.client.Contested(t.Context(), s.target)
	require.ErrorContains(t, err, "(403)")
}

func TestAnIncompleteSearchForContestedResourcesIsAnError(t *testing.T) {
	s := newScene(t)
	s.cluster(t, mine, myCCO, "shop")
	for _, call := range []string{"rc:list_resource_groups", "rc:list_resource_instances", "vpc:list_images", "tags:list_tags", "cis:list_zones", "cis:list_all_dns_records", "dns:list_dnszones"} {
		s.Refuse(call, 1, standin.Denied)
		_, err := s.client.Contested(t.Context(), s.target)
		require.ErrorContains(t, err, "(403)", call)
	}
	_, err := s.as(t, "theirs").Contested(t.Context(), s.target)
	require.ErrorContains(t, err, "the cluster belongs to account")
}

// Our records were deleted by a teardown that something else blocked, and another installation took the name.
func TestRecordsThatLeadToSomebodyElsesLoadBalancerAreContested(t *testing.T) {
	for name, c := range map[string]struct {
		record, content string
		found           string // of the record; empty: it is not contested
	}{
		"ours":                               {"api.shop." + domain, host(mine + "-kubernetes-api-public"), ""},
		"one of ours that is gone":           {"api.shop." + domain, host("gone"), ""},
		"of another cluster":                 {"api.shop." + domain, host("theirs"), "api.shop." + domain},
		"of another cluster, any name":       {"www.apps.shop." + domain, host("theirs"), "www.apps.shop." + domain},
		"in another region":                  {"*.apps.shop." + domain, "far-us-south.lb.appdomain.cloud", "*.apps.shop." + domain},
		"that is gone in another region":     {"*.apps.shop." + domain, "gone-us-south.lb.appdomain.cloud", ""},
		"of a cluster whose name ends alike": {"api.my-shop." + domain, host("theirs"), ""},
		"that is no load balancer":           {"www.shop." + domain, "www.example.org", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			group := s.group(t, myCCO)
			s.vpcObject(t, "load-balancer", mine+"-kubernetes-api-public", group, "")
			s.vpcObject(t, "load-balancer", "theirs", "", "")
			s.plant(t, standin.Resource{Service: "is", Type: "load-balancer", Name: "far", Region: "us-south", Attrs: map[string]string{"hostname": "far-us-south.lb.appdomain.cloud"}})
			s.record(t, c.record, c.content)
			found, err := s.client.Contested(t.Context(), s.target)
			require.NoError(t, err)
			if c.found == "" {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			require.Equal(t, "record "+c.found+" in zone "+domain, found[0].ID)
			require.Contains(t, found[0].Mark, "it leads to load balancer ")
			require.Contains(t, found[0].Mark, " in resource group Default")
			s.target.Identities[0].InfraID = ""
			found, err = s.client.Contested(t.Context(), s.target)
			require.NoError(t, err)
			require.Empty(t, found, "no destroyer runs without an infraID")
		})
	}
}

// The destroyer compares the contents, too. A record that leads to a record of the other cluster goes with it.
func TestRecordsWithAContentBelowTheDomainAreContestedWithIt(t *testing.T) {
	s := newScene(t)
	s.vpcObject(t, "load-balancer", "theirs", "", "")
	s.record(t, "api.shop."+domain, host("theirs"))
	s.record(t, "console."+domain, "api.shop."+domain)
	found, err := s.client.Contested(t.Context(), s.target)
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, "record console."+domain+" in zone "+domain, found[1].ID)
}

func TestRecordsInAPrivateZoneAreContested(t *testing.T) {
	s := newScene(t)
	s.target.BaseDomain = "internal.example.com"
	s.vpcObject(t, "load-balancer", "theirs", "", "")
	for _, z := range s.All() {
		if z.Type == "zone" && z.Name == s.target.BaseDomain {
			s.call(t, "POST", "/dns/v1/instances/"+z.Parent+"/dnszones/"+z.ID+"/resource_records",
				object{"name": "api.shop.internal.example.com", "type": "CNAME", "ttl": 60, "rdata": object{"cname": host("theirs")}})
		}
	}
	found, err := s.client.Contested(t.Context(), s.target)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "record api.shop.internal.example.com in zone internal.example.com", found[0].ID)
}

func TestANameInAPublicAndInAPrivateZoneIsContestedByEither(t *testing.T) {
	s := newScene(t)
	s.plant(t, standin.Resource{Service: "is", Type: "load-balancer", Name: "far", Region: "us-south", Attrs: map[string]string{"hostname": "far-us-south.lb.appdomain.cloud"}})
	s.record(t, "api.shop."+domain, "far-us-south.lb.appdomain.cloud")
	for _, i := range s.All() {
		if i.Service == "dns-svcs" && i.Type == "instance" {
			z := s.plant(t, standin.Resource{Service: "dns-svcs", Type: "zone", Name: domain, Parent: i.ID})
			s.call(t, "POST", "/dns/v1/instances/"+i.ID+"/dnszones/"+z.ID+"/resource_records",
				object{"name": "api.shop." + domain, "type": "CNAME", "ttl": 60, "rdata": object{"cname": "inside.example.org"}})
		}
	}
	found, err := s.client.Contested(t.Context(), s.target)
	require.NoError(t, err)
	require.NotEmpty(t, found)
	require.Contains(t, found[0].Mark, "it leads to load balancer ")
}
