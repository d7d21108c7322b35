package ibmcloud_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
)

func TestPrepareMakesTheResourceGroupOnceAndWaitsUntilItIsListed(t *testing.T) {
	s := newScene(t)
	s.SetLag(standin.Lag{Groups: 20 * time.Millisecond})
	for range 3 {
		id, err := s.client.Prepare(t.Context(), s.target, myCCO)
		require.NoError(t, err)
		require.Equal(t, []string{"resource-group " + myCCO}, s.left())
		require.Equal(t, s.Resources(myCCO)[0].ID, id, "of a group that was there, too")
	}
	require.Equal(t, 1, s.Calls()["rc:create_resource_group"].Calls)
}

// A runner that was killed right after the create does not see the group in the list yet, and its create is refused.
func TestPrepareTakesAGroupThatIsNotListedYet(t *testing.T) {
	s := newScene(t)
	made := s.group(t, myCCO)
	s.SetLag(standin.Lag{Groups: 20 * time.Millisecond})
	id, err := s.client.Prepare(t.Context(), s.target, myCCO)
	require.NoError(t, err)
	require.Equal(t, made, id)
	require.Equal(t, []string{"resource-group " + myCCO}, s.left())
}

func TestPrepareSaysWhyItMadeNothing(t *testing.T) {
	s := newScene(t)
	s.Refuse("rc:create_resource_group", 1, standin.Denied)
	_, err := s.client.Prepare(t.Context(), s.target, myCCO)
	require.ErrorContains(t, err, "create resource group "+myCCO)
	_, err = s.as(t, "theirs").Prepare(t.Context(), s.target, myCCO)
	require.ErrorContains(t, err, "the cluster belongs to account")
	require.Empty(t, s.left())
}

func TestTheDNSInstanceIsThatWithTheBaseDomain(t *testing.T) {
	s := newScene(t)
	crn, guid := "", ""
	for _, r := range s.All() {
		switch {
		case r.Type == "instance" && r.Service == "internet-svcs":
			crn = r.CRN()
		case r.Type == "instance" && r.Service == "dns-svcs":
			guid = r.ID
		}
	}
	for domain, want := range map[string]names.Found{
		domain:                 {Account: account, CISInstanceCRN: crn},
		"internal.example.com": {Account: account, DNSInstanceID: guid},
		"example.com":          {Account: account},
		"none.example.org":     {Account: account},
	} {
		s.target.BaseDomain = domain
		found, err := s.client.Found(t.Context(), s.target)
		require.NoError(t, err)
		require.Equal(t, want, found, domain)
	}
}

func TestOfABaseDomainInBothServicesTheClustersOwnIsFound(t *testing.T) {
	s := newScene(t)
	private := s.privateZone(t, domain)
	for publish, want := range map[string]bool{contract.PublishExternal: false, contract.PublishInternal: true, "": false} {
		s.target.Publish = publish
		found, err := s.client.Found(t.Context(), s.target)
		require.NoError(t, err)
		require.Equal(t, []bool{!want, want}, []bool{found.CISInstanceCRN != "", found.DNSInstanceID == private}, publish)
	}
	s.target.Publish, s.target.BaseDomain = contract.PublishExternal, "internal.example.com"
	found, err := s.client.Found(t.Context(), s.target)
	require.NoError(t, err)
	require.Equal(t, names.Found{Account: account}, found, "the installer makes no public record in a private zone")
}

func TestTheDNSInstanceIsNotGuessed(t *testing.T) {
	s := newScene(t)
	twin := s.plant(t, standin.Resource{Service: "internet-svcs", Type: "instance", Name: "twin"})
	s.plant(t, standin.Resource{Service: "internet-svcs", Type: "zone", Name: domain, Parent: twin.ID, State: "pending"})
	found, err := s.client.Found(t.Context(), s.target)
	require.NoError(t, err, "a zone that is not active is none")
	require.NotEmpty(t, found.CISInstanceCRN)
	s.plant(t, standin.Resource{Service: "internet-svcs", Type: "zone", Name: domain, Parent: twin.ID, State: "active"})
	_, err = s.client.Found(t.Context(), s.target)
	require.EqualError(t, err, "2 instances of Internet Services have a zone for "+domain)
	for _, call := range []string{"cis:list_zones", "rc:list_resource_instances"} {
		s.Refuse(call, 1, standin.Denied)
		_, err = s.client.Found(t.Context(), s.target)
		require.ErrorContains(t, err, "(403)")
	}
}
