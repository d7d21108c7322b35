package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/policy/catalogue"
)

func TestAccountsOfTwoCloudsAreLookedThroughAtOnceEachWithItsOwnPlaces(t *testing.T) {
	c := config.Defaults()
	ibm := strings.Repeat("0a", 16)
	c.Account, c.Clouds.IBMCloud = "123456789012", config.Cloud{Account: ibm, CredentialsRef: "file:/ibm"}
	terms, err := catalogue.Open(catalogue.Config{})
	require.NoError(t, err)
	list := scanAccounts(c, terms.Current())
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
