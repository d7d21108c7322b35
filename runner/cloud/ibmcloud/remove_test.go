package ibmcloud_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

func TestARemovalOfAWholeClusterLeavesNothing(t *testing.T) {
	s := newScene(t)
	s.cluster(t, mine, myCCO, "shop")
	require.Greater(t, len(s.left()), 30)
	deleted, err := s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	require.Empty(t, s.left())
	require.Contains(t, deleted, "resource group "+myCCO)
	require.Contains(t, deleted, "tag "+mine)
	again, err := s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	require.Empty(t, again)
}

// Another cluster of the account, with each of the names that a careless comparison takes for ours, keeps everything.
func TestARemovalTouchesNothingOfALookAlike(t *testing.T) {
	for name, c := range map[string]struct{ infraID, ccoName, cluster string }{
		"that begins as ours does":          {neighbour, theirCCO, "shop-2"},
		"whose name ends as ours does":      {longer, "my-" + myCCO, "my-shop"},
		"that is called like our infraID":   {namesake, "shop-x7k2p-k3j2m4n5p6", "shop-x7k2p"},
		"that is called like our machine":   {"shop-x7k2p-worker-2-q8w2z", "shop-x7k2p-k3j2m4n5p7", "shop-x7k2p-worker-2"},
		"below our domain, by its own name": {"a-shop-qqqqq", "a-shop-k3j2m4n5p6", "a.shop"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.cluster(t, c.infraID, c.ccoName, c.cluster)
			before := s.Resources("")
			deleted, err := s.client.Remove(t.Context(), s.target)
			onlyRecordsKept(t, err, name == "below our domain, by its own name")
			require.Empty(t, deleted)
			require.Equal(t, before, s.Resources(""))
			s.cluster(t, mine, myCCO, "shop")
			_, err = s.client.Remove(t.Context(), s.target)
			onlyRecordsKept(t, err, name == "below our domain, by its own name")
			require.Equal(t, before, s.Resources(""), "nor together with ours")
		})
	}
}

// onlyRecordsKept requires that a removal left nothing or, where it is expected, only records below the cluster's domain.
func onlyRecordsKept(t *testing.T, err error, expected bool) {
	t.Helper()
	all := cloud.AllUndeleted(err)
	require.Equal(t, expected, len(all) > 0, err)
	for _, left := range all {
		var kept *cloud.Kept
		require.ErrorAs(t, left, &kept)
		require.Equal(t, cloud.KeptRecord, kept.Code)
	}
	if !expected {
		require.NoError(t, err)
	}
}

// What a person or another program marked as another cluster's stays, and the error says so.
func TestARemovalLeavesWhatAnotherClusterMarked(t *testing.T) {
	for _, mark := range []string{
		"ClusterId:clu_01JYYYYYYYYYYYYYYYYYYYYYYY", "InstallationId:prod", "shop-x7k2q", "kubernetes-io-cluster-" + neighbour + ":owned",
	} {
		t.Run(mark, func(t *testing.T) {
			s := newScene(t)
			group := s.group(t, myCCO)
			s.vpcObject(t, "vpc", "shop-x7k2q-vpc", "", "")
			volume := s.vpcObject(t, "volume", "pvc-1", group, "")
			s.vpcObject(t, "volume", "pvc-2", group, "")
			require.NoError(t, s.Retag(func(r standin.Resource) bool { return r.ID == volume.ID }, mark))
			deleted, err := s.client.Remove(t.Context(), s.target)
			require.ErrorContains(t, err, "(pvc-1) has the tag "+strings.ToLower(mark)+" of another cluster: it was not deleted")
			require.ErrorContains(t, err, "delete resource group "+myCCO)
			require.Len(t, deleted, 1)
			require.Contains(t, s.left(), "volume pvc-1")
		})
	}
}

func TestARemovalReadsEveryPageAndWaitsWhenItIsThrottled(t *testing.T) {
	s := newScene(t)
	s.cluster(t, neighbour, theirCCO, "shop-2")
	before := s.Resources("")
	s.cluster(t, mine, myCCO, "shop")
	for range 30 { // more than a page of records: the installer's destroyer reads only the first
		s.record(t, strconv.Itoa(len(s.left()))+".other."+domain, "elsewhere.example.com")
	}
	s.Pages(2)
	s.Throttle("*", 0, 7)
	_, err := s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	s.Throttle("*", 0, 0)
	require.Len(t, s.Resources(""), len(before)+30)
}

func TestARemovalInAnotherAccountDeletesNothing(t *testing.T) {
	s := newScene(t)
	s.cluster(t, mine, myCCO, "shop")
	before := s.left()
	deleted, err := s.as(t, "theirs").Remove(t.Context(), s.target)
	require.EqualError(t, err, "remove: the credentials belong to account "+other+", but the cluster belongs to account "+account)
	require.Empty(t, deleted)
	require.Equal(t, before, s.left())
}

