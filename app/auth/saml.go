package auth

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	crewjam "github.com/crewjam/saml"
	dsig "github.com/russellhaering/goxmldsig"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// The paths of the sign-in on the private listener.
const (
	MetadataPath = "/saml/metadata" // GET: the service provider's metadata for the identity provider
	BeginPath    = "/saml/login"    // GET: redirects to the identity provider
	FinishPath   = "/saml/acs"      // POST: receives the assertion from the identity provider
)

// service is ocpctl as a SAML service provider.
type service struct {
	sp crewjam.ServiceProvider // without the identity provider
}

func newService(home *url.URL, entity string, key *SAMLKey) (service, error) {
	s := service{sp: crewjam.ServiceProvider{
		EntityID:                    entity,
		MetadataURL:                 *home.JoinPath(MetadataPath),
		AcsURL:                      *home.JoinPath(FinishPath),
		AuthnNameIDFormat:           crewjam.UnspecifiedNameIDFormat,
		SignatureVerifier:           strict{},
		ValidateAudienceRestriction: func(a *crewjam.Assertion) error { return forUs(a, entity) },
	}}
	if key == nil {
		return s, nil
	}
	switch key.Signer.(type) {
	case *rsa.PrivateKey:
		s.sp.SignatureMethod = dsig.RSASHA256SignatureMethod
	case *ecdsa.PrivateKey:
		s.sp.SignatureMethod = dsig.ECDSASHA256SignatureMethod
	default:
		return s, fmt.Errorf("a %T cannot sign SAML requests; use an RSA or ECDSA key", key.Signer)
	}
	s.sp.Key, s.sp.Certificate = key.Signer, key.Certificate
	return s, nil
}

// describeService describes the service provider: one URL for assertions, and the key that signs requests. It has no encryption key:
// encrypted assertions are refused, so that nobody can use the server to test ciphertexts.
func (s service) describeService() *crewjam.EntityDescriptor {
	m := s.sp.Metadata()
	sso := &m.SPSSODescriptors[0]
	sso.AssertionConsumerServices = sso.AssertionConsumerServices[:1]
	var signing []crewjam.KeyDescriptor
	for _, key := range sso.KeyDescriptors {
		if key.Use == "signing" {
			signing = append(signing, key)
		}
	}
	sso.KeyDescriptors = signing
	return m
}

// requestURL returns the URL to which a person is sent, and the request id that the response must name.
func (s service) requestURL(idp *crewjam.EntityDescriptor, relay string) (to *url.URL, id string, err error) {
	sp := s.withProvider(idp)
	ask, err := sp.MakeAuthenticationRequest(ssoAddress(idp), crewjam.HTTPRedirectBinding, crewjam.HTTPPostBinding)
	if err != nil {
		return nil, "", fmt.Errorf("make a SAML request: %w", err)
	}
	ask.NameIDPolicy = nil // the provider decides which name it sends
	to, err = ask.Redirect(url.QueryEscape(relay), sp)
	if err != nil {
		return nil, "", fmt.Errorf("make a SAML request: %w", err)
	}
	return to, ask.ID, nil
}

func (s service) withProvider(idp *crewjam.EntityDescriptor) *crewjam.ServiceProvider {
	sp := s.sp
	sp.IDPMetadata = idp
	return &sp
}

// proven is the content of a valid assertion.
type proven struct {
	claims policy.Claims
	id     string    // of the assertion, assigned by its issuer
	until  time.Time // it is not accepted after that
	ends   time.Time // of the person's session at the provider; zero: not given
}

// proveResponse checks a response, which must answer the request id. Its errors are *Error.
func (s service) proveResponse(idp *crewjam.EntityDescriptor, response, id string) (p proven, err error) {
	raw, err := base64.StdEncoding.DecodeString(response)
	if err != nil || len(raw) == 0 {
		return proven{}, refuseWith(Malformed, "The identity provider's response is not valid. Sign in again.")
	}
	if err := wellFormed(raw); err != nil {
		return proven{}, &Error{Malformed, "The identity provider's response must contain exactly one unencrypted assertion. Sign in again; if this happens again, see the settings in docs/identity.md.", err}
	}
	defer func() { // the library assumes parts that a signed assertion may lack
		if v := recover(); v != nil {
			p, err = proven{}, &Error{Malformed, "The assertion is incomplete. Sign in again.", fmt.Errorf("parse the assertion: %v", v)}
		}
	}()
	sp := s.withProvider(idp)
	sp.Key = nil // nothing is decrypted
	found, err := sp.ParseXMLResponse(raw, []string{id}, sp.AcsURL)
	if err != nil {
		return proven{}, s.explainError(err)
	}
	return s.readAssertion(found, idp.EntityID)
}

