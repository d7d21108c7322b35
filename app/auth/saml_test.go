package auth_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	crewjam "github.com/crewjam/saml"
	dsig "github.com/russellhaering/goxmldsig"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

func TestAPersonSignsInAndComesBackToThePageThatWasAskedFor(t *testing.T) {
	p := newPages(t, nil)
	answer := p.post(p.browser, p.answer(p.begin("/clusters/clu_1?show=all"), nil))
	require.NoError(t, p.last)
	require.Equal(t, http.StatusSeeOther, answer.StatusCode)
	require.Equal(t, "/clusters/clu_1?show=all", answer.Header.Get("Location"))
	session, raw, err := p.session(p.browser)
	require.NoError(t, err)
	require.Equal(t, policy.As("saml:maya@acme.example", "Maya", policy.Requester, "platform"), bare(session.Principal))
	require.Equal(t, policy.Claims{
		Source: profiles.SourceSAML, Issuer: p.idpServer.URL + "/metadata", Subject: "maya@acme.example", Name: "Maya",
		Values: map[string][]string{
			"groups": {"ocpctl-team-platform", "everybody"}, "name": {"Maya"}, "sub": {"maya@acme.example"}, "email": {"maya@acme.example"},
		},
	}, session.Claims, "no attribute may call itself the subject")
	require.WithinDuration(t, time.Now().Add(8*time.Hour), session.Expires, time.Minute)
	require.NotContains(t, raw, "requester", "a session carries no seats")
}

func TestAChangedIdentityCountsAtOnce(t *testing.T) {
	p := newPages(t, nil)
	p.post(p.browser, p.answer(p.begin("/"), nil))
	require.NoError(t, p.last)
	p.identities.set(profiles.Identity{
		Source: profiles.SourceSAML, Match: map[string][]string{"email": {"maya@*"}}, Role: "platform_admin", Teams: []string{"*"},
	})
	session, _, err := p.session(p.browser)
	require.NoError(t, err)
	require.Equal(t, policy.PlatformAdmin, session.Principal.Role())
	p.identities.set()
	session, _, err = p.session(p.browser)
	require.NoError(t, err)
	require.Empty(t, session.Principal.Seats)
}

func TestAnAssertionCountsOnceAndInTheBrowserThatAskedForIt(t *testing.T) {
	p := newPages(t, nil)
	a := p.answer(p.begin("/"), nil)
	stranger := newBrowser(t)
	answer := p.post(stranger, a)
	require.Equal(t, http.StatusUnauthorized, answer.StatusCode)
	var said *auth.Error
	require.ErrorAs(t, p.last, &said)
	require.Equal(t, auth.NotBegun, said.Reason, "somebody else's browser did not begin this")

	cookies := p.browser.Jar.Cookies(mustURL(t, p.URL+auth.FinishPath))
	p.post(p.browser, a)
	require.NoError(t, p.last)
	p.post(p.browser, a)
	require.ErrorAs(t, p.last, &said)
	require.Equal(t, auth.NotBegun, said.Reason, "the browser forgot what it had begun")
	p.browser = newBrowser(t) // one that remembers everything
	p.browser.Jar.SetCookies(mustURL(t, p.URL+auth.FinishPath), cookies)
	p.refused(a, p.post(p.browser, a), auth.Replayed, "already used")
}

func TestWhatCannotBeSpentIsNotAccepted(t *testing.T) {
	p := newPages(t, nil)
	p.spent.down = true
	a := p.answer(p.begin("/"), nil)
	p.refused(a, p.post(p.browser, a), auth.Unavailable, "Try again")
}

