package profiles

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestAnIdentityFitsWhenEveryAttributeDoes(t *testing.T) {
	id := Identity{Source: SourceOIDC, Issuer: "https://issuer.example", Match: map[string][]string{"repository": {"acme/*", "other/shop"}, "ref": {"refs/heads/main"}}}
	values := func(repo, ref string) map[string][]string {
		return map[string][]string{"repository": {repo}, "ref": {ref}}
	}
	require.True(t, id.Fits(SourceOIDC, "https://issuer.example", values("acme/shop", "refs/heads/main")))
	require.False(t, id.Fits(SourceOIDC, "https://issuer.example", values("acme/shop", "refs/heads/mine")))
	require.False(t, id.Fits(SourceOIDC, "https://issuer.example", map[string][]string{"repository": {"acme/shop"}}), "what is not claimed does not fit")
	require.False(t, id.Fits(SourceOIDC, "https://other.example", values("acme/shop", "refs/heads/main")))
	require.False(t, id.Fits(SourceSAML, "https://issuer.example", values("acme/shop", "refs/heads/main")))
	require.False(t, Identity{Source: SourceOIDC}.Fits(SourceOIDC, "", nil), "what asks for nothing means nobody")
}

func TestTeamsComeFromTheCatalogueOrFromWhatWasProved(t *testing.T) {
	groups := map[string][]string{"groups": {"ocpctl-team-shop", "ocpctl-team-*", "ocpctl-team-", "all", "*", "{groups}", "two words"}}
	for team, want := range map[string][]string{
		"shop": {"shop"}, "*": {"*"},
		"{groups:ocpctl-team-}": {"shop"},
		"{groups}":              {"ocpctl-team-shop", "ocpctl-team-", "all"},
		"{owner}":               nil,
	} {
		require.Equal(t, want, Identity{Teams: []string{team}}.TeamsOf(groups), "%s: no claim makes every team", team)
	}
	arn := map[string][]string{"arn": {"arn:aws:iam::123456789012:role/ocpctl-shop"}}
	require.Equal(t, []string{"shop"}, Identity{Teams: []string{"{arn:arn:aws:iam::123456789012:role/ocpctl-}"}}.TeamsOf(arn))
}

func TestTheEmbeddedIdentitiesGiveWhatTheirNamesSay(t *testing.T) {
	seats := func(source Source, values map[string][]string) map[string][]string {
		out := map[string][]string{}
		for _, id := range catalogue(t).Identities {
			if id.Fits(source, "https://issuer.example", values) {
				out[id.Role] = append(out[id.Role], id.TeamsOf(values)...)
			}
		}
		return out
	}
	require.Equal(t, map[string][]string{"platform_admin": {"*"}, "requester": {"shop"}}, seats(SourceSAML, map[string][]string{"groups": {"ocpctl-admins", "ocpctl-team-shop"}}))
	require.Equal(t, map[string][]string{"auditor": {"*"}}, seats(SourceSAML, map[string][]string{"groups": {"ocpctl-auditors"}}))
	require.Equal(t, map[string][]string{"requester": {"platform", "shop"}}, seats(SourceOIDC, map[string][]string{"ocpctl_role": {"requester"}, "groups": {"platform", "shop"}}))
	require.Equal(t, map[string][]string{"platform_admin": {"*"}}, seats(SourceOIDC, map[string][]string{"ocpctl_role": {"platform_admin"}, "groups": {"platform"}}))
	require.Equal(t, map[string][]string{"requester": {"platform"}}, seats(SourceGitHub, map[string][]string{"permission": {"maintain"}, "owner": {"platform"}}))
	require.Empty(t, seats(SourceGitHub, map[string][]string{"permission": {"read"}, "owner": {"platform"}}))
	require.Empty(t, seats(SourceAWS, map[string][]string{"arn": {"arn:aws:iam::123456789012:role/admin"}}), "nobody's account is known")
}

