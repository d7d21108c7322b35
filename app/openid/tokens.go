package openid

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/ocpctl/ocpctl/app/oauth"
	"github.com/ocpctl/ocpctl/store/access"
)

// code is the content of an authorization code.
type code struct {
	Access    string `json:"access"`
	Cluster   string `json:"cluster"`
	Redirect  string `json:"redirect"`
	Nonce     string `json:"nonce,omitempty"`
	Challenge string `json:"challenge,omitempty"`
	ID        string `json:"jti"`
}

// hash is under which the use of a code is recorded.
func (c code) hash() string {
	sum := sha256.Sum256([]byte("console code " + c.ID))
	return hex.EncodeToString(sum[:])
}

// matchesVerifier checks PKCE. A verifier without a challenge means that somebody took the challenge out of the request (RFC 9700, 4.8.2).
func (c code) matchesVerifier(verifier string) bool {
	if c.Challenge == "" {
		return verifier == ""
	}
	return oauth.MatchesChallenge(c.Challenge, verifier)
}

// forCodes is the audience of a code, so that nothing else with this key is one.
const forCodes = "ocpctl-console-code"

func (s *Service) sealCode(c code) (string, error) {
	return s.signToken(jose.SigningKey{Algorithm: jose.HS256, Key: s.keys.codes}, jwt.Claims{
		Issuer: s.issuer(), Audience: jwt.Audience{forCodes}, Expiry: jwt.NewNumericDate(s.Now().Add(codeLasts)),
	}, c)
}

// openCode returns the content of a code that is still valid. Its errors never quote the code.
func (s *Service) openCode(raw string) (c code, err error) {
	parsed, err := jwt.ParseSigned(raw, []jose.SignatureAlgorithm{jose.HS256})
	if err != nil {
		return c, errors.New("not a code of this server")
	}
	var registered jwt.Claims
	if err := parsed.Claims(s.keys.codes, &registered, &c); err != nil || registered.Expiry == nil {
		return c, errors.New("not a code of this server")
	}
	return c, registered.ValidateWithLeeway(jwt.Expected{Issuer: s.issuer(), AnyAudience: jwt.Audience{forCodes}, Time: s.Now()}, 0)
}

// signIdentity makes the ID token of a reader. The subject is the account of one access, so that whoever gets access again is another user in the
// cluster, with none of the rights that the earlier one was given there.
func (s *Service) signIdentity(given access.Row, nonce string) (string, error) {
	now := s.Now()
	return s.signToken(jose.SigningKey{Algorithm: jose.ES256, Key: s.keys.signing}, jwt.Claims{
		Issuer: s.issuer(), Subject: given.Account, Audience: jwt.Audience{given.Cluster}, IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(tokenLasts)),
	}, struct {
		Nonce    string   `json:"nonce,omitempty"`
		Name     string   `json:"name"`
		Username string   `json:"preferred_username"`
		Groups   []string `json:"groups"`
	}{nonce, given.ReaderName, given.Account, []string{"ocpctl-" + string(given.Role)}})
}

func (s *Service) signToken(key jose.SigningKey, registered jwt.Claims, more any) (string, error) {
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", fmt.Errorf("sign in to a console: %w", err)
	}
	raw, err := jwt.Signed(signer).Claims(registered).Claims(more).Serialize()
	if err != nil {
		return "", fmt.Errorf("sign in to a console: %w", err)
	}
	return raw, nil
}
