package api

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
)

func TestAPoolIsPausedResizedDrainedAndResumed(t *testing.T) {
	h := fixtureWith(t, servicetest.Catalogue(t, map[string]string{"pools/stock.yaml": "name: stock\nprofile: aws-minimal-test\nsize: 2\nmax: 3\nmaxConcurrent: 2\nwaitingMonthlyDollars: 400\n"}), nil)
	change := func(said v1.PoolChange) (p v1.PoolDetail) {
		h.does(http.MethodPost, "/api/v1/pools/stock", h.as(oidc.Admin), said, http.StatusOK, &p)
		return p
	}
	var list v1.Pools
	h.does(http.MethodGet, "/api/v1/pools", h.as(oidc.Requester), nil, http.StatusOK, &list)
	require.Len(t, list.Items, 1)
	require.Equal(t, v1.PoolModeOpen, list.Items[0].Mode)
	require.Equal(t, 40000, *list.Items[0].MayCostCents)

	p := change(v1.PoolChange{Action: "pause", Reason: "a bad night"})
	require.Equal(t, v1.PoolModePaused, p.Mode)
	require.Equal(t, []v1.PoolReasons{v1.PoolReasonsPaused}, p.Reasons)
	require.Equal(t, "it is paused", p.Why)
	require.NotEmpty(t, p.ChangedBy)
	p = change(v1.PoolChange{Action: "resize", Size: new(3)})
	require.Equal(t, 3, p.Size)
	require.True(t, p.Resized)
	var same v1.PoolDetail
	h.does(http.MethodGet, "/api/v1/pools/stock", h.as(oidc.Admin), nil, http.StatusOK, &same)
	require.Equal(t, p, same)
	var advice v1.PoolAdvice
	h.does(http.MethodGet, "/api/v1/pools/stock/advice", h.as(oidc.Requester), nil, http.StatusOK, &advice)
	require.Equal(t, []any{3, 0, 24, "UTC", int64(2400)}, []any{advice.Size, advice.AdvisedSize, len(advice.Hours), advice.Zone, advice.InstallSeconds}, "nothing was asked for")
	p = change(v1.PoolChange{Action: "resize"})
	require.Equal(t, 2, p.Size, "the catalogue's again")
	require.Equal(t, v1.PoolModeDraining, change(v1.PoolChange{Action: "drain"}).Mode)
	require.Equal(t, v1.PoolModeOpen, change(v1.PoolChange{Action: "resume"}).Mode)

	for said, accepted := range map[v1.PoolChange]string{
		{Action: "stop"}: "drain", {Action: "resize", Size: new(4)}: "0 to 3, the pool's max", {Action: "pause", Size: new(1)}: "none",
	} {
		wrong := h.refused(http.MethodPost, "/api/v1/pools/stock", h.as(oidc.Admin), said, http.StatusUnprocessableEntity)
		require.Contains(t, wrong.Errors[0].Accepted, accepted)
	}
	missing := h.refused(http.MethodPost, "/api/v1/pools/stok", h.as(oidc.Admin), v1.PoolChange{Action: "pause"}, http.StatusNotFound)
	require.Contains(t, missing.Detail, "Did you mean stock?")
	h.refused(http.MethodPost, "/api/v1/pools/stock", h.as(oidc.Requester), v1.PoolChange{Action: "pause"}, http.StatusForbidden)
}

func TestARequestForAPoolNeedsNoName(t *testing.T) {
	h := fixtureWith(t, servicetest.Catalogue(t, map[string]string{"pools/stock.yaml": "name: stock\nprofile: aws-minimal-test\nsize: 2\nmax: 3\n"}), nil)
	body := map[string]any{"profile": "aws-minimal-test", "pool": "stock", "team": "platform", "costCenter": "x", "environment": "test"}
	var first, again v1.Accepted
	for _, into := range []*v1.Accepted{&first, &again} {
		h.does(http.MethodPost, "/api/v1/clusters", h.as(oidc.Requester), body, http.StatusAccepted, into, "Idempotency-Key", "one")
	}
	require.NotEmpty(t, first.Name)
	require.Equal(t, first.ClusterID, again.ClusterID, "its name made anew is the same with the same key")
	body["name"] = "mine"
	wrong := h.refused(http.MethodPost, "/api/v1/clusters", h.as(oidc.Requester), body, http.StatusUnprocessableEntity, "Idempotency-Key", "two")
	require.Contains(t, wrong.Errors[0].Detail, "has a name, and keeps it")
}
