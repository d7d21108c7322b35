package auth_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/beevik/etree"
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
	require.Equal(t, policy.As("saml:maya@acme.example", "Maya", policy.Requester, "platform"), session.Principal)
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

// late moves an assertion into the past.
func late(req *crewjam.IdpAuthnRequest) {
	then := time.Now().Add(-10 * time.Minute)
	req.Assertion.Conditions.NotBefore, req.Assertion.Conditions.NotOnOrAfter = then.Add(-time.Minute), then
}

func TestAnAssertionThatIsNotInOrderIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*crewjam.IdpAuthnRequest)
		reason auth.Reason
		words  string
	}{
		"for another audience": {func(r *crewjam.IdpAuthnRequest) {
			r.Assertion.Conditions.AudienceRestrictions[0].Audience.Value = "https://other.example"
		}, auth.WrongAudience, "set the audience to"},
		"for ours and another audience": {func(r *crewjam.IdpAuthnRequest) {
			more := crewjam.AudienceRestriction{Audience: crewjam.Audience{Value: "https://other.example"}}
			r.Assertion.Conditions.AudienceRestrictions = append(r.Assertion.Conditions.AudienceRestrictions, more)
		}, auth.WrongAudience, "set the audience to"},
		"for nobody in particular": {func(r *crewjam.IdpAuthnRequest) { r.Assertion.Conditions.AudienceRestrictions = nil }, auth.WrongAudience, "audience"},
		"for another address": {func(r *crewjam.IdpAuthnRequest) {
			r.Assertion.Subject.SubjectConfirmations[0].SubjectConfirmationData.Recipient = "https://other.example/saml/acs"
		}, auth.WrongAudience, "ACS URL"},
		"over":                 {late, auth.Expired, "too old"},
		"issued long ago":      {func(r *crewjam.IdpAuthnRequest) { r.Assertion.IssueInstant = time.Now().Add(-10 * time.Minute) }, auth.Expired, "too old"},
		"answered long ago":    {func(r *crewjam.IdpAuthnRequest) { r.Now = time.Now().Add(-10 * time.Minute) }, auth.Expired, "too old"},
		"not yet":              {func(r *crewjam.IdpAuthnRequest) { r.Assertion.Conditions.NotBefore = time.Now().Add(time.Hour) }, auth.NotYet, "clocks"},
		"without an end":       {func(r *crewjam.IdpAuthnRequest) { r.Assertion.Conditions.NotOnOrAfter = time.Time{} }, auth.Expired, "too old"},
		"of another provider":  {func(r *crewjam.IdpAuthnRequest) { r.Assertion.Issuer.Value = "https://evil.example" }, auth.Malformed, "not accepted"},
		"about nobody":         {func(r *crewjam.IdpAuthnRequest) { r.Assertion.Subject = nil }, auth.Malformed, "lacks a part"},
		"without a name":       {func(r *crewjam.IdpAuthnRequest) { r.Assertion.Subject.NameID = nil }, auth.Malformed, "lacks a part"},
		"without confirmation": {func(r *crewjam.IdpAuthnRequest) { r.Assertion.Subject.SubjectConfirmations = nil }, auth.Malformed, "lacks a part"},
		"not for the bearer": {func(r *crewjam.IdpAuthnRequest) {
			r.Assertion.Subject.SubjectConfirmations[0].Method = "urn:oasis:names:tc:SAML:2.0:cm:sender-vouches"
		}, auth.Malformed, "lacks a part"},
		"to another request": {func(r *crewjam.IdpAuthnRequest) { r.Request.ID = "id-of-another" }, auth.NotBegun, "Begin it again"},
		"to another request within": {func(r *crewjam.IdpAuthnRequest) {
			r.Assertion.Subject.SubjectConfirmations[0].SubjectConfirmationData.InResponseTo = "id-of-another"
		}, auth.NotBegun, "Begin it again"},
		"to no request": {func(r *crewjam.IdpAuthnRequest) {
			r.Request.ID = ""
			r.Assertion.Subject.SubjectConfirmations[0].SubjectConfirmationData.InResponseTo = ""
		}, auth.NotBegun, "portal"},
		"signed with SHA-1": {func(r *crewjam.IdpAuthnRequest) {
			weak := *r.IDP
			weak.SignatureMethod = dsig.RSASHA1SignatureMethod
			r.IDP = &weak
		}, auth.BadSignature, "not signed by the identity provider"},
		"signed by a stranger": {func(r *crewjam.IdpAuthnRequest) {
			other := *r.IDP
			key, cert := pair(t)
			other.Key, other.Signer, other.Certificate = key, key, cert
			r.IDP = &other
		}, auth.BadSignature, "not signed by the identity provider"},
		"when the provider's session is over": {func(r *crewjam.IdpAuthnRequest) {
			then := time.Now().Add(-time.Second)
			r.Assertion.AuthnStatements[0].SessionNotOnOrAfter = &then
		}, auth.Expired, "has ended"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPages(t, nil)
			a := p.answer(p.begin("/"), c.change)
			p.refused(a, p.post(p.browser, a), c.reason, c.words)
		})
	}
}

