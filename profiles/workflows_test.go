package profiles

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnIdentityThatAnybodysJobFitsIsRefused(t *testing.T) {
	for _, c := range []struct {
		issuer string
		match  map[string][]string
		open   bool
	}{
		{gitLabCom, map[string][]string{"ref_protected": {"true"}}, true},
		{gitLabCom, map[string][]string{"project_path": {"*/shop"}}, true},
		{gitLabCom, map[string][]string{"namespace_path": {"acme*"}, "user_login": {"maya"}}, true},
		{gitLabCom, map[string][]string{"namespace_id": {"7*"}}, true},
		{gitLabCom, map[string][]string{"sub": {"project_path:*:ref_type:branch:ref:main"}}, true},
		{gitLabCom, map[string][]string{"job_project_path": {"acme/shop"}}, true},
		{gitLabCom, map[string][]string{"project_path": {"acme/*"}, "ref_protected": {"true"}}, false},
		{gitLabCom, map[string][]string{"namespace_path": {"acme", "acme/*"}}, false},
		{gitLabCom, map[string][]string{"project_id": {"20"}}, false},
		{gitLabCom, map[string][]string{"sub": {"project_path:acme/shop:ref_type:branch:ref:*"}}, false},
		{"https://gitlab.example.com", map[string][]string{"ref": {"main"}}, false},
		{gitLabCom, map[string][]string{"sub": {"acme/shop"}}, true},
		{gitHubActions, map[string][]string{"ref": {"refs/heads/main"}}, true},
		{gitHubActions, map[string][]string{"environment": {"production"}, "actor": {"maya"}}, true},
		{gitHubActions, map[string][]string{"repository": {"*"}}, true},
		{gitHubActions, map[string][]string{"repository": {"acme/shop", "*/shop"}}, true},
		{gitHubActions, map[string][]string{"repository_owner": {"ac*"}}, true},
		{gitHubActions, map[string][]string{"repository_id": {"*"}, "ref": {"refs/heads/main"}}, true},
		{gitHubActions, map[string][]string{"sub": {"repo:*:ref:refs/heads/main"}}, true},
		{gitHubActions, map[string][]string{"sub": {"repo:ac*/shop:ref:refs/heads/main"}}, true},
		{gitHubActions, map[string][]string{"job_workflow_ref": {"acme/pipelines/.github/workflows/e2e.yml@refs/heads/main"}}, true},
		{gitHubActions + "/", map[string][]string{"groups": {"x"}}, true},
		{gitHubActions + "/acme-enterprise", map[string][]string{"ref": {"refs/heads/main"}}, true},
		{"https://git.example.com/_services/token", map[string][]string{"ref": {"refs/heads/main"}}, true},
		{"https://token.actions.acme.ghe.com", map[string][]string{"environment": {"prod"}}, true},
		{"https://actions.example.com", map[string][]string{"ref": {"refs/heads/main"}}, true},
		{"https://git.example.com/_services/token", map[string][]string{"repository": {"acme/*"}}, false},
		{gitHubActions, map[string][]string{"sub": {"environment:production"}}, true},
		{gitHubActions, map[string][]string{"sub": {"job_workflow_ref:acme/pipelines/.github/workflows/e2e.yml@refs/heads/main"}}, true},
		{gitHubActions, map[string][]string{"sub": {"repo:acme/shop:ref:refs/heads/main", "environment:production"}}, true},
		{gitHubActions, map[string][]string{"sub": {"environment:*:repository_owner:acme"}}, true},
		{gitHubActions, map[string][]string{"sub": {"repository_owner:ac*"}}, true},
		{gitHubActions, map[string][]string{"sub": {"repo:acme"}}, true},
		{gitHubActions, map[string][]string{"sub": {"environment:production:repository_owner:acme"}}, false},
		{gitHubActions, map[string][]string{"sub": {"repository_id:70107786:environment:production"}}, false},
		{gitHubActions, map[string][]string{"repository": {"acme/*"}}, false},
		{gitHubActions, map[string][]string{"repository_owner": {"acme"}, "ref": {"*"}}, false},
		{gitHubActions, map[string][]string{"repository_id": {"70107786"}}, false},
		{gitHubActions, map[string][]string{"sub": {"repo:acme/*:ref:refs/heads/main", "repo:acme/shop:environment:prod"}}, false},
		{gitHubActions, map[string][]string{"workflow_ref": {"acme/shop/.github/workflows/x.yml@*"}}, false},
		{"", map[string][]string{"sub": {"x"}}, false},
		{"", map[string][]string{"groups": {"*"}}, false},
		{"", map[string][]string{"kubernetes.io.namespace": {"ci"}, "sub": {"*"}}, false},
		{"https://issuer.example.com", map[string][]string{"ref": {"*"}}, false},
	} {
		i := Identity{Source: SourceOIDC, Issuer: c.issuer, Match: c.match}
		require.Equal(t, c.open, i.strangers([]string{"https://actions.example.com"}) != nil, "%q %v", c.issuer, c.match)
	}
	require.Nil(t, Identity{Source: SourceSAML, Match: map[string][]string{"ref": {"*"}}}.strangers(nil))
	require.Equal(t, IssuerGitLab, Identity{Source: SourceOIDC, Issuer: gitLabCom, Match: map[string][]string{"ref": {"main"}}}.strangers(nil).platform)
}

func TestTheNamesOfJobsAreThoseThatIdentitiesWriteOut(t *testing.T) {
	ours := func(issuer string) bool { return issuer == gitHubActions }
	job := func(issuer string, match map[string][]string) Identity {
		return Identity{Source: SourceOIDC, Issuer: issuer, Match: match}
	}
	accounts, repositories := NamesOfJobs([]Identity{
		job(gitHubActions, map[string][]string{"repository": {"Acme/Shop", "beta/*", "gamma/api-*", "*/any"}, "actor": {"maya", "w*"}}),
		job(gitHubActions, map[string][]string{"repository_owner": {"delta"}, "workflow_ref": {"acme/api/.github/workflows/x.yml@refs/heads/main"}}),
		job(gitHubActions, map[string][]string{"sub": {"repo:eta/web:ref:refs/heads/main", "environment:prod:repo:zeta/*", "repository_owner:iota"}}),
		job(gitLabCom, map[string][]string{"repository": {"other/shop"}}),
		{Source: SourceGitHub, Match: map[string][]string{"repository": {"people/shop"}}},
	}, ours)
	require.Equal(t, []string{"acme", "beta", "delta", "eta", "gamma", "maya", "zeta"}, accounts)
	require.Equal(t, []string{"acme/api", "acme/shop", "eta/web"}, repositories)
}
