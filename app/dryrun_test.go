package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
)

func tried(h *servicetest.Fixture, p policy.Principal, name, profile string) app.Preview {
	h.Helper()
	preview, err := h.Service.DryRun(h.Context(), p, app.CreateRequest{
		Source: policy.SourceAPI, Name: name, Profile: profile, Owner: "maya", Team: "platform", CostCenter: "sandbox", Environment: "test",
	})
	require.NoError(h, err)
	return preview
}

func TestADryRunSaysWhatTheRealCallWouldSay(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{
		"policies/big.yaml": "name: big\nrules:\n  - {name: one, when: \"request.name.startsWith('big')\", effect: requireApproval, message: Big ones need an approval.}\n",
	}))
	maya := policy.As("oidc:https://issuer.example.com#maya", "maya", policy.Requester, "platform")
	require.Zero(t, tried(h, maya, "demo", servicetest.Profile).Position)
	require.False(t, tried(h, maya, "demo", servicetest.Profile).StartsAt.IsZero())

	h.Create(maya, "demo")
	before := h.LeftBehind()
	taken := tried(h, maya, "demo", servicetest.Profile)
	require.False(t, taken.Allowed)
	require.Contains(t, taken.Text(), "The name demo is taken on labs.example.com.")
	require.Empty(t, taken.Grant.Name, "nothing is granted")

	asks := tried(h, maya, "big-one", servicetest.Profile)
	require.True(t, asks.Allowed)
	require.NotNil(t, asks.Approval)
	require.True(t, asks.StartsAt.IsZero(), "a person decides when")
	require.Equal(t, before, h.LeftBehind())

	h.Create(maya, "two")
	h.Create(maya, "three")
	before = h.LeftBehind()
	full := tried(h, maya, "four", "aws-standard")
	require.False(t, full.Allowed)
	require.Contains(t, full.Text(), "3 of the 3 clusters being created")
	waits := tried(h, maya, "four", servicetest.Profile) // its requests wait where a quota is full
	require.True(t, waits.Allowed)
	require.Equal(t, 1, waits.Position)
	require.True(t, waits.StartsAt.IsZero(), "nothing is known yet of how long a create takes")
	require.Equal(t, before, h.LeftBehind())
}
