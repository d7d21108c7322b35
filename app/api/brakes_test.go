package api

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/scans"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestAnAdminFreezesAndARequestHearsThatItWillWait(t *testing.T) {
	h := newFixture(t)
	var brake v1.Brake
	h.does(http.MethodPost, "/api/v1/brakes", h.as(oidc.Admin), v1.FreezeRequest{Profile: "aws-minimal-test", Until: "4h", Reason: "AWS has an outage"}, http.StatusCreated, &brake)
	require.Equal(t, "aws-minimal-test", brake.Profile)
	require.NotEmpty(t, brake.By)

	body := map[string]any{"name": "frozen", "profile": "aws-minimal-test", "team": "platform", "costCenter": "x", "environment": "test"}
	var verdict v1.Verdict
	h.does(http.MethodPost, "/api/v1/dry-run", h.as(oidc.Requester), body, http.StatusOK, &verdict)
	require.True(t, verdict.Allowed)
	require.True(t, verdict.Waits)
	require.Contains(t, verdict.Message, "It waits: "+brake.By+" froze new clusters of the profile aws-minimal-test from")
	require.Contains(t, verdict.Message, "AWS has an outage")
	require.Equal(t, brake.Until.UTC(), verdict.StartsAt.UTC(), "it starts after the freeze")
	var made v1.Accepted
	h.does(http.MethodPost, "/api/v1/clusters", h.as(oidc.Requester), body, http.StatusAccepted, &made, "Idempotency-Key", "one")
	require.Contains(t, made.Message, "AWS has an outage")

	var list v1.Brakes
	h.does(http.MethodGet, "/api/v1/brakes", h.as(oidc.Admin), nil, http.StatusOK, &list)
	require.Equal(t, []v1.Brake{brake}, list.Items)
	h.refused(http.MethodPost, "/api/v1/brakes/all/thaw", h.as(oidc.Requester), v1.MaybeReason{}, http.StatusForbidden)
	h.does(http.MethodPost, "/api/v1/brakes/all/thaw", h.as(oidc.Admin), v1.MaybeReason{Reason: "over"}, http.StatusOK, &list)
	require.Len(t, list.Items, 1)
	body["name"] = "thawed"
	var thawed v1.Verdict
	h.does(http.MethodPost, "/api/v1/dry-run", h.as(oidc.Requester), body, http.StatusOK, &thawed)
	require.False(t, thawed.Waits)
}

func TestAFreezeWithoutAnEndAReasonOrAPlaceIsRefused(t *testing.T) {
	h := newFixture(t)
	wrong := h.refused(http.MethodPost, "/api/v1/brakes", h.as(oidc.Admin), v1.FreezeRequest{Profile: "none", Region: "mars", Until: "15d"}, http.StatusUnprocessableEntity)
	said := map[string][]string{}
	for _, one := range wrong.Errors {
		said[one.Field] = one.Accepted
	}
	require.Contains(t, said["profile"], "aws-minimal-test")
	require.Contains(t, said["region"], "us-east-1")
	require.Contains(t, said, "until")
	require.Contains(t, said, "reason")
	for _, until := range []string{"", "never", "30s", "2020-01-01T00:00:00Z"} {
		wrong = h.refused(http.MethodPost, "/api/v1/brakes", h.as(oidc.Admin), v1.FreezeRequest{Until: until, Reason: "x"}, http.StatusUnprocessableEntity)
		require.Equal(t, "until", wrong.Errors[0].Field, until)
	}
}

