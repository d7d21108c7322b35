package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

const jobIdentities = `identities:
  - {name: shop, source: oidc, issuer: "https://token.actions.githubusercontent.com", match: {repository: [acme/shop], repository_owner: [globex]}, role: requester, teams: [platform]}
`

// ofGitHub gives the fixture an App on github.com.
func ofGitHub(h *servicetest.Fixture) *servicetest.Fixture {
	c := h.Config()
	c.GitHubSite = "https://github.com"
	h.Service = servicetest.Wire(c)
	return h
}

// job are the claims of a workflow's job in a repository.
func job(issuer, owner, ownerID, repository, id string) policy.Claims {
	return policy.Claims{Source: profiles.SourceOIDC, Issuer: issuer, Platform: profiles.IssuerGitHub, Subject: "repo:" + repository + ":pull_request", Values: map[string][]string{
		"repository": {repository}, "repository_id": {id}, "repository_owner": {owner}, "repository_owner_id": {ownerID},
	}}
}

func TestANameInAJobsTokenStaysWithWhomItWasSeenFirst(t *testing.T) {
	h := ofGitHub(servicetest.New(t))
	const elsewhere = "https://git.example.com/_services/token"
	reused := func(c policy.Claims, keep bool) (claims []string) {
		t.Helper()
		names, err := h.Service.ReusedNames(t.Context(), c, keep)
		require.NoError(t, err)
		for _, n := range names {
			claims = append(claims, n.Claim)
		}
		return claims
	}
	for _, issuer := range []string{"https://token.actions.githubusercontent.com", elsewhere} {
		require.Empty(t, reused(job(issuer, "mallory", "66", "mallory/shop", "1"), false))
		require.Empty(t, reused(job(issuer, "mallory", "67", "mallory/shop", "2"), true), "a job that no identity matches keeps no name")

		require.Empty(t, reused(job(issuer, "acme", "1", "acme/shop", "1001"), true))
		require.Empty(t, reused(job(issuer, "acme", "1", "acme/store", "1001"), true), "it was renamed")
		require.Equal(t, []string{"repository"}, reused(job(issuer, "acme", "1", "acme/shop", "1002"), true), "the next repository with its name")
		require.Equal(t, []string{"repository", "repository_owner"}, reused(job(issuer, "Acme", "99", "Acme/shop", "1003"), false), "a stranger with the owner's name")
		require.Equal(t, []string{"repository_owner"}, reused(job(issuer, "acme", "99", "acme/other", "1003"), true))
		require.Equal(t, []string{"repository", "repository_owner"}, reused(job(issuer, "acme", "", "acme/shop", ""), true), "a token that tells no number")
		require.Empty(t, reused(job(issuer, "acme", "1", "acme/shop", "1001"), true), "whoever had a name first keeps it")
	}
	_, err := h.Service.RecordGitHubAccount(t.Context(), app.GitHubAccount{ID: servicetest.AccountID("will"), Login: "will"})
	require.NoError(t, err)
	require.Equal(t, []string{"repository_owner"}, reused(job("https://token.actions.githubusercontent.com", "will", "99", "will/shop", "7"), true), "accounts on the App's GitHub are those that write there")
	require.Empty(t, reused(job(elsewhere, "will", "99", "will/shop", "7"), true))
}

func TestTheNamesOfIdentitiesAreResolvedBeforeAnybodyTakesThem(t *testing.T) {
	h := ofGitHub(servicetest.With(t, servicetest.Catalogue(t, map[string]string{"identities/jobs.yaml": jobIdentities})))
	h.Open()
	h.GitHub.Accounts = map[string]int64{"acme": 1, "globex": 2}
	h.GitHub.Repos = map[string]app.RepositoryState{"acme/shop": {Installation: servicetest.Installation, ID: 1001, Name: "acme/shop"}}
	h.Comment(1, "will", "/ocp help")
	for _, taken := range []policy.Claims{
		job("https://token.actions.githubusercontent.com", "acme", "99", "acme/new", "5"),
		job("https://token.actions.githubusercontent.com", "acme", "1", "acme/shop", "5"),
		job("https://token.actions.githubusercontent.com", "globex", "99", "globex/new", "6"),
	} {
		names, err := h.Service.ReusedNames(t.Context(), taken, true)
		require.NoError(t, err)
		require.Len(t, names, 1, taken.Subject)
	}
}
