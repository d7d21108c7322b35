package attack

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"

	"github.com/beevik/etree"
	crewjam "github.com/crewjam/saml"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// samlAttacks are assertions of the trusted identity provider that are for another sign-in, or that were changed.
func samlAttacks() []attack {
	return []attack{
		{name: "identity/saml-order", who: "a user of the identity provider", tried: "assertions that are well signed, and for others, over or not yet valid", short: true, play: misusedAssertions},
		{name: "identity/saml-replay", who: "whoever saw a response", tried: "use an assertion twice, in this browser and another", play: replayedAssertion},
		{name: "identity/saml-wrapping", who: "whoever saw a response", tried: "change a signed response, or wrap a forged assertion around it", play: wrappedAssertions},
	}
}

// samlAnswer begins a sign-in in a browser and lets the identity provider answer it; change modifies the assertion.
func (t *target) samlAnswer(ctx context.Context, browser *http.Client, next, login string, change func(*crewjam.IdpAuthnRequest)) (_ url.Values, err error) {
	defer must.Catch(&err)
	r := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, t.PrivateURL()+auth.BeginPath+"?next="+url.QueryEscape(next), nil))
	got := must.Get(send(browser, r))
	to, err := url.Parse(got.header.Get("Location"))
	must.FailIf(err != nil || got.status != http.StatusSeeOther, "the sign-in began with %d: %w", got.status, err)
	return t.SAML.Answer(ctx, to, login, change)
}

// finish posts a response as the identity provider's page would.
func (t *target) finish(ctx context.Context, browser *http.Client, form url.Values) (answer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.PrivateURL()+auth.FinishPath, strings.NewReader(form.Encode()))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	return send(browser, r)
}

func newBrowser() (*http.Client, error) {
	jar, err := cookiejar.New(nil)
	return &http.Client{Jar: jar, Timeout: 30 * time.Second, CheckRedirect: plain.CheckRedirect}, err
}

// signedIn reports whether a response gave a session.
func signedIn(got answer) bool {
	for _, set := range got.header.Values("Set-Cookie") {
		if name, value, _ := strings.Cut(set, "="); strings.HasPrefix(name, sessionCookie) && !strings.HasPrefix(value, ";") {
			return true
		}
	}
	return false
}

// signsIn posts a response and reports whether it signed somebody in.
func (t *target) signsIn(ctx context.Context, browser *http.Client, form url.Values) (bool, error) {
	got, err := t.finish(ctx, browser, form)
	return err == nil && signedIn(got), err
}

