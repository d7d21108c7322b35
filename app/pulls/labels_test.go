package pulls_test

import (
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/profiles"
)

func TestARefusedLabelIsTakenOffSoThatItCanAskAgain(t *testing.T) {
	h := newFixture(t)
	e := pulls.PullRequestEvent{PR: h.PR(true, label), Actor: "toni", ActorID: servicetest.AccountID("toni"), Action: "labeled", Label: label}
	h.Sync(e)
	h.Sync(e)
	require.Equal(t, []string{"remove_label " + label}, h.Effects(), "once, with the refusal")
	require.Len(t, h.Replies(), 1)
	require.Contains(t, h.Replies()[0], "write is needed")
	require.Contains(t, h.Replies()[0], "The label was removed. Add it again")

	h.Sync(pulls.PullRequestEvent{PR: h.PR(true), Actor: own, Bot: true, Action: "unlabeled", Label: label})
	h.Labeled("toni", label)
	require.Len(t, h.Replies(), 2, "asked again, answered again")
	require.Len(t, h.Effects(), 2)
	h.Sync(pulls.PullRequestEvent{PR: h.PR(true), Actor: own, Bot: true, Action: "unlabeled", Label: label})
	h.Labeled("will", label)
	h.Only()
	require.Len(t, h.Effects(), 2)
}

func TestTheSenderOfALabelIsJudgedAndNeverTheAuthor(t *testing.T) {
	h := newFixture(t)
	pr := h.PR(true, label)
	pr.Author = "maya" // who may
	h.Sync(pulls.PullRequestEvent{PR: pr, Actor: "toni", ActorID: servicetest.AccountID("toni"), Action: "labeled", Label: label})
	require.Empty(t, h.Clusters())
}

func TestABotsLabelAsksForNothingAndIsTakenOff(t *testing.T) {
	h := newFixture(t)
	h.GitHub.Permissions["triage-bot[bot]"] = "write"
	h.Labeled("triage-bot[bot]", label)
	require.Empty(t, h.Clusters())
	require.Equal(t, []string{"remove_label " + label}, h.Effects())
	require.Contains(t, strings.Join(h.Replies(), "\n"), "A bot may set labels for people without any permission")
	h.Labeled("will", label)
	h.Only()
}

func TestWhatWeTookOffOurselvesEndsNothingAndComesBackWhereAClusterStands(t *testing.T) {
	h := newFixture(t)
	h.Labeled("will", label)
	gone := pulls.PullRequestEvent{PR: h.PR(true), Actor: strings.ToUpper(own), Bot: true, Action: "unlabeled", Label: label}
	require.Contains(t, h.Sync(gone), "comes back")
	h.Sync(gone)
	require.True(t, h.Only().Ends.LabelRemoved.IsZero())
	require.Equal(t, []string{"add_label " + label}, h.Effects())

	h.Destroy(h.Only())
	h.Sync(pulls.PullRequestEvent{PR: h.PR(true, label), Actor: own, Bot: true, Action: "labeled", Label: label})
	h.Only()
	require.Equal(t, []string{"add_label " + label, "remove_label " + label}, h.Effects(), "it came back too late, and we ask for nothing ourselves")
	require.Empty(t, h.Replies())
}

// Between our taking it off and our putting it back lie a webhook and GitHub's pace: whatever happens meanwhile tells of a pull
// request without the label.
func TestWhatHappensWhileALabelComesBackEndsNothing(t *testing.T) {
	h := newFixture(t)
	h.Labeled("will", label)
	unlabeled := pulls.PullRequestEvent{PR: h.PR(true), Actor: own, Bot: true, Action: "unlabeled", Label: label}
	h.GitHub.Stands(unlabeled.PR)
	h.Comment(1, "will", "/ocp create aws-standard") // sees it before anybody told
	require.False(t, h.Clusters()[0].Ends.LabelRemoved.IsZero())
	h.Sync(unlabeled)
	require.True(t, h.Clusters()[0].Ends.LabelRemoved.IsZero(), "it was us")
	h.Sync(h.Event("synchronize", "rob", true))
	h.Comment(2, "will", "/ocp create")
	require.True(t, h.Clusters()[0].Ends.LabelRemoved.IsZero(), "it comes back")
	require.Equal(t, []string{"add_label " + label}, slices.DeleteFunc(h.Effects(), func(e string) bool { return strings.HasPrefix(e, "react") }))

	h.Sync(pulls.PullRequestEvent{PR: h.PR(true), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "unlabeled", Label: label})
	require.False(t, h.Clusters()[0].Ends.LabelRemoved.IsZero(), "somebody takes it off anew")
}

func TestALabelOnWhatACommentAskedForGoesWithItToo(t *testing.T) {
	h := newFixture(t)
	h.Labeled("will", "bug")
	h.Comment(1, "will", "/ocp create")
	places := func() []string { return h.Query(`SELECT kind FROM subscribers WHERE kind = 'github_label'`) }
	require.Empty(t, places())
	h.Labeled("toni", label)
	h.Labeled("toni", label)
	require.Len(t, places(), 1)
	h.Only()
	h.Sync(pulls.PullRequestEvent{PR: h.PR(true), Actor: "toni", ActorID: servicetest.AccountID("toni"), Action: "unlabeled", Label: label})
	require.True(t, h.Only().Ends.LabelRemoved.IsZero(), "it was not asked for by the label")
}

