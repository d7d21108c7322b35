package pulls_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// The heads of pull request 41: the one that is asked about first, and one that is pushed later.
const (
	headA = "6dcb09b5b57875f334f61aebed695e2e4193db5e"
	headB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// asking is a fixture where a cluster waits for approval of headA, which was asked for at the returned time.
func asking(t *testing.T) (h *fixture, asked time.Time) {
	h = fixtureWith(t, servicetest.Careful(t, profiles.ApprovalTerms{}))
	h.Labeled("will", label)
	require.True(t, h.Only().NeedsApproval)
	return h, h.Clock
}

// approves has maya comment at a time of GitHub's clock, and returns the answer.
func (h *fixture) approves(id int64, at time.Time, body string) string {
	h.Helper()
	_, err := h.Service.Comment(h.Context(), pulls.CommentEvent{
		Installation: 5001, Repo: repo, Number: 41, ID: id, Author: "maya", AuthorID: servicetest.AccountID("maya"), Action: "created", Body: body, At: at,
	})
	require.NoError(h, err)
	return h.LastReply()
}

// push is the event of a push of headB at a time of GitHub's clock. GitHub has it from now on.
func (h *fixture) push(at time.Time) pulls.PullRequestEvent {
	pr := h.PR(true, label)
	pr.Head, pr.UpdatedAt = headB, at
	h.GitHub.Stands(pr)
	return pulls.PullRequestEvent{PR: pr, Actor: "mallory", ActorID: servicetest.AccountID("mallory"), Action: pulls.ActionSynchronize}
}

// waitsFor is the head that the pull request's approval waits for; empty: none does.
func (h *fixture) waitsFor() string {
	h.Helper()
	waiting, _, err := h.Store.Approvals(h.Context(), store.ApprovalFilter{State: clusters.ApprovalPending})
	require.NoError(h, err)
	if len(waiting) == 0 {
		return ""
	}
	require.Len(h, waiting, 1)
	return waiting[0].Head
}

// A push that came after the comment was written is not what its author looked at, however short the time between them, and
// whichever of the two webhooks is worked first.
func TestACommentApprovesNoCommitThatWasPushedAfterIt(t *testing.T) {
	for _, between := range []time.Duration{0, time.Second, 2 * time.Second, 5 * time.Second, time.Hour} {
		for _, pushFirst := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s push first %t", between, pushFirst), func(t *testing.T) {
				h, asked := asking(t)
				written := asked.Add(time.Minute)
				push := h.push(written.Add(between))
				var said string
				if pushFirst {
					_, err := h.Service.SyncPullRequest(t.Context(), push)
					require.NoError(t, err)
					said = h.approves(1, written, "/ocp approve")
				} else {
					said = h.approves(1, written, "/ocp approve")
					_, err := h.Service.SyncPullRequest(t.Context(), push)
					require.NoError(t, err)
				}
				require.True(t, h.Only().NeedsApproval, said)
				require.Equal(t, headB, h.waitsFor())
				require.Contains(t, said, "nothing was approved")
				require.Contains(t, said, "Look at the commit `"+headB+"`, then type `/ocp approve "+headB+"`.")
				require.Contains(t, h.approves(2, push.PR.UpdatedAt, "/ocp approve "+headB), "at `bbbbbbb`", "the command that was told works at once")
				require.False(t, h.Only().NeedsApproval)
			})
		}
	}
}

func TestACommentApprovesACommitThatWasKnownBeforeItWasWritten(t *testing.T) {
	t.Run("heard of", func(t *testing.T) {
		h, asked := asking(t)
		push := h.push(asked.Add(time.Minute))
		_, err := h.Service.SyncPullRequest(t.Context(), push)
		require.NoError(t, err)
		require.Contains(t, h.approves(1, push.PR.UpdatedAt.Add(time.Second), "/ocp approve"), "at `bbbbbbb`")
		require.False(t, h.Only().NeedsApproval)
	})
	t.Run("unheard of", func(t *testing.T) {
		h, asked := asking(t)
		h.push(asked.Add(time.Minute)) // its webhook is lost
		said := h.approves(1, asked.Add(time.Hour), "/ocp approve")
		require.Contains(t, said, "now at `bbbbbbb`")
		require.Contains(t, said, "`/ocp approve "+headB+"`")
		require.Equal(t, headB, h.waitsFor())
		require.Contains(t, h.approves(2, asked.Add(time.Hour+time.Second), "/ocp approve"), "at `bbbbbbb`", "it is heard of now")
	})
	t.Run("pushed once it was worked", func(t *testing.T) {
		h, asked := asking(t)
		require.Contains(t, h.approves(1, asked.Add(time.Second), "/ocp approve"), "at `6dcb09b`")
		_, err := h.Service.SyncPullRequest(t.Context(), h.push(asked.Add(2*time.Second)))
		require.NoError(t, err)
		require.Equal(t, []string{headA}, h.Query(`SELECT head FROM approvals WHERE state = 'approved'`))
	})
}

