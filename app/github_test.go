package app_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/policy/rules"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
)

// careful is the program's own catalogue with a rule that asks for a word, and somebody whose word counts.
func careful(t *testing.T, terms profiles.ApprovalTerms) catalogue.Catalogue {
	t.Helper()
	b, err := catalogue.Embedded()
	require.NoError(t, err)
	set, problems := rules.Compile([]profiles.Policy{{Name: "careful", Rules: []profiles.Rule{
		{Name: "all", When: "true", Effect: profiles.EffectRequireApproval, Message: "Somebody has to agree.", Approval: terms},
	}}})
	require.Empty(t, problems)
	b.Rules = set
	b.Identities = append(b.Identities, profiles.Identity{
		Name: "admins", Source: profiles.SourceGitHub, Match: map[string][]string{"login": {"maya"}}, Role: "platform_admin", Teams: []string{"*"},
	})
	return b
}

func TestALabelsClusterWaitsForAWordInAComment(t *testing.T) {
	h := fixtureWith(t, careful(t, profiles.ApprovalTerms{}))
	h.labeled("will", label)
	row := h.only()
	require.Equal(t, lifecycle.AwaitingApproval, row.Phase)
	require.Empty(t, h.replies(), "its one comment says what it waits for")
	require.Contains(t, row.Spec.Approval, "Somebody has to agree.")
	require.Equal(t, []string{"maya"}, row.Spec.Approvers, "who is called there")
	h.comment(1, "will", "/ocp approve")
	require.True(t, h.only().NeedsApproval)
	require.Contains(t, h.replies()[0], "Only a platform admin of team platform can approve this; yours is requester")
	h.comment(2, "rita", "/ocp approve")
	require.Contains(t, h.replies()[1], "only read permission")
	h.comment(3, "maya", "/ocp approve")
	require.False(t, h.only().NeedsApproval)
	require.Contains(t, h.replies()[2], "@maya approved `"+row.Name+"` at `6dcb09b`")
	h.comment(4, "maya", "/ocp approve")
	require.Contains(t, h.replies()[3], "nothing in this pull request waits for approval")
}

// A process that dies behind the vote leaves its answer too: the comment is processed again and is not told that it came late.
func TestAVoteAndItsAnswerAreWrittenTogether(t *testing.T) {
	h := fixtureWith(t, careful(t, profiles.ApprovalTerms{}))
	h.labeled("will", label)
	h.comment(1, "maya", "/ocp approve")
	require.Equal(t, []string{"true"}, h.query(`
		SELECT (r.xmin = v.xmin)::text FROM replies r, approval_votes v WHERE r.body LIKE '%@maya approved%' AND v.principal = 'github:maya'`))
	before := len(h.replies())
	h.comment(1, "maya", "/ocp approve")
	require.Len(t, h.replies(), before)
}

func TestTwoWordsAreTwoPersons(t *testing.T) {
	h := fixtureWith(t, careful(t, profiles.ApprovalTerms{Count: 2, By: "requester"}))
	h.github.permission["paul"] = "write"
	h.labeled("will", label)
	h.comment(1, "will", "/ocp approve")
	require.Contains(t, h.replies()[0], "it needs the approval of 2 others")
	h.comment(2, "maya", "/ocp approve "+profile)
	require.Contains(t, h.replies()[1], "1 of 2 votes")
	h.comment(3, "paul", "/ocp approve")
	require.False(t, h.only().NeedsApproval)
}

// A push that was worked while a wish was judged found nothing yet whose approval it could make void.
func TestAPushBesideAWishLeavesAnApprovalThatCanBeGiven(t *testing.T) {
	h := fixtureWith(t, careful(t, profiles.ApprovalTerms{}))
	h.sync(pulls.PullRequestEvent{PR: h.pr(true), Actor: "will", Action: "opened"})
	pushed := h.pr(true)
	pushed.Head = strings.Repeat("b", 40)
	h.github.meanwhile = func() {
		h.sync(pulls.PullRequestEvent{PR: pushed, Actor: "will", Action: "synchronize"})
	}
	h.comment(1, "will", "/ocp create")
	waiting, _, err := h.store.Approvals(t.Context(), store.ApprovalFilter{State: store.ApprovalPending})
	require.NoError(t, err)
	require.Len(t, waiting, 1)
	require.Equal(t, pushed.Head, waiting[0].Head)
	h.comment(2, "maya", "/ocp approve")
	require.False(t, h.only().NeedsApproval)
}

