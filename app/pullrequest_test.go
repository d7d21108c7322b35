package app_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/internal/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/rules"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
)

func TestALabelBecomesACluster(t *testing.T) {
	h := newFixture(t)
	require.Contains(t, h.labeled("will", "bug", label), "accepted aws-minimal-test as clu_")

	row := h.only()
	require.Equal(t, lifecycle.Pending, row.Status)
	require.Equal(t, string(policy.DoorLabel), row.Door)
	require.Equal(t, "github:will", row.RequestedBy)
	require.Equal(t, "platform", row.Team)
	require.Equal(t, 1, row.Generation)
	require.Equal(t, &store.PRRef{Installation: 5001, Repo: repo, Number: 41, Head: "6dcb09b5b57875f334f61aebed695e2e4193db5e"}, row.PR)
	require.Equal(t, grace, row.Spec.Grace)
	require.Equal(t, row.ID, row.Tags["ClusterId"])
	require.Equal(t, "test", row.Tags["InstallationId"])
	require.Contains(t, row.Spec.InstallConfig, "name: "+row.Name)
	require.NotContains(t, row.Spec.InstallConfig, "pullSecret")
	require.Equal(t, 24*time.Hour, row.TTL)
	require.False(t, row.DestroyAt.IsZero())
	require.Equal(t, []string{"true"}, h.query(`SELECT allowed::text FROM cluster_requests`))
	require.Equal(t, []string{"accepted"}, h.query(`SELECT action FROM audit_events`))
	require.Empty(t, h.replies(), "the cluster's own comment says it")
}

func TestTheSameEventTwiceChangesNothing(t *testing.T) {
	h := newFixture(t)
	e := pulls.PullRequestEvent{PR: h.pr(true, label), Actor: "will", Action: "labeled", Label: label}
	h.sync(e)
	require.Equal(t, "nothing to change", h.sync(e))
	e.Action = "sweep" // the same state, seen by a look at the pull request
	require.Equal(t, "nothing to change", h.sync(e))
	h.only()
	require.Len(t, h.query(`SELECT id FROM cluster_requests`), 1)
}

func TestAnOlderEventThatComesLateChangesNothing(t *testing.T) {
	h := newFixture(t)
	labeled := pulls.PullRequestEvent{PR: h.pr(true, label), Actor: "will", Action: "labeled", Label: label}
	h.sync(pulls.PullRequestEvent{PR: h.pr(false, label), Actor: "will", Action: "closed"})
	require.Contains(t, h.sync(labeled), "older than")
	require.Empty(t, h.clusters())
}

func TestClosingSetsAnEndAndReopeningLiftsIt(t *testing.T) {
	h := newFixture(t)
	h.labeled("will", label)
	ttl := h.only().DestroyAt

	closed := pulls.PullRequestEvent{PR: h.pr(false, label), Actor: "will", Action: "closed"}
	require.Contains(t, h.sync(closed), "ends")
	end := h.only().Ends.PRClosed
	require.WithinDuration(t, time.Now().Add(grace), end, time.Minute)
	require.Equal(t, end, h.only().DestroyAt)
	require.Equal(t, "nothing to change", h.sync(closed), "told again, the end stays where it was")
	require.Equal(t, end, h.only().Ends.PRClosed)

	h.sync(pulls.PullRequestEvent{PR: h.pr(true, label), Actor: "will", Action: "reopened"})
	require.True(t, h.only().Ends.PRClosed.IsZero())
	require.Equal(t, ttl, h.only().DestroyAt)
	require.Equal(t, lifecycle.Present, h.only().Wish)
}

func TestAClosedPullRequestEndsClustersThatCameByComment(t *testing.T) {
	h := newFixture(t)
	h.sync(pulls.PullRequestEvent{PR: h.pr(true), Actor: "will", Action: "opened"})
	h.comment(1, "will", "/ocp create aws-standard")
	require.True(t, h.only().Ends.LabelRemoved.IsZero(), "it never had a label to lose")
	h.sync(pulls.PullRequestEvent{PR: h.pr(false), Actor: "will", Action: "closed"})
	require.False(t, h.only().Ends.PRClosed.IsZero())
}

