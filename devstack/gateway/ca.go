package gateway

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// valid is how long certificates are valid: longer than any demo runs.
const valid = 30 * 24 * time.Hour

// authority signs a certificate for every host that is asked for. Its key never leaves the process.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pem  []byte

	mu     sync.Mutex
	leaves map[string]*tls.Certificate // by host
}

func newAuthority() (_ *authority, err error) {
	defer must.Catch(&err)
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := certificate("ocpctl development stack")
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign|x509.KeyUsageDigitalSignature
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))
	return &authority{
		key: key, cert: must.Get(x509.ParseCertificate(der)), leaves: map[string]*tls.Certificate{},
		pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
	}, nil
}

func certificate(name string) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)) // crypto/rand never fails
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(valid),
	}
}

// certificateFor returns the certificate of a host.
func (a *authority) certificateFor(hello *tls.ClientHelloInfo) (_ *tls.Certificate, err error) {
	defer must.Catch(&err)
	a.mu.Lock()
	defer a.mu.Unlock()
	if leaf := a.leaves[hello.ServerName]; leaf != nil {
		return leaf, nil
	}
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := certificate(hello.ServerName)
	template.DNSNames, template.KeyUsage, template.ExtKeyUsage = []string{hello.ServerName}, x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key))
	leaf := &tls.Certificate{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: key}
	a.leaves[hello.ServerName] = leaf
	return leaf, nil
}

// writeTo stores the authority's certificate as a file.
func (a *authority) writeTo(path string) error { return os.WriteFile(path, a.pem, 0o644) }
