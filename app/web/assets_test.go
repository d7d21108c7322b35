package web

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// fetch gets a path with headers, without the client's own decompression.
func (b *browser) fetch(method, path string, headers map[string]string) *http.Response {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, b.base+path, nil)
	require.NoError(b, err)
	r.Header.Set("Accept-Encoding", "gzip")
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	answer, err := b.Do(r)
	require.NoError(b, err)
	require.NoError(b, answer.Body.Close())
	return answer
}

func TestAnAssetIsLoadedOnce(t *testing.T) {
	b := newBrowser(t)
	_, page, _ := b.get("/login")
	style := regexp.MustCompile(`href="(/assets/[0-9a-f]+/style\.css)"`).FindStringSubmatch(page)
	require.NotNil(t, style)
	answer := b.fetch(http.MethodGet, style[1], nil)
	require.Equal(t, []string{"public, max-age=31536000, immutable", "gzip"}, []string{answer.Header.Get("Cache-Control"), answer.Header.Get("Content-Encoding")})
	known := map[string]string{"If-None-Match": answer.Header.Get("ETag")}
	for _, path := range []string{"/assets/style.css", "/assets/0123456789abcdef/style.css"} { // an older server's page names another content
		answer = b.fetch(http.MethodGet, path, nil)
		require.Equal(t, []any{http.StatusOK, "no-cache"}, []any{answer.StatusCode, answer.Header.Get("Cache-Control")})
		require.Equal(t, http.StatusNotModified, b.fetch(http.MethodGet, path, known).StatusCode)
	}
	for name := range readAssets() {
		answer := b.fetch(http.MethodGet, "/assets/"+name, nil)
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.NotEmpty(t, answer.Header.Get("Content-Type"), name)
	}
	require.Equal(t, http.StatusNotFound, b.fetch(http.MethodGet, "/assets/none.css", nil).StatusCode)
}

func TestPagesAreCompressedAndSecretsAreNot(t *testing.T) {
	h := newFixture(t)
	row := h.shown("shop")
	b := h.as("maya")
	for _, path := range []string{"/", "/clusters/" + row.ID, "/me", "/new"} {
		answer := b.fetch(http.MethodGet, path, nil)
		require.Equal(t, []string{"gzip", "no-store"}, []string{answer.Header.Get("Content-Encoding"), answer.Header.Get("Cache-Control")}, path)
		require.Contains(t, strings.Join(answer.Header.Values("Vary"), ", "), "Accept-Encoding")
		require.Empty(t, b.fetch(http.MethodGet, path, map[string]string{"Accept-Encoding": "identity"}).Header.Get("Content-Encoding"))
	}
	link, err := h.Credentials.AccountLink(t.Context(), "github:will", "1", clusters.Origin{Actor: "github:will", Source: string(policy.SourceSlack)})
	require.NoError(t, err)
	_, handle, _ := strings.Cut(link.URL.Reveal(), "/links/")
	for _, c := range [][2]string{{http.MethodGet, "/links/" + handle}, {http.MethodPost, "/new"}} { // a page with the address of a secret; the answer to a form
		answer := b.fetch(c[0], c[1], nil)
		require.Equal(t, []any{http.StatusOK, ""}, []any{answer.StatusCode, answer.Header.Get("Content-Encoding")}, c)
	}
}
