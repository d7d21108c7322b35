package web

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// fail has the install of a cluster failed and cleaned up.
func (h *fixture) fail(id string) {
	for _, sql := range []string{
		`ALTER TABLE clusters DISABLE TRIGGER USER`,
		`UPDATE clusters SET status = 'DESTROYED', phase = 'released', desired = 'absent', teardown = 'DESTROY', destroyed_at = created_at, installation = NULL, repo = NULL, pr_number = NULL, pr_head = NULL, fail_reason = 'QuotaExceeded',
			fail_message = 'the account has no vCPUs left', desired_why = '{"code":"install_failed","words":"quota"}' WHERE id = '` + id + `'`,
		`ALTER TABLE clusters ENABLE TRIGGER USER`,
	} {
		_, err := h.store.Pool().Exec(h.Context(), sql)
		require.NoError(h, err)
	}
}

func TestAFailedInstallStaysInTheListAndIsCreatedAgain(t *testing.T) {
	b := newBrowser(t)
	shop := b.accept("shop", "platform")
	b.fail(shop.ID)
	b.signIn("maya")
	_, page, _ := b.get("/clusters")
	require.Contains(t, page, `<span class="pill failed">FAILED</span> <small>cleaned up</small>`)
	require.Contains(t, page, "the account has no vCPUs left")
	_, page, _ = b.get("/clusters?q=failed")
	require.Contains(t, page, "Create again")

	status, page, answer := b.post("/clusters/"+shop.ID+"/retry", url.Values{})
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, page, "was requested again. This is the new cluster.")
	first := answer.Request.URL.Path
	require.NotEqual(t, "/clusters/"+shop.ID, first)
	_, _, answer = b.post("/clusters/"+shop.ID+"/retry", url.Values{})
	require.Equal(t, first, answer.Request.URL.Path, "pressed twice, it is one cluster")
}
