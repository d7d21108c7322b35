package ibmcloud_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/cleanup"
	"github.com/ocpctl/ocpctl/store/scans"
)

// The plan of a removal is shown to people before they approve it (store/cleanup). Between the first and the other steps the runner runs
// the installer's destroyer and ccoctl, which this test leaves out: everything is left to the runner's own calls.
func TestThePlanOfARemovalListsWhatATeardownCallsAndInThatOrder(t *testing.T) {
	s := newScene(t)
	group := s.cluster(t, mine, myCCO, "shop")
	s.plant(t, standin.Resource{Service: "kms", Type: "instance", Name: "made-by-a-workload", Group: group})
	for _, r := range s.All() {
		if r.Type == "zone" && r.Service == "dns-svcs" {
			vpc := s.All()[slices.IndexFunc(s.All(), func(r standin.Resource) bool { return r.Type == "vpc" })]
			s.call(t, "POST", "/dns/v1/instances/"+r.Parent+"/dnszones/"+r.ID+"/permitted_networks", object{"type": "vpc", "permitted_network": object{"vpc_crn": vpc.CRN()}})
		}
	}
	authorization := s.All()[slices.IndexFunc(s.All(), func(r standin.Resource) bool { return r.Type == "policy" && r.Attrs["type"] == "authorization" })].ID

	began := len(s.Journal())
	_, err := s.client.Detach(t.Context(), s.target)
	require.NoError(t, err)
	detached := len(s.Journal())
	_, err = s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	require.Empty(t, s.left())

	var first, then, other []string
	for i, asked := range s.Journal()[began:] {
		switch step := stepOf(asked, authorization); {
		case step == "" && !reads(asked.Call):
			other = append(other, asked.Call)
		case step == "":
		case began+i < detached:
			first = append(first, step)
		default:
			then = append(then, step)
		}
	}
	require.Empty(t, other, "calls that belong to no step of the plan")
	var planned []string
	for _, call := range planOf(t) {
		planned = append(planned, call.What)
	}
	require.Equal(t, slices.Concat([]string{"check the account", "check for other owners"}, slices.Compact(first),
		[]string{"delete what the installer created", "delete what ccoctl created"}, slices.Compact(then), []string{"count"}), planned)
}

// reads reports that a call changes nothing; a token is what the account is read from.
func reads(call string) bool {
	_, verb, _ := strings.Cut(call, ":")
	return strings.HasPrefix(verb, "list_") || strings.HasPrefix(verb, "get_") || verb == "search" || verb == "create_token"
}

// stepOf is the step of the plan that a call belongs to; empty: none.
func stepOf(asked standin.Asked, authorization string) string {
	switch {
	case asked.Call == "dns:delete_permitted_network", asked.Call == "iam:delete_v2_policy" && asked.On == authorization:
		return "delete what nobody could tell to be the cluster's later"
	case asked.Call == "iam:delete_v2_policy", asked.Call == "iam:delete_service_id":
		return "delete service IDs"
	case asked.Call == "cis:delete_dns_record":
		return "delete DNS records by their exact names"
	case strings.HasPrefix(asked.Call, "vpc:delete_"), asked.Call == "vpc:create_instance_action":
		return "delete from VPC"
	case asked.Call == "rc:delete_resource_instance" && strings.Contains(asked.On, ":kms:"):
		return "delete everything else"
	case asked.Call == "rc:delete_resource_instance", asked.Call == "rc:run_reclamation_action":
		return "delete storage and reclaim it at once"
	case asked.Call == "tags:delete_tag":
		return "delete tags"
	case asked.Call == "rc:delete_resource_group":
		return "delete the resource group"
	}
	return ""
}

// planOf returns the calls that are planned for the removal of the scene's cluster.
func planOf(t *testing.T) []cleanup.Call {
	t.Helper()
	of := names.Scope{Platform: names.IBMCloud, Installation: "test", Cluster: "clu_1", Attempt: 1, Name: "shop", BaseDomain: domain, Region: region}
	raw, err := json.Marshal(contract.SeenResource{ID: "vpc/1", Type: "vpc", Region: region, Name: mine + "-vpc", Tags: map[string]string{
		tagkey.ManagedBy: tagkey.ControlPlaneName, tagkey.Installation: "test", tagkey.ClusterID: of.Cluster, tagkey.ClusterName: "shop"}})
	require.NoError(t, err)
	now := time.Now()
	destroyed := now.Add(-24 * time.Hour)
	always := func(value string) func(string) string { return func(string) string { return value } }
	plan := cleanup.Config{BaseDomain: always(domain), Account: always(account)}.PlanOf(scans.Removal{
		At: now, Installation: "test", Seen: []scans.SeenRow{{ID: "vpc/1", Resource: raw}},
		Orphan: scans.OrphanRow{
			ID: "orp_1", Platform: names.IBMCloud, Account: account, Installation: "test", ClusterTag: of.Cluster, Identity: mine, ClusterID: &of.Cluster,
			Class: lifecycle.ClassReleased, ManagedBy: true, Regions: []string{region}, LastSeenAt: now, State: lifecycle.OrphanApproved,
		},
		Of: &scans.RemovalCluster{
			ID: of.Cluster, Name: "shop", Platform: names.IBMCloud, BaseDomain: domain, Region: region, Installation: "test", Status: lifecycle.Destroyed, Desired: lifecycle.Absent,
			DestroyedAt: &destroyed, Newest: 1, Accounts: []string{account}, Names: []scans.RecordedName{{InfraID: mine, CCOName: of.CCOName(), Account: account, Region: region}},
		},
	})
	require.Empty(t, plan.Refused)
	return plan.Calls
}
