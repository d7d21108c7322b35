package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

func TestAClaimDuringAFreezeWaitsForNothing(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{"pools/stock.yaml": "name: stock\nprofile: aws-minimal-test\nteam: platform\ncostCenter: sandbox\nenvironment: test\nsize: 1\nmax: 1\n"}))
	require.NoError(t, h.Service.KeepPools(t.Context()))
	require.True(t, h.Usable().Pooled)
	will := policy.As("oidc:https://issuer.example.com#will", "will", policy.PlatformAdmin)
	brake, err := h.Service.Freeze(t.Context(), will, lifecycle.Place{}, "2h", app.Origin{Source: policy.SourceAPI, Why: "AWS has an outage"})
	require.NoError(t, err)

	maya := policy.As("oidc:https://issuer.example.com#maya", "maya", policy.Requester, "platform")
	from := func(pool string) app.CreateRequest {
		return app.CreateRequest{Source: policy.SourceAPI, Profile: servicetest.Profile, Owner: "maya", Team: "platform", CostCenter: "sandbox", Environment: "test", Pool: pool}
	}
	served, err := h.Service.DryRun(t.Context(), maya, from("stock"))
	require.NoError(t, err)
	require.Equal(t, "Accepted.", served.Text())
	require.True(t, served.StartsAt.Before(brake.Until), "a cluster waits in the pool")
	elsewhere := tried(h, maya, "elsewhere", servicetest.Profile)
	require.Contains(t, elsewhere.Text(), "It waits: Will", "with a name it is made anew")
	require.Equal(t, brake.Until.UTC(), elsewhere.StartsAt.UTC())

	made, err := h.Service.Create(t.Context(), maya, from("stock"))
	require.NoError(t, err)
	require.False(t, made.Row.ClaimedAt.IsZero())
	require.Equal(t, "Accepted.", made.Verdict.Text())
	made, err = h.Service.Create(t.Context(), maya, from("stock"))
	require.NoError(t, err)
	require.Contains(t, made.Verdict.Text(), "It waits: Will", "the pool is empty")
}
