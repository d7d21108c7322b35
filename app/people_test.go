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

func TestAClusterIsSharedWithAPersonByName(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{
		"people/people.yaml": "people:\n  - {name: rob, displayName: Rob Lane, identities: [\"github:id/7\", \"saml:rob@acme.example\"]}\n",
	}))
	maya := policy.As("saml:maya", "Maya", policy.Requester, "platform")
	made, err := h.Service.Create(t.Context(), maya, app.CreateRequest{
		Source: policy.SourceAPI, Name: "shop", Profile: "aws-minimal-test", Team: "platform", CostCenter: "sandbox", Environment: "test",
	})
	require.NoError(t, err)
	for _, name := range []string{"rob", "Rob Lane", "saml:rob@acme.example"} {
		shares, err := h.Service.Share(t.Context(), maya, made.Row.ID, app.ShareWith(app.SharePrincipal, name, ""), app.Origin{Source: policy.SourceAPI})
		require.NoError(t, err, name)
		require.Len(t, shares, 1)
		require.Equal(t, "saml:rob@acme.example", shares[0].Grantee, name)
	}
	_, err = h.Service.Share(t.Context(), maya, made.Row.ID, app.ShareWith(app.SharePrincipal, "robb", ""), app.Origin{Source: policy.SourceAPI})
	var refused *app.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, `nobody in the catalogue is called "robb"`, refused.Fields[0].Detail)
	left, err := h.Service.Unshare(t.Context(), maya, made.Row.ID, app.SharePrincipal, "rob", app.Origin{Source: policy.SourceAPI})
	require.NoError(t, err)
	require.Empty(t, left)
}
