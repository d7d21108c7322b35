package count_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/internal/contract"
)

func TestAnEmptyCloudIsCleanAndTheProofSaysWhatWasAsked(t *testing.T) {
	s := start(t)
	s.target.Identities = append(s.target.Identities, contract.Identity{InfraID: "demo-zzzzz", CCOName: "demo-aaaaaaaaaa", Account: account, Region: "eu-de"})
	pass := s.verify(t)
	require.Empty(t, pass.Leftovers)
	require.True(t, pass.Clean)
	require.Equal(t, account, pass.Account)
	require.Equal(t, []string{mine, "demo-zzzzz", myCCO, "demo-aaaaaaaaaa"}, pass.Identities)
	require.Contains(t, pass.Control, "account "+account+" answers, zone labs.example.com (")
	asked := map[string]bool{}
	for _, q := range pass.Queries {
		require.Empty(t, q.Err, "%s %s", q.Call, q.Asked)
		require.Equal(t, s.now, q.At)
		asked[q.Region+" "+q.Service+" "+q.Call] = true
	}
	for _, region := range []string{"us-south", "eu-de"} {
		for _, call := range []string{"ListInstances", "ListLoadBalancers", "ListEndpointGateways", "ListVirtualNetworkInterfaces", "ListVolumes", "ListSnapshots",
			"ListFloatingIps", "ListImages", "ListKeys", "ListSecurityGroups", "ListSubnets", "ListPublicGateways", "ListVpcs"} {
			require.True(t, asked[region+" is "+call], "%s in %s", call, region)
		}
	}
	for _, call := range []string{"iam-identity Token", "iam-identity ListServiceIds", "iam-identity ListAPIKeys", "iam-policy-management ListV2Policies",
		"resource-manager ListResourceGroups", "resource-controller ListResourceInstances", "resource-controller ListReclamations", "resource-controller ListResourceKeys",
		"internet-svcs ListZones", "internet-svcs ListAllDnsRecords", "dns-svcs ListDnszones", "global-search Search", "global-tagging ListTags"} {
		require.True(t, asked["global "+call], call)
	}
	require.Equal(t, pass, s.verify(t), "the same cloud gives the same pass")
	for _, call := range s.Journal() {
		require.Empty(t, call.Failed, "the stand-in understands every call: %s", call.Call)
	}
}

func TestARefusedQueryIsAFindingAndNeverAnEmptyList(t *testing.T) {
	const group = "0123456789abcdef0123456789abcdef" // that is gone
	for call, control := range map[string]bool{
		"vpc:list_vpcs": false, "vpc:list_volumes": false, "vpc:list_images": false, "rc:list_reclamations": false, "rc:list_resource_keys": false,
		"iam:list_service_ids": false, "iam:list_api_keys": false, "iam:list_v2_policies": false, "cis:list_all_dns_records": false, "search:search": false, "tags:list_tags": false,
		"rc:list_resource_groups": true, "rc:get_resource_group": true, "rc:list_resource_instances": true, "cis:list_zones": true, "dns:list_dnszones": true,
	} {
		for _, how := range []string{standin.Denied, standin.Expired} {
			s := start(t)
			s.target.Identities[0].ResourceGroupID = group
			s.Refuse(call, -1, how)
			pass := s.verify(t)
			require.False(t, pass.Clean, "%s %s", call, how)
			require.NotEmpty(t, pass.Leftovers, "%s %s", call, how)
			for _, l := range pass.Leftovers {
				require.Equal(t, "refused-query", l.Type, "%s %s", call, how)
				require.NotEmpty(t, l.Advice())
			}
			require.Equal(t, control, pass.Control == "", "%s %s: the control", call, how)
		}
	}
}

func TestWhatOthersHaveAndTheRunnerMayNotReadRefusesNoCount(t *testing.T) {
	foreign := func(s *scene) {
		cos := s.plant(t, standin.Resource{Service: "cloud-object-storage", Type: "instance", Name: neighbour + "-cos", State: "pending_reclamation"})
		s.plant(t, standin.Resource{Service: "resource-controller", Type: "reclamation", Name: cos.Name, Parent: cos.ID, State: "SCHEDULED", Attrs: map[string]string{"crn": cos.CRN()}})
		s.policy(t, "authorization", attribute("serviceName", "is"), attribute("serviceName", "cloud-object-storage")+","+attribute("serviceInstance", cos.ID))
	}
	for status, clean := range map[int]bool{400: true, 401: true, 403: true, 422: true, 500: false} {
		s := start(t)
		foreign(s)
		s.Fail("rc:get_resource_instance", -1, status, `{"message":"no"}`)
		pass := s.verify(t)
		require.Equal(t, clean, pass.Clean, "%d: %v", status, pass.Leftovers)
	}
}

