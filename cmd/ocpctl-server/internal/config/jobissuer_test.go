package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheIssuerOfTheAppsGitHubIsFound(t *testing.T) {
	const ours = "https://token.actions.githubusercontent.com"
	for _, c := range []struct {
		site, want string
		oidc       []Issuer
	}{
		{"https://github.com", "", nil},
		{"https://github.com", "", []Issuer{{Issuer: "https://kubernetes.default.svc"}, {Issuer: "https://github.acme.example/_services/token"}}},
		{"https://github.com", ours, []Issuer{{Issuer: "https://github.acme.example/_services/token"}, {Issuer: ours}}},
		{"https://github.com", ours + "/acme", []Issuer{{Issuer: ours + "/acme"}}},
		{"https://github.acme.example", "https://tokens.acme.example", []Issuer{{Issuer: "https://tokens.acme.example", Platform: "github"}}},
		{"", "", []Issuer{{Issuer: "https://kubernetes.default.svc"}}},
	} {
		require.Equal(t, c.want, Config{OIDC: c.oidc}.JobIssuer(c.site), "%+v", c)
	}
}