func misusedAssertions(ctx context.Context, t *target) (result, error) {
	then := time.Now().Add(-10 * time.Minute)
	tried := 0
	for what, change := range map[string]func(*crewjam.IdpAuthnRequest){
		"in order": nil, // it must sign in, otherwise the other cases prove nothing
		"for another audience": func(r *crewjam.IdpAuthnRequest) {
			r.Assertion.Conditions.AudienceRestrictions[0].Audience.Value = "https://other.example"
		},
		"for two audiences": func(r *crewjam.IdpAuthnRequest) {
			more := crewjam.AudienceRestriction{Audience: crewjam.Audience{Value: "https://other.example"}}
			r.Assertion.Conditions.AudienceRestrictions = append(r.Assertion.Conditions.AudienceRestrictions, more)
		},
		"for no audience": func(r *crewjam.IdpAuthnRequest) { r.Assertion.Conditions.AudienceRestrictions = nil },
		"for another address": func(r *crewjam.IdpAuthnRequest) {
			r.Assertion.Subject.SubjectConfirmations[0].SubjectConfirmationData.Recipient = "https://other.example/saml/acs"
		},
		"expired": func(r *crewjam.IdpAuthnRequest) {
			r.Assertion.Conditions.NotBefore, r.Assertion.Conditions.NotOnOrAfter = then.Add(-time.Minute), then
		},
		"issued long ago": func(r *crewjam.IdpAuthnRequest) { r.Assertion.IssueInstant = then },
		"without an end":  func(r *crewjam.IdpAuthnRequest) { r.Assertion.Conditions.NotOnOrAfter = time.Time{} },
		"not yet valid":   func(r *crewjam.IdpAuthnRequest) { r.Assertion.Conditions.NotBefore = time.Now().Add(time.Hour) },
		"of another provider": func(r *crewjam.IdpAuthnRequest) {
			r.Assertion.Issuer.Value = "https://evil.example"
		},
		"to another request": func(r *crewjam.IdpAuthnRequest) { r.Request.ID = "id-of-another" },
		"to no request": func(r *crewjam.IdpAuthnRequest) {
			r.Request.ID = ""
			r.Assertion.Subject.SubjectConfirmations[0].SubjectConfirmationData.InResponseTo = ""
		},
		"not for the bearer": func(r *crewjam.IdpAuthnRequest) {
			r.Assertion.Subject.SubjectConfirmations[0].Method = "urn:oasis:names:tc:SAML:2.0:cm:sender-vouches"
		},
		"about nobody": func(r *crewjam.IdpAuthnRequest) { r.Assertion.Subject.NameID = nil },
		"about somebody": func(r *crewjam.IdpAuthnRequest) {
			r.Assertion.Subject.NameID.Format = string(crewjam.TransientNameIDFormat)
		},
		"of a session that is over": func(r *crewjam.IdpAuthnRequest) {
			r.Assertion.AuthnStatements[0].SessionNotOnOrAfter = &then
		},
	} {
		browser := must.Get(newBrowser())
		form := must.Get(t.samlAnswer(ctx, browser, "/", "will", change))
		ok := must.Get(t.signsIn(ctx, browser, form))
		must.FailIf(what == "in order" && !ok, "an assertion in order signs nobody in")
		throughIf(what != "in order" && ok, "an assertion %s signs an admin in", what)
		tried++
	}
	return held("%d well signed assertions, and only the one in order signs anybody in", tried)
}

func replayedAssertion(ctx context.Context, t *target) (result, error) {
	first := must.Get(newBrowser())
	form := must.Get(t.samlAnswer(ctx, first, "/", "will", nil))
	home := must.Get(url.Parse(t.PrivateURL() + auth.FinishPath))
	begun := first.Jar.Cookies(home)
	if ok, err := t.signsIn(ctx, first, form); err != nil || !ok {
		return result{}, fmt.Errorf("the sign-in itself did not succeed: %w", err)
	}
	second := must.Get(newBrowser())
	copied := must.Get(newBrowser())
	copied.Jar.SetCookies(home, begun)
	for what, browser := range map[string]*http.Client{"the same browser": first, "another browser": second, "a browser with the copied cookie of its beginning": copied} {
		ok := must.Get(t.signsIn(ctx, browser, form))
		throughIf(ok, "a used response signs in again in %s", what)
	}
	other := must.Get(newBrowser())
	mine := must.Get(t.samlAnswer(ctx, other, "/", "maya", nil))
	theirs := must.Get(t.samlAnswer(ctx, second, "/", "will", nil))
	theirs.Set("RelayState", mine.Get("RelayState"))
	ok := must.Get(t.signsIn(ctx, other, theirs))
	throughIf(ok, "an answer to another browser's request signs in under one's own state")
	return held("used again in 2 browsers, with a copied cookie and under another's state: refused")
}

// edited changes a response's XML after it was signed.
func edited(form url.Values, edit func(root *etree.Element)) (_ url.Values, err error) {
	defer must.Catch(&err)
	raw := must.Get(base64.StdEncoding.DecodeString(form.Get("SAMLResponse")))
	doc := etree.NewDocument()
	must.Do(doc.ReadFromBytes(raw))
	edit(doc.Root())
	raw = must.Get(doc.WriteToBytes())
	return url.Values{"SAMLResponse": {base64.StdEncoding.EncodeToString(raw)}, "RelayState": form["RelayState"]}, nil
}

