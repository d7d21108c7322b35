package github

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// refusal is a 401 with GitHub's text.
type refusal string

// GitHub's texts for refused App JWTs and tokens.
const (
	noCredentials  refusal = "Requires authentication"
	badCredentials refusal = "Bad credentials"
	undecodable    refusal = "A JSON web token could not be decoded"
	badExpiry      refusal = "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires"
	farExpiry      refusal = "'Expiration time' claim ('exp') is too far in the future"
	badIssueTime   refusal = "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
	badIssuer      refusal = "'Issuer' claim ('iss') must be an Integer"
	unknownApp     refusal = "Integration not found"
)

// checkJWT verifies an App's JWT: RS256 with its key, issued by it, ten minutes at most.
// https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
func (s *Server) checkJWT(r *http.Request) refusal {
	raw, ok := bearer(r)
	if !ok {
		return undecodable
	}
	token, err := jwt.ParseSigned(raw, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return undecodable
	}
	var claims jwt.Claims
	if err := token.Claims(s.key.Public(), &claims); err != nil {
		return undecodable
	}
	now := s.now()
	switch {
	case claims.Issuer == "":
		return badIssuer
	case claims.Issuer != itoa(AppID):
		return unknownApp
	case claims.Expiry == nil || !claims.Expiry.Time().After(now):
		return badExpiry
	case claims.Expiry.Time().After(now.Add(10*time.Minute + time.Second)):
		return farExpiry
	case claims.IssuedAt == nil || claims.IssuedAt.Time().After(now.Add(time.Second)):
		return badIssueTime
	}
	return ""
}

func bearer(r *http.Request) (string, bool) {
	kind, raw, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(kind, "bearer") && !strings.EqualFold(kind, "token") {
		return "", false
	}
	return raw, true
}

const tokenLife = time.Hour

// grant is the scope of an installation token.
type grant struct {
	End          time.Time         `json:"end"`
	Installation int64             `json:"installation"`
	Permissions  map[string]string `json:"permissions,omitempty"` // nil: all the App's
	Repos        []int64           `json:"repos,omitempty"`       // nil: all the installation's
}

// issueToken creates an installation token. Only its hash is stored.
func (s *Server) issueToken(of grant) (string, time.Time, error) {
	token := "ghs_" + rand.Text() + rand.Text()[:10]
	of.End = s.now().UTC().Truncate(time.Second).Add(tokenLife)
	err := s.change(func(w *world) ([]Event, error) {
		for hash, old := range w.Tokens {
			if !old.End.After(s.now()) {
				delete(w.Tokens, hash)
			}
		}
		w.Tokens[hashOf(token)] = &of
		return nil, nil
	})
	return token, of.End, err
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// caller is who calls the API: the App in its installation, or a person with the playground open.
type caller struct {
	login string
	app   bool
	grant grant // scope of the App's token
	at    Place // the repository of the call
}

// caller identifies the caller; an empty refusal means success.
func (s *Server) caller(r *http.Request) (caller, refusal) {
	if r.Header.Get("Authorization") == "" {
		if who := acting(r); who != "" {
			return caller{login: who}, ""
		}
		return caller{}, noCredentials
	}
	token, ok := bearer(r)
	if !ok {
		return caller{}, badCredentials
	}
	c := caller{login: Bot, app: true}
	s.look(func(w *world) {
		found := w.Tokens[hashOf(token)]
		if ok = found != nil && found.End.After(s.now()); ok {
			c.grant = *found
		}
	})
	if !ok {
		return caller{}, badCredentials
	}
	return c, ""
}

// sees reports whether the call's token covers a repository.
func (c caller) sees(r *repository) bool {
	return r.Access && (c.grant.Repos == nil || slices.Contains(c.grant.Repos, r.ID))
}

// granted reports whether the App and the token have one of the permissions that a call needs: "checks:write", or
// "issues:read|pull_requests:read". Write includes read.
func (c caller) granted(app Manifest, needs string) bool {
	for one := range strings.SplitSeq(needs, "|") {
		name, level, _ := strings.Cut(one, ":")
		has := app.Permissions[name]
		if c.grant.Permissions != nil && has != "" {
			has = lesser(has, c.grant.Permissions[name])
		}
		if has == level || has == "write" {
			return true
		}
	}
	return false
}

func lesser(a, b string) string {
	if a == "write" {
		return b
	}
	if b == "" {
		return ""
	}
	return a
}
