// Package auth says who is asking: it turns what somebody proves into claims, and the catalogue's identities turn those into
// a principal with seats.
//
// There are three proofs. People sign in to the pages through SAML (SignIn), programs show a signed GetCallerIdentity
// (Exchange); both are given a short session of our own. Workflows send the token of an OIDC issuer that is trusted. Verify
// takes either kind of bearer token.
//
// It never keeps a password or a token, never asks an issuer that is not in the configuration, gives no seat that an
// identity of the catalogue does not give, and puts no token into words. Seats are worked out anew at every request, so that
// a changed identity counts at once. Who must be asked and is down stops nobody from starting: it is asked when first needed.
package auth

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// Config says whom to trust.
type Config struct {
	Issuers    []Issuer
	Audience   string                     // of issuers without one of their own: this installation, as its address
	Sessions   *Sessions                  // our own; nil: none is accepted
	End        End                        // remembers that a session was ended; nil: none can be, but all at once
	Ended      Ended                      // says whether it was, by whichever replica; nil: none was
	Identities func() []profiles.Identity // the catalogue's, asked at each request; nil: nobody has a seat
	Timeout    time.Duration              // of one question to an issuer; zero: 10 s
	Now        func() time.Time           // nil: time.Now
}

// End remembers until a session expires that it was ended. The id is the token's own, 32 hexadecimal digits.
type End func(ctx context.Context, id, principal string, expires time.Time) error

// Ended says whether a session was ended before it expired.
type Ended func(ctx context.Context, id string) (bool, error)

// Session is who asks, what that rests on, and how long it holds.
type Session struct {
	ID        string // of our own; empty: of somebody else's token
	Principal policy.Principal
	Claims    policy.Claims // as proved; a workflow's hold its run, for the audit trail
	Expires   time.Time
}

// Verifier checks bearer tokens. Safe for concurrent use.
type Verifier struct {
	issuers    map[string]*trusted
	sessions   *Sessions
	end        End
	ended      Ended
	identities func() []profiles.Identity
}

// New returns a verifier. It asks no issuer yet. Two issuers with one address are one that may give two audiences.
func New(c Config) *Verifier {
	c.Timeout, c.Now = timeout(c.Timeout), clock(c.Now)
	if c.Identities == nil {
		c.Identities = func() []profiles.Identity { return nil }
	}
	v := &Verifier{issuers: map[string]*trusted{}, sessions: c.Sessions, end: c.End, ended: c.Ended, identities: c.Identities}
	for _, issuer := range c.Issuers {
		known := v.issuers[issuer.URL]
		if known == nil {
			known = &trusted{url: issuer.URL, client: &http.Client{Timeout: c.Timeout, Transport: newSparing(issuer.transport())}, now: c.Now}
			v.issuers[issuer.URL] = known
		}
		if audience := cmp.Or(issuer.Audience, c.Audience); audience != "" && !slices.Contains(known.audiences, audience) {
			known.audiences = append(known.audiences, audience)
		}
	}
	return v
}

func timeout(d time.Duration) time.Duration {
	if d == 0 {
		return 10 * time.Second
	}
	return d
}

func clock(now func() time.Time) func() time.Time {
	if now == nil {
		return time.Now
	}
	return now
}

// Verify checks a raw token, ours or a trusted issuer's, and says whose it is. Its errors are *Error, with words for people.
func (v *Verifier) Verify(ctx context.Context, raw string) (Session, error) {
	if raw == "" {
		return Session{}, refuse(Missing, "A bearer token is required: Authorization: Bearer <token>.")
	}
	name, err := issuerOf(raw)
	if err != nil {
		return Session{}, err
	}
	if v.sessions != nil && name == v.sessions.audience {
		return v.own(ctx, raw)
	}
	issuer, ok := v.issuers[name]
	if !ok {
		return Session{}, refuse(UnknownIssuer, "Tokens of %q are not trusted here. Accepted: %s.", name, v.accepted())
	}
	claims, expires, err := issuer.verify(ctx, raw)
	if err != nil {
		return Session{}, err
	}
	return v.session(claims, expires), nil
}

