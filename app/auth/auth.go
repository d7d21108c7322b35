// Package auth finds out who is asking: it converts a proof into claims, and the catalogue's identities map those to a principal with
// seats.
//
// There are three kinds of proof. People sign in to the pages through SAML (SignIn), programs send a signed GetCallerIdentity request
// (Exchange); both get a short session signed by ocpctl. Workflows send the token of a trusted OIDC issuer. Verify accepts sessions
// and tokens.
//
// It never stores a password or a token, never contacts an issuer that is not configured, gives no seat that an identity of the
// catalogue does not give, and never puts a token into a text. Seats are computed for every request, so that a changed identity takes
// effect at once. An unavailable issuer does not prevent the server's start: it is contacted when first needed.
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

// Config says which issuers and sessions are trusted.
type Config struct {
	Issuers    []Issuer
	Audience   string                     // for issuers without one of their own: the URL of this installation
	Sessions   *Sessions                  // ocpctl's own sessions; nil: none is accepted
	End        End                        // stores that a session was ended; nil: sessions cannot be ended individually
	Ended      Ended                      // reports whether a session was ended, on any replica; nil: none was
	Reused     ReusedNames                // finds names in jobs' tokens that were another's before; nil: none was
	Identities func() []profiles.Identity // the catalogue's, read for each request; nil: nobody has a seat
	Timeout    time.Duration              // of one call to an issuer; zero: 10 s
	Now        func() time.Time           // nil: time.Now
}

// End stores that a session was ended, until it expires. The id is the token's own, 32 hexadecimal digits.
type End func(ctx context.Context, id, principal string, expires time.Time) error

// Ended reports whether a session was ended before it expired.
type Ended func(ctx context.Context, id string) (bool, error)

// ReusedNames returns those names in a job's token that were another's before. With keep, names that nobody had are the token's from now on.
type ReusedNames func(ctx context.Context, job policy.Claims, keep bool) ([]policy.JobName, error)

// Session is who asks, the proof behind it, and how long it is valid.
type Session struct {
	ID        string // of ocpctl's own sessions; empty: another issuer's token
	Principal policy.Principal
	Claims    policy.Claims // as proved; a workflow's contain its run, for the audit trail
	Expires   time.Time
}

// Verifier checks bearer tokens. Safe for concurrent use.
type Verifier struct {
	issuers    map[string]*trusted
	sessions   *Sessions
	end        End
	ended      Ended
	reused     ReusedNames
	identities func() []profiles.Identity
}

// New returns a verifier. It contacts no issuer yet. Two issuers with the same URL are one issuer with two accepted audiences.
func New(c Config) *Verifier {
	c.Timeout, c.Now = timeoutOrDefault(c.Timeout), clockOrDefault(c.Now)
	if c.Identities == nil {
		c.Identities = func() []profiles.Identity { return nil }
	}
	v := &Verifier{issuers: map[string]*trusted{}, sessions: c.Sessions, end: c.End, ended: c.Ended, reused: c.Reused, identities: c.Identities}
	for _, issuer := range c.Issuers {
		known := v.issuers[issuer.URL]
		if known == nil {
			known = &trusted{url: issuer.URL, platform: cmp.Or(issuer.Platform, profiles.PlatformOf(issuer.URL)), client: &http.Client{Timeout: c.Timeout, Transport: newSparing(issuer.newTransport())}, now: c.Now}
			v.issuers[issuer.URL] = known
		}
		if audience := cmp.Or(issuer.Audience, c.Audience); audience != "" && !slices.Contains(known.audiences, audience) {
			known.audiences = append(known.audiences, audience)
		}
	}
	return v
}

func timeoutOrDefault(d time.Duration) time.Duration {
	if d == 0 {
		return 10 * time.Second
	}
	return d
}

func clockOrDefault(now func() time.Time) func() time.Time {
	if now == nil {
		return time.Now
	}
	return now
}

// Verify checks a raw token, an own session or a trusted issuer's, and returns whose it is. Its errors are *Error, with a text for
// people.
func (v *Verifier) Verify(ctx context.Context, raw string) (Session, error) {
	if raw == "" {
		return Session{}, refuseWith(Missing, "A bearer token is required: Authorization: Bearer <token>.")
	}
	name, err := issuerOf(raw)
	if err != nil {
		return Session{}, err
	}
	if v.sessions != nil && name == v.sessions.audience {
		return v.verifyOwnSession(ctx, raw)
	}
	issuer, ok := v.issuers[name]
	if !ok {
		return Session{}, refuseWith(UnknownIssuer, "Tokens of %q are not trusted here. Accepted: %s.", name, v.listIssuers())
	}
	claims, expires, err := issuer.verifyToken(ctx, raw)
	if err != nil {
		return Session{}, err
	}
	if claims, err = v.withReused(ctx, claims); err != nil {
		return Session{}, &Error{Unavailable, "The token could not be checked. Try again in a moment.", err}
	}
	return v.newSession(claims, expires), nil
}

