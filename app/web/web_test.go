package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/internal/house/oidc"
	"github.com/ocpctl/ocpctl/internal/house/postgres/pgtest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

type emptyShelf struct{}

func (emptyShelf) Read(context.Context, string) ([]byte, error) {
	return nil, errors.New("no such object")
}

// browser is a person at the pages, over real HTTP.
type browser struct {
	*testing.T
	*http.Client
	base   string
	issuer *oidc.Issuer
	store  *store.Store
}

func newBrowser(t *testing.T) *browser {
	s, err := store.Open(t.Context(), pgtest.New(t), store.Options{
		Limits: lifecycle.Limits{
			LaunchPatience: time.Minute, LeaseGrace: time.Minute, LookAgain: time.Second, RetryBase: time.Second, RetryMax: time.Hour,
			BlockAfter: 3, VerifyGap: time.Second, WarnBefore: time.Minute,
		},
		Lease: time.Minute, Installation: "test",
	})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	issuer, err := oidc.Start(t.Context(), oidc.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, issuer.Stop()) })
	server := httptest.NewServer(New(Config{
		Desk: app.New(app.Config{Store: s, Artifacts: emptyShelf{}}), Demo: true,
		Auth: auth.New(auth.Config{Issuers: []auth.Issuer{{URL: issuer.URL(), Audience: oidc.Audience}}}),
	}))
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &browser{t, &http.Client{Jar: jar}, server.URL, issuer, s}
}

func (b *browser) get(path string) (int, string, *http.Response) {
	b.Helper()
	answer, err := b.Get(b.base + path)
	require.NoError(b, err)
	return b.read(answer)
}

func (b *browser) post(path string, form url.Values) (int, string, *http.Response) {
	b.Helper()
	answer, err := b.PostForm(b.base+path, form)
	require.NoError(b, err)
	return b.read(answer)
}

func (b *browser) read(answer *http.Response) (int, string, *http.Response) {
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	require.NoError(b, err)
	return answer.StatusCode, string(raw), answer
}

func (b *browser) signIn(c oidc.Claims) {
	b.Helper()
	raw, err := b.issuer.Token(c)
	require.NoError(b, err)
	status, page, _ := b.post("/login", url.Values{"token": {" " + raw + "\n"}, "next": {"/"}})
	require.Equal(b, http.StatusOK, status)
	require.Contains(b, page, c.Name)
}

func (b *browser) accept(name, team string) store.Row {
	b.Helper()
	row := store.Row{CostCenter: "sandbox", Door: string(policy.DoorLabel)}
	row.PR = &store.PRRef{Installation: 5001, Repo: "acme/" + name, Number: 41, Head: "6dcb09b"}
	row.Name, row.Platform, row.Profile, row.Release, row.Region = name, "aws", "aws-minimal-test", "4.20.3", "us-east-1"
	row.BaseDomain, row.Owner, row.Team, row.RequestedBy = "labs.example.com", "maya", team, "github:maya"
	row.TTL, row.HourlyCents, row.MaxTries = time.Hour, 75, 2
	judged, err := b.store.Judge(b.Context(), store.Ask{
		Scope:     store.Scope{Person: row.RequestedBy, Team: row.Team, Repo: row.PR.Repo},
		Principal: row.RequestedBy, Door: row.Door,
	}, func(store.Usage) (store.Judgement, error) {
		return store.Judgement{Accept: &store.Acceptance{Row: row, MaxTTL: 2 * time.Hour, Verdict: []byte(`{"allowed":true}`)}}, nil
	}, nil)
	require.NoError(b, err)
	return judged.Row
}

func TestWithoutASessionEveryPageLeadsToSigningInAndBack(t *testing.T) {
	b := newBrowser(t)
	row := b.accept("shop", "platform")
	status, page, answer := b.get("/clusters/" + row.ID)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "/login", answer.Request.URL.Path)
	require.Contains(t, page, "Paste a token")
	require.NotContains(t, page, row.Name)

	raw, err := b.issuer.Token(oidc.Requester)
	require.NoError(t, err)
	_, page, answer = b.post("/login", url.Values{"token": {raw}, "next": {answer.Request.URL.Query().Get("next")}})
	require.Equal(t, "/clusters/"+row.ID, answer.Request.URL.Path)
	require.Contains(t, page, "shop")
	require.NotContains(t, page, raw, "no page shows a token")

	_, page, _ = b.post("/logout", nil)
	require.Contains(t, page, "Paste a token")
	_, _, answer = b.get("/")
	require.Equal(t, "/login", answer.Request.URL.Path)
}

