package app_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
)

// adminsProof is what an admin proves by SAML, with the program's own catalogue.
func adminsProof() *policy.Claims {
	return &policy.Claims{Source: profiles.SourceSAML, Subject: "ada@acme.example", Name: "Ada", Values: map[string][]string{"groups": {"ocpctl-admins"}}}
}

// withCatalogue is a service on the fixture's store with another catalogue.
func (h *fixture) withCatalogue(terms *catalogue.Catalogue) services {
	all, _ := newServices(app.Config{
		Store: h.store, Catalogue: func() catalogue.Catalogue { return *terms }, GitHub: h.github, Artifacts: h.shelf, Policy: policy.Settings{Grace: grace, Installation: "test"},
		Repositories: []app.Repository{{Match: "acme/*", Ownership: policy.Ownership{Team: "platform", Owner: "maya", CostCenter: "sandbox", Environment: "test"}}},
		Runs:         app.Runs{PullSecretRef: "file:/run/pull-secret"}, UI: "https://ocpctl.test",
	})
	return all
}

// says comments as the account of GitHub with this number.
func (h *fixture) says(d services, id, number int64, login, body string) {
	h.Helper()
	_, err := d.Comment(h.Context(), pulls.CommentEvent{
		Installation: 5001, Repo: repo, Number: 41, ID: id, Author: login, AuthorID: number, Action: "created", Body: body,
	})
	require.NoError(h, err)
}

// seated tells by an act that takes an admin whether a login counts as one: an admin may ask for a profile that holds our keys.
func (h *fixture) seated(d services, id, number int64, login string) bool {
	h.Helper()
	h.says(d, id, number, login, "/ocp create aws-minimal-mint --region mars-1")
	replies := h.replies()
	refused := slices.ContainsFunc(replies, func(r string) bool { return strings.Contains(r, "for platform admins alone") })
	_, err := h.store.Pool().Exec(h.Context(), `DELETE FROM replies`)
	require.NoError(h, err)
	return !refused
}

func TestALinkedAccountCountsByTheIdentitiesOfNowAndForAWeek(t *testing.T) {
	h := newFixture(t)
	h.github.permission["ada"] = "write"
	h.github.prs = map[int]store.PullRequest{41: h.pr(true)}
	terms, err := catalogue.Embedded()
	require.NoError(t, err)
	service := h.withCatalogue(&terms)
	ada := policy.Principal{ID: "saml:ada@acme.example", Name: "Ada", Seats: []policy.Seat{{Role: policy.PlatformAdmin, Team: "*"}}, Proof: adminsProof()}

	require.False(t, h.seated(service, 1, 77, "ada"), "who never said whose the account is is a writer of the repository")
	link, err := service.AccountLink(t.Context(), "github:ada", "77", store.Deed{Actor: "github:ada", Door: "pr_comment"})
	require.NoError(t, err)
	_, handle, _ := strings.Cut(link.URL.Reveal(), "/links/")
	_, err = service.Redeem(t.Context(), ada, handle, app.Deed{Door: policy.DoorWeb})
	require.NoError(t, err)
	require.True(t, h.seated(service, 2, 77, "ada"))

	all := terms.Identities
	terms.Identities = slices.DeleteFunc(slices.Clone(all), func(i profiles.Identity) bool { return i.Name == "saml-admins" })
	require.False(t, h.seated(service, 3, 77, "ada"), "an identity that is gone gives nothing through an account either")
	terms.Identities = all
	require.True(t, h.seated(service, 4, 77, "ada"))

	_, err = h.store.Pool().Exec(t.Context(), `UPDATE accounts SET seen_at = seen_at - interval '8 days'`)
	require.NoError(t, err)
	require.False(t, h.seated(service, 5, 77, "ada"), "who has not signed in for a week")
	require.NoError(t, service.SignedIn(t.Context(), ada, policy.DoorWeb))
	require.True(t, h.seated(service, 6, 77, "ada"))
	ada.Proof.Values["groups"] = []string{"ocpctl-team-platform"}
	require.NoError(t, service.SignedIn(t.Context(), ada, policy.DoorWeb))
	require.False(t, h.seated(service, 7, 77, "ada"), "and who left the group")
}

// GitHub gives a login that was given up to whoever asks for it next.
func TestALoginThatCameToBeAnothersHasNothingOfTheFirst(t *testing.T) {
	h := newFixture(t)
	h.github.permission["ada"] = "write"
	h.github.prs = map[int]store.PullRequest{41: h.pr(true)}
	terms, err := catalogue.Embedded()
	require.NoError(t, err)
	service := h.withCatalogue(&terms)
	ada := policy.Principal{ID: "saml:ada@acme.example", Name: "Ada", Proof: adminsProof()}
	h.says(service, 1, 77, "ada", "/ocp link")
	_, rest, _ := strings.Cut(h.replies()[0], "/links/")
	_, err = service.Redeem(t.Context(), ada, rest[:43], app.Deed{Door: policy.DoorWeb})
	require.NoError(t, err)
	require.True(t, h.seated(service, 2, 77, "ada"))

	require.False(t, h.seated(service, 3, 99, "ada"), "another account of the same name")
	require.Equal(t, []string{"account 77 had this name then, and account 99 has it now"},
		h.query(`SELECT metadata->>'why' FROM audit_events WHERE action = 'account_unlinked'`))
	accounts, err := service.Accounts(t.Context(), ada)
	require.NoError(t, err)
	require.Empty(t, accounts)
	require.False(t, h.seated(service, 4, 77, "ada"), "and it has to be linked anew")
}