func TestTwoProfilesAtOnceAreTwoClusters(t *testing.T) {
	h := newFixture(t)
	h.Sync(h.Event("opened", "will", true, label, "ocp/aws-standard"))
	require.Equal(t, 2, len(h.Clusters()))
}

func TestOneLabelOnManyPullRequestsIsARequestForEach(t *testing.T) {
	h := newFixture(t)
	h.Catalogue.Quotas = []profiles.Quota{{Name: "team", Scope: profiles.ScopeTeam, Live: 3}}
	for n := range 12 {
		actor := "will"
		if n%2 == 1 {
			actor = "rita"
		}
		e := pulls.PullRequestEvent{PR: h.PR(true, label), Actor: actor, ActorID: servicetest.AccountID(actor), Action: "labeled", Label: label}
		e.PR.Number = 100 + n
		h.Sync(e)
	}
	require.Equal(t, 6, len(h.Clusters()), "who may not is refused")
	require.Len(t, h.Query(`SELECT id FROM clusters WHERE needs_turn`), 3, "and three have to wait")
	require.Len(t, h.Query(`SELECT id FROM cluster_requests`), 12)
	require.Len(t, h.Replies(), 6, "who is refused is told why; who waits is told in the cluster's own comment")
}

func TestALabelSaysHowLong(t *testing.T) {
	h := newFixture(t)
	h.Labeled("will", "ocp-ttl/8", "ocp-ttl/bogus", label)
	row := h.Only()
	require.Equal(t, 8*time.Hour, row.TTL)
	require.Empty(t, h.Replies(), "nobody is known to have set the other now")
	h.Labeled("will", label, "ocp-ttl/bogus")
	require.Len(t, h.Replies(), 1)
	require.Contains(t, h.Replies()[0], "is not a valid lifetime")
	require.Contains(t, h.Replies()[0], "The label was removed.")
	require.Equal(t, []string{"remove_label ocp-ttl/bogus"}, h.Effects())

	h.Labeled("will", label, "ocp-ttl/4")
	require.Equal(t, row.Ends.TTL, h.Only().Ends.TTL, "it never brings the end nearer")
	h.Labeled("toni", label, "ocp-ttl/10")
	require.Equal(t, row.Ends.TTL, h.Only().Ends.TTL)
	require.Equal(t, []string{"remove_label ocp-ttl/bogus", "remove_label ocp-ttl/10"}, h.Effects())
	longer := pulls.PullRequestEvent{PR: h.PR(true, label, "ocp-ttl/12"), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "labeled", Label: "ocp-ttl/12"}
	h.Sync(longer)
	h.Sync(longer)
	require.Equal(t, row.AcceptedAt.Add(12*time.Hour), h.Only().Ends.TTL)
	h.Labeled("will", label, "ocp-ttl/8000")
	require.Equal(t, row.Ends.Max, h.Only().Ends.TTL, "never past the maximum")
	require.Contains(t, h.LastReply(), "@will, the label `ocp-ttl/8000` asks for more than the profile "+profile+" allows.")
	require.Contains(t, h.LastReply(), "`"+row.Name+"` ends at its maximum, ")
	got := len(h.Replies())
	h.Labeled("will", label, "ocp-ttl/500")
	require.Len(t, h.Replies(), got+1, "it is at its maximum already, and that is an answer too")
	require.Contains(t, h.LastReply(), "ocp-ttl/500")
	h.Sync(pulls.PullRequestEvent{PR: h.PR(true, label, "ocp-ttl/500"), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "edited"})
	require.Len(t, h.Replies(), got+1, "it is answered once")

	h.Comment(1, "will", "/ocp create aws-standard")
	require.Contains(t, h.LastReply(), "ttl", "what is created takes the label too, and is judged by it")
	h.Labeled("will", label, "ocp-ttl/6")
	h.Comment(2, "will", "/ocp create aws-standard")
	require.Equal(t, 6*time.Hour, h.Clusters()[1].TTL)
}

func TestTheLabelKeepHoldsForWhoMayAndUntilItIsTakenOff(t *testing.T) {
	h := newFixture(t)
	h.File("keep: 3h\n")
	h.Labeled("will", label)
	h.Labeled("toni", label, chatops.KeepLabel)
	require.True(t, h.Only().Ends.Hold.IsZero())
	require.Equal(t, []string{"remove_label " + chatops.KeepLabel}, h.Effects())
	require.Contains(t, h.Replies()[0], "@toni")

	h.Sync(pulls.PullRequestEvent{PR: h.PR(true, label), Actor: own, Bot: true, Action: "unlabeled", Label: chatops.KeepLabel})
	h.Labeled("will", label, chatops.KeepLabel)
	require.WithinDuration(t, time.Now().Add(3*time.Hour), h.Only().Ends.Hold, time.Minute)
	h.Comment(1, "will", "/ocp create aws-standard")
	require.WithinDuration(t, time.Now().Add(3*time.Hour), h.Clusters()[1].Ends.Hold, time.Minute, "what comes while it stands is kept too")
	h.Comment(2, "will", "/ocp hold 5h aws-standard")

	h.Sync(pulls.PullRequestEvent{PR: h.PR(true, label), Action: pulls.ActionSeen, Seen: true})
	require.True(t, h.Clusters()[0].Ends.Hold.IsZero())
	require.False(t, h.Clusters()[1].Ends.Hold.IsZero(), "another hold stays")
}
