package github

import (
	"net/http"
	"strings"
	"testing"
	"time"

	gh "github.com/google/go-github/v66/github"
	"github.com/stretchr/testify/require"
)

func TestEveryEventIsSignedAndReadableByGoGitHub(t *testing.T) {
	s, in := withInbox(t)
	pull := func(action string) *gh.PullRequestEvent {
		t.Helper()
		got := in.next()
		require.Equal(t, "pull_request", got.event)
		require.True(t, strings.HasPrefix(got.agent, "GitHub-Hookshot/"))
		e := got.payload.(*gh.PullRequestEvent)
		require.Equal(t, action, e.GetAction())
		require.Equal(t, int64(Installation), e.GetInstallation().GetID())
		require.Equal(t, Repo, e.GetRepo().GetFullName())
		require.Equal(t, int64(RepoID), e.GetRepo().GetID())
		require.Equal(t, Org, e.GetOrganization().GetLogin())
		require.Equal(t, "maya", e.GetSender().GetLogin())
		require.Equal(t, 45, e.GetNumber())
		require.Equal(t, 45, e.GetPullRequest().GetNumber())
		return e
	}
	require.NoError(t, s.Label(45, "ocp/aws-minimal-test", "maya"))
	e := pull("labeled")
	require.Equal(t, "ocp/aws-minimal-test", e.GetLabel().GetName())
	require.Equal(t, "ocp/aws-minimal-test", e.GetPullRequest().Labels[0].GetName())
	require.NotEqual(t, e.GetPullRequest().GetHead().GetRepo().GetID(), e.GetRepo().GetID(), "from a fork")
	now, _ := s.PullRequest(45)
	require.Equal(t, now.UpdatedAt, e.GetPullRequest().GetUpdatedAt().UTC())

	require.NoError(t, s.Push(45, "maya"))
	e = pull("synchronize")
	require.Equal(t, now.HeadSHA, e.GetBefore())
	require.Equal(t, e.GetAfter(), e.GetPullRequest().GetHead().GetSHA())
	require.NoError(t, s.Unlabel(45, "ocp/aws-minimal-test", "maya"))
	require.Equal(t, "ocp/aws-minimal-test", pull("unlabeled").GetLabel().GetName())
	require.NoError(t, s.Close(45, "maya"))
	e = pull("closed")
	require.Equal(t, "closed", e.GetPullRequest().GetState())
	require.False(t, e.GetPullRequest().GetMerged())
	require.NotNil(t, e.GetPullRequest().ClosedAt)
	require.NoError(t, s.Reopen(45, "maya"))
	require.Nil(t, pull("reopened").GetPullRequest().ClosedAt)
}

func TestCommentsAreToldTheBotsOwnToo(t *testing.T) {
	s, in := withInbox(t)
	id, err := s.Comment(41, "/ocp status", "will")
	require.NoError(t, err)
	got := in.next()
	e := got.payload.(*gh.IssueCommentEvent)
	require.Equal(t, "created", e.GetAction())
	require.True(t, e.GetIssue().IsPullRequest())
	require.Equal(t, 41, e.GetIssue().GetNumber())
	require.Equal(t, id, e.GetComment().GetID())
	require.Equal(t, "/ocp status", e.GetComment().GetBody())
	require.Equal(t, "will", e.GetSender().GetLogin())
	require.Equal(t, int64(Installation), e.GetInstallation().GetID())

	client := asInstallation(t, s)
	one, _, err := client.Issues.CreateComment(t.Context(), "acme", "shop", 41, &gh.IssueComment{Body: new("one")})
	require.NoError(t, err)
	e = in.next().payload.(*gh.IssueCommentEvent)
	require.Equal(t, "ocpctl[bot]", e.GetSender().GetLogin())
	require.Equal(t, "Bot", e.GetComment().GetUser().GetType())
	_, _, err = client.Issues.EditComment(t.Context(), "acme", "shop", one.GetID(), &gh.IssueComment{Body: new("two")})
	require.NoError(t, err)
	e = in.next().payload.(*gh.IssueCommentEvent)
	require.Equal(t, "edited", e.GetAction())
	require.Equal(t, "one", e.GetChanges().GetBody().GetFrom())
	require.NoError(t, s.DeleteComment(one.GetID(), Bot))
	require.Equal(t, "deleted", in.next().payload.(*gh.IssueCommentEvent).GetAction())
}

func TestWhatChangesNothingTellsNobody(t *testing.T) {
	s, in := withInbox(t)
	require.NoError(t, s.Label(41, "bug", "maya"))
	require.NoError(t, s.Label(41, "BUG", "maya"), "labels know no case")
	require.NoError(t, s.Reopen(41, "maya"), "it is open")
	require.Error(t, s.Unlabel(41, "other", "maya"))
	require.NoError(t, s.Close(41, "maya"))
	require.Equal(t, "labeled", in.next().payload.(*gh.PullRequestEvent).GetAction())
	require.Equal(t, "closed", in.next().payload.(*gh.PullRequestEvent).GetAction())
}

