package pulls_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

func TestACommentCreatesExtendsAndDestroys(t *testing.T) {
	h := opened(t)
	h.Comment(1, "will", "please\n\n/ocp create aws-standard --name demo --ttl 2h --region us-east-2")
	row := h.Only()
	require.Equal(t, string(policy.SourceComment), row.Source)
	require.Equal(t, "demo", row.Name)
	require.Equal(t, 2*time.Hour, row.TTL)
	require.Equal(t, "us-east-2", row.Region)
	require.Empty(t, h.Replies(), "the cluster's own comment says it")

	h.Comment(2, "will", "/ocp extend 4h")
	require.Equal(t, row.Ends.TTL.Add(4*time.Hour), h.Only().Ends.TTL)
	require.Len(t, h.Replies(), 1)
	require.Contains(t, h.Replies()[0], "now ends")

	h.Comment(3, "will", "/ocp destroy")
	require.Equal(t, lifecycle.Absent, h.Only().Desired)
	require.Contains(t, h.Replies()[1], "being destroyed")

	h.Comment(4, "will", "/ocp destroy")
	require.Contains(t, h.Replies()[2], "already being destroyed")
	h.Comment(5, "will", "/ocp extend 1h")
	require.Contains(t, h.Replies()[3], "cannot be extended")
}

func TestAnExtensionOfWhatIsHeldLongerSaysSo(t *testing.T) {
	h := opened(t)
	h.Comment(1, "will", "/ocp create aws-standard --ttl 2h")
	h.Comment(2, "will", "/ocp hold 30h")
	h.Comment(3, "will", "/ocp extend 4h")
	require.Contains(t, h.Replies()[1], "That is without its hold, which keeps it until")
}

func TestTheSameCommentTwiceChangesNothing(t *testing.T) {
	h := opened(t)
	h.Comment(1, "will", "/ocp create")
	require.Contains(t, h.Comment(1, "will", "/ocp create"), "accepted before as "+h.Only().ID)
	require.Empty(t, h.Replies(), "it is not told that what it made is there already")
	ttl := h.Only().Ends.TTL
	h.Comment(2, "will", "/ocp extend 1h")
	h.Comment(2, "will", "/ocp extend 1h")
	require.Equal(t, ttl.Add(time.Hour), h.Only().Ends.TTL, "the time is added once per comment")
	h.Comment(3, "will", "/ocp destroy")
	h.Comment(1, "will", "/ocp create")
	h.Only()
	require.Len(t, h.Replies(), 2)
}

func TestACommentReadAgainDestroysNothingMadeSince(t *testing.T) {
	h := opened(t)
	h.Comment(1, "will", "/ocp create")
	const both = "/ocp destroy\n/ocp create"
	h.Comment(2, "will", both)
	h.Comment(2, "will", both) // the process died before it wrote down that the comment was worked
	rows := h.Clusters()
	require.Len(t, rows, 2)
	require.Equal(t, []lifecycle.Desired{lifecycle.Absent, lifecycle.Present}, []lifecycle.Desired{rows[0].Desired, rows[1].Desired})
	require.Len(t, h.Replies(), 1)
}

func TestARefusalReadAgainStaysOne(t *testing.T) {
	h := opened(t)
	h.Comment(1, "rita", "/ocp create")
	h.GitHub.Permissions["rita"] = "write"
	h.Comment(1, "rita", "/ocp create")
	require.Empty(t, h.Clusters(), "she asked when she might not; now she may ask again")
	h.Comment(2, "rita", "/ocp create")
	h.Only()
}

func TestAnExtensionStopsAtTheProfilesMaximumAndSaysSo(t *testing.T) {
	h := opened(t)
	h.Comment(1, "will", "/ocp create")
	h.Comment(2, "will", "/ocp extend 1000h")
	row := h.Only()
	require.Equal(t, row.Ends.Max, row.Ends.TTL)
	require.Contains(t, h.Replies()[0], "is the maximum of profile")
	h.Comment(3, "will", "/ocp extend 4h")
	require.Contains(t, h.Replies()[1], "@will: It already ends at its profile's maximum", "nothing moved, and no words say that it did")
}

