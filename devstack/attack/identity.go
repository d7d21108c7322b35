package attack

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/oidc"
)

// identityAttacks try to become somebody else.
func identityAttacks() []attack {
	all := []attack{
		{name: "identity/tokens", who: "a neighbour", tried: "tokens that are forged, of others, over, for others, or none", short: true, play: badTokens},
		{name: "identity/claims", who: "a workflow of a stranger's", tried: "claims that would give a role if they were taken at their word", play: badClaims},
		{name: "identity/redirects", who: "another site", tried: "sign-ins and pages that lead on to another site", play: openRedirects},
	}
	return append(append(append(all, samlAttacks()...), awsAttacks()...), httpsAttacks()...)
}

// issuersKey returns the demo issuer's own key, for validly signed tokens with wrong content.
func (t *target) issuersKey() (_ *rsa.PrivateKey, err error) {
	defer must.Catch(&err)
	raw := must.Get(os.ReadFile(filepath.Join(t.Dir, "oidc", "key.pem")))
	block, _ := pem.Decode(raw)
	must.FailIf(block == nil, "the issuer's key is no PEM")
	return x509.ParsePKCS1PrivateKey(block.Bytes)
}

// crafted returns a JWT with the given header and claims. A nil key leaves the signature empty.
func crafted(header, claims map[string]any, key any, algorithm jose.SignatureAlgorithm) (_ string, err error) {
	defer must.Catch(&err)
	if key == nil {
		head := must.Get(json.Marshal(header))
		body, err := json.Marshal(claims)
		return base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(body) + ".", err
	}
	options := &jose.SignerOptions{ExtraHeaders: map[jose.HeaderKey]any{}}
	for name, value := range header {
		options.ExtraHeaders[jose.HeaderKey(name)] = value
	}
	signer := must.Get(jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, options))
	return jwt.Signed(signer).Claims(claims).Serialize()
}

// adminsClaims returns the claims of the demo's admin, with changes.
func (t *target) adminsClaims(change map[string]any) map[string]any {
	now := time.Now()
	claims := map[string]any{
		"iss": t.OIDC.URL(), "aud": oidc.Audience, "sub": "admin", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "ocpctl_role": "platform_admin",
	}
	for name, value := range change {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	return claims
}

// forgedTokens returns tokens that must never be accepted.
func (t *target) forgedTokens() (_ map[string]string, err error) {
	defer must.Catch(&err)
	issuers := must.Get(t.issuersKey())
	own := must.Get(rsa.GenerateKey(rand.Reader, 2048))
	_, session := must.Get2(ed25519.GenerateKey(rand.Reader))
	public := pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&issuers.PublicKey)})
	now := time.Now()
	all := map[string]string{"nothing": "x", "two dots": "..", "a space": "a b", "a megabyte": strings.Repeat("a", 900<<10), "another scheme's": "dXNlcjpwYXNz"}
	for what, c := range map[string]struct {
		header, change map[string]any
		key            any
		algorithm      jose.SignatureAlgorithm
	}{
		"alg none":                      {map[string]any{"alg": "none", "typ": "JWT"}, nil, nil, ""},
		"alg None":                      {map[string]any{"alg": "None"}, nil, nil, ""},
		"no signature":                  {map[string]any{"alg": "RS256"}, nil, nil, ""},
		"the public key as a secret":    {nil, nil, public, jose.HS256},
		"a key of one's own":            {nil, nil, own, jose.RS256},
		"a key of one's own, its kid":   {map[string]any{"kid": "../../keys"}, nil, own, jose.RS256},
		"a key of one's own, by jku":    {map[string]any{"jku": "https://evil.example/keys"}, nil, own, jose.RS256},
		"a key of one's own, within":    {map[string]any{"jwk": jose.JSONWebKey{Key: &own.PublicKey}}, nil, own, jose.RS256},
		"over":                          {nil, map[string]any{"exp": now.Add(-time.Hour).Unix()}, issuers, jose.RS256},
		"without an end":                {nil, map[string]any{"exp": nil}, issuers, jose.RS256},
		"not yet":                       {nil, map[string]any{"nbf": now.Add(time.Hour).Unix()}, issuers, jose.RS256},
		"not yet, in words":             {nil, map[string]any{"nbf": "tomorrow"}, issuers, jose.RS256},
		"for another audience":          {nil, map[string]any{"aud": "another"}, issuers, jose.RS256},
		"for nobody":                    {nil, map[string]any{"aud": nil}, issuers, jose.RS256},
		"of another issuer":             {nil, map[string]any{"iss": "https://evil.example"}, issuers, jose.RS256},
		"of an issuer that begins so":   {nil, map[string]any{"iss": t.OIDC.URL() + ".evil.example"}, issuers, jose.RS256},
		"about nobody":                  {nil, map[string]any{"sub": ""}, issuers, jose.RS256},
		"about two":                     {nil, map[string]any{"sub": "admin\nada"}, issuers, jose.RS256},
		"a session with one's own key":  {nil, map[string]any{"iss": t.PrivateURL(), "aud": "ocpctl-session", "src": "oidc"}, session, jose.EdDSA},
		"an attempt with one's own key": {nil, map[string]any{"iss": "ocpctl", "aud": "status", "attempt": "att_1"}, session, jose.EdDSA},
	} {
		if all[what], err = crafted(c.header, t.adminsClaims(c.change), c.key, c.algorithm); err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
	}
	return all, nil
}

