package auth

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// The purposes of ocpctl's own tokens; a token for one is never valid for another.
const (
	forSession = "ocpctl-session"
	forSignIn  = "ocpctl-sign-in"
	forNote    = "ocpctl-note"
	forRenewal = "ocpctl-renewal"
)

// longest is the maximum life of a session.
const longest = 12 * time.Hour

// SessionConfig says how ocpctl's own sessions are signed. All replicas need the same.
type SessionConfig struct {
	Key       ed25519.PrivateKey
	Audience  string           // URL of this installation: issuer of its own sessions, audience of proofs
	Life      time.Duration    // of a person's session, at most 12 h; zero: 8 h
	NotBefore time.Time        // earlier sessions have ended; zero: none
	Now       func() time.Time // nil: time.Now
}

// Sessions signs and checks ocpctl's own short sessions: Ed25519 JWTs with claims but without seats. The server does not store them.
// A new key, or NotBefore, ends them all; a single one is ended by storing its id (see Config.End). Safe for concurrent use.
type Sessions struct {
	key       ed25519.PrivateKey
	audience  string
	life      time.Duration
	notBefore time.Time
	now       func() time.Time
}

// NewSessions returns the signer of an installation's sessions.
func NewSessions(c SessionConfig) *Sessions {
	if c.Life == 0 {
		c.Life = 8 * time.Hour
	}
	return &Sessions{key: c.Key, audience: c.Audience, life: min(c.Life, longest), notBefore: c.NotBefore, now: clockOrDefault(c.Now)}
}

// body is the content of a session's token besides the registered claims.
type body struct {
	Source profiles.Source     `json:"src"`
	Issuer string              `json:"idp,omitempty"`
	Name   string              `json:"name,omitempty"`
	Values map[string][]string `json:"values,omitempty"`
}

// issueSession signs a session for claims that were just proved.
func (s *Sessions) issueSession(c policy.Claims, life time.Duration) (raw string, expires time.Time, err error) {
	return s.issueSessionAs(randomHex(), c, life)
}

func (s *Sessions) issueSessionAs(id string, c policy.Claims, life time.Duration) (raw string, expires time.Time, err error) {
	expires = s.now().Add(life).Truncate(time.Second)
	raw, err = s.signTokenAs(id, forSession, c.Subject, body{Source: c.Source, Issuer: c.Issuer, Name: c.Name, Values: c.Values}, expires)
	return raw, expires, err
}

// IssueRenewable signs a short session for a command line that was signed in, and the token that renews it until the sign-in ends. The
// session has the id of the command line, so that ending that id ends it at once.
func (s *Sessions) IssueRenewable(id string, c policy.Claims, until time.Time) (session, renewal secret.Text, expires time.Time, err error) {
	raw, expires, err := s.issueSessionAs(id, c, min(tokenLife, until.Sub(s.now())))
	if err != nil {
		return secret.Text{}, secret.Text{}, expires, err
	}
	next, err := s.signToken(forRenewal, id, struct{}{}, until)
	return secret.New(raw), secret.New(next), expires, err
}

// ReadRenewal returns of which command line a renewal token is. Its errors are *Error.
func (s *Sessions) ReadRenewal(raw string) (id string, err error) {
	registered, err := s.readToken(forRenewal, raw, &struct{}{})
	switch {
	case errors.Is(err, jwt.ErrExpired):
		return "", refuseWith(Expired, "The sign-in has ended.")
	case err != nil:
		return "", &Error{BadSignature, "The token is not one of this server.", err}
	case registered.IssuedAt.Time().Before(s.notBefore):
		return "", refuseWith(Revoked, "All sign-ins from before %s were ended.", s.notBefore.UTC().Format(time.RFC3339))
	}
	return registered.Subject, nil
}

// signed is the content of a session's token.
type signed struct {
	id      string
	claims  policy.Claims
	expires time.Time
}

// verifySession checks and reads a session. Its errors are *Error.
func (s *Sessions) verifySession(raw string) (signed, error) {
	var b body
	registered, err := s.readToken(forSession, raw, &b)
	switch {
	case errors.Is(err, jwt.ErrExpired):
		return signed{}, refuseWith(Expired, "The session has expired. Sign in again.")
	case err != nil:
		return signed{}, &Error{BadSignature, "The session does not belong to this server. Sign in again.", err}
	case registered.Subject == "" || b.Source == "" || registered.ID == "":
		return signed{}, refuseWith(Malformed, "The session has no user. Sign in again.")
	case registered.IssuedAt.Time().Before(s.notBefore):
		return signed{}, refuseWith(Revoked, "All sessions from before %s were revoked. Sign in again.", s.notBefore.UTC().Format(time.RFC3339))
	}
	claims := policy.Claims{Source: b.Source, Issuer: b.Issuer, Subject: registered.Subject, Name: b.Name, Values: b.Values}
	return signed{id: registered.ID, claims: claims, expires: registered.Expiry.Time()}, nil
}

// signToken makes a token for one purpose.
func (s *Sessions) signToken(purpose, subject string, more any, expires time.Time) (string, error) {
	return s.signTokenAs(randomHex(), purpose, subject, more, expires)
}

func (s *Sessions) signTokenAs(id, purpose, subject string, more any, expires time.Time) (string, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: s.key}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", fmt.Errorf("prepare to sign a session: %w", err)
	}
	now := s.now()
	raw, err := jwt.Signed(signer).Claims(jwt.Claims{
		Issuer: s.audience, Audience: jwt.Audience{purpose}, Subject: subject, ID: id,
		IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(expires),
	}).Claims(more).Serialize()
	if err != nil {
		return "", fmt.Errorf("sign a session: %w", err)
	}
	return raw, nil
}

// readToken checks a token for one purpose. Its errors never quote the token.
func (s *Sessions) readToken(purpose, raw string, more any) (jwt.Claims, error) {
	parsed, err := jwt.ParseSigned(raw, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		return jwt.Claims{}, errors.New("not a token of this server") // go-jose's text may quote the input
	}
	var c jwt.Claims
	if err := parsed.Claims(s.key.Public(), &c, more); err != nil {
		return jwt.Claims{}, errors.New("the signature is not from this server")
	}
	if c.Expiry == nil || c.IssuedAt == nil {
		return jwt.Claims{}, errors.New("it has no issue or expiry time")
	}
	return c, c.ValidateWithLeeway(jwt.Expected{Issuer: s.audience, AnyAudience: jwt.Audience{purpose}, Time: s.now()}, skew)
}

// randomHex returns 128 random bits in hexadecimal.
func randomHex() string {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(raw)
}
