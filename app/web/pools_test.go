package web

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnAdminPausesResizesAndDrainsAPool(t *testing.T) {
	h := newFixture(t)
	_, page, _ := h.as("will").get("/pools")
	for _, want := range []string{`<a href="/pools/stock">stock</a>`, `<a href="/pools/own">own</a>`, "$0.00 of $400.00", "without a limit"} {
		require.Contains(t, page, want)
	}
	change := func(form url.Values) string {
		_, page, _ := h.as("will").post("/pools/stock", form)
		return page
	}
	page = change(url.Values{"action": {"pause"}, "reason": {"a bad night"}})
	require.Contains(t, says(page), "can still be claimed")
	require.Contains(t, page, "it is paused")
	page = change(url.Values{"action": {"resize"}, "size": {"9"}})
	require.Contains(t, says(page), "max", "and names what would be accepted")
	require.Contains(t, change(url.Values{"action": {"resize"}, "size": {"0"}}), "0, with claimed ones at most 6")
	require.Contains(t, change(url.Values{"action": {"drain"}}), "draining")
	page = change(url.Values{"action": {"resume"}})
	require.Contains(t, says(page), "works again")
	require.Contains(t, page, `value="pause"`)
}

func TestAPoolIsShownToThoseWhoMayClaimFromItAndChangedByAdminsAlone(t *testing.T) {
	h := newFixture(t)
	_, page, _ := h.as("maya").get("/pools")
	require.Contains(t, page, "/pools/stock")
	require.NotContains(t, page, "/pools/own", "it is for another team")
	status, _, _ := h.as("maya").get("/pools/own")
	require.Equal(t, http.StatusNotFound, status)
	_, page, _ = h.as("maya").get("/pools/stock")
	require.NotContains(t, page, "Change the pool")
	status, _, _ = h.as("maya").post("/pools/stock", url.Values{"action": {"pause"}})
	require.Equal(t, http.StatusForbidden, status)
	_, page, _ = h.as("ada").get("/pools/own")
	require.Contains(t, page, "payments pays for waiting", "an auditor reads everything")
	require.NotContains(t, page, "Change the pool")
}
