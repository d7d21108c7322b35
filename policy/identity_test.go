package policy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/profiles"
)

func TestAPipelinesTokenMatchesNoIdentityWithoutItsIssuer(t *testing.T) {
	open := profiles.Identity{Source: profiles.SourceOIDC, Match: map[string][]string{"ocpctl_role": {"platform_admin"}}, Role: string(PlatformAdmin), Teams: []string{EveryTeam}}
	named := open
	named.Issuer = "https://issuer.example"
	job := map[string][]string{"ocpctl_role": {"platform_admin"}}
	selfHosted := map[string][]string{"ocpctl_role": {"platform_admin"}, "project_path": {"acme/shop"}}
	pod := map[string][]string{"ocpctl_role": {"platform_admin"}, "kubernetes.io.namespace": {"ci"}}
	for name, c := range map[string]struct {
		claims Claims
		any    int // seats from an identity without an issuer
	}{
		"people's issuer":    {Claims{Source: profiles.SourceOIDC, Issuer: named.Issuer, Values: job}, 1},
		"GitHub Actions":     {Claims{Source: profiles.SourceOIDC, Issuer: named.Issuer, Platform: profiles.IssuerGitHub, Values: job}, 0},
		"GitLab":             {Claims{Source: profiles.SourceOIDC, Issuer: named.Issuer, Platform: profiles.IssuerGitLab, Values: job}, 0},
		"GitLab, unnamed":    {Claims{Source: profiles.SourceOIDC, Issuer: named.Issuer, Values: selfHosted}, 0},
		"a service account":  {Claims{Source: profiles.SourceOIDC, Issuer: named.Issuer, Values: pod}, 0},
		"another identity's": {Claims{Source: profiles.SourceOIDC, Issuer: "https://other.example", Platform: profiles.IssuerGitHub, Values: job}, 0},
	} {
		require.Len(t, SeatsOf([]profiles.Identity{open}, c.claims), c.any, name)
		named := SeatsOf([]profiles.Identity{named}, c.claims)
		require.Equal(t, c.claims.Issuer == "https://issuer.example", len(named) == 1, name)
	}
}
