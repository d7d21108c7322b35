package pulls_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/rules"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

func TestALabelBecomesACluster(t *testing.T) {
	h := newFixture(t)
	require.Contains(t, h.Labeled("will", "bug", label), "accepted aws-minimal-test as clu_")

	row := h.Only()
	require.Equal(t, lifecycle.Pending, row.Status)
	require.Equal(t, string(policy.SourceLabel), row.Source)
	require.Equal(t, servicetest.OnGitHub("will"), row.RequestedBy)
	require.Equal(t, "platform", row.Team)
	require.Equal(t, 1, row.Generation)
	require.Equal(t, &clusters.PRRef{Installation: 5001, Repo: repo, Number: 41, Head: "6dcb09b5b57875f334f61aebed695e2e4193db5e"}, row.PR)
	require.Equal(t, grace, row.Spec.Grace)
	require.Equal(t, row.ID, row.Tags["ClusterId"])
	require.Equal(t, "test", row.Tags["InstallationId"])
	require.Contains(t, row.Spec.InstallConfig, "name: "+row.Name)
	require.NotContains(t, row.Spec.InstallConfig, "pullSecret")
	require.Equal(t, 24*time.Hour, row.TTL)
	require.False(t, row.DestroyAt.IsZero())
	require.Equal(t, []string{"true"}, h.Query(`SELECT allowed::text FROM cluster_requests`))
	require.Equal(t, []string{"accepted"}, h.Query(`SELECT action FROM audit_events`))
	require.Empty(t, h.Replies(), "the cluster's own comment says it")
}

func TestTheSameEventTwiceChangesNothing(t *testing.T) {
	h := newFixture(t)
	e := pulls.PullRequestEvent{PR: h.PR(true, label), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "labeled", Label: label}
	h.Sync(e)
	require.Equal(t, "nothing to change", h.Sync(e))
	e.Action = "poll" // the same state, seen by a look at the pull request
	require.Equal(t, "nothing to change", h.Sync(e))
	h.Only()
	require.Len(t, h.Query(`SELECT id FROM cluster_requests`), 1)
}

func TestAnOlderEventThatComesLateChangesNothing(t *testing.T) {
	h := newFixture(t)
	labeled := pulls.PullRequestEvent{PR: h.PR(true, label), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "labeled", Label: label}
	h.Sync(pulls.PullRequestEvent{PR: h.PR(false, label), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "closed"})
	require.Contains(t, h.Sync(labeled), "older than")
	require.Empty(t, h.Clusters())
}

func TestClosingSetsAnEndAndReopeningLiftsIt(t *testing.T) {
	h := newFixture(t)
	h.Labeled("will", label)
	ttl := h.Only().DestroyAt

	closed := pulls.PullRequestEvent{PR: h.PR(false, label), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "closed"}
	require.Contains(t, h.Sync(closed), "ends")
	end := h.Only().Ends.PRClosed
	require.WithinDuration(t, time.Now().Add(grace), end, time.Minute)
	require.Equal(t, end, h.Only().DestroyAt)
	require.Equal(t, "nothing to change", h.Sync(closed), "told again, the end stays where it was")
	require.Equal(t, end, h.Only().Ends.PRClosed)

	h.Sync(pulls.PullRequestEvent{PR: h.PR(true, label), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "reopened"})
	require.True(t, h.Only().Ends.PRClosed.IsZero())
	require.Equal(t, ttl, h.Only().DestroyAt)
	require.Equal(t, lifecycle.Present, h.Only().Desired)
}

func TestAClosedPullRequestEndsClustersThatCameByComment(t *testing.T) {
	h := newFixture(t)
	h.Sync(pulls.PullRequestEvent{PR: h.PR(true), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "opened"})
	h.Comment(1, "will", "/ocp create aws-standard")
	require.True(t, h.Only().Ends.LabelRemoved.IsZero(), "it never had a label to lose")
	h.Sync(pulls.PullRequestEvent{PR: h.PR(false), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "closed"})
	require.False(t, h.Only().Ends.PRClosed.IsZero())
}

func TestTakingTheLabelOffSetsAnEndAndPuttingItBackLiftsIt(t *testing.T) {
	h := newFixture(t)
	h.Labeled("will", label)
	h.Sync(pulls.PullRequestEvent{PR: h.PR(true), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "unlabeled", Label: label})
	require.WithinDuration(t, time.Now().Add(grace), h.Only().Ends.LabelRemoved, time.Minute)
	h.Labeled("will", label)
	require.True(t, h.Only().Ends.LabelRemoved.IsZero())
}

