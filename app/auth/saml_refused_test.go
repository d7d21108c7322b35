package auth_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/beevik/etree"
	crewjam "github.com/crewjam/saml"
	dsig "github.com/russellhaering/goxmldsig"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/auth"
)

// late moves an assertion into the past.
func late(req *crewjam.IdpAuthnRequest) {
	then := time.Now().Add(-10 * time.Minute)
	req.Assertion.Conditions.NotBefore, req.Assertion.Conditions.NotOnOrAfter = then.Add(-time.Minute), then
}

func TestAnAssertionThatIsNotInOrderIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*crewjam.IdpAuthnRequest)
		reason auth.Reason
		text   string
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
		"about nobody":         {func(r *crewjam.IdpAuthnRequest) { r.Assertion.Subject = nil }, auth.Malformed, "is incomplete"},
		"without a name":       {func(r *crewjam.IdpAuthnRequest) { r.Assertion.Subject.NameID = nil }, auth.Malformed, "is incomplete"},
		"without confirmation": {func(r *crewjam.IdpAuthnRequest) { r.Assertion.Subject.SubjectConfirmations = nil }, auth.Malformed, "is incomplete"},
		"not for the bearer": {func(r *crewjam.IdpAuthnRequest) {
			r.Assertion.Subject.SubjectConfirmations[0].Method = "urn:oasis:names:tc:SAML:2.0:cm:sender-vouches"
		}, auth.Malformed, "is incomplete"},
		"to another request": {func(r *crewjam.IdpAuthnRequest) { r.Request.ID = "id-of-another" }, auth.NotBegun, "Start again"},
		"to another request within": {func(r *crewjam.IdpAuthnRequest) {
			r.Assertion.Subject.SubjectConfirmations[0].SubjectConfirmationData.InResponseTo = "id-of-another"
		}, auth.NotBegun, "Start again"},
		"to no request": {func(r *crewjam.IdpAuthnRequest) {
			r.Request.ID = ""
			r.Assertion.Subject.SubjectConfirmations[0].SubjectConfirmationData.InResponseTo = ""
		}, auth.NotBegun, "portal"},
		"signed with SHA-1": {func(r *crewjam.IdpAuthnRequest) {
			weak := *r.IDP
			weak.SignatureMethod = dsig.RSASHA1SignatureMethod
			r.IDP = &weak
		}, auth.BadSignature, "not signed by the trusted identity provider"},
		"signed by a stranger": {func(r *crewjam.IdpAuthnRequest) {
			other := *r.IDP
			key, cert := attemptKey(t)
			other.Key, other.Signer, other.Certificate = key, key, cert
			r.IDP = &other
		}, auth.BadSignature, "not signed by the trusted identity provider"},
		"about somebody who is called otherwise each time": {func(r *crewjam.IdpAuthnRequest) {
			r.Assertion.Subject.NameID.Format = string(crewjam.TransientNameIDFormat)
		}, auth.NotAllowed, "a different name for you at every sign-in"},
		"about somebody whose name breaks a line": {func(r *crewjam.IdpAuthnRequest) {
			r.Assertion.Subject.NameID.Value = "maya@acme.example\nada@acme.example"
		}, auth.Malformed, "characters that are not allowed"},
		"about nobody in many words": {func(r *crewjam.IdpAuthnRequest) {
			r.Assertion.Subject.NameID.Value = strings.Repeat("m", 1001)
		}, auth.Malformed, "longer than 1000 bytes"},
		"when the provider's session is over": {func(r *crewjam.IdpAuthnRequest) {
			then := time.Now().Add(-time.Second)
			r.Assertion.AuthnStatements[0].SessionNotOnOrAfter = &then
		}, auth.Expired, "has ended"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPages(t, nil)
			a := p.answer(p.begin("/"), c.change)
			p.refused(a, p.post(p.browser, a), c.reason, c.text)
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

// A signature is over the text without its comments, so one can be put in afterwards. The whole text counts all the same.
func TestACommentCutsNoNameShort(t *testing.T) {
	p := newPages(t, nil)
	a := edited(t, p.answer(p.begin("/"), func(r *crewjam.IdpAuthnRequest) {
		r.Assertion.Subject.NameID.Value = "ada@acme.example.evil.example"
	}), func(r *etree.Element) {
		name := r.FindElement(".//NameID")
		name.SetText("ada@acme.example")
		name.CreateComment("")
		name.CreateText(".evil.example")
	})
	p.post(p.browser, a)
	if p.last != nil {
		return // to refuse it is as good
	}
	session, _, err := p.session(p.browser)
	require.NoError(t, err)
	require.Equal(t, "saml:ada@acme.example.evil.example", session.Principal.ID)
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
	for name, text := range map[string]string{
		"nothing": "", "no base64": "%%%", "not XML": "aGVsbG8=",
		"a document type": base64.StdEncoding.EncodeToString([]byte(`<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol">&e;</samlp:Response>`)),
		"another element": base64.StdEncoding.EncodeToString([]byte(`<samlp:LogoutResponse xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"/>`)),
	} {
		p.browser = newBrowser(t)
		relay := p.answer(p.begin("/"), nil).Relay
		a := answered{text, relay}
		p.refused(a, p.post(p.browser, a), auth.Malformed, "Sign in again")
		require.NotContains(t, p.last.Error(), "passwd", name)
	}
}
