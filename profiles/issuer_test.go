package profiles

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheGitHubOfAnIssuerFollowsFromItsAddress(t *testing.T) {
	for issuer, want := range map[string]string{
		"https://token.actions.githubusercontent.com":                 "https://github.com",
		"https://token.actions.githubusercontent.com/":                "https://github.com",
		"https://token.actions.githubusercontent.com/acme-enterprise": "https://github.com",
		"https://token.actions.acme.ghe.com":                          "https://acme.ghe.com",
		"https://git.example.com/_services/token":                     "https://git.example.com",
		"https://git.example.com:8443/_services/token":                "https://git.example.com:8443",
		"https://token.actions.githubusercontent.com.evil.example":    "",
		"https://token.actions.acme.ghe.com.evil.example":             "",
		"https://git.example.com/_services/token/other":               "",
		"https://git.example.com":                                     "",
		"https://gitlab.com":                                          "",
		"":                                                            "",
		"%":                                                           "",
	} {
		require.Equal(t, want, GitHubOf(issuer), issuer)
		platform := IssuerPlatform("")
		switch {
		case want != "":
			platform = IssuerGitHub
		case issuer == "https://gitlab.com":
			platform = IssuerGitLab
		}
		require.Equal(t, platform, PlatformOf(issuer), issuer)
	}
}

func TestAWorkflowOfPullRequestTargetMatchesOnlyAnIdentityThatNamesIt(t *testing.T) {
	target := map[string][]string{"repository": {"acme/shop"}, "event_name": {"pull_request_target"}}
	for _, c := range []struct {
		match map[string][]string
		fits  bool
	}{
		{map[string][]string{"repository": {"acme/*"}}, false},
		{map[string][]string{"repository": {"acme/*"}, "event_name": {"*"}}, false},
		{map[string][]string{"repository": {"acme/*"}, "event_name": {"pull_request*"}}, false},
		{map[string][]string{"repository": {"acme/*"}, "event_name": {"push", "pull_request_target"}}, true},
		{map[string][]string{"repository": {"other/*"}, "event_name": {"pull_request_target"}}, false},
	} {
		i := Identity{Source: SourceOIDC, Match: c.match}
		require.Equal(t, c.fits, i.Fits(SourceOIDC, "https://token.actions.githubusercontent.com", target), "%v", c.match)
	}
	push := map[string][]string{"repository": {"acme/shop"}, "event_name": {"push"}}
	require.True(t, Identity{Source: SourceOIDC, Match: map[string][]string{"repository": {"acme/*"}}}.Fits(SourceOIDC, "x", push))
}

func TestTheIssuerOfAGitHubsJobsFollowsFromItsAddress(t *testing.T) {
	for _, site := range []string{"https://github.com", "https://acme.ghe.com", "https://github.acme.example", "http://127.0.0.1:8090"} {
		require.Equal(t, site, GitHubOf(JobIssuer(site)), site)
	}
	require.Empty(t, JobIssuer(""))
}