func TestARemovalDeletesInstancesThatAreNotActive(t *testing.T) {
	s := newScene(t)
	group := s.group(t, myCCO)
	s.plant(t, standin.Resource{Service: "cloud-object-storage", Type: "instance", Name: mine + "-cos", State: "failed"})
	s.plant(t, standin.Resource{Service: "cloud-object-storage", Type: "instance", Name: mine + "-image-registry", Group: group, State: "inactive"})
	s.plant(t, standin.Resource{Service: "kms", Type: "instance", Name: "made-by-a-workload", Group: group, State: "pre_provisioning"})
	s.plant(t, standin.Resource{Service: "cloud-object-storage", Type: "instance", Name: "reports-cos", State: "failed"})
	_, err := s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	require.Equal(t, []string{"instance reports-cos"}, s.left())
}

// A kill of the destroyer between the deletion and the reclamation of storage: the instance is in no list of active ones any more.
func TestARemovalReclaimsStorageThatWasDeletedBefore(t *testing.T) {
	s := newScene(t)
	group := s.group(t, myCCO)
	guid := s.storage(t, mine+"-cos", group)
	s.authorization(t, guid)
	s.deleteStorage(t, guid)
	theirs := s.storage(t, "reports-cos", "")
	s.authorization(t, theirs)
	s.deleteStorage(t, theirs)
	_, err := s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	require.Equal(t, []string{"instance reports-cos", "policy", "reclamation reports-cos"}, s.left())
}

// Nor can anybody tell whose an authorization was once the storage is reclaimed.
func TestAuthorizationsGoBeforeTheStorageIsDestroyed(t *testing.T) {
	s := newScene(t)
	s.authorization(t, s.storage(t, mine+"-cos", ""))
	s.authorization(t, s.storage(t, neighbour+"-cos", ""))
	ended, err := s.client.Detach(t.Context(), s.target)
	require.NoError(t, err)
	require.Len(t, ended, 1)
	require.Contains(t, ended[0], "authorization policy ")
	require.Equal(t, []string{"instance " + mine + "-cos", "instance " + neighbour + "-cos", "policy"}, s.left())
}

func TestARemovalAfterTheResourceGroupIsGoneFindsWhatIsLeftByName(t *testing.T) {
	s := newScene(t)
	other := s.group(t, "kept")
	s.storage(t, mine+"-image-registry", other)
	s.vpcObject(t, "image", mine+"-rhcos", other, "")
	s.vpcObject(t, "image", neighbour+"-rhcos", other, "")
	s.serviceID(t, myCCO+"-openshift-ingress-operator-cloud-credentials", other)
	s.serviceID(t, theirCCO+"-openshift-ingress-operator-cloud-credentials", other)
	s.record(t, "*.apps.shop."+domain, host("gone"))
	_, err := s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{
		"resource-group kept", "image " + neighbour + "-rhcos", "serviceid " + theirCCO + "-openshift-ingress-operator-cloud-credentials", "policy", "apikey ccoctl-generated-key",
	}, s.left())
}

func TestARemovalDeletesAResourceGroupThatTheInstallerMade(t *testing.T) {
	s := newScene(t)
	s.target.Identities[0].CCOName = ""
	s.vpcObject(t, "volume", "pvc-1", s.group(t, mine), "")
	s.group(t, neighbour)
	_, err := s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	require.Equal(t, []string{"resource-group " + neighbour}, s.left())
}

// An access policy outlives its service ID, which ccoctl deleted: only the resource group in it tells whose it was.
func TestARemovalDeletesThePoliciesOfServiceIDsThatAreGone(t *testing.T) {
	s := newScene(t)
	group, kept := s.group(t, myCCO), s.group(t, "kept")
	s.access(t, "iam-ServiceId-gone", group)
	s.access(t, "iam-ServiceId-gone", kept)
	s.access(t, "IBMid-of-a-person", group)
	deleted, err := s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	require.Len(t, deleted, 2, deleted)
	require.Equal(t, []string{"resource-group kept", "policy", "policy"}, s.left())
}

