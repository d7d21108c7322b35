package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
)

func TestEveryClusterIsFrozenWithTheRunnersSettings(t *testing.T) {
	runner := config.Runner{
		CloudCredsRef: "aws-sm:cloud", SSHKeyRef: "aws-sm:ocpctl/ssh#private",
		Releases: map[string]string{"4.20.3": "quay.io/openshift-release-dev/ocp-release@sha256:" + strings.Repeat("0f", 32)},
	}
	runs := inner{cfg: config.Config{Runner: runner}}.runs()
	require.Equal(t, runner.CloudCredsRef, runs.CloudCredsRef)
	require.Equal(t, runner.SSHKeyRef, runs.SSHKeyRef)
	require.Equal(t, runner.Releases, runs.Releases)
}

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
		pair, err := parsePair(both)
		require.NoError(t, err)
		require.True(t, key.Equal(pair.Signer))
		require.Equal(t, der, pair.Certificate.Raw)
	}
	for _, one := range [][]byte{secret, cert, []byte("hello")} {
		_, err := parsePair(one)
		require.ErrorContains(t, err, "want an RSA or ECDSA key")
	}
}