// unsigned takes a signature away.
func unsigned(at string) func(*etree.Element) {
	return func(root *etree.Element) {
		for _, signature := range root.FindElements(at) {
			signature.Parent().RemoveChild(signature)
		}
	}
}

func TestAResponseThatWasChangedAfterItWasSignedIsRefused(t *testing.T) {
	forged := func(assertion *etree.Element) *etree.Element {
		evil := assertion.Copy()
		evil.CreateAttr("ID", "evil")
		evil.FindElement(".//NameID").SetText("will@acme.example")
		unsigned("./Signature")(evil)
		return evil
	}
	for name, c := range map[string]struct {
		edit   func(root *etree.Element)
		reason auth.Reason
	}{
		"a changed name": {func(r *etree.Element) { r.FindElement(".//NameID").SetText("will@acme.example") }, auth.BadSignature},
		"another group":  {func(r *etree.Element) { r.FindElement(".//AttributeValue").SetText("ocpctl-admins") }, auth.BadSignature},
		"a longer life": {func(r *etree.Element) {
			r.FindElement(".//Conditions").CreateAttr("NotOnOrAfter", "2999-01-01T00:00:00Z")
		}, auth.BadSignature},
		"no signature at all": {unsigned(".//Signature"), auth.BadSignature},
		"a changed assertion whose response is unsigned": {func(r *etree.Element) {
			unsigned("./Signature")(r)
			r.FindElement(".//NameID").SetText("will@acme.example")
		}, auth.BadSignature},
		"a forged assertion before the signed one": {func(r *etree.Element) {
			unsigned("./Signature")(r)
			r.InsertChildAt(0, forged(r.FindElement("./Assertion")))
		}, auth.Malformed},
		"a forged assertion after the signed one": {func(r *etree.Element) {
			unsigned("./Signature")(r)
			r.AddChild(forged(r.FindElement("./Assertion")))
		}, auth.Malformed},
		"the signed assertion wrapped into the forged one": {func(r *etree.Element) {
			unsigned("./Signature")(r)
			good := r.FindElement("./Assertion")
			evil := forged(good)
			r.RemoveChild(good)
			evil.AddChild(good)
			r.AddChild(evil)
		}, auth.Malformed},
		"the signed assertion within the forged one's signature": {func(r *etree.Element) {
			unsigned("./Signature")(r)
			good := r.FindElement("./Assertion")
			evil := forged(good)
			signature := good.FindElement("./Signature").Copy()
			r.RemoveChild(good)
			object := signature.CreateElement("ds:Object")
			unsigned("./Signature")(good)
			object.AddChild(good)
			evil.AddChild(signature)
			r.AddChild(evil)
		}, auth.Malformed},
		"a forged assertion under the signature of the good one": {func(r *etree.Element) {
			unsigned("./Signature")(r)
			good := r.FindElement("./Assertion")
			evil := forged(good)
			evil.AddChild(good.FindElement("./Signature").Copy())
			r.RemoveChild(good)
			r.AddChild(evil)
		}, auth.BadSignature},
		"a forged response around the signed one": {func(r *etree.Element) {
			good := r.Copy()
			r.CreateAttr("ID", "evil")
			unsigned("./Signature")(r)
			evil := forged(r.FindElement("./Assertion"))
			r.RemoveChild(r.FindElement("./Assertion"))
			r.AddChild(evil)
			r.CreateElement("samlp:Extensions").AddChild(good)
		}, auth.Malformed},
		"the same id twice": {func(r *etree.Element) {
			id := r.SelectAttrValue("ID", "")
			r.FindElement(".//Conditions").CreateAttr("ID", id)
		}, auth.Malformed},
		"an encrypted assertion": {func(r *etree.Element) {
			unsigned("./Signature")(r)
			r.FindElement("./Assertion").Tag = "EncryptedAssertion"
		}, auth.Malformed},
		"a reference to the whole document": {func(r *etree.Element) { r.FindElement(".//Reference").CreateAttr("URI", "") }, auth.BadSignature},
		"an identity provider that refuses": {func(r *etree.Element) {
			unsigned("./Signature")(r)
			r.FindElement(".//StatusCode").CreateAttr("Value", "urn:oasis:names:tc:SAML:2.0:status:Responder")
		}, auth.NotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPages(t, nil)
			a := edited(t, p.answer(p.begin("/"), nil), c.edit)
			p.refused(a, p.post(p.browser, a), c.reason, "")
		})
	}
}

