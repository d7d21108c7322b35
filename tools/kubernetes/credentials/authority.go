package credentials

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// lifetime is that of every certificate. The state of a demo is younger.
const lifetime = 10 * 365 * 24 * time.Hour

// authority signs the certificates.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// certificate says what one is for.
type certificate struct {
	name, group string
	ips         []net.IP
	hosts       []string
}

func openAuthority(dir string) (*authority, error) {
	crt, keyFile := filepath.Join(dir, CA), filepath.Join(dir, "ca.key")
	if err := newKeyFile(keyFile); err != nil {
		return nil, err
	}
	key, err := readKey(keyFile)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(crt); errors.Is(err, fs.ErrNotExist) {
		template := &x509.Certificate{Subject: pkix.Name{CommonName: "kubernetes"}, IsCA: true, BasicConstraintsValid: true,
			KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
		if err := sign(crt, template, template, key.Public(), key); err != nil {
			return nil, err
		}
	}
	raw, err := readPEM(crt)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(raw)
	return &authority{cert: cert, key: key}, err
}

// issue writes dir/file.crt and dir/file.key, unless they are there.
func (a *authority) issue(dir, file string, c certificate) error {
	crt, keyFile := filepath.Join(dir, file+".crt"), filepath.Join(dir, file+".key")
	if _, err := os.Stat(crt); err == nil {
		return nil
	}
	if err := newKeyFile(keyFile); err != nil {
		return err
	}
	key, err := readKey(keyFile)
	if err != nil {
		return err
	}
	template := &x509.Certificate{Subject: pkix.Name{CommonName: c.name}, IPAddresses: c.ips, DNSNames: c.hosts, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	if c.group != "" {
		template.Subject.Organization = []string{c.group}
	}
	return sign(crt, template, a.cert, key.Public(), a.key)
}

func sign(path string, template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) error {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	template.SerialNumber, template.NotBefore, template.NotAfter = serial, time.Now().Add(-time.Hour), time.Now().Add(lifetime)
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600)
}

// newKeyFile writes a new private key, unless there is one.
func newKeyFile(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw}), 0o600)
}

func readKey(path string) (crypto.Signer, error) {
	raw, err := readPEM(path)
	if err != nil {
		return nil, err
	}
	return x509.ParseECPrivateKey(raw)
}

func readPEM(path string) ([]byte, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(raw)
	if block == nil {
		return nil, fmt.Errorf("%s contains no PEM", path)
	}
	return block.Bytes, nil
}
