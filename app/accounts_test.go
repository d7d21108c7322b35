package app_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// says comments as the account of GitHub with this number.
func says(h *servicetest.Fixture, id, number int64, login, body string) {
	h.Helper()
	_, err := h.Service.Comment(h.Context(), pulls.CommentEvent{
		Installation: 5001, Repo: servicetest.Repo, Number: 41, ID: id, Author: login, AuthorID: number, Action: "created", Body: body,
	})
	require.NoError(h, err)
}

// seated tells by an act that takes an admin whether a login counts as one: an admin may ask for a profile that holds our keys.
func seated(h *servicetest.Fixture, id, number int64, login string) bool {
	h.Helper()
	says(h, id, number, login, "/ocp create aws-minimal-mint --region mars-1")
	replies := h.Replies()
	refused := slices.ContainsFunc(replies, func(r string) bool { return strings.Contains(r, "only for platform admins") })
	_, err := h.Store.Pool().Exec(h.Context(), `DELETE FROM replies`)
	require.NoError(h, err)
	return !refused
}

func TestALinkedAccountCountsByTheIdentitiesOfNowAndForAWeek(t *testing.T) {
	h := servicetest.New(t)
	h.GitHub.Permissions["ada"] = "write"
	h.GitHub.PRs = map[int]pullrequests.PullRequest{41: h.PR(true)}
	ada := policy.Principal{ID: "saml:ada@acme.example", Name: "Ada", Seats: []policy.Seat{{Role: policy.PlatformAdmin, Team: "*"}}, Proof: servicetest.AdminProof()}

	require.False(t, seated(h, 1, 77, "ada"), "who never said whose the account is is a writer of the repository")
	link, err := h.Service.AccountLink(t.Context(), "github:id/77", "77", clusters.Origin{Actor: "github:id/77", Source: "pr_comment"})
	require.NoError(t, err)
	_, handle, _ := strings.Cut(link.URL.Reveal(), "/links/")
	got, err := h.Service.Redeem(t.Context(), ada, handle, app.Origin{Source: policy.SourceWeb})
	require.NoError(t, err)
	require.False(t, seated(h, 8, 77, "ada"), "a click links nothing")
	require.NoError(t, h.Service.CompleteLink(t.Context(), "github:id/77", got.Code.Reveal(), clusters.Origin{Actor: "github:id/77"}))
	require.True(t, seated(h, 2, 77, "ada"))

	all := h.Catalogue.Identities
	h.Catalogue.Identities = slices.DeleteFunc(slices.Clone(all), func(i profiles.Identity) bool { return i.Name == "saml-admins" })
	require.False(t, seated(h, 3, 77, "ada"), "an identity that is gone gives nothing through an account either")
	h.Catalogue.Identities = all
	require.True(t, seated(h, 4, 77, "ada"))

	_, err = h.Store.Pool().Exec(t.Context(), `UPDATE accounts SET seen_at = seen_at - interval '8 days'`)
	require.NoError(t, err)
	require.False(t, seated(h, 5, 77, "ada"), "who has not signed in for a week")
	require.NoError(t, h.Service.SignedIn(t.Context(), ada, policy.SourceWeb))
	require.True(t, seated(h, 6, 77, "ada"))
	ada.Proof.Values["groups"] = []string{"ocpctl-team-platform"}
	require.NoError(t, h.Service.SignedIn(t.Context(), ada, policy.SourceWeb))
	require.False(t, seated(h, 7, 77, "ada"), "and who left the group")
}

// GitHub gives a login that was given up to whoever asks for it next.
func TestALoginThatCameToBeAnothersHasNothingOfTheFirst(t *testing.T) {
	h := servicetest.New(t)
	h.GitHub.Permissions["ada"], h.GitHub.Permissions["ada-w"] = "write", "write"
	h.GitHub.PRs = map[int]pullrequests.PullRequest{41: h.PR(true)}
	ada := policy.Principal{ID: "saml:ada@acme.example", Name: "Ada", Proof: servicetest.AdminProof()}
	says(h, 1, 77, "ada", "/ocp link")
	_, rest, _ := strings.Cut(h.Replies()[0], "/links/")
	got, err := h.Service.Redeem(t.Context(), ada, rest[:43], app.Origin{Source: policy.SourceWeb})
	require.NoError(t, err)
	says(h, 5, 77, "ada", "/ocp link "+got.Code.Reveal())
	require.True(t, seated(h, 2, 77, "ada"))

	require.False(t, seated(h, 3, 99, "ada"), "another account of the same name")
	require.Equal(t, []string{"the login ada was another account's before"}, h.Query(`SELECT metadata->>'why' FROM audit_events WHERE action = 'login_reused'`))
	require.True(t, seated(h, 4, 77, "ada-w"), "the first one, under its new name")
	accounts, err := h.Service.Accounts(t.Context(), ada)
	require.NoError(t, err)
	require.Equal(t, []string{"github:ada-w"}, accounts)
}