// readAssertion extracts the content of a validated assertion.
func (s service) readAssertion(a *crewjam.Assertion, idp string) (proven, error) {
	if err := checkComplete(a); err != nil {
		return proven{}, &Error{Malformed, "The assertion is incomplete. Sign in again.", err}
	}
	p := proven{id: idp + " " + a.ID, until: a.Conditions.NotOnOrAfter.Add(crewjam.MaxClockSkew)}
	for _, statement := range a.AuthnStatements {
		if end := statement.SessionNotOnOrAfter; end != nil && (p.ends.IsZero() || end.Before(p.ends)) {
			p.ends = *end
		}
	}
	name := strings.TrimSpace(a.Subject.NameID.Value)
	switch {
	case a.Subject.NameID.Format == string(crewjam.TransientNameIDFormat):
		return proven{}, refuseWith(NotAllowed, "The identity provider sends a different name for you at every sign-in, so you cannot be recognized. "+
			"In its settings for ocpctl, map the subject to a stable value, such as ${user:email} as emailAddress.")
	case !isAcceptableSubject(name):
		return proven{}, refuseWith(Malformed, "The name that the identity provider sent for you is empty, longer than %d bytes, or contains characters that are not allowed.", mostSubject)
	}
	values := map[string][]string{}
	for _, statement := range a.AttributeStatements {
		for _, attribute := range statement.Attributes {
			for _, v := range attribute.Values {
				if text := strings.TrimSpace(v.Value); text != "" && isLegible(text) {
					values[attribute.Name] = append(values[attribute.Name], text)
				}
			}
		}
	}
	if a.Subject.NameID.Format == string(crewjam.EmailAddressNameIDFormat) && len(values["email"]) == 0 {
		values["email"] = []string{name}
	}
	values["sub"] = []string{name} // last, so that no attribute can replace it
	p.claims = policy.Claims{Source: profiles.SourceSAML, Issuer: idp, Subject: name, Name: nameOf(values), Values: values}
	return p, nil
}

// explainError classifies the library's errors about a response; they have no types, only texts.
func (s service) explainError(err error) error {
	var invalid *crewjam.InvalidResponseError
	if errors.As(err, &invalid) {
		err = invalid.PrivateErr // the error itself contains the whole response
	}
	var status crewjam.ErrBadStatus
	text := err.Error()
	switch {
	case errors.As(err, &status):
		return &Error{NotAllowed, "The identity provider did not sign you in. Ask its administrator whether you are assigned to ocpctl.", err}
	case strings.Contains(text, "AudienceRestriction"), strings.Contains(text, "Recipient"), strings.Contains(text, "Destination"):
		return &Error{WrongAudience, fmt.Sprintf("The assertion is for another application. In the identity provider, set the audience to %s and the ACS URL to %s.",
			s.sp.EntityID, s.sp.AcsURL.String()), err}
	case strings.Contains(text, "InResponseTo"), strings.Contains(text, "request IDs"):
		return &Error{NotBegun, notBegun, err}
	case strings.Contains(text, "not yet valid"):
		return &Error{NotYet, "The assertion is not valid yet. Check the clocks, and sign in again.", err}
	case strings.Contains(text, "expired"):
		return &Error{Expired, "The assertion is too old. Sign in again; if this happens again, check the clocks.", err}
	case strings.Contains(text, "ignature"), strings.Contains(text, "ertificate"):
		return &Error{BadSignature, "The assertion is not signed by the trusted identity provider. Sign in again.", err}
	}
	return &Error{Malformed, "The identity provider's response was not accepted. Sign in again; if this happens again, see the settings in docs/identity.md.", err}
}

const notBegun = "This sign-in was not started in this browser, or was started more than ten minutes ago. Start again here; signing in from the provider's portal is not supported."
