package saml

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/crewjam/saml/samlsp"
	"github.com/stretchr/testify/require"
)

func TestTheKeyIsMadeOnceAndSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	certificate := func() string {
		p, err := Start(t.Context(), Config{Dir: dir})
		require.NoError(t, err)
		defer func() { require.NoError(t, p.Stop()) }()
		found, err := samlsp.FetchMetadata(t.Context(), http.DefaultClient, p.at("/metadata"))
		require.NoError(t, err)
		return found.IDPSSODescriptors[0].KeyDescriptors[0].KeyInfo.X509Data.X509Certificates[0].Data
	}
	require.Equal(t, certificate(), certificate())
	info, err := os.Stat(filepath.Join(dir, "key.pem"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "key.pem"), []byte("hello"), 0o600))
	_, err = Start(t.Context(), Config{Dir: dir})
	require.ErrorContains(t, err, "no PEM block")
}

func TestItSignsPeopleInToNobodyElse(t *testing.T) {
	home := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(home.Close)
	p, err := Start(t.Context(), Config{Home: home.URL})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Stop()) })
	for _, query := range []string{"", "?SAMLRequest=abc"} {
		answer, err := http.Get(p.url + "/sso" + query)
		require.NoError(t, err)
		answer.Body.Close()
		require.Equal(t, http.StatusBadRequest, answer.StatusCode)
	}
}

func TestEveryPersonHasAPasswordOfTheDemos(t *testing.T) {
	for _, p := range People {
		found, ok := byPassword(p.Login, p.Password())
		require.True(t, ok)
		require.Equal(t, p, found)
		require.Regexp(t, "^demo-", p.Password())
		_, ok = byPassword(p.Login, "")
		require.False(t, ok)
	}
}
