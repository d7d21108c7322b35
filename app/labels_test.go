package app_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
)

func TestARefusedLabelIsTakenOffSoThatItCanAskAgain(t *testing.T) {
	h := newFixture(t)
	e := pulls.PullRequestEvent{PR: h.pr(true, label), Actor: "toni", Action: "labeled", Label: label}
	h.sync(e)
	h.sync(e)
	require.Equal(t, []string{"remove_label " + label}, h.effects(), "once, with the refusal")
	require.Len(t, h.replies(), 1)
	require.Contains(t, h.replies()[0], "write is needed")
	require.Contains(t, h.replies()[0], "The label was removed. Add it again")

	h.sync(pulls.PullRequestEvent{PR: h.pr(true), Actor: own, Action: "unlabeled", Label: label})
	h.labeled("toni", label)
	require.Len(t, h.replies(), 2, "asked again, answered again")
	require.Len(t, h.effects(), 2)
	h.sync(pulls.PullRequestEvent{PR: h.pr(true), Actor: own, Action: "unlabeled", Label: label})
	h.labeled("will", label)
	h.only()
	require.Len(t, h.effects(), 2)
}

func TestTheSenderOfALabelIsJudgedAndNeverTheAuthor(t *testing.T) {
	h := newFixture(t)
	pr := h.pr(true, label)
	pr.Author = "maya" // who may
	h.sync(pulls.PullRequestEvent{PR: pr, Actor: "toni", Action: "labeled", Label: label})
	require.Empty(t, h.clusters())
}

func TestABotsLabelAsksForNothingAndIsTakenOff(t *testing.T) {
	h := newFixture(t)
	h.github.permission["triage-bot[bot]"] = "write"
	h.labeled("triage-bot[bot]", label)
	require.Empty(t, h.clusters())
	require.Equal(t, []string{"remove_label " + label}, h.effects())
	require.Contains(t, strings.Join(h.replies(), "\n"), "A bot may set labels for people without any permission")
	h.labeled("will", label)
	h.only()
}

func TestWhatWeTookOffOurselvesEndsNothingAndComesBackWhereAClusterStands(t *testing.T) {
	h := newFixture(t)
	h.labeled("will", label)
	gone := pulls.PullRequestEvent{PR: h.pr(true), Actor: strings.ToUpper(own), Action: "unlabeled", Label: label}
	require.Contains(t, h.sync(gone), "comes back")
	h.sync(gone)
	require.True(t, h.only().Ends.LabelRemoved.IsZero())
	require.Equal(t, []string{"add_label " + label}, h.effects())

	h.destroyed(h.only())
	h.sync(pulls.PullRequestEvent{PR: h.pr(true, label), Actor: own, Action: "labeled", Label: label})
	h.only()
	require.Equal(t, []string{"add_label " + label, "remove_label " + label}, h.effects(), "it came back too late, and we ask for nothing ourselves")
	require.Empty(t, h.replies())
}

// Between our taking it off and our putting it back lie a webhook and GitHub's pace: whatever happens meanwhile tells of a pull
// request without the label.
func TestWhatHappensWhileALabelComesBackEndsNothing(t *testing.T) {
	h := newFixture(t)
	h.labeled("will", label)
	unlabeled := pulls.PullRequestEvent{PR: h.pr(true), Actor: own, Action: "unlabeled", Label: label}
	h.github.stands(unlabeled.PR)
	h.comment(1, "will", "/ocp create aws-standard") // sees it before anybody told
	require.False(t, h.clusters()[0].Ends.LabelRemoved.IsZero())
	h.sync(unlabeled)
	require.True(t, h.clusters()[0].Ends.LabelRemoved.IsZero(), "it was us")
	h.sync(h.event("synchronize", "rob", true))
	h.comment(2, "will", "/ocp create")
	require.True(t, h.clusters()[0].Ends.LabelRemoved.IsZero(), "it comes back")
	require.Equal(t, []string{"add_label " + label}, slices.DeleteFunc(h.effects(), func(e string) bool { return strings.HasPrefix(e, "react") }))

	h.sync(pulls.PullRequestEvent{PR: h.pr(true), Actor: "will", Action: "unlabeled", Label: label})
	require.False(t, h.clusters()[0].Ends.LabelRemoved.IsZero(), "somebody takes it off anew")
}