func TestTheControlFailsInAnotherAccountAndWithoutTheZone(t *testing.T) {
	s := start(t)
	s.is(t, "vpc", mine+"-vpc")
	pass := s.as("key-of-another").Verify(t.Context(), s.target)
	require.Equal(t, []string{"wrong-account"}, kinds(pass))
	require.Empty(t, pass.Control)
	require.Len(t, pass.Queries, 1, "nothing else is asked")
	require.Contains(t, pass.Queries[0].Err, "belongs to account "+account)

	s.target.Account, s.target.Identities[0].Account = "", ""
	pass = s.as("key-of-another").Verify(t.Context(), s.target)
	require.Equal(t, []string{"zone-not-visible"}, kinds(pass), "an account without the zone cannot prove anything")
	require.Empty(t, pass.Control)

	s.target.BaseDomain = "example.com"
	pass = s.verify(t)
	require.Equal(t, []string{"zone-not-visible"}, kinds(pass), "the zone of a part of the domain is another one")

	pass = s.as("no-such-key").Verify(t.Context(), s.target)
	require.Equal(t, []string{"refused-query"}, kinds(pass))
}

func TestTheControlNeedsTheZoneInTheServiceThatTheClusterIsPublishedIn(t *testing.T) {
	s := start(t)
	s.target.Publish = contract.PublishExternal
	require.True(t, s.verify(t).Clean)
	s.target.Publish = contract.PublishInternal
	pass := s.verify(t)
	require.Equal(t, []string{"zone-not-visible"}, kinds(pass), "the zone in Internet Services says nothing of records in DNS Services")
	s.target.BaseDomain = "internal.example.com"
	require.True(t, s.verify(t).Clean)
	s.target.Publish = contract.PublishExternal
	require.Equal(t, []string{"zone-not-visible"}, kinds(s.verify(t)))
}

func TestAClusterThatNeverHadANameIsProvenByTheAccountAlone(t *testing.T) {
	s := start(t)
	s.target.Identities, s.target.BaseDomain = nil, "elsewhere.example.com"
	pass := s.verify(t)
	require.True(t, pass.Clean)
	require.Contains(t, pass.Control, "no name was ever recorded")
	require.Empty(t, pass.Identities)

	s.instance(t, "kms", "odd", "")
	require.NoError(t, s.Retag(func(r standin.Resource) bool { return r.Name == "odd" }, "clusterid:"+cluster))
	require.Equal(t, []string{"service-instance", "user-tag"}, kinds(s.verify(t)), "its tag alone is enough")

	s = start(t)
	s.target.Identities = []contract.Identity{{CCOName: myCCO}}
	group := s.group(t, myCCO)
	s.is(t, "volume", "pvc-1", inGroup(group))
	require.Equal(t, []string{"resource-group", "volume"}, kinds(s.verify(t)), "an install that ended before it had an infraID")
}

func TestWhatTheIndexStillNamesButIsGoneIsNotCounted(t *testing.T) {
	s := start(t)
	s.SetLag(standin.Lag{Delete: time.Hour})
	s.is(t, "vpc", mine+"-vpc", tagged(mine))
	s.is(t, "vpc", "far", tagged(mine), func(r *standin.Resource) { r.Region = "eu-de" })
	s.instance(t, "cloud-object-storage", mine+"-cos", "")
	for _, name := range []string{mine + "-vpc", "far", mine + "-cos"} {
		require.NoError(t, s.Free(name))
	}
	pass := s.verify(t)
	require.Equal(t, []string{"user-tag"}, kinds(pass), "the tag stays in the account")
	hits := 0
	for _, q := range pass.Queries {
		if q.Service == "global-search" {
			hits += q.Count
		}
	}
	require.Positive(t, hits, "the index still has them")
	require.NoError(t, s.Free(mine))
	require.True(t, s.verify(t).Clean)
}

func TestThrottledQueriesAreAskedAgain(t *testing.T) {
	s := start(t)
	s.Pages(3)
	for i := range 10 {
		s.is(t, "volume", fmt.Sprintf("%s-pvc-%d", mine, i))
	}
	want := s.verify(t)
	s.Throttle("*", 3, 4)
	require.Equal(t, want, s.verify(t), "a busy cloud gives the same answers")
}

func TestPeopleReadFirstWhatHasToGoFirst(t *testing.T) {
	s := start(t)
	group := s.group(t, myCCO)
	vpc := s.is(t, "vpc", mine+"-vpc", inGroup(group)).ID
	s.is(t, "subnet", mine+"-subnet", inGroup(group), inVPC(vpc))
	s.is(t, "instance", mine+"-master-0", inGroup(group), inVPC(vpc))
	var order []string
	for _, l := range s.verify(t).Leftovers {
		order = append(order, l.Type)
	}
	require.Equal(t, "instance subnet vpc resource-group", strings.Join(order, " "))
}
