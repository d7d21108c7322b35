package web

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func TestAKubeconfigLinkIsUsedByItsButtonAndNotByBeingLookedAt(t *testing.T) {
	h := newFixture(t)
	row := h.shown("shop")
	b := h.as("maya")
	status, page, answer := b.post("/clusters/"+row.ID+"/kubeconfig-link", nil)
	require.Equal(t, http.StatusOK, status)
	at := answer.Request.URL.Path
	require.True(t, strings.HasPrefix(at, "/links/"))
	for _, want := range []string{"Your kubeconfig of shop", "works once, only for you", `readonly value="` + h.base + at + `"`} {
		require.Contains(t, page, want)
	}
	for range 3 { // mail scanners, browsers that read ahead
		status, _, _ = b.get(at)
		require.Equal(t, http.StatusOK, status)
	}
	status, page, _ = b.post(at, nil)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, page, "is being made")
	servicetest.Mint(t, h.store, h.shelf)
	status, page, answer = b.post(at, nil)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, page, "server: https://api.shop.labs.example.com:6443\n")
	require.Contains(t, page, servicetest.TokenSignature)
	require.Equal(t, `attachment; filename="shop.kubeconfig"`, answer.Header.Get("Content-Disposition"))
	require.Equal(t, "no-store", answer.Header.Get("Cache-Control"))
	status, page, _ = b.post(at, nil)
	require.Equal(t, http.StatusNotFound, status)
	require.NotContains(t, page, "apiVersion")
}

func TestAPasswordIsShownOnceToWhoeverWasGrantedALook(t *testing.T) {
	h := newFixture(t)
	row := h.shown("shop")
	maya, cluster := h.as("maya"), "/clusters/"+row.ID
	_, page, answer := maya.post(cluster+"/break-glass", url.Values{"reason": {"OAuth is down"}})
	approval := answer.Request.URL.Path
	require.True(t, strings.HasPrefix(approval, "/approvals/apr_"))
	require.Contains(t, says(page), "Another platform admin must now approve it.")
	require.Contains(t, page, "OAuth is down")
	require.NotContains(t, page, "Get the link")

	_, page, _ = h.as("will").post(approval+"/approve", nil)
	require.Equal(t, "Approved. The requester can see the password once.", says(page))
	require.NotContains(t, page, "Get the link", "it is for whoever asked")
	_, page, _ = maya.get(cluster)
	require.Contains(t, page, "Get the link to the password")
	_, page, answer = maya.post(cluster+"/kubeadmin-link", nil)
	require.Contains(t, page, "The kubeadmin password of shop")
	require.NotContains(t, page, "AbCdE-12345")

	status, page, answer := maya.post(answer.Request.URL.Path, nil)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, page, `readonly value="AbCdE-12345-fGhIj-67890"`)
	require.Contains(t, page, `readonly value="kubeadmin"`)
	require.Equal(t, "no-store", answer.Header.Get("Cache-Control"))
	status, _, _ = maya.post(answer.Request.URL.Path, nil)
	require.Equal(t, http.StatusNotFound, status)
	_, page, _ = maya.get(cluster)
	require.NotContains(t, page, "Get the link to the password", "one approval, one look")
	require.Contains(t, page, "kubeadmin read", "in what happened")
}

func TestAnAccountIsLinkedByWhoeverSaysThatItIsTheirs(t *testing.T) {
	h := newFixture(t)
	link, err := h.Credentials.AccountLink(t.Context(), "github:maya", "1001", clusters.Origin{Actor: "github:maya"})
	require.NoError(t, err)
	at := strings.TrimPrefix(link.URL.Reveal(), h.base)
	status, page, answer := h.as("nobody").get(at)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, strings.TrimSuffix(h.provider.Metadata(), "/metadata"), "http://"+answer.Request.URL.Host, "whoever opens it signs in")
	require.NotContains(t, page, "GitHub account")

	b := h.as("maya")
	_, page, _ = b.get(at)
	for _, want := range []string{"Is the GitHub account maya yours?", "signed in as <strong>Maya</strong>", "If somebody sent it to you, close this page."} {
		require.Contains(t, page, want)
	}
	for _, typed := range []url.Values{nil, {"account": {"will"}}} {
		status, page, _ = b.post(at, typed)
		require.Equal(t, http.StatusUnprocessableEntity, status, "one click links nothing")
		require.Contains(t, page, "If somebody sent it to you, do not.")
	}
	status, page, _ = b.post(at, url.Values{"account": {"maya"}})
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, page, "Never give it to anybody who asks for it.")
	code := regexp.MustCompile(`value="/ocp link ([A-Z2-7]{6})"`).FindStringSubmatch(page)
	require.NotNil(t, code, page)
	_, page, _ = b.get("/me")
	require.NotContains(t, page, "<code>github:maya</code>", "the account has not confirmed it")
	require.NoError(t, h.Credentials.CompleteLink(t.Context(), "github:maya", strings.ToLower(code[1]), clusters.Origin{Actor: "github:maya"}))
	_, page, _ = b.get("/me")
	require.Contains(t, page, "<code>github:maya</code>")
	_, page, _ = b.post("/me/unlink", url.Values{"account": {"github:maya"}})
	require.Equal(t, "GitHub account maya is no longer linked.", says(page))
	require.NotContains(t, page, "<code>github:maya</code>")
}

func TestAnAccountOfSomebodyElsesIsNotTaken(t *testing.T) {
	h := newFixture(t)
	for i, who := range []string{"rob", "maya"} {
		link, err := h.Credentials.AccountLink(t.Context(), "github:rob", "1002", clusters.Origin{Actor: "github:rob"})
		require.NoError(t, err)
		status, page, _ := h.as(who).post(strings.TrimPrefix(link.URL.Reveal(), h.base), url.Values{"account": {"rob"}})
		require.Equal(t, []int{http.StatusOK, http.StatusConflict}[i], status)
		if i == 1 {
			require.Contains(t, page, "This account belongs to somebody else")
			continue
		}
		code := regexp.MustCompile(`/ocp link ([A-Z2-7]{6})`).FindStringSubmatch(page)
		require.NoError(t, h.Credentials.CompleteLink(t.Context(), "github:rob", code[1], clusters.Origin{Actor: "github:rob"}))
	}
}