// own checks a session of ours.
func (v *Verifier) own(ctx context.Context, raw string) (Session, error) {
	own, err := v.sessions.verify(raw)
	if err != nil {
		return Session{}, err
	}
	switch ended, err := v.over(ctx, own.id); {
	case err != nil:
		return Session{}, &Error{Unavailable, "The session could not be checked. Try again in a moment.", err}
	case ended:
		return Session{}, refuse(Revoked, "You are signed out of this session. Sign in again.")
	}
	s := v.session(own.claims, own.expires)
	s.ID = own.id
	return s, nil
}

func (v *Verifier) over(ctx context.Context, id string) (bool, error) {
	if v.ended == nil || id == "" {
		return false, nil
	}
	return v.ended(ctx, id)
}

// SignOut ends a session of ours on every replica. What is no session of ours, or holds no longer, needs no end.
func (v *Verifier) SignOut(ctx context.Context, raw string) error {
	if v.sessions == nil || v.end == nil {
		return nil
	}
	own, err := v.sessions.verify(raw)
	if err != nil {
		return nil
	}
	principal := v.session(own.claims, own.expires).Principal.ID
	if err := v.end(ctx, own.id, principal, own.expires); err != nil {
		return fmt.Errorf("end the session of %s: %w", principal, err)
	}
	return nil
}

// Now is who a session is of, with the seats that the catalogue's identities give at this moment. It is nobody's once it was
// ended, or while nobody can say whether it was. What goes on for long asks it again and again.
func (v *Verifier) Now(ctx context.Context, s Session) policy.Principal {
	if ended, err := v.over(ctx, s.ID); ended || err != nil {
		return policy.Principal{}
	}
	return v.session(s.Claims, s.Expires).Principal
}

// session gives claims the seats that the catalogue's identities give now.
func (v *Verifier) session(c policy.Claims, expires time.Time) Session {
	p := policy.Principal{ID: string(c.Source) + ":" + c.Subject, Name: c.Name}
	if c.Source == profiles.SourceOIDC {
		p.ID = string(c.Source) + ":" + c.Issuer + "#" + c.Subject
	}
	if p.Name == "" {
		p.Name = c.Subject
	}
	p.Seats, p.Proof = policy.SeatsOf(v.identities(), c), &c
	return Session{Principal: p, Claims: c, Expires: expires}
}

// issuerOf reads who a token says it is from, before anything in it is believed, to choose whose keys to check it with.
func issuerOf(raw string) (string, error) {
	parsed, err := jwt.ParseSigned(raw, algorithms)
	if err != nil {
		return "", refuse(Malformed, "The token is not a signed JWT. Send only the complete token.")
	}
	var c jwt.Claims
	if err := parsed.UnsafeClaimsWithoutVerification(&c); err != nil {
		return "", refuse(Malformed, "The token's claims are not valid.")
	}
	return c.Issuer, nil
}

// accepted lists the issuers that are trusted, for people.
func (v *Verifier) accepted() string {
	if len(v.issuers) == 0 {
		return "none, because no issuer is configured"
	}
	return strings.Join(slices.Sorted(maps.Keys(v.issuers)), ", ")
}

// Spend remembers that something was used, by its SHA-256 in hexadecimal, and until when nobody would accept it anyway.
// fresh is false when it was used before, by whichever replica.
type Spend func(ctx context.Context, hash string, until time.Time) (fresh bool, err error)

// spend refuses what was used before, in the given words, and lets nothing through that could not be remembered.
func (s Spend) spend(ctx context.Context, hash string, until time.Time, words string) error {
	fresh, err := s(ctx, hash, until)
	switch {
	case err != nil:
		return &Error{Unavailable, "Sign-in is temporarily unavailable: its single use could not be recorded. Try again in a minute.", fmt.Errorf("spend a signature: %w", err)}
	case !fresh:
		return refuse(Replayed, "%s", words)
	}
	return nil
}