func TestTakingTheLabelOffSetsAnEndAndPuttingItBackLiftsIt(t *testing.T) {
	h := newFixture(t)
	h.labeled("will", label)
	h.sync(pulls.PullRequestEvent{PR: h.pr(true), Actor: "will", Action: "unlabeled", Label: label})
	require.WithinDuration(t, time.Now().Add(grace), h.only().Ends.LabelRemoved, time.Minute)
	h.labeled("will", label)
	require.True(t, h.only().Ends.LabelRemoved.IsZero())
}

func TestLabelsOfOneSecondInTheWrongOrderKeepBoth(t *testing.T) {
	h := newFixture(t)
	first := h.pr(true, label)
	second := first
	second.Labels = []string{label, "ocp/aws-standard"}
	h.github.prs = map[int]store.PullRequest{41: second}
	h.sync(pulls.PullRequestEvent{PR: second, Actor: "will", Action: "labeled", Label: "ocp/aws-standard"})
	h.sync(pulls.PullRequestEvent{PR: first, Actor: "will", Action: "labeled", Label: label})
	rows := h.clusters()
	require.Len(t, rows, 2)
	for _, row := range rows {
		require.True(t, row.Ends.LabelRemoved.IsZero(), row.Profile)
	}
}

func TestALabelIsOursInWhateverCase(t *testing.T) {
	h := newFixture(t)
	h.labeled("will", "OCP/AWS-minimal-test")
	h.sync(pulls.PullRequestEvent{PR: h.pr(true, label), Actor: "will", Action: "synchronize"})
	require.True(t, h.only().Ends.LabelRemoved.IsZero())
}

func TestALostLabelEventIsMadeUpForByNobodyElse(t *testing.T) {
	h := newFixture(t)
	labeled := pulls.PullRequestEvent{PR: h.pr(true, label), Actor: "maya", Action: "labeled", Label: label}
	h.sync(pulls.PullRequestEvent{PR: h.pr(true, label), Actor: "will", Action: "synchronize"})
	require.Empty(t, h.clusters(), "he pushed, and asked for nothing")
	h.sync(labeled)
	require.Equal(t, "github:maya", h.only().RequestedBy, "it came late, and counts: what she asked for stands")
}

func TestALabelThatNobodyIsKnownToHaveSetIsTakenOff(t *testing.T) {
	h := newFixture(t)
	seen := pulls.PullRequestEvent{PR: h.pr(true, label), Action: pulls.ActionSeen, Why: "seen by the sweep"}
	seen.PR.UpdatedAt = time.Now().UTC().Truncate(time.Second)
	require.Equal(t, "nothing to change", h.sync(seen), "who set it may be told any moment")
	seen.PR.UpdatedAt = seen.PR.UpdatedAt.Add(-time.Hour)
	seen.PR.Number = 42
	h.sync(seen)
	h.sync(seen)
	require.Empty(t, h.clusters())
	require.Len(t, h.replies(), 1)
	require.Contains(t, h.replies()[0], "GitHub did not say who added it")
	require.Equal(t, []string{"remove_label " + label}, h.effects())
}

func TestOtherLabelsAreNoneOfOurBusiness(t *testing.T) {
	h := newFixture(t)
	require.Equal(t, "nothing to change", h.labeled("will", "bug", "ocpctl", "help wanted"))
	require.Zero(t, h.github.asked.Load())
	require.Empty(t, h.replies())
}

func TestAnUnknownLabelOfOursIsTakenOffWithTheReason(t *testing.T) {
	const wrong = "ocp/aws-minimal-tset"
	h := newFixture(t)
	set := pulls.PullRequestEvent{PR: h.pr(true, wrong), Actor: "will", Action: "labeled", Label: wrong}
	h.sync(set)
	h.sync(set)
	h.sync(h.event("synchronize", "maya", true, wrong))
	require.Len(t, h.replies(), 1, "one setting is answered once")
	require.Contains(t, h.replies()[0], "Did you mean `ocp/aws-minimal-test`?")
	require.Contains(t, h.replies()[0], "The label was removed.")
	require.Equal(t, []string{"remove_label " + wrong}, h.effects())
	h.labeled("will", wrong)
	require.Len(t, h.replies(), 2, "set again it is answered again")
	require.Empty(t, h.clusters())
}

