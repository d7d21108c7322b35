package github

import (
	"net/http"
	"testing"

	gh "github.com/google/go-github/v66/github"
	"github.com/stretchr/testify/require"
)

func TestWhatHappensToAPullRequestIsTold(t *testing.T) {
	s, in := withInbox(t)
	next := func(action string) *gh.PullRequestEvent {
		t.Helper()
		e := in.next().payload.(*gh.PullRequestEvent)
		require.Equal(t, action, e.GetAction())
		return e
	}
	require.NoError(t, s.SetDraft(41, true, "will"))
	require.True(t, next("converted_to_draft").GetPullRequest().GetDraft())
	require.Error(t, s.Merge(41, "maya"), "a draft is not merged")
	require.NoError(t, s.SetDraft(41, false, "will"))
	require.False(t, next("ready_for_review").GetPullRequest().GetDraft())
	require.NoError(t, s.Merge(41, "maya"))
	e := next("closed")
	require.True(t, e.GetPullRequest().GetMerged())
	require.Equal(t, "maya", e.GetPullRequest().GetMergedBy().GetLogin())
	require.Error(t, s.Reopen(41, "maya"), "what is merged stays so")

	require.NoError(t, s.DeleteBranch(43, "will"))
	e = next("closed")
	require.False(t, e.GetPullRequest().GetMerged())
	require.Error(t, s.Reopen(43, "will"), "its branch is gone")
	require.Error(t, s.Push(43, "will"))

	number, err := s.In(SecondRepo).OpenFork("A first step", "newcomer")
	require.NoError(t, err)
	e = next("opened")
	require.Equal(t, number, e.GetNumber())
	require.Equal(t, SecondRepo, e.GetRepo().GetFullName())
	require.Equal(t, "newcomer/api", e.GetPullRequest().GetHead().GetRepo().GetFullName())
	require.Equal(t, "FIRST_TIMER", e.GetPullRequest().GetAuthorAssociation())
	require.NoError(t, s.In(SecondRepo).Label(8, "bug", "maya"))
	require.Equal(t, "FIRST_TIME_CONTRIBUTOR", next("labeled").GetPullRequest().GetAuthorAssociation(), "it gave to acme/shop before")
	require.NoError(t, s.In(SecondRepo).Merge(8, "maya"))
	require.Equal(t, "CONTRIBUTOR", next("closed").GetPullRequest().GetAuthorAssociation())
}

func TestButtonsAndRerunsAreToldToWhomTheyBelong(t *testing.T) {
	s, in := withInbox(t)
	pr, _ := s.PullRequest(41)
	run, _, err := asInstallation(t, s).Checks.CreateCheckRun(t.Context(), "acme", "shop", gh.CreateCheckRunOptions{
		Name: "ocpctl", HeadSHA: pr.HeadSHA, ExternalID: new("sub_1"),
		Actions: []*gh.CheckRunAction{{Label: "Extend", Description: "Two hours more", Identifier: "extend"}},
	})
	require.NoError(t, err)
	require.Equal(t, "created", in.next().payload.(*gh.CheckRunEvent).GetAction())
	require.ErrorIs(t, s.Press(run.GetID(), "extend", "rita"), errMayNot, "it takes write")
	require.ErrorIs(t, s.Press(run.GetID(), "destroy", "maya"), errNotFound, "there is no such button")
	require.NoError(t, s.Press(run.GetID(), "extend", "maya"))
	e := in.next().payload.(*gh.CheckRunEvent)
	require.Equal(t, "requested_action", e.GetAction())
	require.Equal(t, "extend", e.GetRequestedAction().Identifier)
	require.Equal(t, "sub_1", e.GetCheckRun().GetExternalID())
	require.Equal(t, 41, e.GetCheckRun().PullRequests[0].GetNumber())
	require.Equal(t, "maya", e.GetSender().GetLogin())
	require.NoError(t, s.Rerun(run.GetID(), "will"))
	require.Equal(t, "rerequested", in.next().payload.(*gh.CheckRunEvent).GetAction())

	m := Registered()
	m.Permissions["checks"] = "read"
	s.SetManifest(m)
	require.NoError(t, s.Rerun(run.GetID(), "will"))
	require.NoError(t, s.Label(41, "bug", "maya"))
	require.IsType(t, &gh.PullRequestEvent{}, in.next().payload, "who may not write checks is not asked for them")
}

func TestARenamedRepositoryIsFoundByItsOldName(t *testing.T) {
	s, in := withInbox(t)
	client, hand := asInstallation(t, s), asTokenHolder(t, s, nil)
	require.NoError(t, s.Rename("store", "maya"))
	e := in.next().payload.(*gh.RepositoryEvent)
	require.Equal(t, "renamed", e.GetAction())
	require.Equal(t, "acme/store", e.GetRepo().GetFullName())
	require.Equal(t, int64(RepoID), e.GetRepo().GetID())
	require.Equal(t, "shop", e.GetChanges().GetRepo().GetName().GetFrom())

	hand.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, _ := hand.call("GET /repos/acme/shop/pulls/41?x=1", "")
	require.Equal(t, 301, resp.StatusCode)
	require.Equal(t, s.URL()+"/repositories/1001/pulls/41?x=1", resp.Header.Get("Location"))
	resp, _ = hand.call("POST /repos/acme/shop/issues/41/comments", `{"body":"x"}`)
	require.Equal(t, 307, resp.StatusCode, "a body travels along")
	_, _, err := client.Issues.CreateComment(t.Context(), "acme", "shop", 41, &gh.IssueComment{Body: new("by the old name")})
	require.NoError(t, err)
	require.Equal(t, "by the old name", s.In("acme/store").Comments(41)[0].Body)
	in.next()
	installation, _, err := asApp(t, s).Apps.FindRepositoryInstallation(t.Context(), "acme", "store")
	require.NoError(t, err)
	require.Equal(t, int64(Installation), installation.GetID())
	require.Error(t, s.In(SecondRepo).Rename("store", "maya"), "the name is taken")
	require.NoError(t, s.In(SecondRepo).Rename("shop", "maya"), "one that was left is free")
	in.next()
	pr, _, err := client.PullRequests.Get(t.Context(), "acme", "shop", 7)
	require.NoError(t, err)
	require.Equal(t, int64(1002), pr.GetBase().GetRepo().GetID())
}