func TestLabelsOfOneSecondInTheWrongOrderKeepBoth(t *testing.T) {
	h := newFixture(t)
	first := h.PR(true, label)
	second := first
	second.Labels = []string{label, "ocp/aws-standard"}
	h.GitHub.PRs = map[int]pullrequests.PullRequest{41: second}
	h.Sync(pulls.PullRequestEvent{PR: second, Actor: "will", ActorID: servicetest.AccountID("will"), Action: "labeled", Label: "ocp/aws-standard"})
	h.Sync(pulls.PullRequestEvent{PR: first, Actor: "will", ActorID: servicetest.AccountID("will"), Action: "labeled", Label: label})
	rows := h.Clusters()
	require.Len(t, rows, 2)
	for _, row := range rows {
		require.True(t, row.Ends.LabelRemoved.IsZero(), row.Profile)
	}
}

func TestALabelIsOursInWhateverCase(t *testing.T) {
	h := newFixture(t)
	h.Labeled("will", "OCP/AWS-minimal-test")
	h.Sync(pulls.PullRequestEvent{PR: h.PR(true, label), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "synchronize"})
	require.True(t, h.Only().Ends.LabelRemoved.IsZero())
}

func TestALostLabelEventIsMadeUpForByNobodyElse(t *testing.T) {
	h := newFixture(t)
	labeled := pulls.PullRequestEvent{PR: h.PR(true, label), Actor: "maya", ActorID: servicetest.AccountID("maya"), Action: "labeled", Label: label}
	h.Sync(pulls.PullRequestEvent{PR: h.PR(true, label), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "synchronize"})
	require.Empty(t, h.Clusters(), "he pushed, and asked for nothing")
	h.Sync(labeled)
	require.Equal(t, servicetest.OnGitHub("maya"), h.Only().RequestedBy, "it came late, and counts: what she asked for stands")
}

func TestALabelThatNobodyIsKnownToHaveSetIsTakenOff(t *testing.T) {
	h := newFixture(t)
	seen := pulls.PullRequestEvent{PR: h.PR(true, label), Action: pulls.ActionSeen, Seen: true}
	seen.PR.UpdatedAt = time.Now().UTC().Truncate(time.Second)
	require.Equal(t, "nothing to change", h.Sync(seen), "who set it may be told any moment")
	seen.PR.UpdatedAt = seen.PR.UpdatedAt.Add(-time.Hour)
	seen.PR.Number = 42
	h.Sync(seen)
	h.Sync(seen)
	require.Empty(t, h.Clusters())
	require.Len(t, h.Replies(), 1)
	require.Contains(t, h.Replies()[0], "GitHub did not say who added it")
	require.Equal(t, []string{"remove_label " + label}, h.Effects())
}

func TestOtherLabelsAreNoneOfOurBusiness(t *testing.T) {
	h := newFixture(t)
	require.Equal(t, "nothing to change", h.Labeled("will", "bug", "ocpctl", "help wanted"))
	require.Zero(t, h.GitHub.Asked.Load())
	require.Empty(t, h.Replies())
}

func TestAnUnknownLabelOfOursIsTakenOffWithTheReason(t *testing.T) {
	const wrong = "ocp/aws-minimal-tset"
	h := newFixture(t)
	set := pulls.PullRequestEvent{PR: h.PR(true, wrong), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "labeled", Label: wrong}
	h.Sync(set)
	h.Sync(set)
	h.Sync(h.Event("synchronize", "maya", true, wrong))
	require.Len(t, h.Replies(), 1, "one setting is answered once")
	require.Contains(t, h.Replies()[0], "Did you mean `ocp/aws-minimal-test`?")
	require.Contains(t, h.Replies()[0], "The label was removed.")
	require.Equal(t, []string{"remove_label " + wrong}, h.Effects())
	h.Labeled("will", wrong)
	require.Len(t, h.Replies(), 2, "set again it is answered again")
	require.Empty(t, h.Clusters())
}

func TestTheServerAndTheRepositoryMayAskForMore(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		set  func(*policy.Settings)
		fork bool
		text string
	}{
		"the file refuses forks":   {"forks: deny\n", func(*policy.Settings) {}, true, "fork"},
		"the server refuses forks": {"forks: approve\n", func(s *policy.Settings) { s.Forks = profiles.ForksDeny }, true, "fork"},
		"the server wants admins":  {"", func(s *policy.Settings) { s.Permission = "admin" }, false, "admin is needed"},
	} {
		t.Run(name, func(t *testing.T) {
			h := fixtureWith(t, servicetest.Catalogue(t, nil), c.set)
			h.File(c.file)
			pr := h.PR(true, label)
			pr.Fork = c.fork
			require.Contains(t, h.Sync(pulls.PullRequestEvent{PR: pr, Actor: "maya", ActorID: servicetest.AccountID("maya"), Action: "labeled", Label: label}), "refused")
			require.Empty(t, h.Clusters())
			require.Len(t, h.Replies(), 1)
			require.Contains(t, h.Replies()[0], c.text)
			require.Equal(t, []string{"remove_label " + label}, h.Effects())
		})
	}
}

