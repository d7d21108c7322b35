package main

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheStatusAPIIsVerifiedWithTheGivenCA(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the token went elsewhere") }))
	t.Cleanup(elsewhere.Close)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}
	}))
	t.Cleanup(server.Close)
	get := func(ca, path string) (int, error) {
		client, err := newStatusClient(ca)
		require.NoError(t, err)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		require.NoError(t, err)
		answer, err := client.Do(r)
		if err != nil {
			return 0, err
		}
		return answer.StatusCode, answer.Body.Close()
	}
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	code, err := get(ca, "/")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, code)
	code, err = get(ca, "/moved")
	require.NoError(t, err)
	require.Equal(t, http.StatusTemporaryRedirect, code)
	_, err = get("", "/")
	require.ErrorContains(t, err, "certificate")
	_, err = newStatusClient("no certificate")
	require.ErrorContains(t, err, "OCPCTL_STATUS_CA contains no certificate")
}
