package api

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
)

func TestAPullRequestsJobActsOnClustersOfItsOwnRunAlone(t *testing.T) {
	h := fixtureWith(t, withWorkflows(t), nil)
	pull := []string{"event_name", "pull_request", "ref", "refs/pull/41/merge"}
	job, other := h.job(pull...), h.job(append(pull, "run_id", "7002", "check_run_id", "9002")...)
	h.create(h.as(oidc.Requester), "person", nil, http.StatusAccepted, nil)
	h.create(job, "mine", nil, http.StatusAccepted, nil)
	h.create(other, "theirs", map[string]any{"lifetime": "ttl"}, http.StatusAccepted, nil)
	for _, name := range []string{"person", "theirs"} {
		at := "/api/v1/clusters/" + name
		for _, c := range []struct {
			method, path string
			body         any
		}{
			{http.MethodPost, "/shares", v1.ShareRequest{Kind: "principal", With: "saml:outsider", Access: "use", Role: "admin"}},
			{http.MethodDelete, "/access/acc_none", nil},
			{http.MethodGet, "/kubeconfig", nil},
			{http.MethodPost, "/uses", map[string]any{}},
			{http.MethodPost, "/extend", map[string]any{"hours": 1}},
			{http.MethodPost, "/break-glass", map[string]any{"reason": "x"}},
			{http.MethodPost, "/destroy", nil},
		} {
			h.refused(c.method, at+c.path, job, c.body, http.StatusForbidden)
		}
	}
	h.does(http.MethodPost, "/api/v1/clusters/theirs/extend", other, map[string]any{"hours": 1}, http.StatusOK, nil) // its run asked for it
	h.refused(http.MethodPost, "/api/v1/clusters/mine/shares", job, v1.ShareRequest{Kind: "principal", With: "saml:outsider", Access: "use"}, http.StatusForbidden)
	var turn v1.Use
	h.does(http.MethodPost, "/api/v1/clusters/mine/uses", job, map[string]any{}, http.StatusCreated, &turn)
	require.Equal(t, v1.UseStateGranted, turn.State)
	h.refused(http.MethodPost, "/api/v1/clusters/mine/destroy", other, nil, http.StatusForbidden)
	h.does(http.MethodPost, "/api/v1/clusters/mine/destroy", job, nil, http.StatusAccepted, nil)
}