func TestARefusalIsKeptAndAnsweredInWords(t *testing.T) {
	for name, c := range map[string]struct {
		actor string
		label string
		text  string
	}{
		"a reader":           {"rita", label, "write"},
		"a stranger":         {"zoe", label, "write"},
		"a disabled profile": {"maya", "ocp/ibm-standard", servicetest.IBMOff},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			e := pulls.PullRequestEvent{PR: h.PR(true, c.label), Actor: c.actor, ActorID: servicetest.AccountID(c.actor), Action: "labeled", Label: c.label}
			require.Contains(t, h.Sync(e), "refused")
			h.Sync(e)
			require.Empty(t, h.Clusters())
			require.Len(t, h.Replies(), 1)
			require.Contains(t, h.Replies()[0], c.text)
			require.Equal(t, []string{"false"}, h.Query(`SELECT allowed::text FROM cluster_requests`))
		})
	}
}

func TestALabelOfIBMCloudAsksForAClusterThere(t *testing.T) {
	h := fixtureWith(t, servicetest.EveryCloud(t, nil))
	const label = "ocp/ibm-minimal-test"
	require.Contains(t, h.Sync(pulls.PullRequestEvent{PR: h.PR(true, label), Actor: "maya", ActorID: servicetest.AccountID("maya"), Action: "labeled", Label: label}), "accepted")
	row := h.Only()
	require.Equal(t, []string{"ibmcloud", "ibm-minimal-test", "us-south"}, []string{row.Platform, row.Profile, row.Region})
	require.Equal(t, []string{"us-south-1"}, row.Spec.Zones)
	require.Equal(t, 76, row.HourlyCents)
	require.Contains(t, row.Spec.InstallConfig, "ibmcloud:")
	require.NotContains(t, row.Spec.InstallConfig, "userTags")
	require.Equal(t, "maya", row.Tags[tagkey.Owner], "its tags are kept, to be attached to its resources")
}

func TestWhatWaitsForAnApprovalOrHasAWarningSaysSoInItsOneComment(t *testing.T) {
	for effect, text := range map[profiles.Effect]string{
		profiles.EffectRequireApproval: "Another platform admin must approve this",
		profiles.EffectWarn:            "Worth knowing",
	} {
		t.Run(string(effect), func(t *testing.T) {
			h := newFixture(t)
			h.Catalogue.Policies = []profiles.Policy{{Name: "house", Rules: []profiles.Rule{{
				Name: "forty-one", When: "pr.number == 41", Effect: effect, Message: "Forty-one is looked at.",
				Approval: profiles.ApprovalTerms{For: time.Hour},
			}}}}
			admins := func(match map[string][]string, team string) profiles.Identity {
				return profiles.Identity{Name: "admins", Source: profiles.SourceGitHub, Match: match, Role: string(policy.PlatformAdmin), Teams: []string{team}}
			}
			h.Catalogue.Catalogue.Identities = append(h.Catalogue.Catalogue.Identities,
				admins(map[string][]string{"login": {"rob", "maya", "bot-*"}}, policy.EveryTeam), admins(map[string][]string{"team": {"acme/leads"}}, policy.EveryTeam),
				admins(map[string][]string{"login": {"ada"}}, "somebody-elses"), admins(map[string][]string{"login": {"eve"}, "repository": {"other/repo"}}, policy.EveryTeam))
			var problems profiles.Problems
			h.Catalogue.Rules, problems = rules.Compile(h.Catalogue.Policies)
			require.Empty(t, problems)
			e := pulls.PullRequestEvent{PR: h.PR(true, label), Actor: "maya", ActorID: servicetest.AccountID("maya"), Action: "labeled", Label: label}
			h.Sync(e)
			h.Sync(e)
			require.Empty(t, h.Replies(), "the cluster's comment is the only one")
			row := h.Only()
			detail := chatops.Detail{Approval: row.Spec.Approval, Approvers: row.Spec.Approvers, Advice: row.Spec.Advice}
			require.Contains(t, chatops.Comment(row.Card, detail, chatops.Links{}), text)
			require.Contains(t, chatops.Comment(row.Card, detail, chatops.Links{}), "Forty-one is looked at.")
			if effect == profiles.EffectRequireApproval {
				require.Equal(t, []string{"acme/leads", "rob"}, row.Spec.Approvers, "those the catalogue names, without the one who asked")
			}
			require.Equal(t, effect == profiles.EffectRequireApproval, h.Only().NeedsApproval)
		})
	}
}

