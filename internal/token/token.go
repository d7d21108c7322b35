// Package token makes and checks the tokens with which runners authenticate to the Status API.
//
// A token is an Ed25519-signed JWT that contains one attempt and one token id. It proves who is asking and nothing more: the store
// decides whether that attempt is still open. A token must never be logged, nor verified with another algorithm.
package token

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

const (
	issuer   = "ocpctl"
	audience = "ocpctl-status-api"
	leeway   = 30 * time.Second // for clock differences between replicas
)

// Why a token is refused. Every other error of Verify means that the text is not one of these tokens.
var (
	ErrExpired   = errors.New("the token has expired")
	ErrSignature = errors.New("the token's signature is not ours")
	ErrMalformed = errors.New("the token is malformed")
	ErrClaims    = errors.New("the token is not for this purpose")
)

// Claims is the content of a verified token.
type Claims struct {
	Attempt string // id of the attempt
	TokenID string // the attempt's token id, to be compared with the store's
}

// Signer signs and verifies with one key. It is safe for concurrent use.
type Signer struct {
	key ed25519.PrivateKey
	ttl time.Duration
}

// NewSigner returns a Signer whose tokens are valid for ttl.
func NewSigner(key ed25519.PrivateKey, ttl time.Duration) *Signer { return &Signer{key: key, ttl: ttl} }

// Sign returns a token for an attempt, valid from now for the signer's ttl.
func (s *Signer) Sign(attempt, tokenID string, now time.Time) (string, error) {
	options := (&jose.SignerOptions{}).WithType("JWT")
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: s.key}, options)
	if err != nil {
		return "", fmt.Errorf("sign the token of attempt %s: %w", attempt, err)
	}
	raw, err := jwt.Signed(signer).Claims(jwt.Claims{
		Issuer:    issuer,
		Audience:  jwt.Audience{audience},
		Subject:   attempt,
		ID:        tokenID,
		IssuedAt:  jwt.NewNumericDate(now),
		NotBefore: jwt.NewNumericDate(now),
		Expiry:    jwt.NewNumericDate(now.Add(s.ttl)),
	}).Serialize()
	if err != nil {
		return "", fmt.Errorf("sign the token of attempt %s: %w", attempt, err)
	}
	return raw, nil
}

// Verify checks signature, purpose and lifetime and returns the token's content. Its errors wrap ErrMalformed, ErrSignature,
// ErrExpired or ErrClaims, checked in this order, and never contain the token.
func (s *Signer) Verify(raw string, now time.Time) (Claims, error) {
	parsed, err := jwt.ParseSigned(raw, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		return Claims{}, ErrMalformed // go-jose's error may quote the input
	}
	var c jwt.Claims
	if err := parsed.Claims(s.key.Public(), &c); err != nil {
		return Claims{}, ErrSignature
	}
	if c.Expiry == nil || c.Subject == "" || c.ID == "" {
		return Claims{}, fmt.Errorf("%w: subject, id and expiry are needed", ErrClaims)
	}
	expected := jwt.Expected{Issuer: issuer, AnyAudience: jwt.Audience{audience}, Time: now}
	switch err := c.ValidateWithLeeway(expected, leeway); {
	case errors.Is(err, jwt.ErrExpired):
		return Claims{}, fmt.Errorf("%w at %s", ErrExpired, c.Expiry.Time().UTC().Format(time.RFC3339))
	case err != nil:
		return Claims{}, fmt.Errorf("%w: %w", ErrClaims, err)
	}
	return Claims{Attempt: c.Subject, TokenID: c.ID}, nil
}
