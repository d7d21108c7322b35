package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
)

func TestAClaimDuringAFreezeWaitsForNothing(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{"pools/stock.yaml": "name: stock\nprofile: aws-minimal-test\nteam: platform\ncostCenter: sandbox\nenvironment: test\nsize: 1\nmax: 1\n"}))
	require.NoError(t, h.Service.KeepPools(t.Context()))
	require.True(t, h.Usable().Pooled)
	will := policy.As("oidc:https://issuer.example.com#will", "will", policy.PlatformAdmin)
	_, err := h.Service.Freeze(t.Context(), will, app.FreezeRequest{Until: "1m", Drain: true}, app.Origin{Source: policy.SourceAPI, Why: "AWS has an outage"})
	var short *app.Error
	require.ErrorAs(t, err, &short)
	require.Equal(t, "until", short.Fields[0].Name)
	require.Equal(t, "clusters there have a grace of 10 min, and the freeze would be over before their end", short.Fields[0].Detail)
	brake, err := h.Service.Freeze(t.Context(), will, app.FreezeRequest{Until: "2h"}, app.Origin{Source: policy.SourceAPI, Why: "AWS has an outage"})
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

// Whoever claims a cluster gets it as it was made, and shares it with nobody.
func TestNobodyUsesOrChangesAClusterThatWaitsInItsPool(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{"pools/stock.yaml": "name: stock\nprofile: aws-minimal-test\nteam: platform\ncostCenter: sandbox\nenvironment: test\nsize: 1\nmax: 1\n"}))
	require.NoError(t, h.Service.KeepPools(t.Context()))
	row := h.Usable()
	boss, byWeb := policy.As("saml:boss", "Boss", policy.PlatformAdmin), app.Origin{Source: policy.SourceWeb, Why: "a test"}
	for _, who := range []policy.Principal{maya, boss} {
		for _, act := range policy.Acts() {
			_, _, err := h.Service.Authorize(t.Context(), who, row.ID, act, byWeb)
			switch act {
			case policy.ActKubeconfig, policy.ActShare, policy.ActTransfer, policy.ActScale, policy.ActHold, policy.ActExtend, policy.ActSleep, policy.ActUse, policy.ActBreakGlass, policy.ActLogBundle:
				require.Equal(t, app.Denied, app.KindOf(err), act)
			case policy.ActSee, policy.ActDestroy:
				require.NoError(t, err, act)
			}
		}
	}
	_, err := h.Service.Share(t.Context(), boss, row.ID, app.ShareWith(app.SharePrincipal, "saml:pat", ""), byWeb)
	require.ErrorContains(t, err, row.Name+" waits in the pool stock. Nobody uses or changes it before it is claimed.")

	made, err := h.Service.Create(t.Context(), maya, app.CreateRequest{Source: policy.SourceAPI, Profile: servicetest.Profile, Owner: "maya", Team: "platform", CostCenter: "sandbox", Environment: "test", Pool: "stock"})
	require.NoError(t, err)
	require.Equal(t, row.ID, made.Row.ID)
	_, err = h.Service.Share(t.Context(), maya, row.ID, app.ShareWith(app.SharePrincipal, "saml:pat", ""), byWeb)
	require.NoError(t, err)
}

// A quota of one lets its team claim the only cluster of its pool, and the pool has another made although the quota is full by then.
func TestAClusterCountsInQuotasFromItsClaim(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{
		"pools/stock.yaml": "name: stock\nprofile: aws-minimal-test\nteam: platform\ncostCenter: sandbox\nenvironment: test\nsize: 1\nmax: 3\n",
		"quotas/one.yaml":  "quotas: [{name: one, scope: team, match: [platform], live: 1, creating: 1}]\n",
	}))
	require.NoError(t, h.Service.KeepPools(t.Context()))
	waiting := h.Usable()
	require.True(t, waiting.Pooled)
	from := app.CreateRequest{Source: policy.SourceAPI, Profile: servicetest.Profile, Owner: "maya", Team: "platform", CostCenter: "sandbox", Environment: "test", Pool: "stock"}
	claimed, err := h.Service.Create(t.Context(), maya, from)
	require.NoError(t, err)
	require.True(t, claimed.Allowed, claimed.Verdict.Text())
	require.Equal(t, waiting.ID, claimed.Row.ID)

	require.NoError(t, h.Service.KeepPools(t.Context()))
	states, err := h.Service.Pools(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, states[0].Making(), "the pool has its next one made")
	second, err := h.Service.Create(t.Context(), maya, from)
	require.NoError(t, err)
	require.Contains(t, second.Verdict.Text(), "Team platform has 1 of the 1 clusters that quota one allows at once")
	wrong, err := h.Store.CorrectUsage(t.Context())
	require.NoError(t, err)
	require.Empty(t, wrong)
}