func TestTheServerAndTheRepositoryMayAskForMore(t *testing.T) {
	for name, c := range map[string]struct {
		file  string
		set   func(*policy.Settings)
		fork  bool
		words string
	}{
		"the file refuses forks":   {"forks: deny\n", func(*policy.Settings) {}, true, "fork"},
		"the server refuses forks": {"forks: approve\n", func(s *policy.Settings) { s.Forks = profiles.ForksDeny }, true, "fork"},
		"the server wants admins":  {"", func(s *policy.Settings) { s.Permission = "admin" }, false, "admin is needed"},
	} {
		t.Run(name, func(t *testing.T) {
			h := fixtureWith(t, servicetest.Catalogue(t, nil), c.set)
			h.file(c.file)
			pr := h.pr(true, label)
			pr.Fork = c.fork
			require.Contains(t, h.sync(pulls.PullRequestEvent{PR: pr, Actor: "maya", Action: "labeled", Label: label}), "refused")
			require.Empty(t, h.clusters())
			require.Len(t, h.replies(), 1)
			require.Contains(t, h.replies()[0], c.words)
			require.Equal(t, []string{"remove_label " + label}, h.effects())
		})
	}
}

func TestARefusalIsKeptAndAnsweredInWords(t *testing.T) {
	for name, c := range map[string]struct {
		actor string
		label string
		words string
	}{
		"a reader":           {"rita", label, "write"},
		"a stranger":         {"zoe", label, "write"},
		"a disabled profile": {"maya", "ocp/ibm-standard", "not enabled"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			e := pulls.PullRequestEvent{PR: h.pr(true, c.label), Actor: c.actor, Action: "labeled", Label: c.label}
			require.Contains(t, h.sync(e), "refused")
			h.sync(e)
			require.Empty(t, h.clusters())
			require.Len(t, h.replies(), 1)
			require.Contains(t, h.replies()[0], c.words)
			require.Equal(t, []string{"false"}, h.query(`SELECT allowed::text FROM cluster_requests`))
		})
	}
}

func TestWhatWaitsForAnApprovalOrHasAWarningSaysSoInItsOneComment(t *testing.T) {
	for effect, words := range map[profiles.Effect]string{
		profiles.EffectRequireApproval: "One platform admin other than the one who asked has to approve it",
		profiles.EffectWarn:            "Worth knowing",
	} {
		t.Run(string(effect), func(t *testing.T) {
			h := newFixture(t)
			h.catalogue.Policies = []profiles.Policy{{Name: "house", Rules: []profiles.Rule{{
				Name: "forty-one", When: "pr.number == 41", Effect: effect, Message: "Forty-one is looked at.",
				Approval: profiles.ApprovalTerms{For: time.Hour},
			}}}}
			admins := func(match map[string][]string, team string) profiles.Identity {
				return profiles.Identity{Name: "admins", Source: profiles.SourceGitHub, Match: match, Role: string(policy.PlatformAdmin), Teams: []string{team}}
			}
			h.catalogue.Catalogue.Identities = append(h.catalogue.Catalogue.Identities,
				admins(map[string][]string{"login": {"rob", "maya", "bot-*"}}, policy.EveryTeam), admins(map[string][]string{"team": {"acme/leads"}}, policy.EveryTeam),
				admins(map[string][]string{"login": {"ada"}}, "somebody-elses"), admins(map[string][]string{"login": {"eve"}, "repository": {"other/repo"}}, policy.EveryTeam))
			var problems profiles.Problems
			h.catalogue.Rules, problems = rules.Compile(h.catalogue.Policies)
			require.Empty(t, problems)
			e := pulls.PullRequestEvent{PR: h.pr(true, label), Actor: "maya", Action: "labeled", Label: label}
			h.sync(e)
			h.sync(e)
			require.Empty(t, h.replies(), "the cluster's comment is the only one")
			row := h.only()
			detail := chatops.Detail{Approval: row.Spec.Approval, Approvers: row.Spec.Approvers, Advice: row.Spec.Advice}
			require.Contains(t, chatops.Comment(row.Card, detail, chatops.Links{}), words)
			require.Contains(t, chatops.Comment(row.Card, detail, chatops.Links{}), "Forty-one is looked at.")
			if effect == profiles.EffectRequireApproval {
				require.Equal(t, []string{"acme/leads", "rob"}, row.Spec.Approvers, "those the catalogue names, without the one who asked")
			}
			require.Equal(t, effect == profiles.EffectRequireApproval, h.only().NeedsApproval)
		})
	}
}

