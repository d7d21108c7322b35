package count_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// running plants a living cluster, whose resource group has been recorded.
func (s *scene) running(t *testing.T) (group string) {
	t.Helper()
	group = s.group(t, myCCO)
	s.target.Identities[0].ResourceGroupID = group
	vpc := s.is(t, "vpc", mine+"-vpc", inGroup(group)).ID
	s.is(t, "instance", mine+"-master-0", inGroup(group), inVPC(vpc))
	s.plant(t, standin.Resource{Service: "iam-identity", Type: "serviceid", Name: myCCO + "-openshift-machine-api-ibmcloud-credentials"})
	return group
}

// IBM's lists leave out what a key has no access to and answer with status 200: a key of another resource group sees an account without us.
func TestALivingClusterIsNotGoneForAKeyOfAnotherResourceGroup(t *testing.T) {
	s := start(t)
	group := s.running(t)
	require.NotEmpty(t, s.verify(t).Leftovers)
	blind := s.as("key-of-another-group")
	pass := blind.Verify(t.Context(), s.target)
	require.False(t, pass.Clean)
	require.Empty(t, pass.Control)
	require.Equal(t, []contract.Leftover{{
		Type: "refused-query", ID: "resource-manager:GetResourceGroup", Name: "id=" + group,
		Free: "an administrator of the account: give the runner's credentials the role Viewer on resource group " + myCCO + " (" + group + ") and the roles that a teardown needs on everything in it: without them nobody can tell whether the cluster is gone",
	}}, pass.Leftovers)

	require.NoError(t, s.Free(myCCO))
	pass = blind.Verify(t.Context(), s.target)
	require.True(t, pass.Clean, "IBM deletes a group only when it is empty: %v", pass.Leftovers)
	require.NotEmpty(t, pass.Control)
}

func TestAResourceGroupIsFoundByItsIDWhateverItIsCalledNow(t *testing.T) {
	s := start(t)
	group := s.group(t, "renamed")
	s.target.Identities[0].ResourceGroupID = group
	s.is(t, "volume", "pvc-1", inGroup(group))
	require.Equal(t, []string{"resource-group", "volume"}, kinds(s.verify(t)))
	again := s.group(t, myCCO)
	require.NoError(t, s.Free(group))
	pass := s.verify(t)
	require.Equal(t, []string{"resource-group"}, kinds(pass), "and another one of the name is not gone with it")
	require.Equal(t, again, pass.Leftovers[0].ID)
}

func TestADeletedResourceGroupThatIBMStillShowsIsGone(t *testing.T) {
	for body, clean := range map[string]bool{
		`{"id":"0123456789abcdef0123456789abcdef","name":"demo","state":"DELETED"}`: true,
		`{"id":"0123456789abcdef0123456789abcdef","name":"demo","state":"ACTIVE"}`:  false,
		`{"id":"ffffffffffffffffffffffffffffffff","name":"demo","state":"DELETED"}`: false,
		`{}`: false,
	} {
		s := start(t)
		s.target.Identities[0].ResourceGroupID = "0123456789abcdef0123456789abcdef"
		s.Fail("rc:get_resource_group", -1, 200, body)
		require.Equal(t, clean, s.verify(t).Clean, body)
	}
}

// After a recovery the id of the group is unknown: then only a key that sees every group proves that there is none of the name.
func TestAGroupOfUnknownIDIsGoneOnlyForAKeyThatSeesEveryGroup(t *testing.T) {
	s := start(t)
	require.True(t, s.verify(t).Clean)
	blind := s.as("key-of-another-group")
	pass := blind.Verify(t.Context(), s.target)
	require.Equal(t, []string{"refused-query"}, kinds(pass))
	require.Empty(t, pass.Control)
	require.Contains(t, pass.Leftovers[0].Advice(), "the role Viewer on all resource groups of the account: the id of resource group "+myCCO+" was never recorded")

	s.target.Identities[0].InfraID = ""
	require.True(t, blind.Verify(t.Context(), s.target).Clean, "nothing is made in a group before an infraID is recorded")
}

func TestAnAccountWithoutAnyAccessPolicyIsOneThatTheKeyCannotRead(t *testing.T) {
	s := start(t)
	s.target.Identities[0].ResourceGroupID = "0123456789abcdef0123456789abcdef"
	s.Fail("iam:list_v2_policies", -1, 200, `{"policies":[]}`)
	pass := s.verify(t)
	require.Equal(t, []string{"refused-query"}, kinds(pass))
	require.Equal(t, "an administrator of the account: let the runner's credentials read the account's access policies (the role Viewer on the IAM Access Management service)", pass.Leftovers[0].Advice())
}

// Each kind of subject has a command of its own. IBM makes a service ID with a policy for the registry's resource key, which names its storage.
func TestEveryAccessPolicyComesWithTheCommandThatDeletesIt(t *testing.T) {
	for subject, want := range map[string]string{
		attribute("iam_id", "iam-ServiceId-1"):             "ibmcloud iam service-policy-delete ServiceId-1 ",
		attribute("iam_id", "iam-Profile-1"):               "ibmcloud iam trusted-profile-policy-delete Profile-1 ",
		attribute("iam_id", "IBMid-550000AAAA"):            "ibmcloud iam user-policy-delete <name of user IBMid-550000AAAA> ",
		attribute("access_group_id", "AccessGroupId-1234"): "ibmcloud iam access-group-policy-delete <name of access group AccessGroupId-1234> ",
	} {
		s := start(t)
		cos := s.instance(t, "cloud-object-storage", mine+"-cos", "")
		s.policy(t, "access", subject, attribute("serviceName", "cloud-object-storage")+","+attribute("serviceInstance", cos.ID))
		s.policy(t, "access", subject, attribute("serviceName", "cloud-object-storage")+","+attribute("serviceInstance", "another"))
		pass := s.verify(t)
		require.Equal(t, []string{"access-policy", "service-instance"}, kinds(pass))
		for _, l := range pass.Leftovers {
			if l.Type == "access-policy" {
				require.Equal(t, "an IAM administrator of the account: "+want+l.ID, l.Advice())
			}
		}
	}
}
