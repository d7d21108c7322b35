package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
)

func TestAPoolThatFollowsItsClaimsIsAwakeInTheirHours(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{
		"pools/stock.yaml": "name: stock\nprofile: aws-minimal-test\nteam: platform\ncostCenter: sandbox\nenvironment: test\nsize: 2\nrunning: 0\nrunningByClaims: true\nmax: 4\nteams: [platform]\n",
	}))
	maya := policy.As("oidc:https://issuer.example.com#maya", "maya", policy.Requester, "platform")
	advised := func() app.PoolAdvice {
		a, err := h.Service.AdvisePool(t.Context(), maya, "stock")
		require.NoError(t, err)
		return a
	}
	require.Zero(t, advised().Size)
	require.NoError(t, h.Service.KeepPools(t.Context()))
	h.Usable()

	made, err := h.Service.Create(t.Context(), maya, app.CreateRequest{Source: policy.SourceAPI, Profile: servicetest.Profile, Owner: "maya", Team: "platform", CostCenter: "sandbox", Environment: "test", Pool: "stock"})
	require.NoError(t, err)
	a := advised()
	require.Equal(t, []int{1, 0, 1}, []int{a.Claims, a.Anew, a.Size})
	require.Equal(t, 1, a.RunningAt(made.Row.ClaimedAt))
	running := func() int {
		p, err := h.Service.VisiblePool(t.Context(), maya, "stock")
		require.NoError(t, err)
		return p.Running
	}
	require.Zero(t, running(), "an hour long it follows what was known before the claim")
	h.Service.ForgetAdvice()
	require.Equal(t, 1, running())
	_, err = h.Service.AdvisePool(t.Context(), maya, "stok")
	require.ErrorContains(t, err, "Did you mean stock?")
	stranger := policy.As("oidc:https://issuer.example.com#ana", "ana", policy.Requester, "payments")
	_, err = h.Service.AdvisePool(t.Context(), stranger, "stock")
	require.ErrorContains(t, err, "does not exist")
}
