package oc

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/crypto/acme"

	"github.com/ocpctl/ocpctl/devstack/installer/resources"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// This file is what cert-manager does with a ClusterIssuer of ACME and a Certificate, and what the ingress controller does with its own
// certificate. cert-manager works when a certificate is waited for.

// acmeIssuer is a ClusterIssuer, as far as the stand-in knows it.
type acmeIssuer struct {
	Spec struct {
		ACME struct {
			Server, CABundle string
			Solvers          []struct {
				DNS01 struct{ Route53 *struct{ Region string } }
			}
		}
	}
}

// certificate is a Certificate of cert-manager.
type certificate struct {
	Metadata struct{ Name, Namespace string }
	Spec     struct {
		SecretName string
		DNSNames   []string
		IssuerRef  struct{ Kind, Name string }
	}
}

// readContent returns the content of an applied object; empty: there is none.
func readContent(l *resources.Living, kind, namespace, name string) []byte {
	return l.Content(resources.Object{Kind: kind, Namespace: namespace, Name: name})
}

// issueCertificate has the ACME server issue a certificate, once, and puts it into its Secret.
func issueCertificate(ctx context.Context, l *resources.Living, namespace, name string) (err error) {
	defer must.Catch(&err)
	var c certificate
	var issuer acmeIssuer
	must.Do(json.Unmarshal(readContent(l, "Certificate", namespace, name), &c))
	if len(readContent(l, "Secret", namespace, c.Spec.SecretName)) > 0 {
		return nil
	}
	must.Wrap(json.Unmarshal(readContent(l, "ClusterIssuer", "", c.Spec.IssuerRef.Name), &issuer), "the ClusterIssuer %s", c.Spec.IssuerRef.Name)
	must.FailIf(len(issuer.Spec.ACME.Solvers) != 1 || issuer.Spec.ACME.Solvers[0].DNS01.Route53 == nil,
		"the stand-in solves DNS-01 with Route 53 only")
	client := must.Get(newACMEClient(issuer))
	must.Get(client.Register(ctx, &acme.Account{}, acme.AcceptTOS))
	order := must.Get(client.AuthorizeOrder(ctx, acme.DomainIDs(c.Spec.DNSNames...)))
	for _, at := range order.AuthzURLs {
		must.Do(proveName(ctx, l, client, at))
	}
	must.Get(client.WaitOrder(ctx, order.URI))
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	request := must.Get(x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{DNSNames: c.Spec.DNSNames}, key))
	chain, _ := must.Get2(client.CreateCertFromOrder(ctx, order, request, true))
	var text bytes.Buffer
	for _, one := range chain {
		must.Do(pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: one}))
	}
	must.Do(pem.Encode(&text, &pem.Block{Type: "PRIVATE KEY", Bytes: must.Get(x509.MarshalPKCS8PrivateKey(key))}))
	secret := resources.Object{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: c.Spec.SecretName, Manager: "cert-manager-certificates-issuing"}
	return l.ApplyWhole(ctx, secret, text.Bytes())
}

func newACMEClient(issuer acmeIssuer) (*acme.Client, error) {
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	if bundle, err := base64.StdEncoding.DecodeString(issuer.Spec.ACME.CABundle); err == nil && len(bundle) > 0 {
		trust.RootCAs = x509.NewCertPool()
		trust.RootCAs.AppendCertsFromPEM(bundle)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return &acme.Client{Key: key, DirectoryURL: issuer.Spec.ACME.Server, HTTPClient: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: trust}}}, err
}

// proveName proves a name by a record in the public zone, which is there only for that.
func proveName(ctx context.Context, l *resources.Living, client *acme.Client, at string) (err error) {
	defer must.Catch(&err)
	authorization := must.Get(client.GetAuthorization(ctx, at))
	for _, challenge := range authorization.Challenges {
		if challenge.Type != "dns-01" || authorization.Status == acme.StatusValid {
			continue
		}
		name := "_acme-challenge." + authorization.Identifier.Value + "."
		value := `"` + must.Get(client.DNS01ChallengeRecord(challenge.Token)) + `"`
		must.Do(l.ChangeText(ctx, name, value, true))
		defer func() { err = errors.Join(err, l.ChangeText(ctx, name, value, false)) }()
		must.Get(client.Accept(ctx, challenge))
		must.Get(client.WaitAuthorization(ctx, at))
	}
	return nil
}

// serveCertificate returns what the ingress controller serves: its default certificate, or its own until that is there.
func (s *loginServer) serveCertificate(ctx context.Context, host string, own *tls.Certificate) (*tls.Certificate, error) {
	_, domain, ofApps := strings.Cut(host, ".apps.")
	if !ofApps {
		return own, nil
	}
	s.mu.Lock() // see ServeHTTP
	defer s.mu.Unlock()
	l, err := s.reach(ctx, domain)
	if err != nil {
		return own, nil // the page says so
	}
	var controller struct {
		Spec struct{ DefaultCertificate struct{ Name string } }
	}
	_ = json.Unmarshal(readContent(l, "IngressController", "openshift-ingress-operator", "default"), &controller) // none: its own
	text := readContent(l, "Secret", "openshift-ingress", controller.Spec.DefaultCertificate.Name)
	if len(text) == 0 {
		return own, nil
	}
	pair, err := tls.X509KeyPair(text, text)
	if err != nil {
		return nil, fmt.Errorf("the certificate of %s: %w", host, err)
	}
	return &pair, nil
}