func TestTheStateThatComesBackChoosesNoPage(t *testing.T) {
	p := newPages(t, nil)
	for _, next := range []string{"https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/a\tb"} {
		answer := p.post(p.browser, p.answer(p.begin(next), nil))
		require.NoError(t, p.last)
		require.Equal(t, "/", answer.Header.Get("Location"), next)
	}
	for _, relay := range []string{"", "/clusters", "https://evil.example", strings.Repeat("0", 32)} {
		p.browser = newBrowser(t)
		a := answered{p.answer(p.begin("/"), nil).Response, relay}
		p.refused(a, p.post(p.browser, a), auth.NotBegun, "Start again")
	}
}

func TestASignInThatWasBegunElsewhereOrForAnotherPurposeIsNone(t *testing.T) {
	p, other := newPages(t, nil), newPages(t, nil)
	a := p.answer(p.begin("/"), nil)
	for _, c := range p.browser.Jar.Cookies(mustURL(t, p.URL+auth.FinishPath)) {
		_, err := p.verifier.Verify(t.Context(), c.Value)
		require.Error(t, err, "what was begun is no session")
		_, err = other.verifier.Verify(t.Context(), c.Value)
		require.Error(t, err)
	}
	p.post(p.browser, a)
	require.NoError(t, p.last)
	_, session, err := p.session(p.browser)
	require.NoError(t, err)
	a = p.answer(p.begin("/"), nil)
	browser := newBrowser(t)
	browser.Jar.SetCookies(mustURL(t, p.URL+auth.FinishPath), []*http.Cookie{{Name: "ocpctl_signin_" + a.Relay, Value: session, Path: "/saml/"}})
	p.post(browser, a)
	var said *auth.Error
	require.ErrorAs(t, p.last, &said)
	require.Equal(t, auth.NotBegun, said.Reason, "a session is nothing that was begun")
}

func TestSeveralTabsSignInAtOnceAndNoneFillsTheBrowser(t *testing.T) {
	p := newPages(t, nil)
	first, second := p.answer(p.begin("/one"), nil), p.answer(p.begin("/two"), nil)
	require.Equal(t, "/one", p.post(p.browser, first).Header.Get("Location"))
	require.Equal(t, "/two", p.post(p.browser, second).Header.Get("Location"))
	for range 20 {
		p.begin("/")
	}
	require.LessOrEqual(t, len(p.browser.Jar.Cookies(mustURL(t, p.URL+auth.FinishPath))), 6)
}

func TestAManyGroupsPersonFitsIntoABrowserAndTooManyAreSaid(t *testing.T) {
	groups := func(n int) func(*crewjam.IdpAuthnRequest) {
		return func(r *crewjam.IdpAuthnRequest) {
			a := &r.Assertion.AttributeStatements[0].Attributes[0]
			for i := range n {
				a.Values = append(a.Values, crewjam.AttributeValue{Type: "xs:string", Value: fmt.Sprintf("%08d-7b1c-4d4e-9f7a-0123456789ab", i)})
			}
		}
	}
	p := newPages(t, nil)
	p.post(p.browser, p.answer(p.begin("/"), groups(150)))
	require.NoError(t, p.last)
	session, raw, err := p.session(p.browser)
	require.NoError(t, err)
	require.Greater(t, len(raw), 4096)
	require.Len(t, session.Claims.Values["groups"], 152)
	p.post(p.browser, p.answer(p.begin("/"), nil)) // a shorter session leaves nothing of the longer one behind
	session, _, err = p.session(p.browser)
	require.NoError(t, err)
	require.Len(t, session.Claims.Values["groups"], 2)

	p.browser = newBrowser(t)
	a := p.answer(p.begin("/"), groups(600))
	p.refused(a, p.post(p.browser, a), auth.NotAllowed, "only the groups that are assigned")
}

