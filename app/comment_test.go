package app_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

func opened(t *testing.T) *fixture {
	h := newFixture(t)
	h.sync(pulls.PullRequestEvent{PR: h.pr(true), Actor: "will", Action: "opened"})
	return h
}

func TestACommentCreatesExtendsAndDestroys(t *testing.T) {
	h := opened(t)
	h.comment(1, "will", "please\n\n/ocp create aws-standard --name demo --ttl 2h --region us-east-2")
	row := h.only()
	require.Equal(t, string(policy.DoorComment), row.Door)
	require.Equal(t, "demo", row.Name)
	require.Equal(t, 2*time.Hour, row.TTL)
	require.Equal(t, "us-east-2", row.Region)
	require.Empty(t, h.replies(), "the cluster's own comment says it")

	h.comment(2, "will", "/ocp extend 4h")
	require.Equal(t, row.Ends.TTL.Add(4*time.Hour), h.only().Ends.TTL)
	require.Len(t, h.replies(), 1)
	require.Contains(t, h.replies()[0], "now ends")

	h.comment(3, "will", "/ocp destroy")
	require.Equal(t, lifecycle.Absent, h.only().Wish)
	require.Contains(t, h.replies()[1], "being destroyed")

	h.comment(4, "will", "/ocp destroy")
	require.Contains(t, h.replies()[2], "already being destroyed")
	h.comment(5, "will", "/ocp extend 1h")
	require.Contains(t, h.replies()[3], "cannot be extended")
}

func TestAnExtensionOfWhatIsHeldLongerSaysSo(t *testing.T) {
	h := opened(t)
	h.comment(1, "will", "/ocp create aws-standard --ttl 2h")
	h.comment(2, "will", "/ocp hold 30h")
	h.comment(3, "will", "/ocp extend 4h")
	require.Contains(t, h.replies()[1], "That is without its hold, which keeps it until")
}

func TestTheSameCommentTwiceChangesNothing(t *testing.T) {
	h := opened(t)
	h.comment(1, "will", "/ocp create")
	require.Contains(t, h.comment(1, "will", "/ocp create"), "accepted before as "+h.only().ID)
	require.Empty(t, h.replies(), "it is not told that what it made is there already")
	ttl := h.only().Ends.TTL
	h.comment(2, "will", "/ocp extend 1h")
	h.comment(2, "will", "/ocp extend 1h")
	require.Equal(t, ttl.Add(time.Hour), h.only().Ends.TTL, "the time is added once per comment")
	h.comment(3, "will", "/ocp destroy")
	h.comment(1, "will", "/ocp create")
	h.only()
	require.Len(t, h.replies(), 2)
}

func TestACommentReadAgainDestroysNothingMadeSince(t *testing.T) {
	h := opened(t)
	h.comment(1, "will", "/ocp create")
	const both = "/ocp destroy\n/ocp create"
	h.comment(2, "will", both)
	h.comment(2, "will", both) // the process died before it wrote down that the comment was worked
	rows := h.clusters()
	require.Len(t, rows, 2)
	require.Equal(t, []lifecycle.Wish{lifecycle.Absent, lifecycle.Present}, []lifecycle.Wish{rows[0].Wish, rows[1].Wish})
	require.Len(t, h.replies(), 1)
}

func TestARefusalReadAgainStaysOne(t *testing.T) {
	h := opened(t)
	h.comment(1, "rita", "/ocp create")
	h.github.permission["rita"] = "write"
	h.comment(1, "rita", "/ocp create")
	require.Empty(t, h.clusters(), "she asked when she might not; now she may ask again")
	h.comment(2, "rita", "/ocp create")
	h.only()
}

func TestAnExtensionStopsAtTheProfilesMaximumAndSaysSo(t *testing.T) {
	h := opened(t)
	h.comment(1, "will", "/ocp create")
	h.comment(2, "will", "/ocp extend 1000h")
	row := h.only()
	require.Equal(t, row.Ends.Max, row.Ends.TTL)
	require.Contains(t, h.replies()[0], "is the maximum of profile")
	h.comment(3, "will", "/ocp extend 4h")
	require.Contains(t, h.replies()[1], "@will: It already ends at its profile's maximum", "nothing moved, and no words say that it did")
}

func TestTwoCommentsWithOneIDAreToldApartByTheirWords(t *testing.T) {
	h := opened(t)
	h.comment(1, "will", "/ocp create")
	require.Contains(t, h.comment(1, "will", "/ocp create"), "accepted before as "+h.only().ID)
	require.Empty(t, h.replies(), "it is not told that what it made is there already")
	ttl := h.only().Ends.TTL
	h.comment(1, "will", "/ocp extend 4h")
	h.comment(1, "will", "/ocp extend 4h")
	require.Equal(t, ttl.Add(4*time.Hour), h.only().Ends.TTL)
	require.Len(t, h.replies(), 1)
}

func TestHelpIsForEverybodyAndNamesTheProfiles(t *testing.T) {
	h := opened(t)
	h.comment(1, "rita", "/ocp help")
	require.Contains(t, h.replies()[0], "Profiles: `aws-minimal-test`, `aws-standard`.", "what is not enabled is not offered")
}

