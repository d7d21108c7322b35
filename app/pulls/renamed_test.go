package pulls_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/profiles"
)

// byAccount comments as the account with this number.
func (h *fixture) byAccount(id, account int64, login, body string) string {
	h.Helper()
	h.Clock = h.Clock.Add(time.Second)
	before := len(h.Replies())
	_, err := h.Service.Comment(h.Context(), pulls.CommentEvent{
		Installation: 5001, Repo: repo, Number: 41, ID: id, Author: login, AuthorID: account, Action: "created", Body: body, At: h.Clock,
	})
	require.NoError(h, err)
	if replies := h.Replies(); len(replies) > before {
		return replies[len(replies)-1]
	}
	return ""
}

// renames gives the account that has had a login from the beginning another one; holder has the old login then, 0 for nobody.
func (h *fixture) renames(login, to string, holder int64) {
	account := servicetest.AccountID(login)
	h.GitHub.Accounts = map[string]int64{login: holder, to: account}
	h.GitHub.Permissions[to] = h.GitHub.Permissions[login]
}

func TestARenamedAccountDoesNotApproveItsOwnRequest(t *testing.T) {
	h := fixtureWith(t, servicetest.Careful(t, profiles.ApprovalTerms{Count: 1, By: "requester"}))
	h.Labeled("maya", label)
	require.True(t, h.Only().NeedsApproval)
	h.renames("maya", "maya-w", 0)
	require.Contains(t, h.byAccount(1, servicetest.AccountID("maya"), "maya-w", "/ocp approve"), "You requested this yourself, so somebody else has to approve it.")
	require.True(t, h.Only().NeedsApproval)
	require.Contains(t, h.byAccount(2, servicetest.AccountID("will"), "will", "/ocp approve"), "approved")
}

func TestWhoIsCalledToApproveIsAnAccountAndNotALogin(t *testing.T) {
	maya := servicetest.AccountID("maya")
	for _, c := range []struct {
		account int64 // that asks
		login   string
		byID    bool // the catalogue names maya's number
		want    []string
	}{
		{maya, "maya-w", false, nil}, // nobody is called to approve their own request
		{99, "maya", false, []string{"maya"}},
		{maya, "maya-w", true, nil},
		{99, "maya", true, []string{servicetest.OnGitHub("maya")}},
	} {
		terms := servicetest.Careful(t, profiles.ApprovalTerms{Count: 1})
		if c.byID {
			terms.Identities[len(terms.Identities)-1].Match = map[string][]string{"id": {strconv.FormatInt(maya, 10)}}
		}
		h := fixtureWith(t, terms)
		h.Open()
		h.Comment(1, "maya", "/ocp help")
		h.renames("maya", "maya-w", 99)
		h.GitHub.Permissions["maya"] = "write"
		h.Sync(pulls.PullRequestEvent{PR: h.PR(true, label), Actor: c.login, ActorID: c.account, Action: pulls.ActionLabeled, Label: label})
		require.Equal(t, c.want, h.Only().Spec.Approvers, "%s, by id: %v", c.login, c.byID)
	}
}

