package web

import (
	"html/template"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/devstack/saml"
)

func TestWithoutASessionEveryPageLeadsToSigningInAndBack(t *testing.T) {
	b := newBrowser(t)
	row := b.accept("shop", "platform")
	status, page, answer := b.get("/clusters/" + row.ID)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "/login", answer.Request.URL.Path)
	require.Contains(t, page, "Sign in with "+template.HTMLEscapeString(saml.Name))
	require.NotContains(t, page, row.Name)
	next := answer.Request.URL.Query().Get("next")
	require.Contains(t, page, `href="/saml/login?next=%2fclusters%2f`+row.ID+`"`)

	require.NoError(t, saml.SignIn(t.Context(), b.Client, b.base, "maya", "demo-maya", next))
	_, page, answer = b.get("/clusters/" + row.ID)
	require.Equal(t, "/clusters/"+row.ID, answer.Request.URL.Path)
	require.Contains(t, page, "shop")
	require.Contains(t, page, "Maya")
	for _, c := range b.Jar.Cookies(answer.Request.URL) {
		require.NotContains(t, page, c.Value, "no page shows a session")
	}

	_, page, _ = b.post("/logout", nil)
	require.Contains(t, page, "Sign in with")
	_, _, answer = b.get("/")
	require.Equal(t, "/login", answer.Request.URL.Path)
	require.Empty(t, b.Jar.Cookies(answer.Request.URL))
}

func TestASignInThatComesToNothingSaysWhy(t *testing.T) {
	b := newBrowser(t)
	require.ErrorContains(t, saml.SignIn(t.Context(), b.Client, b.base, "maya", "guessed", "/"), "No such name and password")
	status, page, answer := b.post("/saml/acs", url.Values{"SAMLResponse": {"abc"}, "RelayState": {"/"}})
	require.Equal(t, http.StatusUnauthorized, status)
	require.Contains(t, page, "not started in this browser")
	require.Contains(t, page, "Sign in with", "and how to begin again")
	require.Empty(t, answer.Header.Get("Set-Cookie"))
}

func TestTheListShowsWhatTheTeamOwns(t *testing.T) {
	b := newBrowser(t)
	b.signIn("maya")
	_, page, _ := b.get("/clusters")
	require.Contains(t, page, "No live clusters")
	mine, theirs := b.accept("shop", "platform"), b.accept("vault", "security")
	_, page, _ = b.get("/clusters")
	require.Contains(t, page, `href="/clusters/`+mine.ID)
	require.Contains(t, page, "$0.75/h")
	require.Contains(t, page, "acme/shop#41")
	require.NotContains(t, page, "vault")
	status, page, _ := b.get("/clusters/" + theirs.ID)
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, page, "You have no cluster")
}

func TestTheDetailShowsTheHistory(t *testing.T) {
	b := newBrowser(t)
	b.signIn("ada")
	row := b.accept("shop", "platform")
	_, page, answer := b.get("/clusters/" + row.ID)
	for _, want := range []string{"PENDING", "queued", "accepted", "shop.labs.example.com", "aria-current=\"step\"", "Timeline", "Log"} {
		require.Contains(t, page, want)
	}
	require.Contains(t, answer.Header.Get("Content-Security-Policy"), "default-src 'none'")
	require.Equal(t, "no-store", answer.Header.Get("Cache-Control"))
	require.NotContains(t, page, "<script>", "no inline script: the policy would refuse it")
	require.NotContains(t, page, "style=", "nor inline style")
}

func TestAKubeconfigIsNotReadyBeforeTheClusterIs(t *testing.T) {
	b := newBrowser(t)
	b.signIn("maya")
	row := b.accept("shop", "platform")
	status, page, _ := b.post("/clusters/"+row.ID+"/kubeconfig", nil)
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, page, "not ready yet")
}

func TestAnotherSiteCannotActForTheBrowser(t *testing.T) {
	b := newBrowser(t)
	b.signIn("maya")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.base+"/logout", strings.NewReader(""))
	require.NoError(t, err)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	r.Header.Set("Origin", "https://evil.example")
	answer, err := b.Do(r)
	require.NoError(t, err)
	answer.Body.Close()
	require.Equal(t, http.StatusForbidden, answer.StatusCode)
}

func TestAPageThatIsNotThereSaysSo(t *testing.T) {
	b := newBrowser(t)
	status, page, _ := b.get("/nothing")
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, page, "This page does not exist.")
	status, page, _ = b.get("/clusters") // what one gets by shortening a cluster's address
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, page, "Sign in")
	for _, asset := range []string{"/assets/style.css", "/assets/live.js", "/assets/icon.svg"} {
		status, _, _ := b.get(asset)
		require.Equal(t, http.StatusOK, status, asset)
	}
}

func TestAnIdentityProviderThatIsDownIsSaid(t *testing.T) {
	b := newBrowser(t)
	require.NoError(t, b.provider.Stop())
	status, page, _ := b.get("/saml/login")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, page, "does not respond")
}

func TestWithoutAnIdentityProviderNobodySignsInToThePages(t *testing.T) {
	server := httptest.NewServer(New(Config{App: app.New(app.Config{}), Auth: auth.New(auth.Config{})}))
	t.Cleanup(server.Close)
	b := &browser{&fixture{TB: t, base: server.URL}, &http.Client{}}
	status, page, _ := b.get("/login")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, page, "no identity provider is configured")
	status, _, _ = b.get("/saml/login")
	require.Equal(t, http.StatusNotFound, status)
}

func TestEveryRunbookIsReadWithoutASession(t *testing.T) {
	b := newBrowser(t)
	for _, path := range []string{"/runbooks", "/runbooks/"} {
		status, page, answer := b.get(path)
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, path, answer.Request.URL.Path, "nobody is sent to the sign-in page")
		require.Contains(t, page, "<title>Runbooks · ocpctl</title>")
		require.Contains(t, page, `href="/runbooks/destroy-blocked"`)
	}
	for name := range renderRunbooks() {
		status, page, answer := b.get("/runbooks/" + name)
		require.Equal(t, http.StatusOK, status, name)
		require.Equal(t, "/runbooks/"+name, answer.Request.URL.Path)
		for _, link := range regexp.MustCompile(`href="/runbooks/([^"#]*)(?:#([^"]*))?"`).FindAllStringSubmatch(page, -1) {
			status, there, _ := b.get("/runbooks/" + link[1])
			require.Equal(t, http.StatusOK, status, "%s links to %s", name, link[0])
			if link[2] != "" {
				require.Contains(t, there, ` id="`+link[2]+`"`, "%s links to %s", name, link[0])
			}
		}
		require.NotContains(t, page, ".md\"", name)
		require.NotContains(t, page, "style=", name)
		require.NotContains(t, page, "raw HTML omitted", name)
	}
	status, page, _ := b.get("/runbooks/no-such-page")
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, page, "This runbook does not exist")
}

func TestARunbooksTableIsReachedByItsReasons(t *testing.T) {
	page, err := renderRunbook(newMarkdown(), []byte("# A title\n\n| reason | do |\n|:---|---|\n| `VcpuLimitExceeded`, `TooMany` | [there](other-page.md#x) `Not` |\n\n<script>x</script>\n[no](javascript:x)\n"))
	require.NoError(t, err)
	require.Equal(t, "A title", page.Title)
	for _, want := range []string{`id="vcpulimitexceeded"`, `id="toomany"`, `href="/runbooks/other-page#x"`} {
		require.Contains(t, string(page.Body), want)
	}
	for _, not := range []string{`id="not"`, "<script>", "javascript:", "style="} {
		require.NotContains(t, string(page.Body), not)
	}
}
