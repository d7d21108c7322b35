package openid

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"github.com/go-jose/go-jose/v4"

	"github.com/ocpctl/ocpctl/internal/secret"
)

// keys are derived from the key that signs sessions: all replicas have the same, nothing is stored, and a new key replaces all of them.
type keys struct {
	root    []byte
	codes   []byte          // seals codes
	signing jose.JSONWebKey // of ID tokens
}

// deriveKey returns 32 bytes for one purpose (RFC 5869).
func (k keys) deriveKey(purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, k.root, nil, "ocpctl openid "+purpose, 32)
}

func newKeys(root ed25519.PrivateKey) (k keys, err error) {
	k.root = root.Seed()
	if k.codes, err = k.deriveKey("codes"); err != nil {
		return k, err
	}
	private, err := k.newSigningKey()
	if err != nil {
		return k, err
	}
	k.signing = jose.JSONWebKey{Key: private, Algorithm: string(jose.ES256), Use: "sig"}
	print, err := k.signing.Thumbprint(crypto.SHA256)
	k.signing.KeyID = base64.RawURLEncoding.EncodeToString(print)
	return k, err
}

// newSigningKey derives a P-256 key. Not every 32 bytes are one.
func (k keys) newSigningKey() (*ecdsa.PrivateKey, error) {
	for n := 0; ; n++ {
		raw, err := k.deriveKey(fmt.Sprintf("ID tokens %d", n))
		if err != nil {
			return nil, err
		}
		if private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), raw); err == nil {
			return private, nil
		}
	}
}

// clientSecret is the secret of a cluster.
func (k keys) clientSecret(cluster string) (secret.Text, error) {
	raw, err := k.deriveKey("client " + cluster)
	return secret.New(base64.RawURLEncoding.EncodeToString(raw)), err
}
