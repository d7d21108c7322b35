// Package auth says who is asking: it turns a bearer token of a trusted OIDC issuer into a principal.
//
// It never keeps a password or a token, never asks an issuer that is not in the configuration, and gives no role that
// a token does not claim. An issuer that is down stops nobody from starting: its keys are fetched when first needed.
package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"golang.org/x/sync/singleflight"

	"github.com/ocpctl/ocpctl/policy"
)

// Issuer is one that is trusted, and the audience its tokens must be for.
type Issuer struct{ URL, Audience string }

// Config says whom to trust.
type Config struct {
	Issuers []Issuer
	Timeout time.Duration    // of one question to an issuer; zero: 10 s
	Now     func() time.Time // nil: time.Now
}

// Session is a principal and how long its token speaks for it.
type Session struct {
	Principal policy.Principal
	Expires   time.Time
}

// Verifier checks tokens. Safe for concurrent use.
type Verifier struct {
	issuers map[string]*trusted
	now     func() time.Time
}

// trusted is an issuer and, once it answered, its keys.
type trusted struct {
	Issuer
	client *http.Client
	now    func() time.Time

	once     singleflight.Group // of discovery: many requests wait for one answer
	verifier atomic.Pointer[oidc.IDTokenVerifier]
}

// New returns a verifier. It asks no issuer yet.
func New(c Config) *Verifier {
	if c.Timeout == 0 {
		c.Timeout = 10 * time.Second
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	v := &Verifier{issuers: map[string]*trusted{}, now: c.Now}
	for _, issuer := range c.Issuers {
		v.issuers[issuer.URL] = &trusted{Issuer: issuer, client: &http.Client{Timeout: c.Timeout}, now: c.Now}
	}
	return v
}

// algorithms a token may be signed with; the header alone never chooses "none" or a shared secret.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.ES256, jose.ES384, jose.ES512, jose.PS256, jose.PS384, jose.PS512, jose.EdDSA,
}

// claims of a token that we read. A role that is none of ours counts as none.
type claims struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups"`
	Role   string   `json:"ocpctl_role"`
}

// Verify checks a raw token and says whose it is. Its errors are *Error, with words for people.
func (v *Verifier) Verify(ctx context.Context, raw string) (Session, error) {
	if raw == "" {
		return Session{}, refuse(Missing, "A bearer token is needed: Authorization: Bearer <token>.")
	}
	issuer, err := v.issuerOf(raw)
	if err != nil {
		return Session{}, err
	}
	keys, err := issuer.keys(ctx)
	if err != nil {
		return Session{}, &Error{Unavailable, "The sign-in service " + issuer.URL + " does not answer. Try again in a minute.", err}
	}
	token, err := keys.Verify(oidc.ClientContext(ctx, issuer.client), raw)
	if err != nil {
		return Session{}, explain(issuer.Issuer, err)
	}
	if !slices.Contains(token.Audience, issuer.Audience) {
		return Session{}, refuse(WrongAudience, "The token is for %q, and this server is %q. Ask %s for a token with that audience.",
			token.Audience, issuer.Audience, issuer.URL)
	}
	var c claims
	if err := token.Claims(&c); err != nil {
		return Session{}, &Error{Malformed, "The token's claims cannot be read: name is a text, groups a list of texts.", err}
	}
	if token.Subject == "" {
		return Session{}, refuse(Malformed, "The token names nobody: its sub claim is empty.")
	}
	return Session{Principal: principal(token, c), Expires: token.Expiry}, nil
}

// issuerOf reads who a token says it is from, before anything in it is believed, to choose whose keys to check it with.
func (v *Verifier) issuerOf(raw string) (*trusted, error) {
	parsed, err := jwt.ParseSigned(raw, algorithms)
	if err != nil {
		return nil, refuse(Malformed, "The token is not a signed JWT. Send the whole token, and nothing else.")
	}
	var c jwt.Claims
	if err := parsed.UnsafeClaimsWithoutVerification(&c); err != nil {
		return nil, refuse(Malformed, "The token's claims cannot be read.")
	}
	issuer, ok := v.issuers[c.Issuer]
	if !ok {
		return nil, refuse(UnknownIssuer, "Tokens of %q are not trusted here. Accepted: %s.", c.Issuer, v.accepted())
	}
	return issuer, nil
}

// keys discovers the issuer on first use. A failure is not kept: the next request asks again.
func (t *trusted) keys(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	if v := t.verifier.Load(); v != nil {
		return v, nil
	}
	found, err, _ := t.once.Do("", func() (any, error) {
		provider, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), t.client), t.URL)
		if err != nil {
			return nil, fmt.Errorf("discover %s: %w", t.URL, err)
		}
		// The audience is checked by Verify, which can then say what was wrong with it.
		v := provider.Verifier(&oidc.Config{SkipClientIDCheck: true, Now: t.now})
		t.verifier.Store(v)
		return v, nil
	})
	if err != nil {
		return nil, err
	}
	return found.(*oidc.IDTokenVerifier), nil
}

func principal(token *oidc.IDToken, c claims) policy.Principal {
	p := policy.Principal{ID: "oidc:" + token.Issuer + "#" + token.Subject, Name: c.Name}
	if p.Name == "" {
		p.Name = token.Subject
	}
	if role := policy.Role(c.Role); slices.Contains(policy.Roles, role) {
		teams := c.Groups
		if role != policy.Requester {
			teams = []string{policy.EveryTeam}
		}
		for _, team := range teams {
			p.Seats = append(p.Seats, policy.Seat{Role: role, Team: team})
		}
	}
	return p
}

// explain sorts what go-oidc says; its error for keys it could not fetch has no type, only words.
func explain(issuer Issuer, err error) error {
	var expired *oidc.TokenExpiredError
	switch {
	case errors.As(err, &expired):
		return &Error{Expired, "The token expired at " + expired.Expiry.UTC().Format(time.RFC3339) + ". Get a new one from " + issuer.URL + ".", err}
	case strings.Contains(err.Error(), "fetching keys"):
		return &Error{Unavailable, "The sign-in service " + issuer.URL + " does not answer. Try again in a minute.", err}
	case strings.Contains(err.Error(), "not before"):
		return &Error{NotYet, "The token is not valid yet. Check the clock, or get a new one from " + issuer.URL + ".", err}
	}
	return &Error{BadSignature, "The token's signature does not fit the keys of " + issuer.URL + ". Get a new token there.", err}
}
