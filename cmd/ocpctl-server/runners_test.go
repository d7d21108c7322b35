package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
)

// certify writes a new certificate of 127.0.0.1, signed by itself, and its key to the files.
func certify(t *testing.T, serial int64, cert, key string, at time.Time) *x509.Certificate {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "runners"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}), 0o600))
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600))
	require.NoError(t, os.Chtimes(cert, at, at))
	parsed, err := x509.ParseCertificate(raw)
	require.NoError(t, err)
	return parsed
}

func TestRunnersReachTheStatusAPIWithTLSAndNothingElse(t *testing.T) {
	cert, key := filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key")
	settings := config.Listen{Runners: "127.0.0.1:0", RunnersCertFile: cert, RunnersKeyFile: key}
	_, err := wireRunners(settings, http.NotFoundHandler())
	require.ErrorContains(t, err, "listen.runners_cert_file")
	none, err := wireRunners(config.Listen{}, http.NotFoundHandler())
	require.NoError(t, err)
	require.Nil(t, none)

	first := certify(t, 1, cert, key, time.Now().Add(-time.Minute))
	server, err := wireRunners(settings, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }))
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = server.ServeTLS(l, "", "") }()
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	get := func(scheme, path string, trusted *x509.Certificate) (*http.Response, error) {
		pool := x509.NewCertPool()
		pool.AddCert(trusted)
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, scheme+"://"+l.Addr().String()+path, nil)
		require.NoError(t, err)
		answer, err := client.Do(r)
		if err == nil {
			require.NoError(t, answer.Body.Close())
		}
		return answer, err
	}
	for path, code := range map[string]int{
		"/api/v1/status/attempts/att_1/claim": http.StatusAccepted, "/healthz": http.StatusAccepted, "/readyz": http.StatusAccepted,
		"/": http.StatusNotFound, "/api/v1/clusters": http.StatusNotFound, "/metrics": http.StatusNotFound, "/login": http.StatusNotFound,
	} {
		answer, err := get("https", path, first)
		require.NoError(t, err)
		require.Equal(t, code, answer.StatusCode, path)
	}
	answer, err := get("http", "/healthz", first)
	require.NoError(t, err)
	require.Equal(t, http.StatusBadRequest, answer.StatusCode, "without TLS nothing is answered")

	second := certify(t, 2, cert, key, time.Now())
	_, err = get("https", "/healthz", second)
	require.NoError(t, err, "a renewed certificate needs no restart")
	require.NoError(t, os.WriteFile(cert, []byte("half of a"), 0o600))
	_, err = get("https", "/healthz", second)
	require.NoError(t, err, "the last certificate that could be read is used")
}

func TestRunnersGetTheCAOfTheStatusAPI(t *testing.T) {
	env, err := runnerEnvironment(config.Runner{Env: map[string]string{"AWS_REGION": "eu-central-1"}})
	require.NoError(t, err)
	require.Equal(t, []string{"AWS_REGION=eu-central-1"}, env)
	ca := write(t, "ca.crt", "PEM")
	env, err = runnerEnvironment(config.Runner{StatusCAFile: ca})
	require.NoError(t, err)
	require.Equal(t, []string{"OCPCTL_STATUS_CA=PEM"}, env)
	_, err = runnerEnvironment(config.Runner{StatusCAFile: "/nowhere"})
	require.ErrorContains(t, err, "runner.status_ca_file")
}
