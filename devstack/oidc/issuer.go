// Package oidc is the demo's own OIDC issuer: discovery, keys and signed tokens, so that the production code that verifies bearer
// tokens runs as with a real one.
//
// It must never be trusted outside the demo: whoever can read its directory can impersonate anybody.
package oidc

import (
	"context"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/ocpctl/ocpctl/devstack/file"
	"github.com/ocpctl/ocpctl/devstack/listen"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/rsakey"
)

// Audience is the audience of the tokens.
const Audience = "ocpctl"

// Config says where the issuer listens and stores its key.
type Config struct {
	Addr string           // empty: a free port on the loopback
	Dir  string           // holds key.pem; empty: a new key each time
	Now  func() time.Time // nil: time.Now
}

// Issuer is a running identity provider.
type Issuer struct {
	url  string
	now  func() time.Time
	key  jose.JSONWebKey
	stop func() error
}

// Start listens and serves discovery and keys until Stop is called or ctx ends.
func Start(ctx context.Context, cfg Config) (_ *Issuer, err error) {
	defer must.Catch(&err)
	i := must.Get(New("", cfg))
	listener := must.Get(listen.On(ctx, cfg.Addr, "the issuer"))
	i.url = "http://" + listener.Addr().String()
	serve, release := listen.Serve(ctx, listener, i.Handler(), "the issuer"), i.stop
	i.stop = func() error { return errors.Join(serve(), release()) }
	return i, nil
}

// New makes an issuer with a URL at which somebody else serves its Handler, until Stop is called.
func New(url string, cfg Config) (*Issuer, error) {
	key, err := rsakey.LoadFrom(cfg.Dir)
	if err != nil {
		return nil, err
	}
	i := &Issuer{url: url, now: cfg.Now, key: jose.JSONWebKey{
		Key: key.PrivateKey, KeyID: keyID(key.PrivateKey), Algorithm: string(jose.RS256), Use: "sig",
	}}
	i.stop = sync.OnceValue(func() error {
		key.Release()
		return nil
	})
	if i.now == nil {
		i.now = time.Now
	}
	return i, nil
}

// Handler serves discovery and keys below the issuer's URL.
func (i *Issuer) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.discovery)
	mux.HandleFunc("GET /keys", i.keys)
	return mux
}

// Stop stops the server. Tokens stay valid, because the key is kept.
func (i *Issuer) Stop() error { return i.stop() }

// URL is the issuer, as in the tokens.
func (i *Issuer) URL() string { return i.url }

func (i *Issuer) discovery(w http.ResponseWriter, _ *http.Request) {
	answer(w, map[string]any{
		"issuer": i.url, "jwks_uri": i.url + "/keys",
		"authorization_endpoint": i.url + "/authorize", "token_endpoint": i.url + "/token",
		"response_types_supported": []string{"id_token"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{string(jose.RS256)},
		"claims_supported":                      []string{"iss", "aud", "sub", "exp", "iat", "name", "groups", "ocpctl_role"},
	})
}

func (i *Issuer) keys(w http.ResponseWriter, _ *http.Request) {
	answer(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{i.key.Public()}})
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // the caller disconnected
}

// Life is how long a token is valid.
const Life = 30 * 24 * time.Hour

// Claims are a token's content. Token fills in empty times and the audience.
type Claims struct {
	Issuer   string           `json:"iss"`
	Audience jwt.Audience     `json:"aud"`
	Subject  string           `json:"sub"`
	Name     string           `json:"name,omitempty"`
	Groups   []string         `json:"groups,omitempty"` // teams
	Role     string           `json:"ocpctl_role,omitempty"`
	IssuedAt *jwt.NumericDate `json:"iat"`
	Expiry   *jwt.NumericDate `json:"exp"`
	More     map[string]any   `json:"-"` // more claims, such as those of a workflow's token
}

// Requester, Admin and Auditor are the demo's principals by role; the others are tokens in the form of GitHub Actions and Kubernetes.
var (
	Requester = Claims{Subject: "maya", Name: "Maya", Groups: []string{"platform"}, Role: "requester"}
	Admin     = Claims{Subject: "admin", Name: "Demo admin", Groups: []string{"platform"}, Role: "platform_admin"}
	Auditor   = Claims{Subject: "auditor", Name: "Demo auditor", Role: "auditor"}

	GitHubActions = Claims{Subject: "repo:acme/shop:ref:refs/heads/main", More: map[string]any{
		"repository": "acme/shop", "repository_id": "1001", "repository_owner": "acme", "repository_owner_id": "1000", "ref": "refs/heads/main", "ref_type": "branch", "event_name": "push",
		"sha": "6dcb09b5b57875f334f61aebed695e2e4193db5e", "base_ref": "", "head_ref": "", "runner_environment": "github-hosted",
		"actor": "maya", "run_id": "7001", "run_number": "12", "run_attempt": "1", "check_run_id": "9001", "workflow": "e2e", "repository_visibility": "private",
		"job_workflow_ref": "acme/shop/.github/workflows/e2e.yml@refs/heads/main",
	}}
	Kubernetes = Claims{Subject: "system:serviceaccount:ci:builder", More: map[string]any{"kubernetes.io": map[string]any{
		"namespace": "ci", "serviceaccount": map[string]any{"name": "builder", "uid": "6a1b2c3d-0000-4000-8000-000000000001"},
		"pod": map[string]any{"name": "e2e-1", "uid": "6a1b2c3d-0000-4000-8000-000000000002"},
	}}}
)

// Time is a point in time as tokens have it.
func Time(at time.Time) *jwt.NumericDate { return jwt.NewNumericDate(at) }

// Token signs the claims. Empty issuer, audience and times become this issuer, Audience, now and Life.
func (i *Issuer) Token(c Claims) (_ string, err error) {
	defer must.Catch(&err)
	now := i.now().UTC()
	if c.Issuer == "" {
		c.Issuer = i.url
	}
	if c.Audience == nil {
		c.Audience = jwt.Audience{Audience}
	}
	if c.IssuedAt == nil {
		c.IssuedAt = jwt.NewNumericDate(now)
	}
	if c.Expiry == nil {
		c.Expiry = jwt.NewNumericDate(now.Add(Life))
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: i.key}, (&jose.SignerOptions{}).WithType("JWT"))
	must.Wrap(err, "prepare to sign a token for %q", c.Subject)
	raw, err := jwt.Signed(signer).Claims(c).Claims(c.More).Serialize()
	must.Wrap(err, "sign a token for %q", c.Subject)
	return raw, nil
}

// WriteTokens writes requester.jwt, admin.jwt, auditor.jwt, github-actions.jwt and kubernetes.jwt to dir, readable only by their
// owner.
func (i *Issuer) WriteTokens(dir string) (err error) {
	defer must.Catch(&err)
	for name, claims := range map[string]Claims{
		"requester": Requester, "admin": Admin, "auditor": Auditor, "github-actions": GitHubActions, "kubernetes": Kubernetes,
	} {
		raw := must.Get(i.Token(claims))
		must.Do(file.Replace(filepath.Join(dir, name+".jwt"), []byte(raw+"\n")))
	}
	return nil
}

func keyID(key *rsa.PrivateKey) string {
	sum := sha256.Sum256(x509.MarshalPKCS1PublicKey(&key.PublicKey))
	return hex.EncodeToString(sum[:8])
}
