// Package saml is the demo's own identity provider: the SAML that AWS IAM Identity Center speaks, with four people and
// printed passwords, so that the production code that signs people in runs as it would against a real one.
//
// It must never be trusted outside the demo: everybody knows the passwords, and whoever can read its directory can be
// anybody.
package saml

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	crewjam "github.com/crewjam/saml"
	dsig "github.com/russellhaering/goxmldsig"
)

// Name is what the demo's pages call it.
const Name = "the demo's identity provider"

// Config says where the provider listens and for whom it signs people in.
type Config struct {
	Addr string       // empty: a free port on the loopback
	Dir  string       // holds key.pem; empty: a new key each time
	Home string       // the address of the pages people sign in to
	Log  *slog.Logger // nil: silent
}

// Provider is a running identity provider.
type Provider struct {
	url  string
	home string
	idp  crewjam.IdentityProvider
	stop func() error
}

// Start listens and serves metadata and sign-in until Stop or the end of ctx. The pages need not be there yet.
func Start(ctx context.Context, cfg Config) (*Provider, error) {
	key, cert, err := loadPair(cfg.Dir)
	if err != nil {
		return nil, err
	}
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("listen for the identity provider: %w", err)
	}
	p := &Provider{url: "http://" + listener.Addr().String(), home: cfg.Home}
	p.idp = crewjam.IdentityProvider{
		Key: key, Signer: key, Certificate: cert, SignatureMethod: dsig.RSASHA256SignatureMethod, Logger: slog.NewLogLogger(cfg.Log.Handler(), slog.LevelWarn),
		MetadataURL: p.at("/metadata"), SSOURL: p.at("/sso"), LoginURL: p.at("/sso"),
		ServiceProviderProvider: p, SessionProvider: p, AssertionMaker: assertions{},
	}
	p.serve(ctx, listener)
	return p, nil
}

func (p *Provider) serve(ctx context.Context, listener net.Listener) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metadata", p.idp.ServeMetadata)
	mux.HandleFunc("GET /sso", p.idp.ServeSSO)
	mux.HandleFunc("POST /sso", p.idp.ServeSSO)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	release := context.AfterFunc(ctx, func() { _ = server.Close() })
	p.stop = sync.OnceValue(func() error {
		release()
		_ = server.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve the identity provider: %w", err)
		}
		return nil
	})
}

// Stop ends the server and waits for it. Sessions that were signed stay good: they are the pages'.
func (p *Provider) Stop() error { return p.stop() }

// Metadata is the address at which the pages read whom to trust.
func (p *Provider) Metadata() string { return p.url + "/metadata" }

func (p *Provider) at(path string) url.URL {
	u, err := url.Parse(p.url + path)
	if err != nil {
		panic(err) // it was put together from a listener's address
	}
	return *u
}

// GetServiceProvider reads what the pages say of themselves; it signs people in to nobody else.
func (p *Provider) GetServiceProvider(r *http.Request, id string) (*crewjam.EntityDescriptor, error) {
	ask, err := http.NewRequestWithContext(r.Context(), http.MethodGet, p.home+"/saml/metadata", nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var found crewjam.EntityDescriptor
	if err := xml.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&found); err != nil {
		return nil, err
	}
	if found.EntityID != id {
		return nil, os.ErrNotExist
	}
	return &found, nil
}

// assertions say of a person what Identity Center says with the attribute mappings of docs/identity.md.
type assertions struct{}

// MakeAssertion implements crewjam.AssertionMaker.
func (assertions) MakeAssertion(req *crewjam.IdpAuthnRequest, session *crewjam.Session) error {
	if err := (crewjam.DefaultAssertionMaker{}).MakeAssertion(req, session); err != nil {
		return err
	}
	req.Assertion.AttributeStatements = []crewjam.AttributeStatement{{Attributes: session.CustomAttributes}}
	return nil
}
