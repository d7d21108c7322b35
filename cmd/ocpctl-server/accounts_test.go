package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/scans"
)

func TestAccountsOfTwoCloudsAreLookedThroughAtOnceEachWithItsOwnPlaces(t *testing.T) {
	c := config.Defaults()
	ibm := strings.Repeat("0a", 16)
	c.Account, c.Clouds.IBMCloud = "123456789012", config.Cloud{Account: ibm, CredentialsRef: "file:/ibm"}
	terms, err := catalogue.Open(catalogue.Config{})
	require.NoError(t, err)
	list := scanAccounts(c, terms.Current(), nil, nil)
	require.Len(t, list, 2)
	require.Equal(t, []string{"aws", "123456789012", "us-east-1", ""}, []string{list[0].Platform, list[0].Account, list[0].Spec.HomeRegion, list[0].Spec.CloudCredentialsRef})
	require.Equal(t, []string{"ibmcloud", ibm, "us-south", "file:/ibm"}, []string{list[1].Platform, list[1].Account, list[1].Spec.HomeRegion, list[1].Spec.CloudCredentialsRef})
	for i, platform := range []string{"aws", "ibmcloud"} {
		for _, p := range terms.Current().All() {
			if p.Platform == platform && p.Enabled {
				require.Subset(t, list[i].Spec.BaseDomains, p.BaseDomains.Allow)
			}
		}
		require.NotEmpty(t, list[i].Spec.BaseDomains)
	}
}

func TestAccountsOfTheCatalogueAreLookedThroughAsLongAsClustersAreThere(t *testing.T) {
	c := config.Defaults()
	c.Account, c.Clouds.AWS.CredentialsRef = "123456789012", "file:/ours"
	var of catalogue.Catalogue
	of.Accounts = []profiles.Account{
		{Name: "home", Platform: "aws", Number: "123456789012", CredentialsRef: "file:/other"}, {Name: "two", Platform: "aws", Number: "222222222222"},
		{Name: "three", Platform: "aws", Number: "333333333333", ServiceAccounts: map[string]string{"create": "a", "destroy": "b", "scan": "c"}},
		{Name: "four", Platform: "aws", Number: "444444444444", ServiceAccounts: map[string]string{"create": "a", "destroy": "b"}},
		{Name: "six", Platform: "aws", Number: "666666666666", Role: "arn:aws:iam::666666666666:role/r"}, {Name: "seven", Platform: "aws", Number: "777777777777", Role: "arn:aws:iam::777777777777:role/r"},
	}
	found := map[string]string{}
	for _, w := range scanAccounts(c, of, []store.UsedAccount{
		{Name: "gone", Platform: "aws", Number: "555555555555", CredentialsRef: "file:/older", Live: 1}, {Name: "gone", Platform: "aws", Number: "555555555555", CredentialsRef: "file:/newer", Live: 1},
		{Name: "two", Platform: "aws", Number: "222222222222", CredentialsRef: "file:/older", Live: 1},
		{Name: "left", Platform: "aws", Number: "888888888888", CredentialsRef: "file:/left", CloudRole: &contract.CloudRole{ARN: "arn:left", ExternalID: "kept"}, Live: 1},
	}, []scans.Proof{{Platform: "aws", Account: "666666666666", ExternalID: "the-id"}, {Platform: "aws", Account: "777777777777"}}) {
		require.NotContains(t, found, w.Account, "each once")
		found[w.Account] = w.Spec.CloudCredentialsRef + w.Spec.ServiceAccounts["scan"]
		if role := w.Spec.CloudRole; role != nil {
			found[w.Account] += " " + role.ARN + " " + role.ExternalID
		}
	}
	require.Equal(t, map[string]string{"123456789012": "file:/ours", "222222222222": "file:/ours", "333333333333": "c", "555555555555": "file:/newer",
		"666666666666": "file:/ours arn:aws:iam::666666666666:role/r the-id", "888888888888": "file:/left arn:left kept"}, found, "a role without an external id is not assumed")
}