func TestALabelOnWhatACommentAskedForGoesWithItToo(t *testing.T) {
	h := newFixture(t)
	h.labeled("will", "bug")
	h.comment(1, "will", "/ocp create")
	places := func() []string { return h.query(`SELECT kind FROM subscribers WHERE kind = 'github_label'`) }
	require.Empty(t, places())
	h.labeled("toni", label)
	h.labeled("toni", label)
	require.Len(t, places(), 1)
	h.only()
	h.sync(pulls.PullRequestEvent{PR: h.pr(true), Actor: "toni", Action: "unlabeled", Label: label})
	require.True(t, h.only().Ends.LabelRemoved.IsZero(), "it was not asked for by the label")
}

func TestTwoProfilesAtOnceAreTwoClusters(t *testing.T) {
	h := newFixture(t)
	h.sync(h.event("opened", "will", true, label, "ocp/aws-standard"))
	require.Equal(t, 2, len(h.clusters()))
}

func TestOneLabelOnManyPullRequestsIsAWishForEach(t *testing.T) {
	h := newFixture(t)
	h.catalogue.Quotas = []profiles.Quota{{Name: "team", Scope: profiles.ScopeTeam, Live: 3}}
	for n := range 12 {
		actor := "will"
		if n%2 == 1 {
			actor = "rita"
		}
		e := pulls.PullRequestEvent{PR: h.pr(true, label), Actor: actor, Action: "labeled", Label: label}
		e.PR.Number = 100 + n
		h.sync(e)
	}
	require.Equal(t, 6, len(h.clusters()), "who may not is refused")
	require.Len(t, h.query(`SELECT id FROM clusters WHERE needs_turn`), 3, "and three have to wait")
	require.Len(t, h.query(`SELECT id FROM cluster_requests`), 12)
	require.Len(t, h.replies(), 6, "who is refused is told why; who waits is told in the cluster's own comment")
}

func TestALabelSaysHowLong(t *testing.T) {
	h := newFixture(t)
	h.labeled("will", "ocp-ttl/8", "ocp-ttl/bogus", label)
	row := h.only()
	require.Equal(t, 8*time.Hour, row.TTL)
	require.Empty(t, h.replies(), "nobody is known to have set the other now")
	h.labeled("will", label, "ocp-ttl/bogus")
	require.Len(t, h.replies(), 1)
	require.Contains(t, h.replies()[0], "is not a valid lifetime")
	require.Contains(t, h.replies()[0], "The label was removed.")
	require.Equal(t, []string{"remove_label ocp-ttl/bogus"}, h.effects())

	h.labeled("will", label, "ocp-ttl/4")
	require.Equal(t, row.Ends.TTL, h.only().Ends.TTL, "it never brings the end nearer")
	h.labeled("toni", label, "ocp-ttl/10")
	require.Equal(t, row.Ends.TTL, h.only().Ends.TTL)
	require.Equal(t, []string{"remove_label ocp-ttl/bogus", "remove_label ocp-ttl/10"}, h.effects())
	longer := pulls.PullRequestEvent{PR: h.pr(true, label, "ocp-ttl/12"), Actor: "will", Action: "labeled", Label: "ocp-ttl/12"}
	h.sync(longer)
	h.sync(longer)
	require.Equal(t, row.AcceptedAt.Add(12*time.Hour), h.only().Ends.TTL)
	h.labeled("will", label, "ocp-ttl/8000")
	require.Equal(t, row.Ends.Max, h.only().Ends.TTL, "never past the maximum")
	require.Contains(t, h.lastReply(), "@will, the label `ocp-ttl/8000` asks for more than the profile "+profile+" allows.")
	require.Contains(t, h.lastReply(), "`"+row.Name+"` ends at its maximum, ")
	told := len(h.replies())
	h.labeled("will", label, "ocp-ttl/500")
	require.Len(t, h.replies(), told+1, "it is at its maximum already, and that is an answer too")
	require.Contains(t, h.lastReply(), "ocp-ttl/500")
	h.sync(pulls.PullRequestEvent{PR: h.pr(true, label, "ocp-ttl/500"), Actor: "will", Action: "edited"})
	require.Len(t, h.replies(), told+1, "it is answered once")

	h.comment(1, "will", "/ocp create aws-standard")
	require.Contains(t, h.lastReply(), "ttl", "what is created takes the label too, and is judged by it")
	h.labeled("will", label, "ocp-ttl/6")
	h.comment(2, "will", "/ocp create aws-standard")
	require.Equal(t, 6*time.Hour, h.clusters()[1].TTL)
}