func TestOnlyWhoMayWriteIsObeyed(t *testing.T) {
	h := opened(t)
	h.comment(1, "will", "/ocp create")
	for i, body := range []string{"/ocp destroy", "/ocp extend 4h", "/ocp create aws-standard"} {
		h.comment(int64(10+i), "rita", body)
	}
	row := h.only()
	require.Equal(t, lifecycle.Present, row.Wish)
	require.Len(t, h.replies(), 3)
	for _, reply := range h.replies() {
		require.Contains(t, reply, "write")
	}
}

func TestBotsEditsAndTalkAreIgnored(t *testing.T) {
	h := opened(t)
	base := pulls.CommentEvent{Installation: 5001, Repo: repo, Number: 41, ID: 1, Author: "will", Action: "created", Body: "/ocp create"}
	bot, edit, talk := base, base, base
	bot.Bot, edit.Action, talk.Body = true, "edited", "what about an ocp cluster?"
	for _, e := range []pulls.CommentEvent{bot, edit, talk} {
		_, err := h.service.Comment(t.Context(), e)
		require.NoError(t, err)
	}
	require.Empty(t, h.clusters())
	require.Empty(t, h.replies())
	require.Zero(t, h.github.asked.Load())
}

func TestAPullRequestNeverSeenIsAskedFromGitHub(t *testing.T) {
	h := newFixture(t)
	pr := h.pr(true)
	pr.Fork = true
	h.github.prs = map[int]store.PullRequest{41: pr}
	h.comment(1, "maya", "/ocp create")
	require.True(t, h.only().NeedsApproval, "so it is known that it comes from a fork")
	require.Contains(t, h.only().Spec.Approval, "fork")
}

func TestStatusAndHelpAnswerInWords(t *testing.T) {
	h := opened(t)
	h.comment(1, "will", "/ocp status")
	require.Contains(t, h.replies()[0], "no cluster")
	h.comment(2, "will", "/ocp create")
	h.comment(3, "will", "/ocp status\n/ocp help")
	require.Len(t, h.replies(), 3)
	require.Contains(t, h.replies()[1], h.only().Name)
	require.Contains(t, h.replies()[2], "/ocp create")
}

func TestAMistypedProfileGetsDidYouMean(t *testing.T) {
	h := opened(t)
	h.comment(1, "will", "/ocp create aws-minimal-tset")
	require.Empty(t, h.clusters())
	require.Contains(t, h.replies()[0], "aws-minimal-test")
	h.comment(2, "will", "/ocp create")
	h.comment(3, "will", "/ocp destroy aws-minimal-tset")
	require.Contains(t, h.replies()[1], "Did you mean `aws-minimal-test`")
	require.Equal(t, lifecycle.Present, h.only().Wish)
}

func TestWhichOfTwoClustersIsAsked(t *testing.T) {
	h := opened(t)
	h.comment(1, "will", "/ocp create aws-minimal-test\n/ocp create aws-standard")
	require.Len(t, h.clusters(), 2)
	h.comment(2, "will", "/ocp destroy")
	require.Contains(t, h.replies()[0], "Which one? `/ocp destroy aws-")
	h.comment(4, "will", "/ocp extend 4h")
	require.Contains(t, h.replies()[1], "`/ocp extend 4h aws-standard`", "what else was typed is said again")
	h.comment(5, "will", "/ocp hold 4h --reason `demo`")
	require.Contains(t, h.replies()[2], "`/ocp hold aws-standard`", "but nothing that would end the quote")
	h.comment(3, "will", "/ocp destroy aws-standard")
	for _, row := range h.clusters() {
		require.Equal(t, row.Profile == "aws-standard", row.Wish == lifecycle.Absent, row.Profile)
	}
}

func TestASecondCreateOfTheSameProfileShowsTheFirst(t *testing.T) {
	h := opened(t)
	h.comment(1, "will", "/ocp create")
	h.comment(2, "will", "/ocp create")
	row := h.only()
	require.Contains(t, h.replies()[0], row.Name)
	require.Contains(t, h.replies()[0], "nothing was created")
}

func TestAClosedPullRequestGetsNoNewClusterButMayDestroy(t *testing.T) {
	h := opened(t)
	h.comment(1, "will", "/ocp create")
	h.sync(pulls.PullRequestEvent{PR: h.pr(false), Actor: "will", Action: "closed"})
	h.comment(2, "will", "/ocp create aws-standard")
	require.Contains(t, h.replies()[0], "closed")
	h.comment(3, "will", "/ocp destroy")
	require.Equal(t, lifecycle.Absent, h.only().Wish)
}

func TestATakenNameIsAConflictInWords(t *testing.T) {
	h := opened(t)
	h.comment(1, "will", "/ocp create --name mine")
	h.comment(2, "will", "/ocp create aws-standard --name mine")
	h.only()
	require.Contains(t, h.replies()[0], "taken")
}

// The App may be installed anew without that having been told: a comment says by which installation it is reached now.
func TestACommentIsAnsweredByTheInstallationThatToldIt(t *testing.T) {
	h := newFixture(t)
	h.sync(h.event("opened", "will", true))
	_, err := h.service.Comment(t.Context(), pulls.CommentEvent{
		Installation: 7001, Repo: repo, Number: 41, ID: 1, Author: "will", Action: "created", Body: "/ocp status",
	})
	require.NoError(t, err)
	require.Equal(t, []string{"7001"}, h.query(`SELECT installation::text FROM replies`))
}
