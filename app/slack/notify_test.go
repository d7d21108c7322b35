package slack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
)

func TestAChannelIsSubscribedByCommand(t *testing.T) {
	h := ours(t)
	w := h.workspace
	w.channels["COLD"] = slack.Channel{ID: "COLD", Name: "old", Member: true, Archived: true}
	w.channels["CSHARED"] = slack.Channel{ID: "CSHARED", Name: "partners", Member: true, External: true}
	kept := func() []string {
		return h.Query(`SELECT concat_ws(' ', channel, nullif(team, ''), nullif(repo, ''), array_to_string(events, ',')) FROM channel_subscriptions ORDER BY 1`)
	}
	for text, want := range map[string]string{
		"notify <#C2|random> ready":         "Invite it: type `/invite @ocpctl` in the channel",
		"notify <#CSECRET> ready":           "Invite it",
		"notify <#COLD|old> ready":          "This channel is archived",
		"notify ready --team payments":      "There is no team `payments` whose clusters you may see",
		"notify --off":                      "This channel is not subscribed to the clusters of team `platform`",
		"notify <#C1> ready --repo no/such": "",
	} {
		require.Contains(t, h.slack("UMATE", text), want, text)
	}
	require.Equal(t, []string{"C1 platform no/such ready"}, kept())
	h.slack("UMATE", "notify --off --repo no/such")

	require.Equal(t, "`#clusters` now gets messages about the clusters of team `platform`: `failed`, `ready`. `/ocp notify #channel --off --team platform` stops them.",
		h.slack("UMATE", "notify ready,failed"))
	require.Equal(t, "`#clusters` now gets messages about the clusters of team `platform`: `failed`, `ready`, `weekly`. Before, it got `failed`, `ready`. `/ocp notify #channel --off --team platform` stops them.",
		h.slack("UMATE", "notify weekly"), "it adds, and says what there was")
	h.slack("UMATE", "notify weekly --off")
	require.Contains(t, h.slack("UBOSS", "notify <#CSHARED> blocked"), "another organization shares this channel")
	require.Contains(t, h.slack("UPAY", "notify <#C1|clusters> expiring"), "team `payments`")
	require.Contains(t, h.slack("UAUDIT", "notify destroyed"), "about all clusters")
	require.Equal(t, []string{"C1 destroyed", "C1 payments expiring", "C1 platform failed,ready", "CSHARED platform blocked"}, kept())

	here := h.slack("UMATE", "notify")
	require.Contains(t, here, "*What `#clusters` gets*")
	require.Contains(t, here, "`failed`, `ready` of the clusters of team `platform`")
	require.Contains(t, here, "`destroyed` of all clusters")
	require.NotContains(t, here, "payments")
	require.NotContains(t, here, "#partners")
	e := h.asks(inbound.Direct, "UMATE")
	e.Channel, e.Text = "DUMATE", "notify"
	require.Contains(t, h.slackAs(e), "`#partners`", "everywhere, where no channel is meant")
	e.ID, e.Text = "direct", "notify ready"
	require.Contains(t, h.slackAs(e), "Say which channel")
	require.Contains(t, h.slack("UROB", "notify <#C2>"), "`#random` gets no messages")
	require.Contains(t, h.slack("UNOBODY", "notify ready"), "`/ocp link`")

	require.Contains(t, h.slack("UMATE", "notify ready --off"), "no longer gets these messages about the clusters of team `platform`: `ready`.")
	w.channels["C1"] = slack.Channel{ID: "C1", Name: "clusters"} // the bot was removed
	require.Equal(t, "`#clusters` no longer gets messages about the clusters of team `platform`.", h.slack("UROB", "notify --off"))
	require.Equal(t, []string{"C1 destroyed", "C1 payments expiring", "CSHARED platform blocked"}, kept())

	w.down = true
	e = h.asks(inbound.Command, "UMATE")
	e.Text = "notify ready"
	require.Contains(t, h.slackAs(e), "Nothing was done, because Slack did not say who is in this channel")
	require.Equal(t, []string{"C1 destroyed", "C1 payments expiring", "CSHARED platform blocked"}, kept())
}

func TestOnlyWhoIsInAChannelHasMessagesPostedThereAndOutsideOnlyAdmins(t *testing.T) {
	h := ours(t)
	w := h.workspace
	w.channels["C3"] = slack.Channel{ID: "C3", Name: "payments", Member: true}
	w.channels["CSHARED"] = slack.Channel{ID: "CSHARED", Name: "partners", Member: true, External: true}
	w.absent["C3"] = []string{"UMATE", "UBOSS"}
	kept := func() []string {
		return h.Query(`SELECT channel || ' ' || created_by FROM channel_subscriptions ORDER BY 1`)
	}
	for _, c := range []struct{ user, text, want string }{
		{"UMATE", "notify <#C3> ready", "You are not in this channel"},
		{"UBOSS", "notify <#C3> ready", "Join it"}, // an admin, too
		{"UMATE", "notify <#CSHARED> ready", "only a platform admin"},
		{"UPAYBOSS", "notify <#CSHARED> ready --team platform", "There is no team"}, // of another team
		{"UBOSS", "notify ready --team platform --repo acme/shop <#CSHARED>", "another organization shares this channel"},
		{"UROB", "notify <#C3> ready", "now gets messages"},
	} {
		require.Contains(t, h.slack(c.user, c.text), c.want, c.user+" "+c.text)
	}
	require.Equal(t, []string{"C3 slack:T1/UROB", "CSHARED slack:T1/UBOSS"}, kept())

	e := h.asks(inbound.Command, "UMATE")
	e.Channel, e.Text = "C3", "notify failed"
	require.Contains(t, h.slackAs(e), "now gets messages", "only members type in a channel")
	e = h.asks(inbound.Command, "UMATE")
	e.Channel, e.Text = "CSHARED", "notify failed"
	require.Contains(t, h.slackAs(e), "only a platform admin")
}
