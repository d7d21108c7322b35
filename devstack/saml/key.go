package saml

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"github.com/ocpctl/ocpctl/devstack/file"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// loadPair reads the provider's key and certificate, or creates and stores them.
func loadPair(dir string) (_ *rsa.PrivateKey, _ *x509.Certificate, err error) {
	defer must.Catch(&err)
	path := filepath.Join(dir, "key.pem")
	if dir != "" {
		raw, err := os.ReadFile(path)
		if err == nil {
			return parsePair(path, raw)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("read the identity provider's key: %w", err)
		}
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must.Wrap(err, "make the identity provider's key")
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ocpctl demo identity provider"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(10, 0, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must.Wrap(err, "make the identity provider's certificate")
	raw := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	raw = append(raw, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	if dir != "" {
		must.Do(file.Replace(path, raw))
	}
	return parsePair(path, raw)
}

func parsePair(path string, raw []byte) (*rsa.PrivateKey, *x509.Certificate, error) {
	first, rest := pem.Decode(raw)
	second, _ := pem.Decode(rest)
	if first == nil || second == nil {
		return nil, nil, fmt.Errorf("read the identity provider's key %s: a key and a certificate are needed", path)
	}
	key, err := x509.ParsePKCS1PrivateKey(first.Bytes)
	if err != nil {
		return nil, nil, fmt.Errorf("read the identity provider's key %s: %w", path, err)
	}
	cert, err := x509.ParseCertificate(second.Bytes)
	if err != nil {
		return nil, nil, fmt.Errorf("read the identity provider's certificate %s: %w", path, err)
	}
	return key, cert, nil
}
