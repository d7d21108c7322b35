package main

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"fmt"
	"os"
	"time"

	awsconfig "github.com/aws/aws-sdk-go-v2/config"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/internal/token"
	"github.com/ocpctl/ocpctl/profiles"
)

// identity holds the ways to authenticate at the private listener.
type identity struct {
	who      *auth.Verifier     // bearer tokens and the pages' sessions
	sessions *auth.Sessions     // ocpctl's own; nil: none are signed
	key      ed25519.PrivateKey // that signs them
	signIn   *auth.SignIn       // people; nil: nobody can sign in to the pages
	exchange *auth.Exchange     // programs with an AWS identity; nil: none
}

func (in inner) wireIdentity(ctx context.Context, reused auth.ReusedNames) (id identity, err error) {
	cfg := in.cfg
	trust := auth.Config{Audience: cfg.UIURL, Reused: reused}
	trust.Identities = func() []profiles.Identity { return in.catalogue.Current().Identities }
	for i, o := range cfg.OIDC {
		issuer := auth.Issuer{URL: o.Issuer, Audience: o.Audience, Platform: profiles.IssuerPlatform(o.Platform)}
		if o.CAFile != "" {
			if issuer.Roots, err = readRoots(o.CAFile); err != nil {
				return id, fmt.Errorf("oidc[%d].ca_file: %w", i, err)
			}
		}
		trust.Issuers = append(trust.Issuers, issuer)
	}
	if cfg.Session.KeyRef != "" {
		if trust.Sessions, id.key, err = newSessions(ctx, cfg); err != nil {
			return id, err
		}
		trust.End, trust.Ended = in.store.People.EndSession, in.store.People.SessionEnded
	}
	id.sessions = trust.Sessions
	id.who = auth.New(trust)
	if cfg.SAML.Metadata != "" {
		if id.signIn, err = in.wireSAML(ctx, id.who, trust.Sessions); err != nil {
			return id, err
		}
	}
	if cfg.AWS.On() {
		id.exchange, err = in.wireAWS(ctx, id.who, trust.Sessions)
	}
	return id, err
}

// newSessions returns the signer of this installation's own sessions, and its key.
func newSessions(ctx context.Context, c config.Config) (*auth.Sessions, ed25519.PrivateKey, error) {
	raw, err := c.Secret(ctx, "session.key_ref", c.Session.KeyRef)
	if err != nil {
		return nil, nil, err
	}
	key, err := token.ParseKey([]byte(raw.Reveal()))
	if err != nil {
		return nil, nil, fmt.Errorf("session.key_ref: %w", err)
	}
	s := auth.SessionConfig{Key: key, Audience: c.UIURL, Life: c.Session.Life}
	if c.Session.NotBefore != "" {
		if s.NotBefore, err = time.Parse(time.RFC3339, c.Session.NotBefore); err != nil {
			return nil, nil, fmt.Errorf("session.not_before: %w", err)
		}
	}
	return auth.NewSessions(s), key, nil
}

func (in inner) wireSAML(ctx context.Context, who *auth.Verifier, sessions *auth.Sessions) (*auth.SignIn, error) {
	saml := auth.SAMLConfig{
		Provider: in.cfg.SAML.Name, Metadata: in.cfg.SAML.Metadata, Home: in.cfg.UIURL, EntityID: in.cfg.SAML.EntityID,
		Sessions: sessions, Verifier: who, Spend: in.store.People.SpendSignature,
	}
	if ref := in.cfg.SAML.KeyRef; ref != "" {
		raw, err := in.cfg.Secret(ctx, "saml.key_ref", ref)
		if err != nil {
			return nil, err
		}
		if saml.Key, err = auth.ParseSAMLKey([]byte(raw.Reveal())); err != nil {
			return nil, fmt.Errorf("saml.key_ref: %w", err)
		}
	}
	signIn, err := auth.NewSignIn(saml)
	if err != nil {
		return nil, fmt.Errorf("saml: %w", err)
	}
	return signIn, nil
}

func (in inner) wireAWS(ctx context.Context, who *auth.Verifier, sessions *auth.Sessions) (*auth.Exchange, error) {
	a := auth.AWSConfig{
		Audience: in.cfg.UIURL, Accounts: in.cfg.AWS.Accounts, Organizations: in.cfg.AWS.Organizations, Endpoints: in.cfg.AWS.STSEndpoints,
		Sessions: sessions, Verifier: who, Spend: in.store.People.SpendSignature,
	}
	if len(a.Organizations) > 0 {
		sdk, err := awsconfig.LoadDefaultConfig(ctx)
		if err != nil {
			return nil, fmt.Errorf("load the AWS configuration: %w", err)
		}
		if sdk.Region == "" {
			sdk.Region = "us-east-1" // Organizations has one endpoint for all regions
		}
		a.Directory = auth.NewAccounts(sdk, 0, nil)
	}
	exchange, err := auth.NewExchange(a)
	if err != nil {
		return nil, fmt.Errorf("aws: %w", err)
	}
	return exchange, nil
}

// readRoots reads the certificates of a file.
func readRoots(path string) (*x509.CertPool, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		return nil, fmt.Errorf("%s contains no certificate (PEM)", path)
	}
	return pool, nil
}