// withReused marks the names in a job's token that were another's before. Only a job that an identity matches makes a name its own.
func (v *Verifier) withReused(ctx context.Context, c policy.Claims) (policy.Claims, error) {
	if v.reused == nil {
		return c, nil
	}
	names, err := v.reused(ctx, c, len(policy.SeatsOf(v.identities(), c)) > 0)
	return c.WithReused(names), err
}

// verifyOwnSession checks one of ocpctl's own sessions.
func (v *Verifier) verifyOwnSession(ctx context.Context, raw string) (Session, error) {
	own, err := v.sessions.verifySession(raw)
	if err != nil {
		return Session{}, err
	}
	switch ended, err := v.hasEnded(ctx, own.id); {
	case err != nil:
		return Session{}, &Error{Unavailable, "The session could not be checked. Try again in a moment.", err}
	case ended:
		return Session{}, refuseWith(Revoked, "You are signed out of this session. Sign in again.")
	}
	s := v.newSession(own.claims, own.expires)
	s.ID = own.id
	return s, nil
}

func (v *Verifier) hasEnded(ctx context.Context, id string) (bool, error) {
	if v.ended == nil || id == "" {
		return false, nil
	}
	return v.ended(ctx, id)
}

// SignOut ends one of ocpctl's own sessions on every replica. Other or expired tokens need no end.
func (v *Verifier) SignOut(ctx context.Context, raw string) error {
	if v.sessions == nil || v.end == nil {
		return nil
	}
	own, err := v.sessions.verifySession(raw)
	if err != nil {
		return nil
	}
	principal := v.newSession(own.claims, own.expires).Principal.ID
	if err := v.end(ctx, own.id, principal, own.expires); err != nil {
		return fmt.Errorf("end the session of %s: %w", principal, err)
	}
	return nil
}

// Now returns the principal of a session, with the seats that the catalogue's identities give at this moment. It is nobody once the
// session was ended, or while that cannot be checked. Long-running requests call it repeatedly.
func (v *Verifier) Now(ctx context.Context, s Session) policy.Principal {
	if ended, err := v.hasEnded(ctx, s.ID); ended || err != nil {
		return policy.Principal{}
	}
	return v.Seated(s)
}

// Seated returns the principal of a session, with the seats that the catalogue's identities give at this moment. It does not look
// whether the session was ended.
func (v *Verifier) Seated(s Session) policy.Principal {
	return v.newSession(s.Claims, s.Expires).Principal
}

// newSession gives claims the seats that the catalogue's identities give now.
func (v *Verifier) newSession(c policy.Claims, expires time.Time) Session {
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

// issuerOf reads a token's issuer before it is verified, to select the keys to verify it with.
func issuerOf(raw string) (string, error) {
	parsed, err := jwt.ParseSigned(raw, algorithms)
	if err != nil {
		return "", refuseWith(Malformed, "The token is not a signed JWT. Send only the complete token.")
	}
	var c jwt.Claims
	if err := parsed.UnsafeClaimsWithoutVerification(&c); err != nil {
		return "", refuseWith(Malformed, "The token's claims are not valid.")
	}
	return c.Issuer, nil
}

// listIssuers lists the trusted issuers for people.
func (v *Verifier) listIssuers() string {
	if len(v.issuers) == 0 {
		return "none, because no issuer is configured"
	}
	return strings.Join(slices.Sorted(maps.Keys(v.issuers)), ", ")
}

// Spend records that something was used, by its SHA-256 in hexadecimal, until it is no longer valid anyway. fresh is false if it was
// used before, on any replica.
type Spend func(ctx context.Context, hash string, until time.Time) (fresh bool, err error)

// spendOnce refuses what was used before, with the given text, and also what could not be recorded.
func (s Spend) spendOnce(ctx context.Context, hash string, until time.Time, text string) error {
	fresh, err := s(ctx, hash, until)
	switch {
	case err != nil:
		return &Error{Unavailable, "Sign-in is temporarily unavailable: its single use could not be recorded. Try again in a minute.", fmt.Errorf("spend a signature: %w", err)}
	case !fresh:
		return refuseWith(Replayed, "%s", text)
	}
	return nil
}
