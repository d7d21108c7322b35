package app_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/scans"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// onPull returns the released cluster of the fixture's pull request.
func onPull(t *testing.T) (*servicetest.Fixture, clusters.Row) {
	h := servicetest.New(t)
	h.Open()
	h.Comment(1, "will", "/ocp create")
	row := h.Only()
	h.Release(row)
	return h, row
}

func TestAClusterOfAPullRequestIsCreatedAgainInItsPlace(t *testing.T) {
	h, row := onPull(t)
	byWeb := app.Origin{Source: policy.SourceWeb}
	made, again, err := h.Service.Retry(t.Context(), maya, row.ID, byWeb)
	require.NoError(t, err)
	require.True(t, again)
	require.Equal(t, []any{row.PR.Number, row.Generation + 1, row.Profile, row.Owner}, []any{made.PR.Number, made.Generation, made.Profile, made.Owner}, "who helps does not become the owner")
	require.NotEqual(t, row.ID, made.ID)

	same, _, err := h.Service.Retry(t.Context(), willOf("platform"), row.ID, byWeb)
	require.NoError(t, err)
	require.Equal(t, made.ID, same.ID, "whoever asks first")
}

func TestAClusterOfAPullRequestIsNotCreatedAgainBesideAnother(t *testing.T) {
	h, row := onPull(t)
	h.Comment(2, "will", "/ocp create")
	newest := h.Clusters()[1]
	_, _, err := h.Service.Retry(t.Context(), maya, row.ID, app.Origin{Source: policy.SourceWeb})
	require.Equal(t, app.Conflict, app.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "acme/shop#41 has a cluster of profile "+row.Profile+": "+newest.Name)
}

func TestAClusterOfAPullRequestIsNotCreatedAgainForNobody(t *testing.T) {
	h, row := onPull(t)
	byWeb := app.Origin{Source: policy.SourceWeb}
	h.Sync(h.Event("closed", "will", false))
	_, _, err := h.Service.Retry(t.Context(), maya, row.ID, byWeb)
	require.Equal(t, app.Conflict, app.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "acme/shop#41 is closed")

	e := h.Event("reopened", "will", true)
	e.PR.Fork = true
	h.Sync(e)
	_, _, err = h.Service.Retry(t.Context(), maya, row.ID, byWeb)
	require.Equal(t, app.Conflict, app.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "acme/shop#41 comes from a fork, and the repository's file says whether it gets a cluster. Comment /ocp retry on the pull request.")

	h.Query(`DELETE FROM pull_requests RETURNING number::text`)
	_, _, err = h.Service.Retry(t.Context(), maya, row.ID, byWeb)
	require.Equal(t, app.Conflict, app.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "Nothing is known of acme/shop#41 any more")
	require.Len(t, h.Clusters(), 1)
}

// A cluster that its region may have failed is made again in another, if nobody named the region.
func TestAClusterThatIsCreatedAgainFallsBackUnlessItsRegionWasNamed(t *testing.T) {
	for line, region := range map[string]string{"/ocp create aws-standard": "us-east-2", "/ocp create aws-standard --region us-east-1": "us-east-1"} {
		t.Run(line, func(t *testing.T) {
			h := servicetest.New(t)
			h.Open()
			h.Comment(1, "will", line)
			row := h.Only()
			require.Equal(t, "us-east-1", row.Region)
			h.Release(row)
			_, err := h.Store.Brakes.Freeze(t.Context(), lifecycle.Place{Region: "us-east-1"}, time.Hour, nil, clusters.Origin{Actor: "saml:will", Why: "an outage"})
			require.NoError(t, err)
			made, _, err := h.Service.Retry(t.Context(), maya, row.ID, app.Origin{Source: policy.SourceWeb})
			require.NoError(t, err)
			require.Equal(t, region, made.Region)
		})
	}
}

