package slack_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/notices"
)

// asks is a request of a person in #clusters, with an id of its own.
func (h *fixture) asks(kind inbound.Kind, user string) inbound.Request {
	h.commands++
	return inbound.Request{Kind: kind, ID: fmt.Sprintf("13345224609.%d", h.commands), Workspace: "T1", Channel: "C1", User: user, Name: strings.ToLower(user[1:])}
}

// pressOf is the press of a button in #clusters.
func (h *fixture) pressOf(user string, p blocks.Press) inbound.Request {
	r := h.asks(inbound.Press, user)
	r.Action, r.Value = "ocp_"+string(p.Verb), p.Encode()
	return r
}

// press has a person press a button, and returns the answer.
func (h *fixture) press(user string, p blocks.Press) string {
	h.Helper()
	return h.slackAs(h.pressOf(user, p))
}

// mate is UMATE's cluster, ready, with what people fetch of it.
func (h *fixture) mate(name string) clusters.Row {
	h.Helper()
	e := h.asks(inbound.Command, "UMATE")
	e.Text = "create aws-standard --name " + name
	require.Contains(h, h.slackAs(e), "is accepted")
	rows := h.Clusters()
	return h.ready(rows[len(rows)-1])
}

// ready makes a cluster ready, as if its install had succeeded.
func (h *fixture) ready(row clusters.Row) clusters.Row {
	h.Helper()
	_, err := h.Store.Pool().Exec(h.Context(), `UPDATE jobs SET status = 'SUCCEEDED', started_at = created_at, ended_at = created_at WHERE cluster_id = $1`, row.ID)
	require.NoError(h, err)
	servicetest.Ready(h, h.Store, h.Shelf, row)
	return h.row(row.ID)
}

func (h *fixture) row(id string) clusters.Row {
	h.Helper()
	row, err := h.Store.Cluster(h.Context(), id)
	require.NoError(h, err)
	return row
}

// notice writes a notice about a cluster and returns its id.
func (h *fixture) notice(kind blocks.Event, cluster string, facts blocks.Facts) string {
	h.Helper()
	raw, err := json.Marshal(facts)
	require.NoError(h, err)
	require.NoError(h, h.Store.Notices.Save(h.Context(), []notices.Notice{
		{Cause: cluster + string(kind), Kind: string(kind), Cluster: cluster, Workspace: "T1", Channel: "CADMIN", Facts: raw},
	}))
	return h.Query(`SELECT id FROM notices WHERE cause = $1`, cluster+string(kind))[0]
}

// told is what a notice shows, and the version of that.
func (h *fixture) told(id string) (f blocks.Facts, version int) {
	h.Helper()
	n, err := h.Store.Notices.Notice(h.Context(), id)
	require.NoError(h, err)
	require.NoError(h, json.Unmarshal(n.Facts, &f))
	return f, n.Wanted
}

// audited counts the lines of the audit trail.
func (h *fixture) audited() int { return len(h.Query(`SELECT id::text FROM audit_events`)) }

