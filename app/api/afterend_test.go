package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
)

// What opens a cluster is deleted after its end. Before it is, and where that fails, it is handed out to nobody either.
func TestNothingThatOpensADestroyedClusterIsHandedOut(t *testing.T) {
	h := newFixture(t)
	made := h.make(oidc.Requester, "shop")
	h.ready(made.ClusterID)
	path, admin := "/api/v1/clusters/"+made.ClusterID, h.as(oidc.Admin)
	var kubeconfig, kubeadmin v1.Link
	h.does(http.MethodPost, path+"/kubeconfig-links", admin, nil, http.StatusCreated, &kubeconfig)
	var asked v1.Approval
	h.does(http.MethodPost, path+"/break-glass", admin, v1.Reason{Reason: "the oauth pods are down"}, http.StatusAccepted, &asked)
	h.does(http.MethodPost, "/api/v1/approvals/"+asked.ApprovalID+"/approve", h.as(boss), v1.MaybeReason{Reason: "go"}, http.StatusOK, nil)
	h.does(http.MethodPost, path+"/kubeadmin-links", admin, nil, http.StatusCreated, &kubeadmin)
	require.NotEmpty(t, h.shelf, "what opens it is still in the bucket")

	_, err := h.store.Pool().Exec(t.Context(), `
		BEGIN;
		SET LOCAL session_replication_role = replica; -- the database wants a proof, which takes a runner
		UPDATE clusters SET status = 'DESTROYED', phase = 'released', desired = 'absent', desired_why = '{"code":"other","words":"x"}', teardown = 'DESTROY', destroyed_at = now() WHERE id = '`+made.ClusterID+`';
		COMMIT`)
	require.NoError(t, err)
	for _, call := range []struct{ method, at string }{
		{http.MethodGet, path + "/kubeconfig"},
		{http.MethodGet, path + "/outputs"},
		{http.MethodPost, path + "/kubeconfig-links"},
		{http.MethodPost, path + "/kubeadmin-links"},
		{http.MethodPost, path + "/break-glass"},
		{http.MethodPost, "/api/v1/links" + kubeconfig.URL[strings.LastIndexByte(kubeconfig.URL, '/'):]},
		{http.MethodPost, "/api/v1/links" + kubeadmin.URL[strings.LastIndexByte(kubeadmin.URL, '/'):]},
	} {
		var body any
		if strings.HasSuffix(call.at, "/break-glass") {
			body = v1.Reason{Reason: "again"}
		}
		problem := h.refused(call.method, call.at, admin, body, http.StatusConflict)
		require.Contains(t, problem.Detail, "shop was destroyed: nothing has been left of it since", call.at)
	}
	_, raw := h.ask(http.MethodGet, path, admin, nil)
	require.NotContains(t, string(raw), servicetest.ClientKey)
	require.NotContains(t, string(raw), "ADMIN-PASSWORD")
}
