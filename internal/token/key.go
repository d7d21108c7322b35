package token

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

const pemType = "PRIVATE KEY"

// LoadKey reads an Ed25519 private key from a PKCS #8 PEM file.
func LoadKey(path string) (ed25519.PrivateKey, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the token key: %w", err)
	}
	key, err := ParseKey(raw)
	if err != nil {
		return nil, fmt.Errorf("token key %s: %w", path, err)
	}
	return key, nil
}

// ParseKey reads an Ed25519 private key from PKCS #8 PEM.
func ParseKey(raw []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(raw)
	if block == nil || block.Type != pemType {
		return nil, fmt.Errorf("want a PEM block of type %q (openssl genpkey -algorithm ed25519)", pemType)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("not PKCS #8")
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("a %T, want an Ed25519 key", parsed)
	}
	return key, nil
}

// LoadOrCreateKey reads the key at path; if there is none, it first writes a new one (mode 0600). Tokens survive a restart only
// because the key does.
func LoadOrCreateKey(path string) (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate a token key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode the token key: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return LoadKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("create the token key: %w", err)
	}
	if err := errors.Join(pem.Encode(f, &pem.Block{Type: pemType, Bytes: der}), f.Sync(), f.Close()); err != nil {
		return nil, fmt.Errorf("write the token key: %w", err)
	}
	return key, nil
}