func TestARemovalLeavesTheRecordsOfWhoeverElseHasTheName(t *testing.T) {
	for name, plant := range map[string]func(*testing.T, *scene){
		"a load balancer of another cluster": func(t *testing.T, s *scene) {
			vpc := s.vpcObject(t, "vpc", neighbour+"-vpc", "", "")
			subnet := s.vpcObject(t, "subnet", neighbour+"-subnet-compute-us-east-1", "", vpc.ID, vpc.ID)
			balancer := s.vpcObject(t, "load-balancer", "theirs", "", vpc.ID, subnet.ID)
			s.record(t, "api.shop."+domain, balancer.Attrs["hostname"])
		},
		"an address": func(t *testing.T, s *scene) {
			s.call(t, "POST", s.zone(t, domain), object{"name": "api.shop." + domain, "type": "A", "content": "203.0.113.7"})
		},
		"another region": func(t *testing.T, s *scene) {
			s.record(t, "api.shop."+domain, "0a1b2c3d-us-south.lb.appdomain.cloud")
		},
		"another cloud": func(t *testing.T, s *scene) { s.record(t, "api.shop."+domain, "www.example.org") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			plant(t, s)
			s.record(t, "*.apps.shop."+domain, host("gone"))
			deleted, err := s.client.Remove(t.Context(), s.target)
			if strings.HasPrefix(name, "another") {
				require.ErrorContains(t, err, "which is neither this cluster's load balancer nor a deleted one in us-east (if nobody needs the record, ask the DNS administrator to delete it): it was not deleted")
			} else {
				require.ErrorContains(t, err, "which belongs to another cluster or to somebody: it was not deleted")
			}
			require.Empty(t, deleted)
		})
	}
}

func TestARemovalTakesTheVPCFromAPrivateZone(t *testing.T) {
	s := newScene(t)
	s.target.BaseDomain = "internal.example.com"
	group := s.group(t, myCCO)
	ours, theirs := s.vpcObject(t, "vpc", mine+"-vpc", group, ""), s.vpcObject(t, "vpc", neighbour+"-vpc", "", "")
	var zone string
	for _, z := range s.All() {
		if z.Type == "zone" && z.Name == s.target.BaseDomain {
			zone = "/dns/v1/instances/" + z.Parent + "/dnszones/" + z.ID
		}
	}
	for _, vpc := range []standin.Resource{ours, theirs} {
		s.call(t, "POST", zone+"/permitted_networks", object{"type": "vpc", "permitted_network": object{"vpc_crn": vpc.CRN()}})
	}
	for _, name := range []string{"api.shop", "api-int.shop", "api.shop-2"} {
		s.call(t, "POST", zone+"/resource_records", object{"name": name + ".internal.example.com", "type": "CNAME", "ttl": 60, "rdata": object{"cname": host("gone")}})
	}
	_, err := s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"vpc " + neighbour + "-vpc", "permitted-network", "dns-record api.shop-2.internal.example.com"}, s.left())
}

// The installer's destroyer deletes the VPC, and then nobody can tell whose a permitted network was: it goes before, in a zone of any name.
func TestAVPCIsTakenFromPrivateZonesBeforeItIsDestroyed(t *testing.T) {
	s := newScene(t)
	ours, theirs := s.vpcObject(t, "vpc", mine+"-vpc", "", ""), s.vpcObject(t, "vpc", neighbour+"-vpc", "", "")
	for _, z := range s.All() {
		if z.Type != "zone" || z.Service != "dns-svcs" {
			continue
		}
		require.NotEqual(t, s.target.BaseDomain, z.Name)
		for _, vpc := range []standin.Resource{ours, theirs} {
			s.call(t, "POST", "/dns/v1/instances/"+z.Parent+"/dnszones/"+z.ID+"/permitted_networks", object{"type": "vpc", "permitted_network": object{"vpc_crn": vpc.CRN()}})
		}
	}
	s.Refuse("dns:list_permitted_networks", 1, standin.Denied)
	_, err := s.client.Detach(t.Context(), s.target)
	require.Error(t, err, "or the destroyer would run, and it could never be found again")
	ended, err := s.client.Detach(t.Context(), s.target)
	require.NoError(t, err)
	require.Len(t, ended, 1)
	require.Contains(t, ended[0], "permitted network ")
	require.Eventually(t, func() bool { return len(s.left()) == 3 }, patience, time.Millisecond, "IBM Cloud removes it after it answered")
	require.ElementsMatch(t, []string{"vpc " + mine + "-vpc", "vpc " + neighbour + "-vpc", "permitted-network"}, s.left())
	ended, err = s.client.Detach(t.Context(), s.target)
	require.NoError(t, err)
	require.Empty(t, ended)
}

// A ghost is what the resource controller still lists after its service forgot it.
func TestARemovalDeletesGhostsThatBlockTheResourceGroup(t *testing.T) {
	s := newScene(t)
	group := s.group(t, myCCO)
	s.plant(t, standin.Resource{Service: "is", Type: "image", Name: mine + "-rhcos", Group: group, Attrs: map[string]string{"ghost": "true"}})
	_, err := s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	require.Empty(t, s.left())
}