func TestTwoCommentsWithOneIDAreToldApartByTheirWords(t *testing.T) {
	h := opened(t)
	h.Comment(1, "will", "/ocp create")
	require.Contains(t, h.Comment(1, "will", "/ocp create"), "accepted before as "+h.Only().ID)
	require.Empty(t, h.Replies(), "it is not told that what it made is there already")
	ttl := h.Only().Ends.TTL
	h.Comment(1, "will", "/ocp extend 4h")
	h.Comment(1, "will", "/ocp extend 4h")
	require.Equal(t, ttl.Add(4*time.Hour), h.Only().Ends.TTL)
	require.Len(t, h.Replies(), 1)
}

func TestHelpIsForEverybodyAndNamesTheProfiles(t *testing.T) {
	h := opened(t)
	h.Comment(1, "rita", "/ocp help")
	require.Contains(t, h.Replies()[0], "Profiles: `aws-minimal-test`, `aws-standard`.", "what is not enabled is not offered")
}

func TestOnlyWhoMayWriteIsObeyed(t *testing.T) {
	h := opened(t)
	h.Comment(1, "will", "/ocp create")
	for i, body := range []string{"/ocp destroy", "/ocp extend 4h", "/ocp create aws-standard"} {
		h.Comment(int64(10+i), "rita", body)
	}
	row := h.Only()
	require.Equal(t, lifecycle.Present, row.Desired)
	require.Len(t, h.Replies(), 3)
	for _, reply := range h.Replies() {
		require.Contains(t, reply, "write")
	}
}

func TestBotsEditsAndTalkAreIgnored(t *testing.T) {
	h := opened(t)
	base := pulls.CommentEvent{Installation: 5001, Repo: repo, Number: 41, ID: 1, Author: "will", AuthorID: servicetest.AccountID("will"), Action: "created", Body: "/ocp create"}
	bot, edit, talk := base, base, base
	bot.Bot, edit.Action, talk.Body = true, "edited", "what about an ocp cluster?"
	for _, e := range []pulls.CommentEvent{bot, edit, talk} {
		_, err := h.Service.Comment(t.Context(), e)
		require.NoError(t, err)
	}
	require.Empty(t, h.Clusters())
	require.Empty(t, h.Replies())
	require.Zero(t, h.GitHub.Asked.Load())
}

func TestAPullRequestNeverSeenIsAskedFromGitHub(t *testing.T) {
	h := newFixture(t)
	pr := h.PR(true)
	pr.Fork = true
	h.GitHub.PRs = map[int]pullrequests.PullRequest{41: pr}
	h.Comment(1, "maya", "/ocp create")
	require.True(t, h.Only().NeedsApproval, "so it is known that it comes from a fork")
	require.Contains(t, h.Only().Spec.Approval, "fork")
}

func TestStatusAndHelpAnswerInWords(t *testing.T) {
	h := opened(t)
	h.Comment(1, "will", "/ocp status")
	require.Contains(t, h.Replies()[0], "no cluster")
	h.Comment(2, "will", "/ocp create")
	h.Comment(3, "will", "/ocp status\n/ocp help")
	require.Len(t, h.Replies(), 3)
	require.Contains(t, h.Replies()[1], h.Only().Name)
	require.Contains(t, h.Replies()[2], "/ocp create")
	h.Comment(4, "will", "/ocp status aws-standard")
	require.Contains(t, h.LastReply(), "has no cluster of profile `aws-standard`. `/ocp status` shows what it has.")
}

func TestAMistypedProfileGetsDidYouMean(t *testing.T) {
	h := opened(t)
	h.Comment(1, "will", "/ocp create aws-minimal-tset")
	require.Empty(t, h.Clusters())
	require.Contains(t, h.Replies()[0], "aws-minimal-test")
	h.Comment(2, "will", "/ocp create")
	h.Comment(3, "will", "/ocp destroy aws-minimal-tset")
	require.Contains(t, h.Replies()[1], "Did you mean `aws-minimal-test`")
	require.Equal(t, lifecycle.Present, h.Only().Desired)
}

