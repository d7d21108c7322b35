package app_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
)

func TestAQuotaOfAPersonCountsEveryLinkedIdentity(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{
		"quotas/quotas.yaml": "quotas:\n  - {name: person, scope: person, match: [\"saml:*\"], live: 1}\n",
		"people/people.yaml": "people:\n  - {name: maya, displayName: Maya Weber, identities: [\"saml:maya\", \"oidc:https://id.acme.example#maya\"]}\n",
	}))
	create := func(id, called, name string) (app.Created, error) {
		return h.Service.Create(t.Context(), policy.As(id, called, policy.Requester, "platform"), app.CreateRequest{
			Source: policy.SourceAPI, Name: name, Profile: "aws-minimal-test", Team: "platform", CostCenter: "sandbox", Environment: "test",
		})
	}
	first, err := create("saml:maya", "m.weber", "one")
	require.NoError(t, err)
	require.Equal(t, "Maya Weber", first.Row.Owner, "the catalogue's name, not what the sign-in says")
	second, err := create("oidc:https://id.acme.example#maya", "somebody", "two")
	require.NoError(t, err)
	require.False(t, second.Verdict.Allowed && len(second.Verdict.Waits) == 0)
	said, err := json.Marshal(second.Verdict.Checks)
	require.NoError(t, err)
	require.Contains(t, string(said), "Maya Weber has 1 of the 1 clusters that quota person allows at once")
	third, err := create("oidc:https://other.example#maya", "Maya", "three")
	require.NoError(t, err)
	require.True(t, third.Verdict.Allowed && len(third.Verdict.Waits) == 0, "the same subject of another issuer is another person")
	require.Equal(t, "Maya Weber", h.Service.NameOf("saml:MAYA"))
	require.Equal(t, "maya (OIDC)", h.Service.NameOf("oidc:https://other.example#maya"))
}
