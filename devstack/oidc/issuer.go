// Package oidc is the demo's own OIDC issuer: discovery, keys and signed tokens, so that the production code that verifies bearer
// tokens runs as with a real one.
//
// It must never be trusted outside the demo: whoever can read its directory can impersonate anybody.
package oidc

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/ocpctl/ocpctl/devstack/file"
	"github.com/ocpctl/ocpctl/devstack/listen"
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
func Start(ctx context.Context, cfg Config) (*Issuer, error) {
	i, err := New("", cfg)
	if err != nil {
		return nil, err
	}
	listener, err := listen.On(ctx, cfg.Addr, "the issuer")
	if err != nil {
		return nil, err
	}
	i.url = "http://" + listener.Addr().String()
	i.stop = listen.Serve(ctx, listener, i.Handler(), "the issuer")
	if key, ok := i.key.Key.(*rsa.PrivateKey); ok && cfg.Dir == "" {
		serve := i.stop
		i.stop = sync.OnceValue(func() error {
			defer keepSpare(key)
			return serve()
		})
	}
	return i, nil
}

// New makes an issuer with a URL at which somebody else serves its Handler.
func New(url string, cfg Config) (*Issuer, error) {
	key, err := loadKey(cfg.Dir)
	if err != nil {
		return nil, err
	}
	i := &Issuer{url: url, now: cfg.Now, stop: func() error { return nil }, key: jose.JSONWebKey{
		Key: key, KeyID: keyID(key), Algorithm: string(jose.RS256), Use: "sig",
	}}
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

// spare has the keys of issuers that were stopped and kept none. Making a key costs more than most tests that need an issuer; no two
// issuers that run have the same.
var spare = make(chan *rsa.PrivateKey, 16)

func keepSpare(key *rsa.PrivateKey) {
	select {
	case spare <- key:
	default: // there are enough
	}
}

// loadKey reads the issuer's key, or creates and stores one.
func loadKey(dir string) (*rsa.PrivateKey, error) {
	if dir == "" {
		select {
		case key := <-spare:
			return key, nil
		default: // there is none
		}
	}
	path := filepath.Join(dir, "key.pem")
	if dir != "" {
		raw, err := os.ReadFile(path)
		if err == nil {
			return parseKey(path, raw)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read the issuer's key: %w", err)
		}
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("make the issuer's key: %w", err)
	}
	if dir != "" {
		raw := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
		if err := file.Replace(path, raw); err != nil {
			return nil, err
		}
	}
	return key, nil
}

func parseKey(path string, raw []byte) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode(raw)
	if block == nil {
		return nil, fmt.Errorf("read the issuer's key %s: no PEM block", path)
	}
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read the issuer's key %s: %w", path, err)
	}
	return key, nil
}
