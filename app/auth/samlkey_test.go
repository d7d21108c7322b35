package auth_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/auth"
)

func TestTheKeyThatSignsRequestsComesWithItsCertificate(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	secret := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	for _, both := range [][]byte{append(append([]byte{}, secret...), cert...), append(append([]byte{}, cert...), secret...)} {
		pair, err := auth.ParseSAMLKey(both)
		require.NoError(t, err)
		require.True(t, key.Equal(pair.Signer))
		require.Equal(t, der, pair.Certificate.Raw)
	}
	for _, one := range [][]byte{secret, cert, []byte("hello")} {
		_, err := auth.ParseSAMLKey(one)
		require.ErrorContains(t, err, "want an RSA or ECDSA key")
	}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	foreign, err := x509.MarshalPKCS8PrivateKey(other)
	require.NoError(t, err)
	_, err = auth.ParseSAMLKey(append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: foreign}), cert...))
	require.ErrorContains(t, err, "the certificate is not that of the key")
}