func TestAFailedDeliveryIsTriedAgainOnlyWhenAsked(t *testing.T) {
	s, in := withInbox(t)
	in.answer(http.StatusInternalServerError)
	require.NoError(t, s.Label(41, "bug", "maya"))
	first := in.next()
	failed := settled(t, s)
	require.Len(t, failed, 1)
	require.Equal(t, Failed, failed[0].State)

	in.answer(http.StatusAccepted)
	app := asApp(t, s)
	log, _, err := app.Apps.ListHookDeliveries(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, log, 1)
	require.Equal(t, 500, log[0].GetStatusCode())
	require.Equal(t, first.guid, log[0].GetGUID())
	require.Equal(t, "labeled", log[0].GetAction())

	_, answer, err := app.Apps.RedeliverHookDelivery(t.Context(), log[0].GetID())
	require.IsType(t, &gh.AcceptedError{}, err)
	require.Equal(t, 202, answer.StatusCode)
	require.Equal(t, first.guid, in.next().guid)
	all := settled(t, s)
	require.Len(t, all, 2)
	require.True(t, all[1].Redelivery)
	require.Equal(t, Delivered, all[1].State)
}

func TestWebhooksGetLostDoubledAndLateOnDemand(t *testing.T) {
	s, in := withInbox(t)
	s.DropNext(1)
	require.NoError(t, s.Label(41, "bug", "maya"))
	require.Equal(t, Failed, settled(t, s)[0].State)

	s.DuplicateNext(1)
	require.NoError(t, s.Label(42, "bug", "maya"))
	require.Equal(t, in.next().guid, in.next().guid)

	s.HoldNext(2)
	require.NoError(t, s.Label(43, "ocp/aws-standard", "maya"))
	require.NoError(t, s.Close(43, "maya"))
	require.NoError(t, s.Label(44, "bug", "maya"))
	require.Equal(t, 44, in.next().payload.(*gh.PullRequestEvent).GetNumber(), "nothing of 43 came before")
	s.Release()
	require.Equal(t, "closed", in.next().payload.(*gh.PullRequestEvent).GetAction())
	require.Equal(t, "labeled", in.next().payload.(*gh.PullRequestEvent).GetAction())
}

func TestNobodyListeningIsAFailedDelivery(t *testing.T) {
	s := start(t, Config{WebhookURL: "http://127.0.0.1:1/webhooks/github", WebhookSecret: secret})
	require.NoError(t, s.Label(41, "bug", "maya"))
	require.Equal(t, "failed to connect to host", settled(t, s)[0].Status)
}

func TestTheClockOfAPullRequestNeverGoesBack(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 900_000_000, time.UTC)
	s := start(t, Config{Now: func() time.Time { return now }})
	at := func() time.Time { pr, _ := s.PullRequest(41); return pr.UpdatedAt }
	require.NoError(t, s.Label(41, "bug", "maya"))
	first := at()
	require.Equal(t, now.Truncate(time.Second), first)
	now = now.Add(-time.Hour)
	require.NoError(t, s.Unlabel(41, "bug", "maya"))
	require.Equal(t, first, at())
	now = now.Add(2 * time.Hour)
	require.NoError(t, s.Label(41, "bug", "maya"))
	require.True(t, at().After(first))
}

func TestAPayloadBuiltAndPostedFromOutsideIsTaken(t *testing.T) {
	in := newInbox(t)
	pr := Pulls(time.Now())[0]
	pr.Labels = []string{"ocp/aws-minimal-test"}
	for _, action := range []string{"opened", "labeled", "unlabeled", "closed", "reopened", "synchronize"} {
		body, err := Payload(Event{Name: "pull_request", Action: action, Sender: "maya", PR: pr, Label: "ocp/aws-minimal-test"})
		require.NoError(t, err)
		require.NotContains(t, string(body), "Codertocat")
		require.NotContains(t, string(body), "Hello-World")
		status, answer, err := Post(t.Context(), Hook{URL: in.URL, Secret: secret}, "pull_request", GUID(), body)
		require.NoError(t, err)
		require.Equal(t, 202, status)
		require.Equal(t, "taken", answer)
		e := in.next().payload.(*gh.PullRequestEvent)
		require.Equal(t, "https://api.github.com/repos/acme/shop/pulls/41", e.GetPullRequest().GetURL())
	}
	_, err := Payload(Event{Name: "pull_request", Action: "danced", PR: pr})
	require.ErrorContains(t, err, "no sample")

	body, err := Payload(Event{Name: "ping", Sender: "maya"})
	require.NoError(t, err)
	_, err = gh.ParseWebHook("ping", body)
	require.NoError(t, err)
}
