package slack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/profiles"
)

// opensWindow has a request open its window, and a process that began since show what it is for.
func (h *onScreen) opensWindow(name string, r inbound.Request, title, want string) {
	h.Helper()
	r.Trigger = r.ID
	h.triggers[r.ID] = true
	before := len(h.open)
	require.NoError(h, h.service.OpenWindow(h.Context(), r), name)
	require.Len(h, h.open, before+1, name)
	window := h.open[before]
	require.Equal(h, title, window.view.Title.Text, name)
	require.Contains(h, window.raw, "this window is being prepared", name)
	require.NoError(h, h.service.OpenWindow(h.Context(), r), "the job runs again: "+name)
	require.Len(h, h.open, before+1, name)

	h.again()
	_, err := h.service.Handle(h.Context(), r)
	require.NoError(h, err)
	require.Contains(h, window.raw, want, name)
	require.NotContains(h, window.raw, "being prepared", name)
	require.Empty(h, h.answers(r), name)
}

func (h *onScreen) typed(user, text string) inbound.Request {
	r := h.request(inbound.Command, user)
	r.Text = text
	return r
}

func (h *onScreen) shortcut(user, action string) inbound.Request {
	r := h.request(inbound.Shortcut, user)
	r.Action = action
	return r
}

func TestAWindowOpensBeforeAnythingIsAskedAndThenShowsWhatItIsFor(t *testing.T) {
	h := screened(t)
	row := h.mate("demo")
	for name, c := range map[string]struct {
		request     inbound.Request
		title, want string
	}{
		"the shortcut":           {h.shortcut("UMATE", "ocp_create"), "Create a cluster", "It would"},
		"the message shortcut":   {h.shortcut("UMATE", "ocp_create_message"), "Create a cluster", "It would"},
		"my clusters":            {h.shortcut("UMATE", "ocp_clusters"), "My clusters", "demo"},
		"the command":            {h.typed("UMATE", "create --name shop-smoke"), "Create a cluster", "shop-smoke"},
		"sharing":                {h.pressOf("UMATE", blocks.Press{Verb: chatops.VerbShare, Cluster: row.ID}), "Share a cluster", "Person"},
		"the button of the form": {h.pressOf("UMATE", blocks.Press{Verb: chatops.VerbOpenForm}), "Create a cluster", "It would"},
		"a cluster that is gone": {h.pressOf("UMATE", blocks.Press{Verb: chatops.VerbShare, Cluster: "clu_nothing"}), "Share a cluster", "you may not see this cluster"},
	} {
		h.opensWindow(name, c.request, c.title, c.want)
	}
	for name, r := range map[string]inbound.Request{
		"a command that opens nothing": h.typed("UMATE", "status demo"), "one with a profile": h.typed("UMATE", "create aws-minimal-test"),
		"a dry run": h.typed("UMATE", "create --dry-run"), "nonsense": h.typed("UMATE", "creat"), "an unknown shortcut": h.shortcut("UMATE", "ocp_from_tomorrow"),
		"a button that opens nothing": h.pressOf("UMATE", blocks.Press{Verb: chatops.VerbExtend, Cluster: row.ID, Value: "4h"}),
		"no button of ours":           {Kind: inbound.Press, ID: "x", Workspace: "T1", User: "UMATE", Value: `{"v":"share"}`},
	} {
		r.Trigger = r.ID
		h.triggers[r.ID] = true
		before := len(h.open)
		require.NoError(t, h.service.OpenWindow(t.Context(), r), name)
		require.Len(t, h.open, before, name)
	}

	h = screenedWith(inSlack(t, profiles.ApprovalTerms{}))
	a := h.waits()
	h.opensWindow("refusing by button", h.pressOf("UBOSS", blocks.Press{Verb: chatops.VerbRefuse, Approval: a.ID}), "Refuse a request", "Reason")
}

func TestWhoClosedTheWindowIsAnsweredInWords(t *testing.T) {
	h := screened(t)
	r := h.request(inbound.Shortcut, "UMATE")
	r.Action, r.Trigger = "ocp_create", r.ID
	h.triggers[r.ID] = true
	require.NoError(t, h.service.OpenWindow(t.Context(), r))
	h.open[0].closed = true
	_, err := h.service.Handle(t.Context(), r)
	require.NoError(t, err)
	require.Contains(t, h.answers(r)[0], "The form could not be shown")
	require.Len(t, h.Query(`SELECT id FROM replies WHERE cause = $1 AND blocks::text LIKE '%ocp_form%'`, "slack:T1:"+r.ID), 1, "with a button that opens it")
}