// unsigned removes signatures.
func unsigned(root *etree.Element, at string) {
	for _, signature := range root.FindElements(at) {
		signature.Parent().RemoveChild(signature)
	}
}

// forgedFrom returns an unsigned copy of an assertion, about an admin.
func forgedFrom(assertion *etree.Element) *etree.Element {
	evil := assertion.Copy()
	evil.CreateAttr("ID", "evil")
	evil.FindElement(".//NameID").SetText("will@acme.example")
	unsigned(evil, "./Signature")
	return evil
}

func wrappedAssertions(ctx context.Context, t *target) (result, error) {
	forging := func(edit func(r, good, evil *etree.Element)) func(*etree.Element) {
		return func(r *etree.Element) {
			unsigned(r, "./Signature")
			good := r.FindElement("./Assertion")
			edit(r, good, forgedFrom(good))
		}
	}
	tried := 0
	for what, edit := range map[string]func(r *etree.Element){
		"a changed name":      func(r *etree.Element) { r.FindElement(".//NameID").SetText("will@acme.example") },
		"another group":       func(r *etree.Element) { r.FindElement(".//AttributeValue").SetText("ocpctl-admins") },
		"no signature at all": func(r *etree.Element) { unsigned(r, ".//Signature") },
		"a forged one before": forging(func(r, _, evil *etree.Element) { r.InsertChildAt(0, evil) }),
		"a forged one after":  forging(func(r, _, evil *etree.Element) { r.AddChild(evil) }),
		"the signed one within the forged one": forging(func(r, good, evil *etree.Element) {
			r.RemoveChild(good)
			evil.AddChild(good)
			r.AddChild(evil)
		}),
		"the signed one within the forged one's signature": forging(func(r, good, evil *etree.Element) {
			signature := good.FindElement("./Signature").Copy()
			r.RemoveChild(good)
			unsigned(good, "./Signature")
			signature.CreateElement("ds:Object").AddChild(good)
			evil.AddChild(signature)
			r.AddChild(evil)
		}),
		"the good one's signature on the forged one": forging(func(r, good, evil *etree.Element) {
			evil.AddChild(good.FindElement("./Signature").Copy())
			r.RemoveChild(good)
			r.AddChild(evil)
		}),
		"a forged response around the signed one": func(r *etree.Element) {
			good := r.Copy()
			r.CreateAttr("ID", "evil")
			unsigned(r, "./Signature")
			evil := forgedFrom(r.FindElement("./Assertion"))
			r.RemoveChild(r.FindElement("./Assertion"))
			r.AddChild(evil)
			r.CreateElement("samlp:Extensions").AddChild(good)
		},
		"a reference to the whole document": func(r *etree.Element) { r.FindElement(".//Reference").CreateAttr("URI", "") },
		"a comment in the name":             func(r *etree.Element) { cutShort(r.FindElement(".//NameID")) },
	} {
		browser := must.Get(newBrowser())
		form := must.Get(t.samlAnswer(ctx, browser, "/", "maya", nil))
		form = must.Get(edited(form, edit))
		ok := must.Get(t.signsIn(ctx, browser, form))
		tried++
		if what == "a comment in the name" { // a signature does not cover it, and the whole name counts
			ok = must.Get(t.isAdmin(ctx, browser))
		}
		throughIf(ok, "a response with %s signs in", what)
	}
	return held("%d changed responses, none signs anybody in as another", tried)
}

// isAdmin reports whether a browser is signed in as somebody who may read the deliveries.
func (t *target) isAdmin(ctx context.Context, browser *http.Client) (bool, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, t.PrivateURL()+"/deliveries", nil)
	if err != nil {
		return false, err
	}
	got, err := send(browser, r)
	return got.status == http.StatusOK, err
}

// cutShort puts a comment into a name, which a signature does not cover.
func cutShort(name *etree.Element) {
	whole := name.Text()
	name.SetText(whole[:2])
	name.CreateComment("")
	name.CreateText(whole[2:])
}