func TestAPushMakesAnApprovalVoid(t *testing.T) {
	h := fixtureWith(t, careful(t, profiles.ApprovalTerms{}))
	h.labeled("will", label)
	before, _, err := h.store.Approvals(t.Context(), store.ApprovalFilter{State: store.ApprovalPending})
	require.NoError(t, err)
	pushed := h.pr(true, label)
	pushed.Head = strings.Repeat("b", 40)
	note := h.sync(pulls.PullRequestEvent{PR: pushed, Actor: "will", Action: "synchronize"})
	require.Contains(t, note, "waits for approval of "+pushed.Head)
	after, _, err := h.store.Approvals(t.Context(), store.ApprovalFilter{State: store.ApprovalPending})
	require.NoError(t, err)
	require.Len(t, after, 1)
	require.NotEqual(t, before[0].ID, after[0].ID)
	require.Equal(t, pushed.Head, after[0].Head)
	_, err = h.service.Vote(t.Context(), policy.As("saml:boss", "Boss", policy.PlatformAdmin), before[0].ID, true, app.Deed{Door: policy.DoorAPI})
	require.Equal(t, app.Conflict, app.KindOf(err))
	h.comment(1, "maya", "/ocp approve")
	require.Contains(t, h.replies()[0], "at `bbbbbbb`")
}

func TestALinkedAccountHasItsOwnersSeats(t *testing.T) {
	h := fixtureWith(t, careful(t, profiles.ApprovalTerms{}))
	h.labeled("maya", label)
	h.comment(1, "will", "/ocp approve")
	require.True(t, h.only().NeedsApproval)
	h.comment(2, "will", "/ocp link")
	said := h.replies()[1]
	require.Contains(t, said, "open http://127.0.0.1:8080/links/")
	_, rest, _ := strings.Cut(said, "/links/")
	handle, _, _ := strings.Cut(rest, " ")
	boss := policy.As("saml:boss", "Boss", policy.PlatformAdmin)
	boss.Proof = adminsProof()
	link, err := h.service.LinkFor(t.Context(), boss, handle)
	require.NoError(t, err)
	require.Equal(t, "github:will", link.Account)
	got, err := h.service.Redeem(t.Context(), boss, handle, app.Deed{Door: policy.DoorWeb})
	require.NoError(t, err)
	require.Equal(t, "github:will", got.Account)
	accounts, err := h.service.Accounts(t.Context(), boss)
	require.NoError(t, err)
	require.Equal(t, []string{"github:will"}, accounts)
	h.comment(3, "will", "/ocp approve")
	require.False(t, h.only().NeedsApproval)
	approvals, _, err := h.store.Approvals(t.Context(), store.ApprovalFilter{})
	require.NoError(t, err)
	require.Equal(t, "saml:boss", approvals[0].Votes[0].Principal, "the person's, whichever way it came")
}

func TestTheCatalogueInForceJudges(t *testing.T) {
	h := newFixture(t)
	h.catalogue.Quotas = []profiles.Quota{{Name: "none", Scope: profiles.ScopeTeam, Live: 1}}
	h.labeled("will", label)
	h.comment(1, "will", "/ocp create aws-standard")
	require.Len(t, h.clusters(), 1)
	require.Contains(t, h.replies()[0], "has 1 of the 1 clusters that quota none allows at once")
	h.catalogue.Quotas = nil
	h.comment(2, "will", "/ocp create aws-standard")
	require.Len(t, h.clusters(), 2, "a changed catalogue counts at once")
}