func TestADrainedClusterCannotBeKeptPastItsEnd(t *testing.T) {
	h := newFixture(t)
	row := storetest.Usable(t, h.store, h.accept("shop", "platform"))
	wrong := h.refused(http.MethodPost, "/api/v1/brakes", h.as(oidc.Admin), v1.FreezeRequest{Until: "4h", DrainBy: "5h", Reason: "x"}, http.StatusUnprocessableEntity)
	require.Equal(t, "drainBy", wrong.Errors[0].Field)
	var brake v1.Brake
	h.does(http.MethodPost, "/api/v1/brakes", h.as(oidc.Admin), v1.FreezeRequest{Region: "us-east-1", Until: "4h", DrainBy: "30m", Reason: "AWS has an outage"}, http.StatusCreated, &brake)
	require.Contains(t, brake.Message, "and the clusters there end by")
	path, why := "/api/v1/clusters/"+row.ID, " is draining the clusters in the region us-east-1: AWS has an outage"
	var c v1.Cluster
	h.does(http.MethodGet, path, h.as(oidc.Requester), nil, http.StatusOK, &c)
	require.Equal(t, brake.DrainAt.UTC(), c.DestroyAt.UTC())
	require.Equal(t, brake.By+why, c.EndReason)
	for verb, body := range map[string]any{"extend": v1.Extend{Hours: 20}, "hold": map[string]any{"hours": 20, "reason": "a demo"}} {
		wrong = h.refused(http.MethodPost, path+"/"+verb, h.as(oidc.Requester), body, http.StatusUnprocessableEntity)
		require.Contains(t, wrong.Errors[0].Detail, brake.By+why, verb)
		require.Contains(t, wrong.Detail, "Ask "+brake.By, verb)
	}
	h.does(http.MethodPost, "/api/v1/brakes/"+brake.ID+"/thaw", h.as(oidc.Admin), v1.MaybeReason{}, http.StatusOK, nil)
	h.does(http.MethodGet, path, h.as(oidc.Requester), nil, http.StatusOK, &c)
	require.NotContains(t, c.EndReason, "draining")
}

func TestAnAccountIsFrozenByItsName(t *testing.T) {
	terms := servicetest.Catalogue(t, map[string]string{"accounts/two.yaml": "name: two\nplatform: aws\nnumber: \"210987654321\"\n"})
	h := fixtureWith(t, terms, nil)
	var brake v1.Brake
	h.does(http.MethodPost, "/api/v1/brakes", h.as(oidc.Admin), v1.FreezeRequest{Account: "two", Until: "4h", Reason: "its owners pay no more"}, http.StatusCreated, &brake)
	require.Equal(t, "210987654321", brake.Account)
	var two v1.Account
	h.does(http.MethodGet, "/api/v1/accounts/two", h.as(oidc.Admin), nil, http.StatusOK, &two)
	require.Equal(t, brake.Account, two.Number)
	h.does(http.MethodPost, "/api/v1/accounts/two/prove", h.as(oidc.Admin), nil, http.StatusAccepted, &two)
	require.Equal(t, v1.AccountStateUnproven, two.State)
	require.True(t, two.Proof.Running)
	h.refused(http.MethodPost, "/api/v1/accounts/two/prove", h.as(oidc.Requester), nil, http.StatusForbidden)
	storetest.Prove(t, h.store, "aws", two.Number, terms.Accounts[0].Version(), scans.ResultRow{Outcome: lifecycle.Succeeded, Proof: contract.ProofProven})
	h.does(http.MethodGet, "/api/v1/accounts/two", h.as(oidc.Admin), nil, http.StatusOK, &two)
	require.Equal(t, v1.AccountStateOpen, two.State)
	var verdict v1.Verdict
	body := map[string]any{"name": "frozen", "profile": "aws-minimal-test", "team": "platform", "costCenter": "x", "environment": "test"}
	h.does(http.MethodPost, "/api/v1/dry-run", h.as(oidc.Requester), body, http.StatusOK, &verdict)
	require.True(t, verdict.Waits, verdict.Message)
	wrong := h.refused(http.MethodPost, "/api/v1/brakes", h.as(oidc.Admin), v1.FreezeRequest{Account: "three", Until: "4h", Reason: "x"}, http.StatusUnprocessableEntity)
	require.Contains(t, wrong.Errors[0].Accepted, "two")
}