func TestEitherSignatureIsEnough(t *testing.T) {
	p := newPages(t, nil)
	p.post(p.browser, edited(t, p.answer(p.begin("/"), nil), unsigned("./Signature")))
	require.NoError(t, p.last, "the assertion's alone, as Identity Center signs")
	p.browser = newBrowser(t)
	p.post(p.browser, p.answer(p.begin("/"), func(r *crewjam.IdpAuthnRequest) { // the response's alone
		require.NoError(t, r.MakeAssertionEl())
		unsigned("./Signature")(r.AssertionEl)
	}))
	require.NoError(t, p.last)
}

func TestWhatIsNoResponseIsRefused(t *testing.T) {
	p := newPages(t, nil)
	relay := p.answer(p.begin("/"), nil).Relay
	for name, text := range map[string]string{
		"nothing": "", "no base64": "%%%", "no XML": "aGVsbG8=",
		"a document type": base64.StdEncoding.EncodeToString([]byte(`<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol">&e;</samlp:Response>`)),
		"another element": base64.StdEncoding.EncodeToString([]byte(`<samlp:LogoutResponse xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"/>`)),
	} {
		p.browser = newBrowser(t)
		relay = p.answer(p.begin("/"), nil).Relay
		a := answered{text, relay}
		p.refused(a, p.post(p.browser, a), auth.Malformed, "Sign in again")
		require.NotContains(t, p.last.Error(), "passwd", name)
	}
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
	p.refused(a, p.post(p.browser, a), auth.Replayed, "used before")
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
		p.refused(a, p.post(p.browser, a), auth.NotBegun, "Begin it again")
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
	key, cert := pair(t)
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
	key, cert := pair(t)
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
	require.ErrorContains(t, p.last, "does not answer")
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
	for _, want := range []string{"HttpOnly", "Secure", "SameSite=None", "Path=/saml/"} {
		require.Contains(t, set, want, "the provider's page posts from another site")
	}
	w := httptest.NewRecorder()
	auth.ClearCookie(w, true)
	for _, want := range []string{"ocpctl_session=;", "HttpOnly", "Secure", "SameSite=Lax", "Max-Age=0"} {
		require.Contains(t, w.Header().Get("Set-Cookie"), want)
	}
}