func TestATeamOfGitHubIsWrittenOut(t *testing.T) {
	files := func(match string) fstest.MapFS {
		return fstest.MapFS{
			"profiles/aws-minimal-test.yaml": {Data: []byte(good(t))},
			"identities/people.yaml":         {Data: []byte("identities:\n  - {name: sre, source: github, match: {" + match + "}, role: platform_admin, teams: [\"*\", \"{team:acme/}\"]}\n")},
		}
	}
	c, err := Load(files("team: [acme/sre, Acme-2/shop_qa.1]"))
	require.NoError(t, err, "whoever is in a team is no stranger, so no permission is needed beside it")
	require.True(t, c.Identities[0].Fits(SourceGitHub, "", map[string][]string{"team": {"acme/other", "acme/sre"}}))
	require.False(t, c.Identities[0].Fits(SourceGitHub, "", map[string][]string{"permission": {"admin"}}))
	require.Equal(t, []string{"*", "sre"}, c.Identities[0].TeamsOf(map[string][]string{"team": {"acme/sre", "other/sre-2"}}))
	for _, wrong := range []string{"acme/*", "\"*\"", "acme", "/sre", "acme/", "acme/SRE", "acme/a/b", "-acme/sre", "acme/sre*"} {
		_, err := Load(files("team: [" + wrong + "]"))
		require.ErrorContains(t, err, "identities/people.yaml:2: identities[0].match.team[0]: ", wrong)
		require.ErrorContains(t, err, "accepted: a team's organization and slug without *, such as acme/platform", wrong)
	}
	_, err = Load(files("login: [maya]"))
	require.ErrorContains(t, err, "without permission or team, so that strangers match")
}

func TestOnlyTeamsThatIdentitiesNameAreAskedFor(t *testing.T) {
	require.Empty(t, GitHubTeams(catalogue(t).Identities), "built in are none, so nothing is asked")
	require.Equal(t, []string{"acme/qa", "acme/sre"}, GitHubTeams([]Identity{
		{Source: SourceGitHub, Match: map[string][]string{"team": {"acme/sre", "acme/qa"}}},
		{Source: SourceGitHub, Match: map[string][]string{"permission": {"write"}}},
		{Source: SourceGitHub, Match: map[string][]string{"team": {"acme/qa"}}},
		{Source: SourceOIDC, Match: map[string][]string{"team": {"elsewhere/team"}}},
	}))
}

func TestARoleComesOnlyFromAnIssuerThatIsNamed(t *testing.T) {
	for _, c := range []struct{ identity, problem string }{
		{`match: {repository: ["acme/*"]}, role: requester, teams: [shop]`, "issuer: missing, and repository is a claim of pipelines' tokens"},
		{`match: {sub: [x], ref: [main]}, role: requester, teams: [shop]`, "issuer: missing, and ref is a claim of pipelines' tokens"},
		{`match: {project_path: ["acme/*"]}, role: requester, teams: [shop]`, "issuer: missing, and project_path is a claim of pipelines' tokens"},
		{`match: {kubernetes.io.namespace: [ci]}, role: requester, teams: [shop]`, "issuer: missing, and kubernetes.io.namespace is a claim of pipelines' tokens"},
		{`match: {groups: [leads]}, role: auditor, teams: ["*"]`, "issuer: missing, and the role is over every team; accepted: the address of the issuer that may give this role, or also match ocpctl_role"},
		{`issuer: "https://token.actions.githubusercontent.com", match: {sub: ["environment:production"]}, role: requester, teams: [shop]`, "match: without a repository owner"},
		{`issuer: "https://issuer.example", match: {groups: [leads]}, role: auditor, teams: ["*"]`, ""},
		{`match: {groups: [leads]}, role: requester, teams: [shop]`, ""},
		{`match: {ocpctl_role: [auditor]}, role: auditor, teams: ["*"]`, ""},
	} {
		files := embeddedFiles(t)
		files["identities/more.yaml"] = &fstest.MapFile{Data: []byte("identities: [{name: one, source: oidc, " + c.identity + "}]\n")}
		_, err := Load(files)
		if c.problem == "" {
			require.NoError(t, err, c.identity)
			continue
		}
		require.ErrorContains(t, err, "identities/more.yaml:1: identities[0]."+c.problem, c.identity)
	}
}

func TestTheClaimOfARoleIsBoundToTheIssuersThatMayGiveRoles(t *testing.T) {
	role := Identity{Name: "admins", Source: SourceOIDC, Match: map[string][]string{RoleClaim: {"platform_admin"}}}
	own, group := role, Identity{Name: "people", Source: SourceOIDC, Match: map[string][]string{"groups": {"x"}}}
	own.Issuer = "https://own.example"
	require.Equal(t, []Identity{own, group}, BindRoleClaim([]Identity{role, own, group}, nil), "no issuer may: the claim gives nothing")
	one, two := role, role
	one.Issuer, two.Issuer = "https://one.example", "https://two.example"
	require.Equal(t, []Identity{one, two, group}, BindRoleClaim([]Identity{role, group}, []string{one.Issuer, two.Issuer}))
}