func TestWhatLeavesTheInstallationIsToldOnceAndGone(t *testing.T) {
	s, in := withInbox(t)
	hand := asTokenHolder(t, s, nil)
	require.NoError(t, s.Transfer("elsewhere", "maya"))
	moved := in.next().payload.(*gh.RepositoryEvent)
	require.Equal(t, "transferred", moved.GetAction())
	require.Equal(t, "elsewhere/shop", moved.GetRepo().GetFullName())
	require.Equal(t, "acme", moved.GetChanges().GetOwner().GetOwnerInfo().GetOrg().GetLogin())
	removed := in.next().payload.(*gh.InstallationRepositoriesEvent)
	require.Equal(t, "removed", removed.GetAction())
	require.Equal(t, "acme/shop", removed.RepositoriesRemoved[0].GetFullName())
	hand.want(403, "POST /repos/elsewhere/shop/issues/41/comments", `{"body":"x"}`)
	app := asJWTHolder(t, s, http.DefaultTransport)
	app.want(404, "GET /repos/elsewhere/shop/installation", "")
	require.NoError(t, s.Label(41, "bug", "maya"))

	require.NoError(t, s.In(PrivateRepo).Label(1, "bug", "maya"))
	hand.want(404, "GET /repos/acme/ledger/pulls/1", "")
	require.NoError(t, s.In(PrivateRepo).SetAccess(true, "maya"))
	require.Equal(t, "added", in.next().payload.(*gh.InstallationRepositoriesEvent).GetAction(), "nothing of the others came between")
	hand.want(200, "GET /repos/acme/ledger/pulls/1", "")
	require.NoError(t, s.In(PrivateRepo).Archive("maya"))
	in.next()
	require.Contains(t, hand.want(403, "POST /repos/acme/ledger/issues/1/comments", `{"body":"x"}`)["message"], "read-only")
	require.NoError(t, s.In(PrivateRepo).Delete("maya"))
	require.Equal(t, "deleted", in.next().payload.(*gh.RepositoryEvent).GetAction())
	hand.want(404, "GET /repos/acme/ledger/pulls/1", "")
}

func TestTheInstallationIsSuspendedTakenAwayAndMadeAnew(t *testing.T) {
	s, in := withInbox(t)
	hand, app := asTokenHolder(t, s, nil), asJWTHolder(t, s, http.DefaultTransport)
	hand.want(200, "GET /repos/acme/shop/pulls/41", "")
	require.NoError(t, s.Suspend("maya"))
	require.Equal(t, "suspend", in.next().payload.(*gh.InstallationEvent).GetAction())
	require.Contains(t, hand.want(403, "GET /repos/acme/shop/pulls/41", "")["message"], "suspended")
	app.want(403, "POST /app/installations/5001/access_tokens", "")
	require.NotNil(t, app.want(200, "GET /repos/acme/shop/installation", "")["suspended_at"])
	require.NoError(t, s.Label(41, "bug", "maya"))
	require.NoError(t, s.Unsuspend("maya"))
	require.Equal(t, "unsuspend", in.next().payload.(*gh.InstallationEvent).GetAction(), "of the label nobody was told")
	hand.want(200, "GET /repos/acme/shop/pulls/41", "")

	require.NoError(t, s.Uninstall("maya"))
	e := in.next().payload.(*gh.InstallationEvent)
	require.Equal(t, "deleted", e.GetAction())
	require.Len(t, e.Repositories, 2)
	hand.want(401, "GET /repos/acme/shop/pulls/41", "")
	app.want(404, "POST /app/installations/5001/access_tokens", "")
	app.want(404, "GET /repos/acme/shop/installation", "")
	id, err := s.Install("maya")
	require.NoError(t, err)
	require.NotEqual(t, int64(Installation), id)
	require.Equal(t, id, in.next().payload.(*gh.InstallationEvent).GetInstallation().GetID())
	require.NoError(t, s.Label(41, "documentation", "maya"))
	require.Equal(t, id, in.next().payload.(*gh.PullRequestEvent).GetInstallation().GetID())
}

func TestADispatchCarriesItsPayload(t *testing.T) {
	s, in := withInbox(t)
	hand := asTokenHolder(t, s, nil)
	at := "POST /repos/acme/shop/dispatches"
	hand.want(403, at, `{"event_type":"x"}`) // the App may not: it asks for contents: read
	m := Registered()
	m.Permissions["contents"] = "write"
	s.SetManifest(m)
	hand.want(204, at, `{"event_type":"create_ephemeral_cluster","client_payload":{"pr":41}}`)
	e := in.next().payload.(*gh.RepositoryDispatchEvent)
	require.Equal(t, "create_ephemeral_cluster", e.GetAction())
	require.JSONEq(t, `{"pr":41}`, string(e.ClientPayload))
	hand.want(422, at, `{"client_payload":{}}`)
	hand.want(422, at, `{"event_type":"x","client_payload":{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1}}`)
	hand.want(422, at, `{"event_type":"x","client_payload":"text"}`)
}
