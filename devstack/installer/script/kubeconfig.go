package script

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// certificate is a certificate and its key in PEM, as in the state file.
type certificate struct {
	CertRaw []byte
	KeyRaw  []byte
}

const tenYears = 10 * 365 * 24 * time.Hour

func newCA(name string) (certificate, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name, OrganizationalUnit: []string{"openshift"}}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
	}
	return signed(template, nil, nil)
}

// client issues a client certificate: the installer's system:admin, valid for ten years.
func (c certificate) client(name, organization string) (certificate, error) {
	cert, key, err := c.parse()
	if err != nil {
		return certificate{}, err
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name, Organization: []string{organization}}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	return signed(template, cert, key)
}

// signed creates a key and lets the parent, or itself, sign the template.
func signed(template, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (_ certificate, err error) {
	defer must.Catch(&err)
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	serial := must.Get(rand.Int(rand.Reader, big.NewInt(1<<62)))
	template.SerialNumber, template.NotBefore, template.NotAfter = serial, time.Now().UTC(), time.Now().UTC().Add(tenYears)
	if parent == nil {
		parent, parentKey = template, key
	}
	cert := must.Get(x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey))
	raw := must.Get(x509.MarshalECPrivateKey(key))
	return certificate{
		CertRaw: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		KeyRaw:  pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw}),
	}, nil
}

func (c certificate) parse() (_ *x509.Certificate, _ *ecdsa.PrivateKey, err error) {
	defer must.Catch(&err)
	certBlock, _ := pem.Decode(c.CertRaw)
	keyBlock, _ := pem.Decode(c.KeyRaw)
	must.FailIf(certBlock == nil || keyBlock == nil, "no certificate in the state file")
	cert := must.Get(x509.ParseCertificate(certBlock.Bytes))
	key, err := x509.ParseECPrivateKey(keyBlock.Bytes)
	return cert, key, err
}

// kubeconfig returns auth/kubeconfig: the cluster's admin, by certificate.
func (a *assets) kubeconfig() []byte {
	encode := base64.StdEncoding.EncodeToString
	return fmt.Appendf(nil, `clusters:
- cluster:
    certificate-authority-data: %s
    server: https://api.%s:6443
  name: %s
contexts:
- context:
    cluster: %s
    user: admin
  name: admin
current-context: admin
preferences: {}
users:
- name: admin
  user:
    client-certificate-data: %s
    client-key-data: %s
`, encode(a.ca.CertRaw), a.config.domain(), a.config.Metadata.Name, a.config.Metadata.Name, encode(a.admin.CertRaw), encode(a.admin.KeyRaw))
}