func TestAnApprovalMayNameItsCommit(t *testing.T) {
	for name, c := range map[string]struct {
		says   string
		pushed bool // headB, unheard of
		at     time.Duration
		want   string
		done   bool
	}{
		"whole":                        {headA, false, time.Minute, "at `6dcb09b`", true},
		"whole, in the same second":    {headA, false, 0, "at `6dcb09b`", true},
		"its beginning":                {headA[:7], false, time.Minute, "at `6dcb09b`", true},
		"its beginning, in upper case": {strings.ToUpper(headA[:12]), false, time.Minute, "at `6dcb09b`", true},
		"with the profile":             {profile + " " + headA[:7], false, time.Minute, "at `6dcb09b`", true},
		// Whoever pushes can make a commit that begins like the one they were asked about.
		"its beginning, in the same second":       {headA[:7], false, 0, "`/ocp approve " + headA + "`", false},
		"the beginning of one that is unheard of": {headB[:12], true, time.Hour, "`/ocp approve " + headB + "`", false},
		"the whole of one that is unheard of":     {headB, true, time.Hour, "at `bbbbbbb`", true},
		"the one that was there before":           {headA, true, time.Hour, "is at `bbbbbbb` and not at `" + headA + "`", false},
		"none":                                    {"0123456789abcdef", false, time.Minute, "is at `6dcb09b` and not at `0123456789abcdef`", false},
		"of another profile":                      {"aws-standard " + headA, false, time.Minute, "nothing in this pull request waits", false},
	} {
		t.Run(name, func(t *testing.T) {
			h, asked := asking(t)
			if c.pushed {
				h.push(asked.Add(time.Minute))
			}
			require.Contains(t, h.approves(1, asked.Add(c.at), "/ocp approve "+c.says), c.want)
			require.Equal(t, !c.done, h.Only().NeedsApproval)
		})
	}
}

// A comment that GitHub delivers late, or sends again, is for nothing that was asked for since it was written.
func TestALateCommentApprovesNothingThatWasAskedForSince(t *testing.T) {
	h, asked := asking(t)
	h.Comment(1, "will", "/ocp create aws-standard")
	require.Len(t, h.Clusters(), 2)
	require.Contains(t, h.approves(2, asked.Add(time.Second), "/ocp approve"), "was not waiting for approval of `6dcb09b` when you wrote this")
	for _, row := range h.Clusters() {
		require.True(t, row.NeedsApproval, "not even what it may have meant: that is for its author to say")
	}
	h.approves(3, h.Clock.Add(time.Second), "/ocp approve")
	for _, row := range h.Clusters() {
		require.False(t, row.NeedsApproval)
	}
}

func TestACommentWithoutATimeApprovesNoCommitThatItDoesNotName(t *testing.T) {
	h, _ := asking(t)
	h.approves(1, time.Time{}, "/ocp approve")
	require.True(t, h.Only().NeedsApproval)
	h.approves(2, time.Time{}, "/ocp approve "+headA)
	require.False(t, h.Only().NeedsApproval)
}

func (h *fixture) clickApprove(cause, actor, head string) string {
	h.Helper()
	note, err := h.Service.CheckAction(h.Context(), pulls.CheckEvent{
		Installation: 5001, Repo: repo, Cluster: h.Clusters()[0].ID, Head: head, Identifier: chatops.ActionApprove, Actor: actor, ActorID: servicetest.AccountID(actor), Cause: cause,
	})
	require.NoError(h, err)
	return note
}

func TestTheApproveButtonIsForTheCommitOfItsCheck(t *testing.T) {
	t.Run("the present one", func(t *testing.T) {
		h, _ := asking(t)
		h.clickApprove("d1", "rita", headA)
		require.Contains(t, h.LastReply(), "write is needed")
		h.clickApprove("d2", "will", headA)
		require.Contains(t, h.LastReply(), "Only a platform admin of team platform can approve this")
		for _, head := range []string{"", headA[:7], headA + "0", "main"} {
			require.Contains(t, h.clickApprove("odd"+head, "maya", head), "names no commit")
		}
		require.True(t, h.Only().NeedsApproval)
		h.clickApprove("d3", "maya", headA)
		h.clickApprove("d3", "maya", headA)
		require.Contains(t, h.LastReply(), "@maya approved")
		require.False(t, h.Only().NeedsApproval)
		require.Equal(t, []string{"with the approve button of its check"}, h.Query(`SELECT reason FROM approval_votes`))
	})
	for _, heard := range []bool{true, false} {
		t.Run(fmt.Sprintf("one that the pull request moved on from, heard of %t", heard), func(t *testing.T) {
			h, asked := asking(t)
			push := h.push(asked.Add(time.Minute))
			if heard {
				_, err := h.Service.SyncPullRequest(t.Context(), push)
				require.NoError(t, err)
			}
			h.clickApprove("d1", "maya", headA)
			require.Contains(t, h.LastReply(), "is at `bbbbbbb` and not at `"+headA+"`")
			require.True(t, h.Only().NeedsApproval)
			require.Equal(t, headB, h.waitsFor())
			h.clickApprove("d2", "maya", headB)
			require.False(t, h.Only().NeedsApproval)
		})
	}
}