func TestAfterARefusalOnlyADeedAsksAgain(t *testing.T) {
	h := newFixture(t)
	h.labeled("toni", label)
	require.Empty(t, h.clusters())
	h.sync(pulls.PullRequestEvent{PR: h.pr(true, label), Actor: "will", Action: "synchronize"})
	require.Empty(t, h.clusters(), "will pushed; he asked for nothing")
	h.sync(pulls.PullRequestEvent{PR: h.pr(true), Actor: "will", Action: "unlabeled", Label: label})
	h.labeled("will", label)
	h.only()
}

func TestAReopenedPullRequestWhoseClusterIsGoingGetsANewOne(t *testing.T) {
	h := newFixture(t)
	h.labeled("will", label)
	first := h.only()
	_, err := h.store.Destroy(t.Context(), first.ID, store.Deed{Actor: "github:will", Why: "by hand"})
	require.NoError(t, err)

	require.Equal(t, "nothing to change", h.sync(pulls.PullRequestEvent{PR: h.pr(true, label), Actor: "will", Action: "synchronize"}),
		"a destroyed cluster stays destroyed however often somebody pushes")
	h.sync(pulls.PullRequestEvent{PR: h.pr(false, label), Actor: "will", Action: "closed"})
	h.sync(pulls.PullRequestEvent{PR: h.pr(true, label), Actor: "will", Action: "reopened"})
	rows := h.clusters()
	require.Len(t, rows, 2)
	require.Equal(t, 2, rows[1].Generation)
	require.NotEqual(t, rows[0].Name, rows[1].Name, "a new wish never waits for an old teardown")
}

func TestARepositoryOutsideTheTableIsRefused(t *testing.T) {
	h := newFixture(t)
	pr := h.pr(true, label)
	pr.Repo = "other/thing"
	h.sync(pulls.PullRequestEvent{PR: pr, Actor: "maya", Action: "labeled", Label: label})
	require.Empty(t, h.clusters())
	require.Len(t, h.replies(), 1)
}

func TestWhatGitHubDoesNotAnswerDecidesNothing(t *testing.T) {
	h := newFixture(t)
	h.github.down.Store(true)
	e := pulls.PullRequestEvent{PR: h.pr(true, label), Actor: "will", Action: "labeled", Label: label}
	_, err := h.service.SyncPullRequest(t.Context(), e)
	require.ErrorIs(t, err, errDown)
	require.Empty(t, app.KindOf(err), "it is to be tried again, not answered")
	require.Empty(t, h.query(`SELECT id FROM cluster_requests`))
	h.github.down.Store(false)
	h.sync(e)
	h.only()
}

func TestClosingBesideALabelNeverLeavesAClusterWithoutThatEnd(t *testing.T) {
	h := newFixture(t)
	for number := 100; number < 125; number++ {
		labeled := pulls.PullRequestEvent{PR: h.pr(true, label), Actor: "will", Action: "labeled", Label: label}
		closed := pulls.PullRequestEvent{PR: h.pr(false, label), Actor: "will", Action: "closed"}
		labeled.PR.Number, closed.PR.Number = number, number
		var both errgroup.Group
		for _, e := range []pulls.PullRequestEvent{labeled, closed} {
			both.Go(func() error {
				h.github.stands(e.PR)
				_, err := h.service.SyncPullRequest(t.Context(), e)
				return err
			})
		}
		require.NoError(t, both.Wait())
	}
	for _, row := range h.clusters() {
		require.False(t, row.Ends.PRClosed.IsZero(), "%s would live until its TTL", row.Name)
	}
}

func TestTwoEventsAtOnceMakeOneCluster(t *testing.T) {
	h := newFixture(t)
	for number := 200; number < 215; number++ {
		e := pulls.PullRequestEvent{PR: h.pr(true, label), Actor: "will", Action: "labeled", Label: label}
		e.PR.Number = number
		opened := e
		opened.Action, opened.Actor = "opened", "maya"
		h.github.stands(e.PR)
		var both errgroup.Group
		for _, one := range []pulls.PullRequestEvent{e, opened} {
			both.Go(func() error {
				_, err := h.service.SyncPullRequest(t.Context(), one)
				if errors.Is(err, store.ErrConflict) { // the inbox tries again
					_, err = h.service.SyncPullRequest(t.Context(), one)
				}
				return err
			})
		}
		require.NoError(t, both.Wait())
		rows, _, err := h.store.List(t.Context(), store.Filter{Repo: repo, Number: number})
		require.NoError(t, err)
		require.Len(t, rows, 1)
	}
}
