package cleanup

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/store/scans"
)

const ibmAccount = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"

// ibmLeak is a VPC on IBM Cloud of a cluster that was released, under the names that its second attempt recorded.
func ibmLeak(more ...contract.SeenResource) (r scans.Removal, ccoName string) {
	of := scope
	of.Platform, of.Region = names.IBMCloud, "us-south"
	ccoName = of.CCOName()
	r = leak(func(r *scans.Removal, vpc *contract.SeenResource) {
		*vpc = contract.SeenResource{ID: "vpc/1", Type: "vpc", Region: "us-south", Name: "shop-abcde-vpc", Within: "group/1", Tags: own()}
		r.Orphan.Platform, r.Orphan.Account, r.Orphan.Regions = names.IBMCloud, ibmAccount, []string{"us-south"}
		r.Of.Platform, r.Of.Region, r.Of.Accounts = names.IBMCloud, "us-south", []string{ibmAccount}
		r.Of.Names = []scans.RecordedName{{InfraID: "shop-abcde", CCOName: ccoName, Account: ibmAccount, Region: "us-south"}}
		for _, s := range more {
			r.Seen = append(r.Seen, row(s))
		}
	})
	return r, ccoName
}

func TestALeakOnIBMCloudIsRemovedByNamesAndWithItsResourceGroup(t *testing.T) {
	_, group := ibmLeak()
	r, _ := ibmLeak(
		contract.SeenResource{ID: "group/1", Type: "resource-group", Name: group},
		contract.SeenResource{ID: "group/2", Type: "resource-group", Name: "shop-other"},
		contract.SeenResource{ID: "volume/1", Type: "volume", Region: "us-south", Name: "pvc-1", Within: "group/1"},
		contract.SeenResource{ID: "lb/1", Type: "load-balancer", Region: "us-south", Name: "kube-shop-abcde-0a1b"},
		contract.SeenResource{ID: "image/1", Type: "image", Region: "us-south", Name: "shop-abcde-rhcos"},
		contract.SeenResource{ID: "image/2", Type: "image", Region: "eu-de", Name: "shop-abcde-rhcos"},
		contract.SeenResource{ID: "image/3", Type: "image", Region: "us-south", Name: "shop-abcdef-rhcos"},
		contract.SeenResource{ID: "cos/1", Type: "service-instance", Name: "shop-abcde-cos"},
		contract.SeenResource{ID: "reclamation/1", Type: "reclamation", Tags: map[string]string{tagkey.KubernetesCluster + "shop-abcde": tagkey.Owned}},
		contract.SeenResource{ID: "reclamation/2", Type: "reclamation"},
		contract.SeenResource{ID: "user-tag/1", Type: "user-tag", Name: "shop-abcde", Tags: map[string]string{tagkey.KubernetesCluster + "shop-abcde": tagkey.Owned}},
		contract.SeenResource{ID: "user-tag/2", Type: "user-tag", Name: "clusterid:clu_1", Tags: map[string]string{tagkey.ClusterID: "clu_1"}},
		contract.SeenResource{ID: "user-tag/3", Type: "user-tag", Name: "shop-abcdef", Tags: map[string]string{tagkey.KubernetesCluster + "shop-abcdef": tagkey.Owned}},
		contract.SeenResource{ID: "service-id/1", Type: "service-id", Name: group + "-openshift-machine-api-ibmcloud-credentials"},
		contract.SeenResource{ID: "api-key/1", Type: "api-key", Name: "ccoctl-generated-key", Within: "service-id/1"},
		contract.SeenResource{ID: "service-id/2", Type: "service-id", Name: "shop-abcdefghij"},
		contract.SeenResource{ID: "record/1", Type: "record", Name: "*.apps.shop.labs.example.com"},
		contract.SeenResource{ID: "record/2", Type: "record", Name: "www.labs.example.com"},
	)
	p := Config{BaseDomain: always("labs.example.com"), Account: always(ibmAccount)}.PlanOf(r)
	require.Empty(t, p.Refused)
	why := map[string]string{}
	for _, r := range p.Removed {
		why[r.ID] = r.Why
	}
	byInstaller := "openshift-install destroy cluster, by a name with shop-abcde"
	require.Equal(t, map[string]string{
		"vpc/1": byInstaller, "lb/1": byInstaller, "image/1": byInstaller, "cos/1": byInstaller,
		"group/1": "the resource group of this exact name, after everything in it", "volume/1": "it ends with group/1",
		"reclamation/1": "it is reclaimed: its instance was shop-abcde's", "user-tag/1": "by its exact name", "user-tag/2": "by its exact name",
		"service-id/1": "ccoctl ibmcloud delete-service-id, by the name " + group, "api-key/1": "it ends with service-id/1",
		"record/1": "a DNS record of this exact name, unless it points to somebody else",
	}, why)
	var kept []string
	for _, r := range p.Kept {
		require.NotEmpty(t, r.Why)
		kept = append(kept, r.ID)
	}
	require.Equal(t, []string{"group/2", "image/2", "image/3", "reclamation/2", "user-tag/3", "service-id/2", "record/2"}, kept, "no teardown finds these")
}

