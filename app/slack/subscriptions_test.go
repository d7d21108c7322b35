package slack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/profiles"
)

// subscribed lists which channels are subscribed, and by whom.
func (h *fixture) subscribed() []string {
	return h.Query(`SELECT channel || ' ' || created_by FROM channel_subscriptions ORDER BY 1`)
}

// announcedEndings lists what channels are told of subscriptions that ended, with what the audit trail says of each.
func (h *fixture) announcedEndings() []string {
	return h.Query(`SELECT concat_ws(' ', a.facts ->> 'channel', a.facts ->> 'ended', e.metadata -> 'after' ->> 'made_by') FROM announcements a
		JOIN audit_events e ON e.action = 'subscription_ended' AND e.actor = 'lifecycle' AND e.metadata -> 'after' ->> 'ended' = a.facts ->> 'ended'
		WHERE a.event = 'subscription_ended' ORDER BY a.id`)
}

// takes removes an identity from the catalogue.
func (h *fixture) takes(name string) {
	h.Catalogue.Identities = slices.DeleteFunc(slices.Clone(h.Catalogue.Identities), func(i profiles.Identity) bool { return i.Name == name })
}

func TestASubscriptionEndsWithTheRightsOfWhoMadeIt(t *testing.T) {
	for name, c := range map[string]struct {
		lost func(h *fixture)
		want string
	}{
		"a role that the catalogue gave": {func(h *fixture) { h.takes("slack-UMATE") }, "C1 no_role slack:T1/UMATE"},
		"the membership of the channel":  {func(h *fixture) { h.workspace.absent["C1"] = []string{"UMATE"} }, "C1 not_in_channel slack:T1/UMATE"},
		"a channel that was opened to another organization": {func(h *fixture) {
			h.workspace.channels["C1"] = slack.Channel{ID: "C1", Name: "clusters", Member: true, External: true}
		}, "C1 outside slack:T1/UMATE"},
		"the account in Slack": {func(h *fixture) {
			h.workspace.people["UMATE"] = slack.Person{ID: "UMATE", Workspace: "T1", Deactivated: true}
			h.changed("UMATE")
		}, "C1 no_member slack:T1/UMATE"},
		"full membership of the workspace": {func(h *fixture) {
			h.workspace.people["UMATE"] = slack.Person{ID: "UMATE", Workspace: "T1", Guest: true}
			h.changed("UMATE")
		}, "C1 no_member slack:T1/UMATE"},
	} {
		for _, before := range []bool{false, true} { // a row of a release that kept no claims
			h := ours(t)
			h.workspace.channels["C3"] = slack.Channel{ID: "C3", Name: "payments", Member: true}
			require.Contains(t, h.slack("UMATE", "notify ready,failed"), "now gets", name)
			require.Contains(t, h.slack("UROB", "notify <#C3> ready"), "now gets", name)
			if before {
				h.Query(`UPDATE channel_subscriptions SET claims = NULL RETURNING id`)
			}
			require.NoError(t, h.service.JudgeSubscriptions(t.Context()))
			require.Equal(t, []string{"C1 slack:T1/UMATE", "C3 slack:T1/UROB"}, h.subscribed(), "%s: they may", name)

			c.lost(h)
			for range 2 {
				require.NoError(t, h.service.JudgeSubscriptions(t.Context()), name)
			}
			require.Equal(t, []string{"C3 slack:T1/UROB"}, h.subscribed(), name)
			require.Equal(t, []string{c.want}, h.announcedEndings(), "%s: told once", name)
		}
	}
}

