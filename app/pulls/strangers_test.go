package pulls_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func TestWhoMayDoNothingHereIsAnsweredSoMuchAndNoMore(t *testing.T) {
	h := opened(t)
	for id := range int64(200) {
		h.Comment(100+id, "zoe", strings.Repeat("/ocp status\n", 20))
	}
	written := len(h.Replies()) + len(h.Effects())
	require.Less(t, written, 40, "an installation may write 500 times an hour, for everybody")
	require.Contains(t, h.Comment(1000, "zoe", "/ocp help"), "not answered: zoe has none permission")

	h.Comment(1001, "will", "/ocp create")
	require.Equal(t, servicetest.OnGitHub("will"), h.Only().RequestedBy, "nobody else waits for it")
	h.GitHub.Permissions["zoe"] = "write"
	h.Comment(1002, "zoe", "/ocp status")
	require.Contains(t, h.LastReply(), "here is the cluster", "who may by now is answered at once")
	for id := range int64(30) {
		h.Comment(2000+id, "will", "/ocp status")
	}
	require.Contains(t, h.Replies()[len(h.Replies())-1], "@will, here is the cluster", "who may is always answered")
}

func TestADispatchOfWhoMayDoNothingIsAnsweredSoMuchAndNoMore(t *testing.T) {
	h := opened(t)
	h.GitHub.Installed = map[string]int64{repo: 5001}
	for n := range 200 {
		h.dispatch(fmt.Sprintf("flood%d", n), "rita", "delete_ephemeral_cluster", `{"pr_number":41,"repository":"acme/shop"}`)
	}
	require.Less(t, len(h.Replies()), 40)
}

func TestALabelThatFlapsIsToldOfSoMuchAndNoMore(t *testing.T) {
	h := opened(t)
	for range 100 {
		h.Labeled("toni", label)
		h.Labeled("toni", label, "ocp/keep")
		h.Sync(pulls.PullRequestEvent{PR: h.PR(true), Actor: "toni", ActorID: servicetest.AccountID("toni"), Action: "unlabeled", Label: label})
	}
	require.Less(t, len(h.Replies())+len(h.Effects()), 40)
	require.Empty(t, h.Clusters())
	h.Labeled("will", label)
	require.Equal(t, servicetest.OnGitHub("will"), h.Only().RequestedBy)
}

func TestAForksFileIsCheckedSoOftenAndNoMore(t *testing.T) {
	h := newFixture(t)
	h.GitHub.Files = map[string]string{}
	pushed := func(by string, n int) {
		e := h.Event("synchronize", by, true)
		e.PR.Fork, e.PR.Head = true, fmt.Sprintf("%040x", n)
		h.GitHub.Files[e.PR.Head] = "profiles: [x]\n"
		h.Sync(e)
	}
	for n := range 100 {
		pushed("zoe", n)
	}
	require.Less(t, len(h.Effects()), 20)
	before := len(h.Effects())
	pushed("will", 1000)
	require.Len(t, h.Effects(), before+1)
}

func TestAnAnswerHoldsNothingThatOthersWroteButText(t *testing.T) {
	h := ready(t)
	h.Comment(2, "will", `/ocp destroy --reason "@acme/everyone <img src=x> [look](https://elsewhere.example) &#64;acme/all"`)
	h.Comment(3, "maya", "/ocp hold 3h")
	said := h.LastReply()
	require.Contains(t, said, "is already being destroyed")
	for _, markup := range []string{"@acme", "@will", " <img", " [look]", " &#64;"} {
		require.NotContains(t, said, markup)
	}
}

func TestAPushOfWhoMayDoNothingTakesNoClusterDown(t *testing.T) {
	for _, says := range []string{"recreate", "refresh"} {
		h := forkFixture(t)
		h.File("forks: approve\nsynchronize: " + says + "\n")
		h.Comment(1, "will", "/ocp create")
		h.Comment(2, "maya", "/ocp approve")
		before := h.Only()
		require.False(t, before.NeedsApproval)
		e := h.Event("synchronize", "zoe", true)
		e.PR.Fork, e.PR.Author, e.PR.Head = true, "zoe", strings.Repeat("d", 40)
		require.Contains(t, h.Sync(e), "kept as they are: zoe pushed and has none permission")
		require.Equal(t, lifecycle.Present, h.Only().Desired, says)
	}
}

func TestWhoseAccountItIsIsNotToldOnAPullRequest(t *testing.T) {
	h := ready(t)
	link, err := h.Service.AccountLink(t.Context(), servicetest.OnGitHub("rita"), "7", clusters.Origin{Actor: servicetest.OnGitHub("rita"), Source: "pr_comment"})
	require.NoError(t, err)
	_, handle, _ := strings.Cut(link.URL.Reveal(), "/links/")
	got, err := h.Service.Redeem(t.Context(), policy.As("saml:rita@acme.example", "Rita", policy.Requester, "platform"), handle, app.Origin{Source: "web"})
	require.NoError(t, err)
	require.NoError(t, h.Service.CompleteLink(t.Context(), servicetest.OnGitHub("rita"), got.Code.Reveal(), clusters.Origin{Actor: servicetest.OnGitHub("rita")}))
	h.Comment(2, "will", "/ocp share --with @rita")
	require.Contains(t, h.LastReply(), "is shared with principal `github:rita` now")
	require.NotContains(t, h.LastReply(), "acme.example")
	require.Equal(t, []string{"saml:rita@acme.example"}, h.Query(`SELECT grantee FROM shares`))
}

func TestAClusterOfARepositoryThatLeftTheTableComesToItsEndAndIsNotMovedOut(t *testing.T) {
	h := ready(t)
	out := servicetest.Wire(app.Config{Store: h.Store, Catalogue: func() catalogue.Catalogue { return h.Catalogue }, GitHub: h.GitHub})
	says := func(id int64, line string) {
		_, err := out.Comment(t.Context(), pulls.CommentEvent{Installation: 5001, Repo: repo, Number: 41, ID: id, Author: "maya", AuthorID: servicetest.AccountID("maya"), Action: "created", Body: line})
		require.NoError(t, err)
	}
	ends := h.Only().Ends.TTL
	says(2, "/ocp extend 4h")
	require.Contains(t, h.LastReply(), "no longer configured: to extend it you need a role")
	require.Equal(t, ends, h.Only().Ends.TTL)
	says(3, "/ocp destroy")
	require.Contains(t, h.LastReply(), "is being destroyed")
}