func TestATokenThatIsNotAcceptedSaysWhy(t *testing.T) {
	b := newBrowser(t)
	for token, words := range map[string]string{"": "Paste a token first", "abc": "not a signed JWT"} {
		status, page, answer := b.post("/login", url.Values{"token": {token}})
		require.Equal(t, http.StatusUnauthorized, status)
		require.Contains(t, page, words)
		require.Empty(t, answer.Header.Get("Set-Cookie"))
	}
}

func TestSigningInNeverLeadsToAnotherServer(t *testing.T) {
	for next, want := range map[string]string{
		"/clusters/x?a=b": "/clusters/x?a=b", "": "/", "https://evil.example": "/", "//evil.example": "/", "/\\evil.example": "/",
		"javascript:alert(1)": "/", "clusters": "/", "/%zz": "/",
	} {
		require.Equal(t, want, local(next), next)
	}
}

func TestTheListShowsWhatTheTeamOwns(t *testing.T) {
	b := newBrowser(t)
	b.signIn(oidc.Requester)
	_, page, _ := b.get("/")
	require.Contains(t, page, "No live clusters")
	mine, theirs := b.accept("shop", "platform"), b.accept("vault", "security")
	_, page, _ = b.get("/")
	require.Contains(t, page, `href="/clusters/`+mine.ID)
	require.Contains(t, page, "$0.75/h")
	require.Contains(t, page, "acme/shop#41")
	require.NotContains(t, page, "vault")
	status, page, _ := b.get("/clusters/" + theirs.ID)
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, page, "There is no cluster")
}

func TestTheDetailTellsTheStory(t *testing.T) {
	b := newBrowser(t)
	b.signIn(oidc.Auditor)
	row := b.accept("shop", "platform")
	_, page, answer := b.get("/clusters/" + row.ID)
	for _, want := range []string{"PENDING", "queued", "accepted", "shop.labs.example.com", "aria-current=\"step\"", "What happened", "Log"} {
		require.Contains(t, page, want)
	}
	require.Contains(t, answer.Header.Get("Content-Security-Policy"), "default-src 'none'")
	require.Equal(t, "no-store", answer.Header.Get("Cache-Control"))
	require.NotContains(t, page, "<script>", "no inline script: the policy would refuse it")
	require.NotContains(t, page, "style=", "nor inline style")
}

func TestAKubeconfigIsNotReadyBeforeTheClusterIs(t *testing.T) {
	b := newBrowser(t)
	b.signIn(oidc.Requester)
	row := b.accept("shop", "platform")
	status, page, _ := b.post("/clusters/"+row.ID+"/kubeconfig", nil)
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, page, "not ready yet")
}

func TestAnotherSiteCannotActForTheBrowser(t *testing.T) {
	b := newBrowser(t)
	b.signIn(oidc.Requester)
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
	require.Contains(t, page, "There is no such page.")
	for _, asset := range []string{"/assets/style.css", "/assets/live.js", "/assets/icon.svg"} {
		status, _, _ := b.get(asset)
		require.Equal(t, http.StatusOK, status, asset)
	}
}

func TestAnIssuerThatIsDownIsSaid(t *testing.T) {
	b := newBrowser(t)
	raw, err := b.issuer.Token(oidc.Requester)
	require.NoError(t, err)
	require.NoError(t, b.issuer.Stop())
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.base+"/", nil)
	require.NoError(t, err)
	r.AddCookie(&http.Cookie{Name: auth.CookieName, Value: raw})
	answer, err := b.Do(r)
	require.NoError(t, err)
	status, page, _ := b.read(answer)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, page, "does not answer")
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
	for name := range runbooks() {
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
	require.Contains(t, page, "There is no such runbook")
}

func TestARunbooksTableIsReachedByItsReasons(t *testing.T) {
	page, err := render(markdown(), []byte("# A title\n\n| reason | do |\n|:---|---|\n| `VcpuLimitExceeded`, `TooMany` | [there](other-page.md#x) `Not` |\n\n<script>x</script>\n[no](javascript:x)\n"))
	require.NoError(t, err)
	require.Equal(t, "A title", page.Title)
	for _, want := range []string{`id="vcpulimitexceeded"`, `id="toomany"`, `href="/runbooks/other-page#x"`} {
		require.Contains(t, string(page.Body), want)
	}
	for _, not := range []string{`id="not"`, "<script>", "javascript:", "style="} {
		require.NotContains(t, string(page.Body), not)
	}
}