func TestWhatSlackDoesNotSayEndsNoSubscription(t *testing.T) {
	h := ours(t)
	h.slack("UMATE", "notify ready")
	h.takes("slack-UMATE")
	h.Query(`UPDATE slack_people SET asked_at = asked_at - interval '2 days' RETURNING id`)
	h.workspace.down = true
	require.ErrorContains(t, h.service.JudgeSubscriptions(t.Context()), "channel C1")
	require.Equal(t, []string{"C1 slack:T1/UMATE"}, h.subscribed(), "they may have another role by their e-mail address")
	h.workspace.down = false
	delete(h.workspace.people, "UMATE") // as with the token of another workspace
	require.Error(t, h.service.JudgeSubscriptions(t.Context()))
	require.Equal(t, []string{"C1 slack:T1/UMATE"}, h.subscribed())

	h = ours(t)
	h.slack("UMATE", "notify ready")
	delete(h.workspace.channels, "C1")
	require.Error(t, h.service.JudgeSubscriptions(t.Context()))
	require.Equal(t, []string{"C1 slack:T1/UMATE"}, h.subscribed(), "nobody knows who is in the channel")
}

func TestSlacksLimitLeavesNoSubscriptionUnjudged(t *testing.T) {
	h := ours(t)
	for n := range 6 {
		id := fmt.Sprintf("C1%d", n)
		h.workspace.channels[id] = slack.Channel{ID: id, Name: id, Member: true}
	}
	for _, to := range []string{"C10", "C11", "C12", "C13", "C14"} {
		require.Contains(t, h.slack("UMATE", "notify <#"+to+"> ready"), "now gets")
	}
	require.Contains(t, h.slack("UMATE", "notify <#C10> ready --repo acme/shop"), "now gets")
	require.Contains(t, h.slack("UROB", "notify <#C15> ready"), "now gets")

	h.workspace.absent["C14"] = []string{"UMATE"}
	h.workspace.people["UROB"] = slack.Person{ID: "UROB", Workspace: "T1", Deactivated: true}
	h.changed("UROB")
	h.workspace.limit = 2
	for range 3 {
		require.Contains(t, h.subscribed(), "C14 slack:T1/UMATE")
		h.workspace.asked = 0
		require.ErrorAs(t, h.service.JudgeSubscriptions(t.Context()), new(slack.RateLimited))
		require.Equal(t, 3, h.workspace.asked, "about each channel once, and no more after what was too often")
		require.NotContains(t, h.subscribed(), "C15 slack:T1/UROB", "who is no member is judged without a look at the channel")
	}
	require.Equal(t, []string{"C10", "C10", "C11", "C12", "C13"}, h.Query(`SELECT channel FROM channel_subscriptions ORDER BY 1`))
}

func TestASubscriptionIsJudgedByTheAddressAndTheLinkOfNow(t *testing.T) {
	h, w := known(t)
	require.NotContains(t, h.slack("UMAYA", "approvals"), "link")
	h.Query(`INSERT INTO channel_subscriptions (id, workspace, channel, team, events, created_by, created_at)
		VALUES ('sbn_1', 'T1', 'C1', 'platform', '{ready}', 'slack:T1/UMAYA', now()) RETURNING id`)
	require.NoError(t, h.service.JudgeSubscriptions(t.Context()))
	require.Equal(t, []string{"C1 slack:T1/UMAYA"}, h.subscribed())
	other := w.people["UMAYA"]
	other.Email = "maya@home.example"
	w.people["UMAYA"] = other
	h.changed("UMAYA")
	require.NoError(t, h.service.JudgeSubscriptions(t.Context()))
	require.Equal(t, []string{"C1 no_role slack:T1/UMAYA"}, h.announcedEndings(), "the address of before counts for nothing")

	h = ours(t)
	h.links("ULINK", proved("saml:link", "ocpctl-team-platform"))
	require.Contains(t, h.slack("ULINK", "notify ready"), "now gets")
	seen := func(ago string) {
		h.Query(`UPDATE accounts SET seen_at = seen_at - $1::interval RETURNING account`, ago)
		require.NoError(t, h.service.JudgeSubscriptions(t.Context()))
	}
	seen("29 days")
	require.True(t, strings.HasSuffix(h.subscribed()[0], "ULINK"), "people on holiday do not sign in")
	seen("2 days")
	require.Empty(t, h.subscribed())
}
