package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/servicetest"
)

func TestAClustersPageShowsWhoHasAccessAndRevokesIt(t *testing.T) {
	h := newFixture(t)
	row := h.shown("shop")
	at := "/clusters/" + row.ID
	una, maya := h.as("una"), h.as("maya")
	_, page, _ := una.get(at)
	require.Contains(t, page, `<option>edit</option><option>view</option>`, "the share is for edit")
	require.NotContains(t, page, `<option>admin</option>`)
	require.NotContains(t, page, "Who has access")
	_, page, _ = maya.get(at)
	require.Contains(t, page, `<option>admin</option><option>edit</option><option>view</option>`)

	status, _, _ := una.post(at+"/kubeconfig", url.Values{"role": {"admin"}})
	require.Equal(t, http.StatusForbidden, status)
	_, _, answer := una.post(at+"/kubeconfig-link", url.Values{"role": {"view"}})
	require.True(t, strings.HasPrefix(answer.Request.URL.Path, "/links/"))
	_, page, _ = una.get(at)
	require.Contains(t, page, "Who has access")
	require.Contains(t, page, "(you), view, by share with principal:")
	require.Contains(t, page, "being made")
	servicetest.Mint(t, h.store, h.shelf)
	_, page, _ = maya.get(at)
	_, accesses, _ := strings.Cut(page, "Who has access")
	require.Contains(t, accesses, "until <time")
	h.sql(`UPDATE access SET expires_at = now() + interval '5 minutes'`)
	_, page, _ = maya.get(at)
	require.NotContains(t, page, "for a later end", "it is not theirs")
	_, page, _ = una.get(at)
	require.Contains(t, page, "; download one again for a later end", "it was made for an earlier end of the cluster")
	_, page, _ = h.as("sid").get(at)
	require.Contains(t, page, "Who has access", "whoever sees the cluster")
	require.NotContains(t, page, ">Revoke<", "but may not end it")

	var id string
	require.NoError(t, h.store.Pool().QueryRow(t.Context(), `SELECT id FROM access`).Scan(&id))
	_, page, _ = maya.post(at+"/revoke", url.Values{"access": {id}})
	require.Contains(t, says(page), "The access is revoked.")
	_, page, _ = una.get(at)
	require.Contains(t, page, "revoked: ")
	require.NotContains(t, page, ">Revoke<")
}

func TestTheInstallersKubeconfigIsDownloadedOnceAfterAnApproval(t *testing.T) {
	h := newFixture(t)
	row := h.shown("shop")
	maya, cluster := h.as("maya"), "/clusters/"+row.ID
	_, page, answer := maya.post(cluster+"/break-glass", url.Values{"reason": {"no account works"}, "what": {"kubeconfig"}})
	approval := answer.Request.URL.Path
	require.Contains(t, page, "Hand out the installer&#39;s kubeconfig")
	_, page, _ = maya.post(approval+"/approve", nil)
	require.NotContains(t, page, "Get the link")
	_, page, _ = h.as("will").post(approval+"/approve", nil)
	require.Equal(t, "Approved. The requester can download the installer's kubeconfig once.", says(page))
	_, page, _ = maya.get(cluster)
	require.Contains(t, page, "Get the link to the kubeconfig")
	_, page, answer = maya.post(cluster+"/admin-kubeconfig-link", nil)
	require.Contains(t, page, "The installer's kubeconfig of shop")
	link := answer.Request.URL.Path
	status, page, _ := maya.post(link, nil)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, page, servicetest.ClientKey)
	status, _, _ = maya.post(link, nil)
	require.Equal(t, http.StatusNotFound, status, "once")
}
