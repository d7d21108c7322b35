package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/internal/token"
)

// checkIdentity checks those whom the server trusts to identify people and programs.
func (d *doctor) checkIdentity(ctx context.Context, f *findings) {
	c := d.Settings
	for i, issuer := range c.OIDC {
		d.checkIssuer(ctx, f, fmt.Sprintf("oidc[%d]", i), issuer.Issuer, issuer.CAFile)
	}
	if c.SAML.Metadata == "" {
		f.warn("saml", "Set saml.metadata; docs/identity.md.", "saml.metadata is not set: nobody can sign in to the pages")
	} else {
		d.checkSAML(ctx, f)
	}
	if c.Session.KeyRef != "" {
		d.checkSigningKey(ctx, f, "session-key", "session.key_ref", c.Session.KeyRef)
	}
	d.checkSigningKey(ctx, f, "status-key", "runner.status_key_ref", c.Runner.StatusKeyRef)
	if len(c.OIDC) == 0 && c.SAML.Metadata == "" && !c.AWS.On() {
		f.fail("entries", "Set oidc, saml or aws; docs/identity.md.", "nobody can use the API or the pages: there is no issuer, no provider and no account")
	}
}

// checkIssuer reads an issuer's discovery document, which must name the issuer exactly.
func (d *doctor) checkIssuer(ctx context.Context, f *findings, check, issuer, caFile string) {
	client, err := d.clientTrusting(caFile)
	if err != nil {
		f.fail(check, "Give a file with CA certificates (PEM) that this process can read.", "%s.ca_file: %s", check, err)
		return
	}
	found, err := discoverIssuer(ctx, client, issuer)
	switch {
	case err != nil:
		f.fail(check, "Check the address, and that this machine reaches it and trusts its certificate ("+check+".ca_file).", "read %s's discovery document: %s", issuer, err)
	case found != issuer:
		f.fail(check, "Set "+check+".issuer to exactly what the document says.", "%s calls itself %s, so its tokens are refused", issuer, found)
	default:
		f.ok(check, "%s answers", issuer)
	}
}

// clientTrusting returns a client that trusts the CA certificates of a file; without a file those of the machine.
func (d *doctor) clientTrusting(caFile string) (*http.Client, error) {
	if caFile == "" {
		return d.http, nil
	}
	raw, err := os.ReadFile(caFile)
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(raw) {
		return nil, fmt.Errorf("%s has no certificate (%v)", caFile, err)
	}
	client, transport := *d.http, http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	client.Transport = transport
	return &client, nil
}

// discoverIssuer returns the issuer that a discovery document names. https://openid.net/specs/openid-connect-discovery-1_0.html
func discoverIssuer(ctx context.Context, client *http.Client, issuer string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(issuer, "/")+"/.well-known/openid-configuration", nil)
	if err != nil {
		return "", err
	}
	answer, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the response was %s", answer.Status)
	}
	var document struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&document); err != nil {
		return "", err
	}
	if document.Keys == "" {
		return "", fmt.Errorf("it names no keys (jwks_uri)")
	}
	return document.Issuer, nil
}

// checkSAML checks the identity provider's metadata, and the key that signs requests.
func (d *doctor) checkSAML(ctx context.Context, f *findings) {
	entity, until, err := auth.ProviderEntity(ctx, d.Settings.SAML.Metadata)
	switch {
	case err != nil:
		f.fail("saml", "Correct saml.metadata ("+d.Settings.Origin("saml.metadata")+"): the provider's page for applications shows it.", "%s", err)
	case !strings.Contains(d.Settings.SAML.Metadata, "://") && !until.IsZero() && until.Before(d.Now().Add(soonExpired)): // an address is read again every hour
		f.warn("saml", "Renew the provider's metadata.", "the metadata of %s expires on %s", entity, until.UTC().Format(time.DateOnly))
	default:
		f.ok("saml", "%s can sign people in", entity)
	}
	if d.Settings.SAML.KeyRef == "" {
		return
	}
	raw, ok := d.resolveSecret(ctx, f, "saml-key", "saml.key_ref", d.Settings.SAML.KeyRef)
	if !ok {
		return
	}
	pair, err := auth.ParseSAMLKey([]byte(raw.Reveal()))
	if err != nil {
		f.fail("saml-key", "Store a key and its certificate where saml.key_ref points.", "saml.key_ref: %s", err)
		return
	}
	d.checkExpiry(f, "saml-key", "saml.key_ref", pair.Certificate)
}

// checkSigningKey checks a key that signs tokens.
func (d *doctor) checkSigningKey(ctx context.Context, f *findings, check, field, ref string) {
	raw, ok := d.resolveSecret(ctx, f, check, field, ref)
	if !ok {
		return
	}
	if _, err := token.ParseKey([]byte(raw.Reveal())); err != nil {
		f.fail(check, "openssl genpkey -algorithm ed25519, and store its output where "+field+" points.", "%s: %s", field, err)
		return
	}
	f.ok(check, "%s is an Ed25519 key", ref)
}
