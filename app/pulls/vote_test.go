package pulls_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func TestALabelsClusterWaitsForAWordInAComment(t *testing.T) {
	h := fixtureWith(t, servicetest.Careful(t, profiles.ApprovalTerms{}))
	h.Labeled("will", label)
	row := h.Only()
	require.Equal(t, lifecycle.AwaitingApproval, row.Phase)
	require.Empty(t, h.Replies(), "its one comment says what it waits for")
	require.Contains(t, row.Spec.Approval, "Somebody has to agree.")
	require.Equal(t, []string{"maya"}, row.Spec.Approvers, "who is called there")
	h.Comment(1, "will", "/ocp approve")
	require.True(t, h.Only().NeedsApproval)
	require.Contains(t, h.Replies()[0], "Only a platform admin of team platform can approve this. You are a requester")
	h.Comment(2, "rita", "/ocp approve")
	require.Contains(t, h.Replies()[1], "only read permission")
	h.Comment(3, "maya", "/ocp approve")
	require.False(t, h.Only().NeedsApproval)
	require.Contains(t, h.Replies()[2], "@maya approved `"+row.Name+"` at `6dcb09b`")
	h.Comment(4, "maya", "/ocp approve")
	require.Contains(t, h.Replies()[3], "nothing in this pull request waits for approval")
}

// A process that dies behind the vote leaves its answer too: the comment is processed again and is not told that it came late.
func TestAVoteAndItsAnswerAreWrittenTogether(t *testing.T) {
	h := fixtureWith(t, servicetest.Careful(t, profiles.ApprovalTerms{}))
	h.Labeled("will", label)
	h.Comment(1, "maya", "/ocp approve")
	require.Equal(t, []string{"true"}, h.Query(`
		SELECT (r.xmin = v.xmin)::text FROM replies r, approval_votes v WHERE r.body LIKE '%@maya approved%' AND v.principal = '`+servicetest.OnGitHub("maya")+`'`))
	before := len(h.Replies())
	h.Comment(1, "maya", "/ocp approve")
	require.Len(t, h.Replies(), before)
}

func TestTwoVotesAreTwoPersons(t *testing.T) {
	h := fixtureWith(t, servicetest.Careful(t, profiles.ApprovalTerms{Count: 2, By: "requester"}))
	h.GitHub.Permissions["paul"] = "write"
	h.Labeled("will", label)
	h.Comment(1, "will", "/ocp approve")
	require.Contains(t, h.Replies()[0], "it needs the approval of 2 others")
	h.Comment(2, "maya", "/ocp approve "+profile)
	require.Contains(t, h.Replies()[1], "1 of 2 votes")
	h.Comment(3, "paul", "/ocp approve")
	require.False(t, h.Only().NeedsApproval)
}

// A push that was worked while a request was judged found nothing yet whose approval it could make void.
func TestAPushBesideARequestLeavesAnApprovalThatCanBeGiven(t *testing.T) {
	h := fixtureWith(t, servicetest.Careful(t, profiles.ApprovalTerms{}))
	h.Sync(pulls.PullRequestEvent{PR: h.PR(true), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "opened"})
	pushed := h.PR(true)
	pushed.Head = strings.Repeat("b", 40)
	h.GitHub.Meanwhile = func() {
		h.Sync(pulls.PullRequestEvent{PR: pushed, Actor: "will", ActorID: servicetest.AccountID("will"), Action: "synchronize"})
	}
	h.Comment(1, "will", "/ocp create")
	waiting, _, err := h.Store.Approvals(t.Context(), store.ApprovalFilter{State: clusters.ApprovalPending})
	require.NoError(t, err)
	require.Len(t, waiting, 1)
	require.Equal(t, pushed.Head, waiting[0].Head)
	h.Comment(2, "maya", "/ocp approve")
	require.False(t, h.Only().NeedsApproval)
}

func TestAPushMakesAnApprovalVoid(t *testing.T) {
	h := fixtureWith(t, servicetest.Careful(t, profiles.ApprovalTerms{}))
	h.Labeled("will", label)
	before, _, err := h.Store.Approvals(t.Context(), store.ApprovalFilter{State: clusters.ApprovalPending})
	require.NoError(t, err)
	pushed := h.PR(true, label)
	pushed.Head = strings.Repeat("b", 40)
	note := h.Sync(pulls.PullRequestEvent{PR: pushed, Actor: "will", ActorID: servicetest.AccountID("will"), Action: "synchronize"})
	require.Contains(t, note, "waits for approval of "+pushed.Head)
	after, _, err := h.Store.Approvals(t.Context(), store.ApprovalFilter{State: clusters.ApprovalPending})
	require.NoError(t, err)
	require.Len(t, after, 1)
	require.NotEqual(t, before[0].ID, after[0].ID)
	require.Equal(t, pushed.Head, after[0].Head)
	_, err = h.Service.Vote(t.Context(), policy.As("saml:boss", "Boss", policy.PlatformAdmin), before[0].ID, true, app.Origin{Source: policy.SourceAPI})
	require.Equal(t, app.Conflict, app.KindOf(err))
	h.Comment(1, "maya", "/ocp approve")
	require.Contains(t, h.Replies()[0], "at `bbbbbbb`")
}

func TestALinkedAccountHasItsOwnersSeats(t *testing.T) {
	h := fixtureWith(t, servicetest.Careful(t, profiles.ApprovalTerms{}))
	h.Labeled("maya", label)
	h.Comment(1, "will", "/ocp approve")
	require.True(t, h.Only().NeedsApproval)
	h.Comment(2, "will", "/ocp link")
	said := h.Replies()[1]
	require.Contains(t, said, "open http://127.0.0.1:8080/links/")
	_, rest, _ := strings.Cut(said, "/links/")
	handle, _, _ := strings.Cut(rest, " ")
	boss := policy.As("saml:boss", "Boss", policy.PlatformAdmin)
	boss.Proof = servicetest.AdminProof()
	link, err := h.Service.LinkFor(t.Context(), boss, handle)
	require.NoError(t, err)
	require.Equal(t, "github:will", link.Account)
	got, err := h.Service.Redeem(t.Context(), boss, handle, app.Origin{Source: policy.SourceWeb})
	require.NoError(t, err)
	require.Equal(t, "github:will", got.Account)
	accounts, err := h.Service.Accounts(t.Context(), boss)
	require.NoError(t, err)
	require.Empty(t, accounts, "the account has not confirmed it")
	h.Comment(4, "maya", "/ocp link "+got.Code.Reveal())
	require.Contains(t, h.LastReply(), "Nothing was linked", "the code is for one account")
	h.Comment(5, "will", "/ocp link "+got.Code.Reveal())
	require.Contains(t, h.LastReply(), "@will, this GitHub account is now linked to you.")
	h.Comment(6, "will", "/ocp link "+got.Code.Reveal())
	require.Contains(t, h.LastReply(), "Nothing was linked", "once")
	accounts, err = h.Service.Accounts(t.Context(), boss)
	require.NoError(t, err)
	require.Equal(t, []string{"github:will"}, accounts)
	h.Comment(3, "will", "/ocp approve")
	require.False(t, h.Only().NeedsApproval)
	approvals, _, err := h.Store.Approvals(t.Context(), store.ApprovalFilter{})
	require.NoError(t, err)
	require.Equal(t, "saml:boss", approvals[0].Votes[0].Principal, "the person's, whichever way it came")
}