// A row of the release before names the login.
func TestARenamedAccountDoesNotApproveWhatItsLoginRequestedBefore(t *testing.T) {
	h := fixtureWith(t, servicetest.Careful(t, profiles.ApprovalTerms{Count: 1, By: "requester"}))
	h.Labeled("maya", label)
	for _, statement := range []string{
		`ALTER TABLE approvals DISABLE TRIGGER USER`, `ALTER TABLE clusters DISABLE TRIGGER USER`,
		`UPDATE approvals SET requested_by = 'github:Maya'`, `UPDATE clusters SET requested_by = 'github:Maya'`,
	} {
		_, err := h.Store.Pool().Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	h.renames("maya", "maya-w", 99)
	h.GitHub.Permissions["maya"] = "write"
	require.Contains(t, h.byAccount(1, servicetest.AccountID("maya"), "maya-w", "/ocp approve"), "You requested this yourself")
	require.Contains(t, h.byAccount(2, 99, "maya", "/ocp approve"), "approved", "another account is another person, by its own permission")
}

func TestAStrangerWithTheLoginOfAnAdminIsNobody(t *testing.T) {
	terms := map[string]string{
		"identities/owners.yaml": "identities:\n  - {name: owners, source: github, match: {login: [maya], permission: [read, write, maintain]}, role: platform_admin, teams: [\"*\"]}\n",
		"people/maya.yaml":       "people:\n  - {name: maya, displayName: Maya Weber, identities: [\"github:maya\", \"saml:maya@acme.example\"]}\n",
	}
	const adminOnly = "/ocp create aws-minimal-mint --region mars-1"
	h := fixtureWith(t, servicetest.Catalogue(t, terms))
	h.Open()
	h.renames("maya", "maya-w", 99)
	h.GitHub.Accounts["maya"] = servicetest.AccountID("maya") // when the catalogue is resolved
	h.GitHub.Hidden = "maya"
	h.byAccount(7, servicetest.AccountID("will"), "will", "/ocp help")
	h.GitHub.Hidden = "" // one refusal is not an answer
	h.byAccount(1, servicetest.AccountID("will"), "will", "/ocp help")

	h.GitHub.Accounts["maya"] = 99
	h.GitHub.Permissions["maya"] = "write"
	require.Contains(t, h.byAccount(2, 99, "maya", adminOnly), "only for platform admins", "the login was another's")
	require.NotContains(t, h.byAccount(3, servicetest.AccountID("maya"), "maya-w", adminOnly), "only for platform admins", "whom the catalogue means, renamed")
	require.NoError(t, h.Service.KeepPeople(t.Context()))
	require.Equal(t, []string{"github:id/99", "person:maya"}, h.Query(`SELECT person_of(id) FROM unnest(ARRAY['github:id/99', $1]) AS t (id)`, servicetest.OnGitHub("maya")))
	require.Equal(t, "Maya Weber", h.Service.NameOf(servicetest.OnGitHub("maya")))
	require.Equal(t, "maya (GitHub account 99)", h.Service.NameOf("github:id/99"))

	terms["identities/owners.yaml"] = "identities:\n  - {name: owners, source: github, match: {id: [\"99\"], permission: [write]}, role: platform_admin, teams: [\"*\"]}\n"
	h.Catalogue = servicetest.Catalogue(t, terms)
	require.NotContains(t, h.byAccount(4, 99, "maya", adminOnly), "only for platform admins", "until an admin names the account")
}

// GitHub is asked by login, also for a delivery from before a renaming.
func TestAPermissionIsTheAccountsWhoeverHasItsLoginNow(t *testing.T) {
	h := newFixture(t)
	h.Open()
	h.renames("rita", "rita-l", 99)
	h.GitHub.Permissions["rita"] = "admin"
	require.Contains(t, h.byAccount(1, servicetest.AccountID("rita"), "rita", "/ocp create"), "only read permission", "the admin is who has the login now")
	require.Empty(t, h.Clusters())
}

func TestAShareIsWithTheAccountAndNotWithItsLogin(t *testing.T) {
	h := ready(t)
	h.Comment(2, "will", "/ocp share --with @rita")
	require.Equal(t, []string{servicetest.OnGitHub("rita")}, h.Query(`SELECT grantee FROM shares`))
	h.renames("rita", "rita-l", 99)
	h.byAccount(3, servicetest.AccountID("rita"), "rita-l", "/ocp status")
	require.Contains(t, h.byAccount(4, servicetest.AccountID("will"), "will", "/ocp share --with @rita"), "was the login of an account that is called rita-l now")
}

func TestABotIsWhatGitHubSaysItIs(t *testing.T) {
	h := newFixture(t)
	h.Open()
	for _, login := range []string{"robot", "will[bot]"} {
		h.GitHub.Permissions[login] = "write"
	}
	e := h.Event(pulls.ActionLabeled, "robot", true, label)
	e.Label, e.Bot = label, true
	require.Contains(t, h.Sync(e), "refused", "a bot's login need not tell it")
	require.Empty(t, h.Clusters())
	e = h.Event(pulls.ActionLabeled, "will[bot]", true, label)
	e.Label, e.Bot = label, false
	require.Contains(t, h.Sync(e), "accepted", "and a login that looks like a bot's tells nothing")
}