// Whatever changes something saves its answer in the same transaction: a process that dies after the change has answered.
func TestTheAnswerIsSavedWithTheChange(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		before func(h *fixture, row clusters.Row)
		want   string
	}{
		"destroy": {text: "destroy demo -m over", want: "`demo` is being destroyed"},
		"extend":  {text: "extend demo 2h", want: "The lifetime of `demo` now ends"},
		"hold":    {text: "hold demo 3h", want: "`demo` is held"},
		"unhold": {text: "unhold demo", want: "no longer held", before: func(h *fixture, _ clusters.Row) {
			h.slack("UMATE", "hold demo 3h")
		}},
		"scale": {text: "scale demo 2", want: "is being scaled to 2 workers"},
		"refresh": {text: "refresh other", want: "The add-ons of `other` are being applied again: cert-manager", before: func(h *fixture, _ clusters.Row) {
			made, err := h.Service.Create(h.Context(), policy.As("slack:T1/UMATE", "mate", policy.Requester, "platform"), app.CreateRequest{
				Source: policy.SourceSlack, Profile: "aws-standard", Name: "other", Team: "platform", CostCenter: "sandbox", Environment: "test", Addons: &[]string{"cert-manager"},
			})
			require.NoError(h, err)
			h.ready(made.Row)
		}},
		"share":   {text: "share demo <@UPAY|pay>", want: "shared with `@pay`"},
		"unshare": {text: "unshare demo <@UPAY|pay>", want: "no longer shared with `@pay`", before: func(h *fixture, _ clusters.Row) { h.slack("UMATE", "share demo <@UPAY>") }},
		"retry": {text: "retry demo", want: "is tried again now", before: func(h *fixture, row clusters.Row) {
			h.Query(`UPDATE clusters SET status = 'FAILED', phase = 'destroy_blocked', desired = 'absent', desired_why = '{"code":"other","words":"over"}', teardown = 'DESTROY' WHERE id = $1 RETURNING id`, row.ID)
		}},
		"notify":     {text: "notify ready,failed", want: "`#clusters` now gets messages"},
		"notify off": {text: "notify --off", want: "no longer gets messages", before: func(h *fixture, _ clusters.Row) { h.slack("UMATE", "notify ready") }},
		"unlink": {text: "unlink", want: "is no longer linked", before: func(h *fixture, _ clusters.Row) {
			h.links("UMATE", proved("saml:mate", "ocpctl-team-platform"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h := ours(t)
			row := h.mate("demo")
			if c.before != nil {
				c.before(h, row)
			}
			e := h.asks(inbound.Command, "UMATE")
			e.Text = c.text
			said := h.slackAs(e)
			require.Contains(t, said, c.want)
			require.NotEmpty(t, h.Query(`SELECT a.action FROM audit_events a JOIN replies r ON r.xmin = a.xmin WHERE r.cause = $1`, "slack:T1:"+e.ID), "one transaction")
			lines := h.audited()
			h.restart()
			require.Equal(t, said, h.slackAs(e), "sent again")
			require.Equal(t, lines, h.audited(), "it changes nothing")
		})
	}
}

// Where a change takes several transactions, doing it again changes nothing more and says how it is.
func TestAProcessThatDiedBeforeTheAnswerDoesNothingTwice(t *testing.T) {
	for name, c := range map[string]struct{ text, first, again string }{
		"share with a group": {"share demo <!subteam^S1|@oncall>", "the current members of the group (2 people)", "the current members of the group (2 people)"},
		"offer":              {"transfer demo <@UPAY>", "offered to pay", "offered to pay"},
		"transfer":           {"transfer demo --team payments", "now belongs to team payments", "already belongs to team payments"},
	} {
		t.Run(name, func(t *testing.T) {
			h := ours(t)
			h.mate("demo")
			h.workspace.groups = map[string][]string{"S1": {"UPAY", "UROB", "UBOT", "ULEFT"}}
			e := h.asks(inbound.Command, "UADMIN")
			e.Text = c.text
			require.Contains(t, h.slackAs(e), c.first)
			lines := h.audited()
			h.Query(`DELETE FROM replies WHERE cause = $1 RETURNING id`, "slack:T1:"+e.ID)
			h.restart()
			require.Contains(t, h.slackAs(e), c.again)
			require.Equal(t, lines, h.audited())
		})
	}
}

func TestWhoMayNotIsRefusedInWords(t *testing.T) {
	h := ours(t)
	row := h.mate("demo")
	for _, verb := range []string{"destroy demo", "extend demo 2h", "hold demo 2h", "unhold demo", "scale demo 2", "share demo --team payments", "unshare demo --team payments", "transfer demo --team payments", "retry demo", "kubeconfig demo", "logs demo", "explain demo", "status demo"} {
		require.Contains(t, h.slack("UPAY", verb), "You have no cluster called demo.", verb)
		require.Contains(t, h.slack("UNOBODY", verb), "`/ocp link`", verb)
	}
	for _, verb := range []string{"destroy demo", "extend demo 2h", "hold demo 2h", "scale demo 2", "share demo --team payments", "transfer demo --team payments"} {
		require.Contains(t, h.slack("UAUDIT", verb), "auditor", verb)
	}
	lines := h.audited()
	for _, p := range []blocks.Press{{Verb: chatops.VerbDestroy}, {Verb: chatops.VerbExtend, Value: "4h"}, {Verb: chatops.VerbShare}, {Verb: chatops.VerbLogs}, {Verb: chatops.VerbKubeconfig}, {Verb: chatops.VerbRetry}} {
		p.Cluster = row.ID
		require.Contains(t, h.press("UPAY", p), "Nothing was done, because you may not see this cluster. Its owner can share it with you.", p.Verb)
		require.Contains(t, h.press("UNOBODY", p), "`/ocp link`", p.Verb)
	}
	require.Equal(t, lines, h.audited())
	require.Equal(t, row.Version, h.row(row.ID).Version)
}

func TestABadArgumentIsRefusedInWords(t *testing.T) {
	h := ours(t)
	h.mate("demo")
	lines := h.audited()
	for text, want := range map[string]string{
		"extend demo":                 "how long",
		"extend demo soon":            "`soon`",
		"scale demo many":             "`many`",
		"scale demo 500":              "workers",
		"share demo":                  "with whom",
		"share demo <@UBOT>":          "That is an app",
		"share demo <@ULEFT>":         "is deactivated",
		"share demo <@UOTHER>":        "another organization",
		"share demo <@UGUEST>":        "is a guest of this workspace",
		"transfer demo <@UGUEST>":     "is a guest of this workspace",
		"share demo <@UUNKNOWN>":      "Slack knows no such person",
		"share demo --team nowhere":   "nowhere",
		"share demo <!subteam^S9>":    "no such user group",
		"share demo <!subteam^S2>":    "at most 50 at once",
		"unshare demo <@UROB>":        "not shared",
		"transfer demo":               "to whom",
		"transfer demo <@UMATE>":      "to yourself",
		"transfer demo --team nope":   "nope",
		"refresh demo":                "add-on",
		"retry demo":                  "There is nothing to retry",
		"destroy dmeo":                "You have no cluster called dmeo.",
		"approve":                     "Say which one",
		"refuse demo":                 "Add a reason",
		"list --owner":                "--owner",
		"logs demo --lines many":      "`many`",
		"notify redy":                 "Did you mean `ready`?",
		"destory demo":                "Did you mean `/ocp destroy`?",
		"break-glass demo":            "command line",
		"help nothing":                "*Commands*",
		"create aws-minimal-test --x": "`--x`",
	} {
		h.workspace.groups = map[string][]string{"S2": make([]string, 51)}
		require.Contains(t, h.slack("UMATE", text), want, text)
	}
	require.Equal(t, lines, h.audited(), "nothing was changed")
}

func TestEveryCommandOfSlackIsDone(t *testing.T) {
	h := ours(t)
	for _, verb := range []string{"create", "status", "extend", "destroy", "kubeconfig", "logs", "list", "scale", "refresh", "hold", "retry", "share", "approvals", "approve", "refuse", "unhold", "transfer", "unshare", "explain", "notify", "link", "unlink", "help"} {
		require.Contains(t, chatops.SlackHelp(chatops.AllCommands), "/ocp "+verb, verb)
		require.NotContains(t, h.slack("UMATE", verb), "is not available in Slack", verb)
		if verb != "help" {
			require.Contains(t, h.slack("UMATE", "help "+verb), "For example `/ocp "+verb, verb)
		}
	}
}

func TestAMentionAndADirectMessageAreCommands(t *testing.T) {
	h := ours(t)
	h.mate("demo")
	for kind, channel := range map[inbound.Kind]string{inbound.Mention: "C1", inbound.Direct: "DUMATE"} {
		e := h.asks(kind, "UMATE")
		e.Channel, e.Text = channel, "status demo"
		require.Contains(t, h.slackAs(e), "demo is ready")
		require.Equal(t, []string{channel + " UMATE"}, h.Query(`SELECT channel || ' ' || person FROM replies WHERE cause = $1`, "slack:T1:"+e.ID), "only they see it")
		e = h.asks(kind, "UMATE")
		e.Channel = channel
		require.Contains(t, h.slackAs(e), "*Commands*", "nothing but the bot's name")
		e = h.asks(kind, "UMATE")
		e.Channel, e.Text, e.Thread = channel, "status demo", 1710000000000100
		require.Contains(t, h.slackAs(e), "demo is ready")
		require.Equal(t, []string{"1710000000000100"}, h.Query(`SELECT thread FROM replies WHERE cause = $1`, "slack:T1:"+e.ID), "it is answered where it was asked")
	}
}
