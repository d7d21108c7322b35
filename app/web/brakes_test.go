package web

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnAdminFreezesAndThawsOnThePage(t *testing.T) {
	h := newFixture(t)
	_, page, _ := h.as("will").get("/brakes")
	require.Contains(t, page, "No brakes")
	_, page, _ = h.as("will").post("/brakes", url.Values{"region": {"mars"}, "until": {"4h"}, "reason": {"x"}})
	require.Contains(t, says(page), "us-east-1", "it names what would be accepted")
	_, page, _ = h.as("will").post("/brakes", url.Values{"region": {"us-east-1"}, "until": {"4h"}, "reason": {"an <b>outage</b>"}})
	require.Contains(t, says(page), "New clusters wait")
	require.Contains(t, page, "froze new clusters in the region us-east-1 from")
	require.Contains(t, page, "an &lt;b&gt;outage")
	_, page, _ = h.as("will").post("/brakes", url.Values{"region": {"us-east-1"}, "until": {"4h"}, "drain_by": {"2h"}, "reason": {"x"}})
	require.Contains(t, says(page), "Nothing was frozen, because a time to drain by was given without Drain")
	_, page, _ = h.as("will").post("/brakes", url.Values{"region": {"us-east-1"}, "until": {"4h"}, "drain": {"yes"}, "drain_by": {"5h"}, "reason": {"x"}})
	require.Contains(t, says(page), "is not a time within the next 4 h")
	_, page, _ = h.as("will").post("/brakes", url.Values{"region": {"us-east-1"}, "until": {"4h"}, "drain": {"yes"}, "reason": {"x"}})
	require.Contains(t, says(page), "The clusters there end by")
	require.Contains(t, page, ", and the clusters there end by")
	_, page, _ = h.as("will").post("/brakes/all/thaw", url.Values{})
	require.Contains(t, says(page), "goes on")
	require.Contains(t, page, "No brakes")
	status, _, _ := h.as("maya").get("/brakes")
	require.Equal(t, http.StatusForbidden, status)
}