func TestTheCallsOfATeardownOnIBMCloudAreListedInTheirOrder(t *testing.T) {
	r, group := ibmLeak()
	var what []string
	p := cfg.PlanOf(r)
	require.Empty(t, p.Refused)
	for _, call := range p.Calls {
		require.NotContains(t, call.Call, "aws")
		what = append(what, call.What+": "+call.Call)
	}
	require.Equal(t, []string{
		"check the account: the token of the API key (POST /identity/token) has to be of account " + ibmAccount,
		"check for other owners: nothing is deleted while one of the resources also has another cluster's mark; openshift-install does not run while one of another group mentions the infraID in its name",
		"delete what nobody could tell to be the cluster's later: permitted networks of shop-abcde-vpc in private zones, IAM authorizations of shop-abcde-cos, shop-abcde-image-registry",
		"delete what the installer created: openshift-install destroy cluster: everything in the resource group " + group +
			" and in us-south whose name contains shop-abcde, and records of shop.labs.example.com",
		"delete what ccoctl created: ccoctl ibmcloud delete-service-id --name " + group + " --force",
		"delete DNS records by their exact names: api.shop.labs.example.com, api-int.shop.labs.example.com, *.apps.shop.labs.example.com; and below shop.labs.example.com what external-dns marked with an owner id that only this cluster has",
		"delete from VPC: machines, load balancers, volumes, images, addresses and networks called shop-abcde-… or kube-shop-abcde-…, all in resource group " + group + ", and images and snapshots in any region with ClusterId=clu_1 and InstallationId=here and no other cluster's mark",
		"delete service IDs: " + group + "-…, with their API keys and access policies",
		"delete storage and reclaim it at once: shop-abcde-cos, shop-abcde-image-registry, all in resource group " + group + " (what is deleted is kept for a week, and keeps its resource group)",
		"delete everything else: what is left in resource group " + group + ", of any service",
		"delete tags: shop-abcde, those with the cluster's id, name, request and time to live, from the account's list",
		"delete the resource group: " + group,
		"count: two counts of what is left, some minutes apart; they only read",
	}, what)
}

func TestTheAccountOfAnotherCloudIsNotThatOfTheTeardown(t *testing.T) {
	r, _ := ibmLeak()
	r.Of.Accounts = nil
	byPlatform := func(platform string) string { return map[string]string{names.AWS: "123456789012"}[platform] }
	require.Contains(t, Config{Account: byPlatform}.PlanOf(r).Refused, "that of its cluster is not known")
	r, _ = ibmLeak()
	require.Empty(t, Config{Account: byPlatform}.PlanOf(r).Refused)
}

func TestAnUnknownClusterOnIBMCloudIsPlannedForByItsNames(t *testing.T) {
	r, _ := ibmLeak()
	unknown(&r, nil)
	r.Orphan.Identity = ""
	p := Config{BaseDomain: always("labs.example.com"), Account: always(ibmAccount)}.PlanOf(r)
	require.Empty(t, p.Refused)
	require.Len(t, p.Removed, 1)
	require.Contains(t, p.Calls[3].Call, "whose name contains shop-abcde")

	of := scope
	of.Platform, of.Attempt = names.IBMCloud, 1
	r.Seen = append(r.Seen, row(contract.SeenResource{ID: "group/1", Type: "resource-group", Name: of.CCOName()}))
	p = Config{BaseDomain: always("labs.example.com"), Account: always(ibmAccount)}.PlanOf(r)
	require.Len(t, p.Removed, 2, "its group too, by the name that its first attempt gave it")
}
