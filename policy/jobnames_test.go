package policy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/profiles"
)

// jobOfShop are the claims of a job of acme/shop.
func jobOfShop() Claims {
	return Claims{
		Source: profiles.SourceOIDC, Issuer: "https://token.actions.githubusercontent.com", Platform: profiles.IssuerGitHub, Subject: "repo:acme/shop:ref:refs/heads/main",
		Values: map[string][]string{
			"sub": {"repo:acme/shop:ref:refs/heads/main"}, "repository": {"acme/shop"}, "repository_id": {"1001"}, "repository_owner": {"acme"}, "repository_owner_id": {"1"},
			"actor": {"maya"}, "actor_id": {"2001"}, "workflow_ref": {"acme/shop/.github/workflows/e2e.yml@refs/heads/main"}, "ref": {"refs/heads/main"},
		},
	}
}

func TestANameThatWasAnothersMatchesNoIdentity(t *testing.T) {
	names := jobOfShop().JobNames()
	require.Equal(t, []JobName{
		{NameOfRepository, "repository", "acme/shop", "1001"}, {NameOfAccount, "repository_owner", "acme", "1"}, {NameOfAccount, "actor", "maya", "2001"},
	}, names)
	repository, owner, actor := names[0], names[1], names[2]
	for match, matchedBy := range map[string]map[string]bool{ // by what was another's before
		"repository acme/shop":                  {"": true, "actor": true},
		"repository acme/*":                     {"": true, "actor": true},
		"repository_owner acme":                 {"": true, "repository": true, "actor": true},
		"sub repo:acme/shop:*":                  {"": true, "actor": true},
		"workflow_ref acme/*":                   {"": true, "actor": true},
		"actor maya":                            {"": true, "repository": true, "owner": true},
		"repository_id 1001":                    {"": true, "repository": true, "owner": true, "actor": true},
		"repository_owner_id 1":                 {"": true, "repository": true, "owner": true, "actor": true},
		"repository_owner {repository_owner:x}": {},
	} {
		var attribute, glob string
		for i, r := range match {
			if r == ' ' {
				attribute, glob = match[:i], match[i+1:]
				break
			}
		}
		identity := profiles.Identity{Source: profiles.SourceOIDC, Issuer: jobOfShop().Issuer, Match: map[string][]string{attribute: {glob}}, Role: string(Requester), Teams: []string{"platform"}}
		for what, reused := range map[string][]JobName{"": nil, "repository": {repository}, "owner": {owner}, "actor": {actor}} {
			require.Equal(t, matchedBy[what], len(SeatsOf([]profiles.Identity{identity}, jobOfShop().WithReused(reused))) > 0, "%s, reused: %s", match, what)
		}
	}
	for _, id := range []JobName{repository, owner} {
		require.Equal(t, "repository_id:1001:repo:acme/shop:ref:refs/heads/main", jobOfShop().WithReused([]JobName{id}).Subject, "what is shared with the subject was meant for another")
	}
	require.Equal(t, "repo:acme/shop:ref:refs/heads/main", jobOfShop().WithReused([]JobName{actor}).Subject)
	unnumbered := jobOfShop()
	delete(unnumbered.Values, "repository_id")
	delete(unnumbered.Values, "repository_owner_id")
	require.Equal(t, "reused:repo:acme/shop:ref:refs/heads/main", unnumbered.WithReused(unnumbered.JobNames()).Subject, "its token tells no number")
	teams := profiles.Identity{Source: profiles.SourceOIDC, Issuer: jobOfShop().Issuer, Match: map[string][]string{"repository_id": {"1001"}}, Role: string(Requester), Teams: []string{"{repository_owner}"}}
	require.Empty(t, SeatsOf([]profiles.Identity{teams}, jobOfShop().WithReused([]JobName{owner})), "no team is taken from such a name")
}

func TestOnlyTokensOfJobsHaveNamesThatCanBeReused(t *testing.T) {
	person := Claims{Source: profiles.SourceOIDC, Issuer: "https://id.acme.example", Values: map[string][]string{"actor": {"maya"}, "user_login": {"maya"}}}
	require.Empty(t, person.JobNames())
	gitlab := Claims{Source: profiles.SourceOIDC, Issuer: "https://gitlab.example.com", Platform: profiles.IssuerGitLab, Values: map[string][]string{
		"project_path": {"acme/shop"}, "project_id": {"20"}, "namespace_path": {"acme"}, "namespace_id": {"7"}, "user_login": {"maya"}, "user_id": {"5"},
	}}
	require.Equal(t, []JobName{
		{NameOfProject, "project_path", "acme/shop", "20"}, {NameOfNamespace, "namespace_path", "acme", "7"}, {NameOfUser, "user_login", "maya", "5"},
	}, gitlab.JobNames())
	require.Equal(t, "https://github.com", jobOfShop().JobSite())
	require.Equal(t, "https://gitlab.example.com", gitlab.JobSite())
}