func TestRequestsAreSignedWhereAKeyIsGiven(t *testing.T) {
	key, cert := attemptKey(t)
	p := newPages(t, func(c *auth.SAMLConfig) { c.Key = &auth.SAMLKey{Signer: key, Certificate: cert} })
	to := p.begin("/")
	require.NotEmpty(t, to.Query().Get("Signature"))
	require.Equal(t, dsig.RSASHA256SignatureMethod, to.Query().Get("SigAlg"))
	p.post(p.browser, p.answer(to, nil))
	require.NoError(t, p.last, "nothing is encrypted to the key that signs")
	require.Empty(t, newPages(t, nil).begin("/").Query().Get("Signature"))
	_, err := auth.NewSignIn(auth.SAMLConfig{
		Home: p.URL, Sessions: p.sessions, Verifier: p.verifier, Spend: p.spent.spend, Key: &auth.SAMLKey{Signer: newKey(t)},
	})
	require.ErrorContains(t, err, "RSA or ECDSA")
}

func TestTheProvidersMetadataAreReadWhenNeededKeptAndRenewed(t *testing.T) {
	now := time.Now()
	p := newPages(t, func(c *auth.SAMLConfig) { c.Now = func() time.Time { return now } })
	p.down = true
	_, err := p.browser.Get(p.URL + auth.BeginPath)
	require.NoError(t, err)
	var said *auth.Error
	require.ErrorAs(t, p.last, &said)
	require.Equal(t, auth.Unavailable, said.Reason)
	p.down = false
	p.begin("/")
	p.begin("/")
	require.Equal(t, 2, p.asked, "once in vain, once for all who follow")

	p.down, now = true, now.Add(2*time.Hour)
	p.begin("/")
	p.begin("/")
	require.Equal(t, 3, p.asked, "what is known is good while the provider is away")
	p.down = false
}

func TestANewKeyOfTheProviderIsFoundAtTheFirstSignatureWithIt(t *testing.T) {
	now := time.Now()
	p := newPages(t, func(c *auth.SAMLConfig) { c.Now = func() time.Time { return now } })
	p.begin("/")
	key, cert := attemptKey(t)
	p.idp.Key, p.idp.Signer, p.idp.Certificate = key, key, cert
	now = now.Add(2 * time.Minute)
	p.post(p.browser, p.answer(p.begin("/"), nil))
	require.NoError(t, p.last)
	require.Equal(t, 2, p.asked)
}

func TestMetadataMayLieInAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "idp.xml")
	p := newPages(t, func(c *auth.SAMLConfig) { c.Metadata = path })
	_, err := p.browser.Get(p.URL + auth.BeginPath)
	require.NoError(t, err)
	require.ErrorContains(t, p.last, "does not respond")
	answer, err := http.Get(p.idpServer.URL + "/metadata")
	require.NoError(t, err)
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	p.begin("/")
}

func TestOverHTTPSCookiesNeverTravelInTheOpen(t *testing.T) {
	p := newPages(t, func(c *auth.SAMLConfig) { c.Home = "https://ocpctl.example.com" })
	answer, err := p.browser.Get(p.URL + auth.BeginPath)
	require.NoError(t, err)
	answer.Body.Close()
	set := answer.Header.Get("Set-Cookie")
	for _, want := range []string{"__Host-ocpctl_signin_", "HttpOnly", "Secure", "SameSite=None", "Path=/;"} {
		require.Contains(t, set, want, "the provider's page posts from another site")
	}
	require.NotContains(t, set, "Domain")
	w := httptest.NewRecorder()
	auth.ClearCookie(w, true)
	for _, want := range []string{"__Host-ocpctl_session=;", "HttpOnly", "Secure", "SameSite=Lax", "Max-Age=0"} {
		require.Contains(t, w.Header().Get("Set-Cookie"), want)
	}
	planted := httptest.NewRequest(http.MethodGet, "/", nil) // by another host of the domain, which cannot say __Host-
	planted.Header.Set("Cookie", "ocpctl_session=of-somebody-else; ocpctl_session_1=x")
	require.Empty(t, auth.FromCookie(planted, true))
	planted.Header.Add("Cookie", "__Host-ocpctl_session=to; __Host-ocpctl_session_1=ken")
	require.Equal(t, "token", auth.FromCookie(planted, true))
}
