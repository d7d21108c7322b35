package kinds_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/deploy/ibmcloud/policies"
	standin "github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/access"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/kinds"
)

const region = "us-south"

// unlisted are the types of the VPC service that no list of the table shows. An access list goes with its VPC. The others are no part of a
// cluster; Resource Controller and the index name them if somebody made one in its resource group.
var unlisted = []string{"network-acl", "dedicated-host", "dedicated-host-group", "share"}

// A kind that is not in the table is neither counted nor found in an account, and nothing else would notice it.
func TestEveryTypeOfTheVPCServiceIsListed(t *testing.T) {
	server, api := start(t)
	vpcs, err := api.VPC(region)
	require.NoError(t, err)
	var listed []string
	for _, kind := range kinds.AllVPC {
		listed = append(listed, kind.Noun)
	}
	require.ElementsMatch(t, standin.VPCTypes(), append(listed, unlisted...))
	group := plant(t, server, standin.Resource{Service: "resource-controller", Type: "resource-group", Name: "shop", State: "ACTIVE"})
	vpc := plant(t, server, standin.Resource{Service: "is", Type: kinds.NounVPC, Name: "shop", Group: group.ID})
	subnet := plant(t, server, standin.Resource{Service: "is", Type: kinds.NounSubnet, Name: "shop", VPC: vpc.ID, Group: group.ID})
	alone := []string{kinds.NounVPC, "volume", "snapshot", "floating-ip", "image", "key", "load-balancer"} // their lists name no VPC
	for _, kind := range kinds.AllVPC {
		t.Run(kind.Noun, func(t *testing.T) {
			var planted []standin.Resource
			for _, name := range []string{"one", "two"} {
				planted = append(planted, plant(t, server, standin.Resource{
					Service: "is", Type: kind.Noun, Name: name, VPC: vpc.ID, Group: group.ID, Attrs: map[string]string{"visibility": "private"}, Values: map[string][]string{"subnets": {subnet.ID}},
				}))
			}
			found := map[string]kinds.Resource{}
			require.NoError(t, kind.List(t.Context(), vpcs, func(page []kinds.Resource) error {
				for _, r := range page {
					require.NotContains(t, found, r.ID)
					found[r.ID] = r
				}
				return nil
			}))
			for _, r := range planted {
				require.Equal(t, []string{r.ID, r.CRN(), r.Name, group.ID}, []string{found[r.ID].ID, found[r.ID].CRN, found[r.ID].Name, found[r.ID].Group})
				if !slices.Contains(alone, kind.Noun) {
					require.Equal(t, []string{vpc.ID, vpc.CRN()}, []string{found[r.ID].VPC, found[r.ID].VPCCRN})
				}
			}
		})
	}
}

func start(t *testing.T) (*standin.Server, kinds.API) {
	t.Helper()
	allowed, err := policies.Scan()
	require.NoError(t, err)
	server, err := standin.Start(t.Context(), standin.Config{Callers: []standin.Caller{{Name: "ours", APIKey: "key-of-tests", Access: &allowed}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	server.Pages(1)
	return server, kinds.API{
		Authenticator: &core.IamAuthenticator{ApiKey: "key-of-tests", URL: server.URL("iam", "")},
		URLs:          access.URLs{VPC: server.URL("vpc", "{region}")},
		HTTP:          func(string, string) *http.Client { return http.DefaultClient },
	}
}

func plant(t *testing.T, server *standin.Server, r standin.Resource) standin.Resource {
	t.Helper()
	if r.Service == "is" {
		r.Region = region
	}
	planted, err := server.Plant(r)
	require.NoError(t, err)
	return planted
}
