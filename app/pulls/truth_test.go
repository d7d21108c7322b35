package pulls_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// signed is a payload that GitHub's answers need not bear out.
func (h *fixture) signed(e pulls.PullRequestEvent) (note string, err error) {
	h.Helper()
	return h.Service.SyncPullRequest(h.Context(), e)
}

// answers makes a state what GitHub answers, whatever it was told.
func (h *fixture) answers(pr pullrequests.PullRequest) {
	h.GitHub.PRs = map[int]pullrequests.PullRequest{pr.Number: pr}
}

func TestWhatStartsSomethingIsJudgedByGitHubsAnswerAlone(t *testing.T) {
	t.Run("a label that does not stand", func(t *testing.T) {
		h := newFixture(t)
		h.answers(h.PR(true))
		e := h.Event(pulls.ActionLabeled, "will", true, label)
		e.Label = label
		_, err := h.signed(e)
		require.NoError(t, err)
		require.Empty(t, h.Clusters())
	})
	t.Run("a pull request that is closed", func(t *testing.T) {
		h := newFixture(t)
		h.answers(h.PR(false, label))
		e := h.Event(pulls.ActionReopened, "will", true, label)
		_, err := h.signed(e)
		require.NoError(t, err)
		require.Empty(t, h.Clusters())
	})
	t.Run("a fork that says it is none, at another head", func(t *testing.T) {
		h := fixtureWith(t, servicetest.Careful(t, profiles.ApprovalTerms{}))
		fork := h.PR(true, label)
		fork.Fork = true
		h.answers(fork)
		e := h.Event(pulls.ActionLabeled, "will", true, label)
		e.Label, e.PR.Head = label, headB
		_, err := h.signed(e)
		require.NoError(t, err)
		require.True(t, h.Only().NeedsApproval)
		require.Equal(t, headA, h.Only().PR.Head)
		require.Equal(t, headA, h.waitsFor())
		pr, err := h.Store.PullRequests.PullRequest(t.Context(), repo, 41)
		require.NoError(t, err)
		require.True(t, pr.Fork)
	})
	t.Run("a push that did not happen", func(t *testing.T) {
		h, _ := asking(t)
		h.File("synchronize: recreate\n")
		e := h.Event(pulls.ActionSynchronize, "will", true, label)
		e.PR.Head = headB
		note, err := h.signed(e)
		require.NoError(t, err)
		require.Equal(t, "nothing to change", note)
		require.Equal(t, headA, h.waitsFor())
		require.Len(t, h.Clusters(), 1)
	})
	t.Run("a hold, and a longer life", func(t *testing.T) {
		h := newFixture(t)
		h.Labeled("maya", label)
		before := h.Only()
		for _, other := range []string{"ocp/keep", "ocp-ttl/48"} {
			e := h.Event(pulls.ActionLabeled, "maya", true, label, other)
			e.Label = other
			_, err := h.signed(e)
			require.NoError(t, err)
		}
		require.Equal(t, before.Ends, h.Only().Ends)
	})
	t.Run("an end is not lifted", func(t *testing.T) {
		h := newFixture(t)
		h.Labeled("will", label)
		h.Sync(h.Event("closed", "will", false, label))
		_, err := h.signed(h.Event(pulls.ActionReopened, "will", true, label))
		require.NoError(t, err)
		require.False(t, h.Only().Ends.PRClosed.IsZero())
	})
	t.Run("nor is one set where GitHub says otherwise", func(t *testing.T) {
		h := newFixture(t)
		h.Labeled("will", label)
		_, err := h.signed(h.Event("closed", "will", false, label))
		require.NoError(t, err)
		e := h.Event(pulls.ActionUnlabeled, "will", true)
		e.Label = label
		_, err = h.signed(e)
		require.NoError(t, err)
		require.True(t, h.Only().Ends.PRClosed.IsZero())
		require.True(t, h.Only().Ends.LabelRemoved.IsZero())
	})
}

// ending is a payload that says that pull request 41 was closed, or that its label was taken off.
func (h *fixture) ending(closed bool) pulls.PullRequestEvent {
	if closed {
		return h.Event("closed", "will", false, label)
	}
	e := h.Event(pulls.ActionUnlabeled, "will", true)
	e.Label = label
	return e
}

func TestAPayloadAloneEndsOnePullRequestsClustersWhileGitHubCannotBeAsked(t *testing.T) {
	for _, closed := range []bool{true, false} {
		t.Run(fmt.Sprintf("closed %t", closed), func(t *testing.T) {
			h := newFixture(t)
			h.Labeled("will", label)
			other := h.PR(true, label)
			other.Number = 42
			h.Sync(pulls.PullRequestEvent{PR: other, Actor: "will", ActorID: servicetest.AccountID("will"), Action: pulls.ActionLabeled, Label: label})
			h.GitHub.Down.Store(true)
			e := h.ending(closed)
			note, err := h.signed(e)
			require.NoError(t, err)
			require.Contains(t, note, "the payload alone decided")
			again, err := h.signed(e)
			require.NoError(t, err)
			require.Contains(t, again, "nothing to change")
			row, neighbour := h.Clusters()[0], h.Clusters()[1]
			require.Equal(t, closed, !row.Ends.PRClosed.IsZero())
			require.Equal(t, !closed, !row.Ends.LabelRemoved.IsZero())
			require.Equal(t, lifecycle.Present, row.Desired, "after its grace, and not before")
			require.True(t, neighbour.Ends.PRClosed.IsZero() && neighbour.Ends.LabelRemoved.IsZero())

			h.GitHub.Down.Store(false) // and GitHub says that it is open, and has its label
			seen := h.Event(pulls.ActionSeen, "", true, label)
			h.GitHub.Installed = map[string]int64{repo: 5001}
			h.Sync(seen)
			require.True(t, h.Clusters()[0].Ends.PRClosed.IsZero())
			require.True(t, h.Clusters()[0].Ends.LabelRemoved.IsZero())
		})
	}
}