func TestAClusterThatHadItsAccountForItselfIsCreatedAgainInOneOfItsOwn(t *testing.T) {
	terms := servicetest.Catalogue(t, map[string]string{"accounts/one.yaml": "name: one\nplatform: aws\nnumber: \"123456789012\"\n"})
	h := servicetest.With(t, terms)
	storetest.Prove(t, h.Store, "aws", "123456789012", terms.Accounts[0].Version(), scans.ResultRow{Outcome: lifecycle.Succeeded, Proof: contract.ProofProven})
	row := h.Create(maya, "demo")
	h.Query(`UPDATE clusters SET exclusive = true WHERE id = $1 RETURNING id`, row.ID)
	h.Release(row)
	again, _, err := h.Service.Retry(t.Context(), maya, row.ID, app.Origin{Source: policy.SourceWeb})
	require.NoError(t, err)
	require.True(t, again.Exclusive)
}

// To see a cluster is not to act on it: who asks in vain learns nothing of the one that was made in its place.
func TestAClusterIsCreatedAgainOnlyByWhoMayActOnIt(t *testing.T) {
	h := servicetest.New(t)
	row := h.Create(maya, "demo")
	byWeb := app.Origin{Source: policy.SourceWeb}
	pat := policy.As("saml:pat", "pat", policy.Requester, "payments")
	_, err := h.Service.Share(t.Context(), maya, row.ID, app.ShareWith(app.SharePrincipal, pat.ID, ""), byWeb)
	require.NoError(t, err)
	h.Release(row)
	pipeline := policy.Principal{
		ID: "oidc:job", Name: "job", Seats: []policy.Seat{{Role: policy.Requester, Team: "platform", Own: true}},
		Proof: &policy.Claims{Source: profiles.SourceOIDC, Platform: profiles.IssuerGitHub, Values: map[string][]string{"repository": {"acme/shop"}, "event_name": {"pull_request"}}},
	}
	denied := func(words string, who policy.Principal) {
		t.Helper()
		got, _, err := h.Service.Retry(t.Context(), who, row.ID, byWeb)
		require.Equal(t, app.Denied, app.KindOf(err), "%v", err)
		require.ErrorContains(t, err, words)
		require.Empty(t, got.ID)
	}
	denied("retry it", pat)
	denied("belongs neither to this run nor to its pull request", pipeline)
	made, again, err := h.Service.Retry(t.Context(), maya, row.ID, byWeb)
	require.NoError(t, err)
	require.True(t, again)
	denied("retry it", pat)
	require.Len(t, h.Clusters(), 2)

	h.Query(`UPDATE clusters SET team = 'payments' WHERE id = $1 RETURNING id`, made.ID)
	got, _, err := h.Service.Retry(t.Context(), maya, row.ID, byWeb)
	require.Error(t, err, "the one in its place is another team's now")
	require.Empty(t, got.ID)
}

func TestTheAuthorOfAStrangersCodeDoesNotApproveItUnderAnotherIdentity(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{
		"people/people.yaml": "people:\n  - {name: maya, displayName: Maya, identities: [\"saml:maya\", \"" + servicetest.OnGitHub("maya") + "\"]}\n",
	}))
	e := h.Event("opened", "maya", true)
	e.PR.Author, e.PR.AuthorID, e.PR.Association = "maya", servicetest.AccountID("maya"), "FIRST_TIME_CONTRIBUTOR"
	h.Sync(e)
	h.Comment(1, "will", "/ocp create")
	require.True(t, h.Only().NeedsApproval)
	requireVotes(t, h, willOf("platform"), true)
	h.Release(h.Only())
	h.Query(`UPDATE approvals SET state = 'void', decided_at = now() RETURNING id`)
	_, _, err := h.Service.Retry(t.Context(), maya, h.Only().ID, app.Origin{Source: policy.SourceWeb})
	require.NoError(t, err)
	require.True(t, h.Clusters()[1].NeedsApproval)
	requireVotes(t, h, maya, false)
	requireVotes(t, h, willOf("platform"), true)
}
