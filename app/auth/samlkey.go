package auth

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
)

// SAMLKey signs requests, if the identity provider requires it.
type SAMLKey struct {
	Signer      crypto.Signer // RSA or ECDSA
	Certificate *x509.Certificate
}

// ParseSAMLKey parses a key and its certificate from PEM, in either order. Its errors quote nothing.
func ParseSAMLKey(raw []byte) (*SAMLKey, error) {
	var pair SAMLKey
	for block, rest := pem.Decode(raw); block != nil; block, rest = pem.Decode(rest) {
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil && block.Type == "CERTIFICATE" {
			pair.Certificate = cert
			continue
		}
		key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if signer, ok := key.(crypto.Signer); err == nil && ok {
			pair.Signer = signer
		}
	}
	if pair.Signer == nil || pair.Certificate == nil {
		return nil, errors.New("want an RSA or ECDSA key (PKCS#8 PEM) followed by its certificate (openssl req -x509 -newkey rsa:3072 -nodes …)")
	}
	public, ok := pair.Signer.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(pair.Certificate.PublicKey) {
		return nil, errors.New("the certificate is not that of the key; give a key and the certificate that was made for it")
	}
	return &pair, nil
}
