package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
)

func TestAJobWithANameThatWasAnothersIsNobody(t *testing.T) {
	h := fixtureWith(t, withWorkflows(t), nil)
	var shares v1.Shares
	made := h.make(oidc.Requester, "shop")
	share := v1.ShareRequest{Kind: "principal", With: h.id(oidc.GitHubActions), Access: "use", Role: "view"}
	h.does(http.MethodPost, "/api/v1/clusters/"+made.ClusterID+"/shares", h.as(oidc.Requester), share, http.StatusOK, &shares)
	h.does(http.MethodGet, "/api/v1/clusters/"+made.ClusterID, h.job(), nil, http.StatusOK, nil)

	for what, claims := range map[string][]string{
		"repository acme/shop (number 66001)":   {"repository_id", "66001"},
		"account acme (number 66)":              {"repository_owner_id", "66"},
		"repository acme/shop (number unknown)": {"repository_id", ""},
	} {
		stranger := h.job(claims...)
		p := h.refused(http.MethodPost, "/api/v1/clusters", stranger, wanting("theirs", nil), http.StatusForbidden, idempotencyKey, strings.ReplaceAll(what, " ", "-"))
		require.Contains(t, p.Detail, what)
		h.refused(http.MethodGet, "/api/v1/clusters/"+made.ClusterID, stranger, nil, http.StatusForbidden)
		h.refused(http.MethodGet, "/api/v1/clusters/"+made.ClusterID+"/kubeconfig", stranger, nil, http.StatusForbidden)
		h.refused(http.MethodGet, "/api/v1/clusters", stranger, nil, http.StatusForbidden)
	}
	h.does(http.MethodGet, "/api/v1/clusters/"+made.ClusterID, h.job(), nil, http.StatusOK, nil)
}
