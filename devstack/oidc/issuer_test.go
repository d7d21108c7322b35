package oidc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	goidc "github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"
)

func start(t *testing.T, cfg Config) *Issuer {
	t.Helper()
	i, err := Start(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, i.Stop()) })
	return i
}

func verifier(t *testing.T, i *Issuer) *goidc.IDTokenVerifier {
	t.Helper()
	provider, err := goidc.NewProvider(t.Context(), i.URL())
	require.NoError(t, err)
	return provider.Verifier(&goidc.Config{ClientID: Audience})
}

func TestATokenIsVerifiedThroughDiscovery(t *testing.T) {
	i := start(t, Config{Dir: t.TempDir()})
	raw, err := i.Token(Requester)
	require.NoError(t, err)

	token, err := verifier(t, i).Verify(t.Context(), raw)
	require.NoError(t, err)
	var claims Claims
	require.NoError(t, token.Claims(&claims))
	require.Equal(t, "maya", token.Subject)
	require.Equal(t, []string{"platform"}, claims.Groups)
	require.Equal(t, "requester", claims.Role)
	require.WithinDuration(t, time.Now().Add(Life), token.Expiry, time.Minute)
}

func TestWhatIsNotOurTokenIsRefused(t *testing.T) {
	i, other := start(t, Config{}), start(t, Config{})
	forged, err := other.Token(Claims{Issuer: i.URL(), Subject: "maya"})
	require.NoError(t, err)
	late, err := i.Token(Claims{Subject: "maya", Expiry: jwt.NewNumericDate(time.Now().Add(-time.Minute))})
	require.NoError(t, err)
	stranger, err := i.Token(Claims{Subject: "maya", Audience: jwt.Audience{"another"}})
	require.NoError(t, err)

	for name, raw := range map[string]string{"another key": forged, "expired": late, "another audience": stranger} {
		_, err := verifier(t, i).Verify(t.Context(), raw)
		require.Error(t, err, name)
	}
}

func TestTokensSurviveARestartOfTheIssuer(t *testing.T) {
	dir := t.TempDir()
	first, err := Start(t.Context(), Config{Dir: dir})
	require.NoError(t, err)
	require.NoError(t, first.WriteTokens(filepath.Join(dir, "tokens")))
	require.NoError(t, first.Stop())

	second := start(t, Config{Dir: dir, Addr: strings.TrimPrefix(first.URL(), "http://")})
	for _, name := range []string{"requester", "admin", "auditor", "github-actions", "kubernetes"} {
		path := filepath.Join(dir, "tokens", name+".jwt")
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		_, err = verifier(t, second).Verify(t.Context(), strings.TrimSpace(string(raw)))
		require.NoError(t, err, name)
	}
}

func TestAWorkflowsTokenHasItsOwnClaims(t *testing.T) {
	i := start(t, Config{})
	for _, c := range []Claims{GitHubActions, Kubernetes} {
		raw, err := i.Token(c)
		require.NoError(t, err)
		token, err := verifier(t, i).Verify(t.Context(), raw)
		require.NoError(t, err)
		require.Equal(t, c.Subject, token.Subject)
		var all map[string]any
		require.NoError(t, token.Claims(&all))
		for name, value := range c.More {
			require.Equal(t, value, all[name])
		}
		require.NotContains(t, all, "More")
		require.NotContains(t, all, "ocpctl_role")
	}
}