// What is not answered is reported, and what depends on it stays; everything else is deleted.
func TestARemovalNeverTakesAnUnansweredQueryForAnEmptyResult(t *testing.T) {
	for call, stays := range map[string]string{
		"rc:list_resource_groups": "volume pvc-0f8f8a8e",
		"vpc:list_load_balancers": "load-balancer " + mine + "-kubernetes-api-public",
		"cis:list_zones":          "dns-record api.shop." + domain,
		"iam:list_service_ids":    "serviceid " + myCCO + "-openshift-machine-api-ibmcloud-credentials",
		"rc:list_reclamations":    "reclamation " + mine + "-cos",
		"tags:list_tags":          "vpc " + mine + "-vpc",
	} {
		t.Run(call, func(t *testing.T) {
			s := newScene(t)
			s.cluster(t, mine, myCCO, "shop")
			s.Refuse(call, -1, standin.Denied)
			_, err := s.client.Remove(t.Context(), s.target)
			require.ErrorContains(t, err, "(403)")
			require.Contains(t, s.left(), stays)
			s.Lift(call)
			_, err = s.client.Remove(t.Context(), s.target)
			require.NoError(t, err)
			require.Empty(t, s.left())
		})
	}
}

func TestARemovalGoesOnAfterAnAnswerThatWasLost(t *testing.T) {
	for _, call := range []string{"vpc:delete_vpc", "rc:delete_resource_instance", "rc:run_reclamation_action", "iam:delete_service_id", "rc:delete_resource_group", "cis:delete_dns_record"} {
		t.Run(call, func(t *testing.T) {
			s := newScene(t)
			s.cluster(t, mine, myCCO, "shop")
			s.Refuse(call, 1, standin.Lost)
			_, err := s.client.Remove(t.Context(), s.target)
			require.ErrorContains(t, err, "500")
			_, err = s.client.Remove(t.Context(), s.target)
			require.NoError(t, err)
			require.Empty(t, s.left())
		})
	}
}

// The lists of reclamations and policies are everybody's, and the runner may not read what others have.
func TestWhatOthersHaveAndTheRunnerMayNotReadStopsNoTeardown(t *testing.T) {
	s := newScene(t)
	s.authorization(t, s.storage(t, mine+"-cos", s.group(t, myCCO)))
	s.deleteStorage(t, s.storage(t, "reports-cos", ""))
	s.authorization(t, s.storage(t, "archive-cos", ""))
	for _, how := range []string{standin.Denied, standin.Expired} {
		s.Refuse("rc:get_resource_instance", -1, how)
		_, err := s.client.Detach(t.Context(), s.target)
		require.NoError(t, err, how)
	}
	_, err := s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	require.Equal(t, []string{"instance reports-cos", "reclamation reports-cos", "instance archive-cos", "policy"}, s.left())
}

func TestWhatIsOursAndCannotBeReadStopsATeardown(t *testing.T) {
	s := newScene(t)
	s.deleteStorage(t, s.storage(t, mine+"-cos", s.group(t, myCCO)))
	s.Refuse("rc:get_resource_instance", -1, standin.Denied)
	_, err := s.client.Detach(t.Context(), s.target)
	require.ErrorContains(t, err, "look up what reclamation ")

	s = newScene(t)
	s.deleteStorage(t, s.storage(t, "reports-cos", ""))
	s.Refuse("rc:get_resource_instance", -1, standin.Broken)
	_, err = s.client.Detach(t.Context(), s.target)
	require.ErrorContains(t, err, "look up what reclamation ", "no answer is no refusal")
	s.Lift("rc:get_resource_instance")
	for _, list := range []string{"rc:list_reclamations", "iam:list_v2_policies", "vpc:list_vpcs", "dns:list_dnszones", "rc:list_resource_instances"} {
		s.Refuse(list, 1, standin.Denied)
		_, err = s.client.Detach(t.Context(), s.target)
		require.ErrorContains(t, err, "(403)", list)
	}
}

// A person or a workload makes one in a subnet of the cluster, which cannot be deleted before it.
func TestARemovalDeletesVirtualNetworkInterfaces(t *testing.T) {
	s := newScene(t)
	group, kept := s.group(t, myCCO), s.group(t, "kept")
	vpc := s.vpcObject(t, "vpc", mine+"-vpc", group, "")
	subnet := s.vpcObject(t, "subnet", mine+"-subnet-compute-us-east-1", group, vpc.ID, vpc.ID)
	for _, in := range []string{group, kept} {
		s.plant(t, standin.Resource{Service: "is", Type: "virtual-network-interface", Name: "by-hand", Group: in, Region: region, VPC: vpc.ID, Uses: []string{subnet.ID}})
	}
	theirs := s.vpcObject(t, "vpc", neighbour+"-vpc", kept, "")
	s.plant(t, standin.Resource{Service: "is", Type: "virtual-network-interface", Name: "theirs", Group: kept, Region: region, VPC: theirs.ID})
	deleted, err := s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	require.Len(t, deleted, 5, deleted)
	require.Equal(t, []string{"resource-group kept", "vpc " + neighbour + "-vpc", "virtual-network-interface theirs"}, s.left())
}