func badTokens(ctx context.Context, t *target) (result, error) {
	forged := must.Get(t.forgedTokens())
	good := must.Get(t.OIDC.Token(oidc.Admin))
	forged["cut short"], forged["with more"] = good[:len(good)-4], good+"AAAA"
	forged["another body"] = swapBody(good)
	forged["a sign-in that was begun"] = must.Get(t.begunCookie(ctx))
	if got, err := t.bearing(good).ask(ctx, http.MethodGet, "/api/v1/me", nil); err != nil || got.status != http.StatusOK {
		return result{}, fmt.Errorf("the true token is answered %d: %w", got.status, err)
	}
	for what, token := range forged {
		for _, at := range []string{"/api/v1/me", "/api/v1/clusters", "/me"} {
			c := t.bearing(token)
			got := must.Get(patient(ctx, func() (answer, error) {
				if at == "/me" {
					return c.browse(ctx, http.MethodGet, at, nil)
				}
				return c.ask(ctx, http.MethodGet, at, nil)
			}))
			throughIf(got.status < 300, "the token %s opens %s", what, at)
		}
	}
	return held("%d tokens, none of them opens the API or a page", len(forged))
}

// swapBody replaces the claims under a signature.
func swapBody(token string) string {
	parts := strings.Split(token, ".")
	parts[1] = base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"admin","ocpctl_role":"platform_admin","aud":"ocpctl","exp":9999999999}`))
	return strings.Join(parts, ".")
}

// begunCookie returns the cookie that a browser keeps during a sign-in, which the server signed only for that purpose.
func (t *target) begunCookie(ctx context.Context) (_ string, err error) {
	defer must.Catch(&err)
	got := must.Get(t.nobody().ask(ctx, http.MethodGet, "/saml/login?next=/", nil))
	_, value, _ := strings.Cut(got.header.Get("Set-Cookie"), "=")
	value, _, _ = strings.Cut(value, ";")
	must.FailIf(value == "", "the sign-in set no cookie: %d", got.status)
	return value, nil
}

// badClaims are signed by a trusted issuer, about somebody without a role.
func badClaims(ctx context.Context, t *target) (result, error) {
	tried := 0
	for what, more := range map[string]map[string]any{
		"every team as a group":           {"groups": []string{"*"}, "ocpctl_role": "requester"},
		"a role in another spelling":      {"ocpctl_role": "Platform_Admin"},
		"a role within an object":         {"ocpctl_role": map[string]any{"": "platform_admin"}},
		"a role by a dotted name":         {"": map[string]any{"ocpctl_role": "platform_admin"}},
		"a stranger's fork on main":       {"repository": "evil/shop", "ref": "refs/heads/main"},
		"a repository that ends so":       {"repository": "evil-acme/shop", "ref": "refs/heads/main"},
		"the repository on a pull":        {"repository": "acme/shop", "ref": "refs/pull/41/merge"},
		"another namespace":               {"kubernetes.io": map[string]any{"namespace": "ci-evil", "serviceaccount": map[string]any{"name": "builder"}}},
		"dots in names":                   {"kubernetes.io.namespace": "x", "kubernetes.io": map[string]any{"namespace": "default"}},
		"groups of the identity provider": {"groups": []string{"ocpctl-admins"}},
	} {
		c := must.Get(t.as(oidc.Claims{Subject: "stranger", More: more}))
		for _, at := range []string{"/api/v1/clusters", "/api/v1/audit", "/api/v1/profiles"} {
			got := must.Get(patient(ctx, func() (answer, error) { return c.ask(ctx, http.MethodGet, at, nil) }))
			empty := strings.Contains(string(got.body), `"items":[]`) || at == "/api/v1/profiles" // a role in a team that does not exist
			if tried++; got.status < 300 && (what != "every team as a group" || !empty) {
				return through("%s: GET %s is answered %d", what, at, got.status)
			}
		}
	}
	return held("%d requests with claims of strangers, none answered", tried)
}

// openRedirects tries to make the pages redirect somebody to another site.
func openRedirects(ctx context.Context, t *target) (result, error) {
	tried := 0
	for _, to := range []string{
		"https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil.example", "/%2Fevil.example", "/\t/evil.example", "/%09/evil.example", "https:evil.example",
		"javascript:alert(1)", "/../..//evil.example", " //evil.example", "/.//evil.example", "http://evil.example%2f@127.0.0.1/",
	} {
		jar := must.Get(cookiejar.New(nil))
		browser := &http.Client{Jar: jar, Timeout: 30 * time.Second, CheckRedirect: plain.CheckRedirect}
		form := must.Get(t.samlAnswer(ctx, browser, to, "maya", nil))
		got := must.Get(t.finish(ctx, browser, form))
		must.FailIf(got.status != http.StatusSeeOther, "the sign-in with next=%q ended with %d", to, got.status)
		page := must.Get(t.nobody().ask(ctx, http.MethodGet, "/login?next="+url.QueryEscape(to), nil))
		tried += 2
		throughIf(leadsAway(got.header.Get("Location")) || strings.Contains(string(page.body), `href="//`) || strings.Contains(string(page.body), `href="https://evil`),
			"next=%q leads to %q", to, got.header.Get("Location"))
	}
	return held("%d tries, none leads away", tried)
}

// leadsAway reports whether a browser would leave our pages for this URL.
func leadsAway(location string) bool {
	cleaned := strings.ReplaceAll(strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return -1
		}
		return r
	}, strings.TrimSpace(location)), "\\", "/")
	at, err := url.Parse(cleaned)
	return err != nil || at.Host != "" || at.Scheme != "" || strings.HasPrefix(cleaned, "//")
}