func TestWhichOfTwoClustersIsAsked(t *testing.T) {
	h := opened(t)
	h.Comment(1, "will", "/ocp create aws-minimal-test\n/ocp create aws-standard")
	require.Len(t, h.Clusters(), 2)
	h.Comment(2, "will", "/ocp destroy")
	require.Contains(t, h.Replies()[0], "Which one? `/ocp destroy aws-")
	h.Comment(4, "will", "/ocp extend 4h")
	require.Contains(t, h.Replies()[1], "`/ocp extend 4h aws-standard`", "what else was typed is said again")
	h.Comment(5, "will", "/ocp hold 4h --reason `demo`")
	require.Contains(t, h.Replies()[2], "`/ocp hold aws-standard`", "but nothing that would end the quote")
	h.Comment(3, "will", "/ocp destroy aws-standard")
	for _, row := range h.Clusters() {
		require.Equal(t, row.Profile == "aws-standard", row.Desired == lifecycle.Absent, row.Profile)
	}
}

func TestASecondCreateOfTheSameProfileShowsTheFirst(t *testing.T) {
	h := opened(t)
	h.Comment(1, "will", "/ocp create")
	h.Comment(2, "will", "/ocp create")
	row := h.Only()
	require.Contains(t, h.Replies()[0], row.Name)
	require.Contains(t, h.Replies()[0], "nothing was created")
}

func TestAClosedPullRequestGetsNoNewClusterButMayDestroy(t *testing.T) {
	h := opened(t)
	h.Comment(1, "will", "/ocp create")
	h.Sync(pulls.PullRequestEvent{PR: h.PR(false), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "closed"})
	h.Comment(2, "will", "/ocp create aws-standard")
	require.Contains(t, h.Replies()[0], "closed")
	h.Comment(3, "will", "/ocp destroy")
	require.Equal(t, lifecycle.Absent, h.Only().Desired)
}

func TestATakenNameIsAConflictInWords(t *testing.T) {
	h := opened(t)
	h.Comment(1, "will", "/ocp create --name mine")
	h.Comment(2, "will", "/ocp create aws-standard --name mine")
	h.Only()
	require.Contains(t, h.Replies()[0], "taken")
}

func TestATakenNameThatNobodyChoseIsReplacedByTheFallbackName(t *testing.T) {
	h := opened(t)
	h.Comment(1, "will", "/ocp create --name pr41-shop")
	h.Comment(2, "will", "/ocp create aws-standard --dry-run")
	require.Contains(t, h.LastReply(), "pr41-shop-")
	h.Comment(3, "will", "/ocp create aws-standard")
	names := h.Query(`SELECT name FROM clusters ORDER BY name`)
	require.Len(t, names, 2)
	require.Equal(t, "pr41-shop", names[0])
	require.Regexp(t, `^pr41-shop-[a-z0-9]{5}$`, names[1])
	require.Equal(t, names, h.Query(`SELECT verdict #>> '{grant,name}' FROM cluster_requests WHERE allowed ORDER BY 1`), "the stored verdict has the name that was granted")
}

// The App may be installed anew without that having been told: a comment says by which installation it is reached now.
func TestACommentIsAnsweredByTheInstallationThatToldIt(t *testing.T) {
	h := newFixture(t)
	h.Sync(h.Event("opened", "will", true))
	_, err := h.Service.Comment(t.Context(), pulls.CommentEvent{
		Installation: 7001, Repo: repo, Number: 41, ID: 1, Author: "will", AuthorID: servicetest.AccountID("will"), Action: "created", Body: "/ocp status",
	})
	require.NoError(t, err)
	require.Equal(t, []string{"7001"}, h.Query(`SELECT installation::text FROM replies`))
}
