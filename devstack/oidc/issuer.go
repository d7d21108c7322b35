// Package oidc is the demo's own OIDC issuer: discovery, keys and signed tokens, so that the production code that verifies bearer
// tokens runs as with a real one.
//
// It must never be trusted outside the demo: whoever can read its directory can impersonate anybody.
package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

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
