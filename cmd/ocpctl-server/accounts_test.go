package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
)

func TestAccountsOfTwoCloudsAreLookedThroughAtOnceEachWithItsOwnPlaces(t *testing.T) {
	c := config.Defaults()
	ibm := strings.Repeat("0a", 16)
	c.Account, c.Clouds.IBMCloud = "123456789012", config.Cloud{Account: ibm, CredentialsRef: "file:/ibm"}
	terms, err := catalogue.Open(catalogue.Config{})
	require.NoError(t, err)
	list := scanAccounts(c, terms.Current(), nil)
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
	}
	found := map[string]string{}
	for _, w := range scanAccounts(c, of, []store.UsedAccount{
		{Name: "gone", Platform: "aws", Number: "555555555555", CredentialsRef: "file:/older", Live: 1}, {Name: "gone", Platform: "aws", Number: "555555555555", CredentialsRef: "file:/newer", Live: 1},
		{Name: "two", Platform: "aws", Number: "222222222222", CredentialsRef: "file:/older", Live: 1},
	}) {
		require.NotContains(t, found, w.Account, "each once")
		found[w.Account] = w.Spec.CloudCredentialsRef + w.Spec.ServiceAccounts["scan"]
	}
	require.Equal(t, map[string]string{"123456789012": "file:/ours", "222222222222": "file:/ours", "333333333333": "c", "555555555555": "file:/newer"}, found)
}
