package auth

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"golang.org/x/sync/singleflight"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// Issuer is a trusted issuer, and the audience that its tokens must have; empty: Config.Audience.
type Issuer struct {
	URL, Audience string
	Platform      profiles.IssuerPlatform // what it gives tokens to; empty: what its address shows
	Roots         *x509.CertPool          // root certificates for its TLS certificate; nil: the machine's
}

func (i Issuer) newTransport() http.RoundTripper {
	if i.Roots == nil {
		return nil
	}
	own := http.DefaultTransport.(*http.Transport).Clone()
	own.TLSClientConfig = &tls.Config{RootCAs: i.Roots, MinVersion: tls.VersionTLS12}
	return own
}

// skew is the tolerated difference between two clocks.
const skew = 30 * time.Second

// algorithms are the accepted signature algorithms, so that a token's header can never select "none" or a shared secret.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.ES256, jose.ES384, jose.ES512, jose.PS256, jose.PS384, jose.PS512, jose.EdDSA,
}

// trusted is an issuer and, after its first response, its keys.
type trusted struct {
	url       string
	platform  profiles.IssuerPlatform // empty: unknown
	audiences []string
	client    *http.Client
	now       func() time.Time

	once     singleflight.Group // of discovery: concurrent requests wait for one response
	verifier atomic.Pointer[oidc.IDTokenVerifier]
}

// verifyToken checks a token's signature, audience and times, in this order, and reads its claims.
func (t *trusted) verifyToken(ctx context.Context, raw string) (policy.Claims, time.Time, error) {
	keys, err := t.discoverKeys(ctx)
	if err != nil {
		return policy.Claims{}, time.Time{}, t.silentError(err)
	}
	token, err := keys.Verify(oidc.ClientContext(ctx, t.client), raw)
	if err != nil {
		return policy.Claims{}, time.Time{}, t.explainError(err)
	}
	if !slices.ContainsFunc(token.Audience, func(a string) bool { return slices.Contains(t.audiences, a) }) {
		return policy.Claims{}, time.Time{}, refuseWith(WrongAudience, "The token's audience is %q, but this server needs %s. Get a token with that audience from %s.",
			token.Audience, quoteList(t.audiences), t.url)
	}
	all, err := claimsOf(token)
	if err != nil {
		return policy.Claims{}, time.Time{}, &Error{Malformed, "The token's claims are not valid.", err}
	}
	if err := t.inTime(token.Expiry, all["nbf"]); err != nil {
		return policy.Claims{}, time.Time{}, err
	}
	if !isAcceptableSubject(token.Subject) {
		return policy.Claims{}, time.Time{}, refuseWith(Malformed, "The token's sub claim is not valid: it is empty, longer than %d bytes, or contains characters that are not allowed.", mostSubject)
	}
	values := flattenClaims(all)
	return policy.Claims{
		Source: profiles.SourceOIDC, Issuer: t.url, Platform: t.platform, Subject: token.Subject, Name: nameOf(values), Values: values,
	}, token.Expiry, nil
}

// inTime compares a token's times with the clock, with a tolerance.
func (t *trusted) inTime(expiry time.Time, notBefore any) error {
	now := t.now()
	if now.After(expiry.Add(skew)) {
		return refuseWith(Expired, "The token expired at %s. Get a new one from %s.", expiry.UTC().Format(time.RFC3339), t.url)
	}
	if notBefore != nil { // an unreadable time counts as in the future
		number, _ := notBefore.(json.Number)
		seconds, err := number.Float64()
		if err == nil && !now.Add(skew).Before(time.Unix(int64(seconds), 0)) {
			return nil
		}
		return refuseWith(NotYet, "The token is not valid yet. Check the clock, or get a new one from %s.", t.url)
	}
	return nil
}

// claimsOf reads a token's claims, with numbers as they were written.
func claimsOf(token *oidc.IDToken) (all map[string]any, err error) {
	var raw json.RawMessage
	if err := token.Claims(&raw); err != nil {
		return nil, err
	}
	read := json.NewDecoder(bytes.NewReader(raw))
	read.UseNumber()
	return all, read.Decode(&all)
}

// discoverKeys discovers the issuer on first use. A failure is not cached: the next request tries again.
func (t *trusted) discoverKeys(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	if v := t.verifier.Load(); v != nil {
		return v, nil
	}
	found, err, _ := t.once.Do("", func() (any, error) {
		provider, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), t.client), t.url)
		if err != nil {
			return nil, fmt.Errorf("discover %s: %w", t.url, err)
		}
		// verify checks audience and times, because it tolerates clock differences and can say what was wrong.
		v := provider.Verifier(&oidc.Config{SkipClientIDCheck: true, SkipExpiryCheck: true, Now: t.now})
		t.verifier.Store(v)
		return v, nil
	})
	if err != nil {
		return nil, err
	}
	return found.(*oidc.IDTokenVerifier), nil
}

// explainError classifies go-oidc's errors; its error for keys that could not be fetched has no type, only a text.
func (t *trusted) explainError(err error) error {
	if strings.Contains(err.Error(), "fetching keys") {
		return t.silentError(err)
	}
	return &Error{BadSignature, "The token's signature does not match the keys of " + t.url + ". Get a new token there.", errors.New("signature refused")}
}

func (t *trusted) silentError(err error) error {
	return &Error{Unavailable, "The sign-in service " + t.url + " does not respond. Try again in a minute.", err}
}

func quoteList(list []string) string {
	raw, err := json.Marshal(list)
	if err != nil || len(list) == 1 {
		return fmt.Sprintf("%q", list[0])
	}
	return "one of " + string(raw)
}