func TestAPayloadAloneStartsNothing(t *testing.T) {
	h := newFixture(t)
	h.Labeled("will", label)
	h.Sync(h.Event("closed", "will", false, label))
	before := h.Only()
	h.GitHub.Down.Store(true)
	for _, action := range []string{pulls.ActionReopened, pulls.ActionOpened, pulls.ActionLabeled, pulls.ActionSynchronize, pulls.ActionReady, pulls.ActionEdited} {
		e := h.Event(action, "will", true, label, "ocp/aws-standard")
		e.Label, e.PR.Head = "ocp/aws-standard", headB
		_, err := h.signed(e)
		require.ErrorIs(t, err, errDown, action)
	}
	require.Equal(t, before.Ends, h.Only().Ends)
	require.Equal(t, []string{headA}, h.Query(`SELECT head FROM pull_requests`))
}

func TestAnOldPayloadAloneEndsNothing(t *testing.T) {
	h := newFixture(t)
	h.Labeled("will", label)
	old := h.ending(true)
	h.Labeled("will", label, "bug") // reopened since, as GitHub said
	h.GitHub.Down.Store(true)
	_, err := h.signed(old)
	require.ErrorIs(t, err, errDown)
	require.True(t, h.Only().Ends.PRClosed.IsZero())
}

// A cluster may be on its way that has to hear of the close.
func TestACloseThatFoundNoClusterIsTriedUntilGitHubAnswers(t *testing.T) {
	h := newFixture(t)
	h.Sync(h.Event(pulls.ActionLabeled, "rita", true, label))
	h.GitHub.Down.Store(true)
	_, err := h.signed(h.ending(true))
	require.ErrorIs(t, err, errDown)
}

func TestAPayloadFromTheFutureIsNotBelieved(t *testing.T) {
	h := newFixture(t)
	h.Labeled("will", label)
	future := func(e pulls.PullRequestEvent) pulls.PullRequestEvent {
		e.PR.UpdatedAt = time.Now().Add(6 * time.Minute)
		return e
	}
	h.GitHub.Down.Store(true)
	_, err := h.signed(future(h.ending(true)))
	require.ErrorIs(t, err, errDown, "it ends nothing by itself")
	require.True(t, h.Only().Ends.PRClosed.IsZero())
	h.GitHub.Down.Store(false)
	_, err = h.signed(future(h.ending(true)))
	require.NoError(t, err, "GitHub's answer counts, and is awaited no longer")
	require.True(t, h.Only().Ends.PRClosed.IsZero())
	require.Contains(t, h.Sync(h.ending(true)), "ends", "what really happens afterwards is not taken for older")
	require.Equal(t, []string{"true"}, h.Query(`SELECT (updated_at < now())::text FROM pull_requests`))
}

func TestGitHubIsAskedAgainWhileItsAnswerIsOlderThanItsWebhook(t *testing.T) {
	h := newFixture(t)
	h.Labeled("will", label)
	behind := h.PR(true, label)
	behind.UpdatedAt = time.Now().Add(-time.Minute).Truncate(time.Second)
	h.answers(behind)
	closed := h.ending(true)
	closed.PR.UpdatedAt = time.Now().Truncate(time.Second)
	_, err := h.signed(closed)
	require.ErrorContains(t, err, "older than its webhook")
	require.Empty(t, app.KindOf(err), "it is tried again")
	require.True(t, h.Only().Ends.PRClosed.IsZero())
	caughtUp := closed.PR
	h.answers(caughtUp)
	_, err = h.signed(closed)
	require.NoError(t, err)
	require.False(t, h.Only().Ends.PRClosed.IsZero())

	long := h.ending(true)
	long.PR.Number, long.PR.UpdatedAt = 42, time.Now().Add(-2*time.Minute)
	never := long.PR
	never.Open, never.UpdatedAt = true, time.Now().Add(-time.Hour)
	h.answers(never)
	_, err = h.signed(long)
	require.NoError(t, err, "after a while the answer counts")
}

func TestNothingIsRememberedOfWhatIsNoneOfOurBusiness(t *testing.T) {
	h := newFixture(t)
	for _, action := range []string{"opened", "labeled", "unlabeled", "closed"} {
		_, err := h.signed(h.Event(action, "zoe", action != "closed", "bug"))
		require.NoError(t, err, "GitHub, which knows no such pull request, is not even asked")
	}
	require.Empty(t, h.Query(`SELECT repo FROM pull_requests`))
}

// A payload may be forged by whoever holds the webhook's secret, or be true and overtaken: no check goes to a commit of its say.
func TestAFilesCheckGoesToTheHeadThatGitHubHas(t *testing.T) {
	h := newFixture(t)
	h.GitHub.Files = map[string]string{strings.Repeat("d", 40): "ttl: 2h\n"}
	e := h.Event(pulls.ActionSynchronize, "will", true)
	e.PR.Head = strings.Repeat("d", 40)
	h.answers(h.PR(true))
	_, err := h.signed(e)
	require.NoError(t, err)
	require.Empty(t, h.Effects())
}