func TestAfterARefusalOnlyAnActionAsksAgain(t *testing.T) {
	h := newFixture(t)
	h.Labeled("toni", label)
	require.Empty(t, h.Clusters())
	h.Sync(pulls.PullRequestEvent{PR: h.PR(true, label), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "synchronize"})
	require.Empty(t, h.Clusters(), "will pushed; he asked for nothing")
	h.Sync(pulls.PullRequestEvent{PR: h.PR(true), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "unlabeled", Label: label})
	h.Labeled("will", label)
	h.Only()
}

func TestAReopenedPullRequestWhoseClusterIsGoingGetsANewOne(t *testing.T) {
	h := newFixture(t)
	h.Labeled("will", label)
	first := h.Only()
	_, err := h.Store.Destroy(t.Context(), first.ID, clusters.Origin{Actor: servicetest.OnGitHub("will"), Why: "by hand"})
	require.NoError(t, err)

	require.Equal(t, "nothing to change", h.Sync(pulls.PullRequestEvent{PR: h.PR(true, label), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "synchronize"}),
		"a destroyed cluster stays destroyed however often somebody pushes")
	h.Sync(pulls.PullRequestEvent{PR: h.PR(false, label), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "closed"})
	h.Sync(pulls.PullRequestEvent{PR: h.PR(true, label), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "reopened"})
	rows := h.Clusters()
	require.Len(t, rows, 2)
	require.Equal(t, 2, rows[1].Generation)
	require.NotEqual(t, rows[0].Name, rows[1].Name, "a new desired never waits for an old teardown")
}

func TestARepositoryOutsideTheTableIsRefused(t *testing.T) {
	h := newFixture(t)
	pr := h.PR(true, label)
	pr.Repo = "other/thing"
	h.Sync(pulls.PullRequestEvent{PR: pr, Actor: "maya", ActorID: servicetest.AccountID("maya"), Action: "labeled", Label: label})
	require.Empty(t, h.Clusters())
	require.Len(t, h.Replies(), 1)
}

func TestWhatGitHubDoesNotAnswerDecidesNothing(t *testing.T) {
	h := newFixture(t)
	h.GitHub.Down.Store(true)
	e := pulls.PullRequestEvent{PR: h.PR(true, label), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "labeled", Label: label}
	_, err := h.Service.SyncPullRequest(t.Context(), e)
	require.ErrorIs(t, err, errDown)
	require.Empty(t, app.KindOf(err), "it is to be tried again, not answered")
	require.Empty(t, h.Query(`SELECT id FROM cluster_requests`))
	h.GitHub.Down.Store(false)
	h.Sync(e)
	h.Only()
}

func TestClosingBesideALabelNeverLeavesAClusterWithoutThatEnd(t *testing.T) {
	h := newFixture(t)
	for number := 100; number < 125; number++ {
		labeled := pulls.PullRequestEvent{PR: h.PR(true, label), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "labeled", Label: label}
		closed := pulls.PullRequestEvent{PR: h.PR(false, label), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "closed"}
		labeled.PR.Number, closed.PR.Number = number, number
		var both errgroup.Group
		for _, e := range []pulls.PullRequestEvent{labeled, closed} {
			both.Go(func() error {
				h.GitHub.Stands(e.PR)
				_, err := h.Service.SyncPullRequest(t.Context(), e)
				return err
			})
		}
		require.NoError(t, both.Wait())
	}
	for _, row := range h.Clusters() {
		require.False(t, row.Ends.PRClosed.IsZero(), "%s would live until its TTL", row.Name)
	}
}

func TestTwoEventsAtOnceMakeOneCluster(t *testing.T) {
	h := newFixture(t)
	for number := 200; number < 215; number++ {
		e := pulls.PullRequestEvent{PR: h.PR(true, label), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "labeled", Label: label}
		e.PR.Number = number
		opened := e
		opened.Action, opened.Actor, opened.ActorID = "opened", "maya", servicetest.AccountID("maya")
		h.GitHub.Stands(e.PR)
		var both errgroup.Group
		for _, one := range []pulls.PullRequestEvent{e, opened} {
			both.Go(func() error {
				_, err := h.Service.SyncPullRequest(t.Context(), one)
				for errors.Is(err, db.ErrConflict) { // the inbox tries again: an account, and then a cluster, can be written by both at once
					_, err = h.Service.SyncPullRequest(t.Context(), one)
				}
				return err
			})
		}
		require.NoError(t, both.Wait())
		rows, _, err := h.Store.List(t.Context(), store.Filter{Repo: repo, Number: number})
		require.NoError(t, err)
		require.Len(t, rows, 1)
	}
}
