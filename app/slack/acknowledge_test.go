package slack_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	slackapp "github.com/ocpctl/ocpctl/app/slack"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
)

func TestTheImmediateAnswerFitsWhatSomebodyDid(t *testing.T) {
	filled := &inbound.View{ID: "V1", Callback: blocks.FormCreate, Values: map[string]map[string]string{"ttl": {"ttl": "4h"}, "profile": {"profile": "x"}}}
	for kind, want := range map[inbound.Kind]string{
		inbound.Mention: "null", inbound.Direct: "null", inbound.Press: "null", inbound.Change: "null", inbound.Shortcut: "null", inbound.HomeOpened: "null",
		inbound.Lifecycle: "null", inbound.Ignored: "null", inbound.Command: "null", inbound.Submission: `"response_action":"update"`,
	} {
		raw, err := json.Marshal(slackapp.Acknowledge(inbound.Request{Kind: kind, Text: "help", View: filled}))
		require.NoError(t, err)
		require.Contains(t, string(raw), want, kind)
		require.Less(t, len(raw), 20<<10, "Slack drops a longer answer over a socket")
	}
	raw, err := json.Marshal(slackapp.Acknowledge(inbound.Request{Kind: inbound.Ignored, Event: "block_suggestion"}))
	require.NoError(t, err)
	require.JSONEq(t, `{"options":[]}`, string(raw))
	require.False(t, slackapp.Rejected(slackapp.Acknowledge(inbound.Request{Kind: inbound.Submission, View: filled})))
}

func TestSlackShowsThatSomethingWasNotStoredWhereItCan(t *testing.T) {
	filled := &inbound.View{ID: "V1", Values: map[string]map[string]string{"ttl": {"ttl": "4h"}, "profile": {"profile": "x"}}}
	said, shown := slackapp.NotStored(inbound.Request{Kind: inbound.Submission, View: filled}, "not now")
	require.True(t, shown)
	require.True(t, slackapp.Rejected(said), "at the first field")
	raw, err := json.Marshal(said)
	require.NoError(t, err)
	require.JSONEq(t, `{"response_action":"errors","errors":{"profile":"not now"}}`, string(raw))
	_, shown = slackapp.NotStored(inbound.Request{Kind: inbound.Submission, View: &inbound.View{}}, "not now")
	require.False(t, shown, "a form without fields")
	for _, kind := range []inbound.Kind{inbound.Press, inbound.Shortcut, inbound.Mention, inbound.HomeOpened} {
		_, shown = slackapp.NotStored(inbound.Request{Kind: kind}, "not now")
		require.False(t, shown, kind)
	}
}
