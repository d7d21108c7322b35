package web

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatNoRowCanHoldIsRefusedAndNotAFailureOfOurs(t *testing.T) {
	h := newFixture(t)
	row := h.accept("shop", "platform")
	maya := h.as("maya")
	for _, evil := range []string{"a\x00b", "a\xffb"} {
		status, page, _ := maya.post("/clusters/"+row.ID+"/transfer", url.Values{"team": {evil}, "owner": {"maya"}})
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, page, "not UTF-8. Send plain text.")
		status, _, _ = maya.get("/clusters/" + url.PathEscape("clu_"+evil))
		require.Equal(t, http.StatusBadRequest, status)
		status, _, _ = maya.get("/?cursor=" + url.QueryEscape(evil))
		require.Equal(t, http.StatusBadRequest, status)
	}
}