func TestTheLabelKeepHoldsForWhoMayAndUntilItIsTakenOff(t *testing.T) {
	h := newFixture(t)
	h.file("keep: 3h\n")
	h.labeled("will", label)
	h.labeled("toni", label, chatops.KeepLabel)
	require.True(t, h.only().Ends.Hold.IsZero())
	require.Equal(t, []string{"remove_label " + chatops.KeepLabel}, h.effects())
	require.Contains(t, h.replies()[0], "@toni")

	h.sync(pulls.PullRequestEvent{PR: h.pr(true, label), Actor: own, Action: "unlabeled", Label: chatops.KeepLabel})
	h.labeled("will", label, chatops.KeepLabel)
	require.WithinDuration(t, time.Now().Add(3*time.Hour), h.only().Ends.Hold, time.Minute)
	h.comment(1, "will", "/ocp create aws-standard")
	require.WithinDuration(t, time.Now().Add(3*time.Hour), h.clusters()[1].Ends.Hold, time.Minute, "what comes while it stands is kept too")
	h.comment(2, "will", "/ocp hold 5h aws-standard")

	h.sync(pulls.PullRequestEvent{PR: h.pr(true, label), Action: pulls.ActionSeen, Why: "seen by the sweep"})
	require.True(t, h.clusters()[0].Ends.Hold.IsZero())
	require.False(t, h.clusters()[1].Ends.Hold.IsZero(), "another hold stays")
}

func TestLabelsAreMadeForAPlatformAdmin(t *testing.T) {
	h := newFixture(t)
	h.github.installed = map[string]int64{repo: 5001}
	admin := policy.As("saml:ada", "Ada", policy.PlatformAdmin)
	for name, c := range map[string]struct {
		who  policy.Principal
		repo string
		kind app.Kind
	}{
		"an admin":             {admin, repo, ""},
		"a requester":          {policy.As("saml:will", "Will", policy.Requester), repo, app.Denied},
		"an admin of one team": {policy.As("saml:rob", "Rob", policy.PlatformAdmin, "platform"), repo, app.Denied},
		"not in the table":     {admin, "other/thing", app.NotFound},
		"not installed":        {admin, "acme/else", app.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			id, err := h.service.EnsureLabels(t.Context(), c.who, c.repo, app.Deed{Door: policy.DoorAPI})
			require.Equal(t, c.kind, app.KindOf(err))
			require.Equal(t, c.kind == "", id != "")
		})
	}
	require.Equal(t, []string{"ensure_labels "}, h.effects())
	require.Len(t, h.query(`SELECT action FROM audit_events WHERE action = 'labels_asked'`), 1)
	terms, err := catalogue.Embedded()
	require.NoError(t, err)
	offline, _ := newServices(app.Config{Store: h.store, Catalogue: func() catalogue.Catalogue { return terms }, Repositories: []app.Repository{{Match: "acme/*", Ownership: policy.Ownership{Team: "platform"}}}})
	_, err = offline.EnsureLabels(t.Context(), admin, repo, app.Deed{Door: policy.DoorAPI})
	require.NoError(t, err, "the half without GitHub leaves it to the other")
}
