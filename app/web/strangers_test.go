package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// Another site can make a person's browser send a form with the person's cookie. None of ours takes one.
func TestNoFormIsTakenFromAnotherSite(t *testing.T) {
	h := newFixture(t)
	row := h.accept("shop", "platform")
	b := h.as("will")
	forms := 0
	for route := range (&pages{}).privateRoutes() {
		path, post := strings.CutPrefix(route, "POST ")
		if !post {
			continue
		}
		forms++
		path = strings.NewReplacer("{id}", row.ID, "{link}", "x").Replace(path)
		for name, headers := range map[string]map[string]string{
			"a page elsewhere":              {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
			"another host of the domain":    {"Sec-Fetch-Site": "same-site", "Origin": "https://other.example.com"},
			"a browser without that header": {"Origin": "https://evil.example"},
			"a page that hides where it is": {"Origin": "null"},
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.base+path, strings.NewReader("for=1h&reason=x"))
			require.NoError(t, err)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			for key, value := range headers {
				r.Header.Set(key, value)
			}
			answer, err := b.Do(r)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
			require.Equal(t, http.StatusForbidden, answer.StatusCode, "%s from %s", route, name)
		}
	}
	require.Greater(t, forms, 20)
	now, err := h.store.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, row.Version, now.Version, "nothing was done")
}

// A mail scanner, a browser that reads ahead and a person who only looks change nothing, and use up no link.
func TestToLookChangesNothing(t *testing.T) {
	h := newFixture(t)
	row := h.accept("shop", "platform")
	link, err := h.Credentials.AccountLink(t.Context(), "github:will", "1", clusters.Origin{Actor: "github:will"})
	require.NoError(t, err)
	_, handle, _ := strings.Cut(link.URL.Reveal(), "/links/")
	var before, after int
	const lines = `SELECT count(*) FROM audit_events`
	require.NoError(t, h.store.Pool().QueryRow(t.Context(), lines).Scan(&before))
	for route := range (&pages{}).privateRoutes() {
		path, get := strings.CutPrefix(route, "GET ")
		if !get || path == "/deliveries/{id}" { // the reading of a body is written down
			continue
		}
		path = strings.NewReplacer("{id}", row.ID, "{link}", handle, "{$}", "").Replace(path)
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			r, err := http.NewRequestWithContext(t.Context(), method, h.base+path, nil)
			require.NoError(t, err)
			answer, err := h.as("will").Do(r)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
		}
	}
	require.NoError(t, h.store.Pool().QueryRow(t.Context(), lines).Scan(&after))
	require.Equal(t, before, after)
	_, err = h.Credentials.Redeem(t.Context(), h.principal("will"), handle, app.Origin{Source: policy.SourceWeb})
	require.NoError(t, err, "the link is still good")
}
