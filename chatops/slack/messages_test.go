package slack_test

import (
	"encoding/json"
	"testing"
	"time"

	api "github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/slack"
	standin "github.com/ocpctl/ocpctl/devstack/slack"
)

var withButton = slack.Message{Text: "ready", Blocks: []api.Block{
	api.NewSectionBlock(api.NewTextBlockObject(api.MarkdownType, "*ready*", false, false), nil, nil),
	api.NewActionBlock("", api.NewButtonBlockElement("ocp_extend", "{}", api.NewTextBlockObject(api.PlainTextType, "Extend", false, false))),
}}

func TestAPostCarriesItsMarkerAndNoPreviews(t *testing.T) {
	c, s := scripted(t, map[string]string{"chat.postMessage": `{"ok":true,"channel":"C1","ts":"1710000000.000100","message":{"ts":"1710000000.000100"}}`})
	ts, err := c.Post(t.Context(), slack.Place{Channel: "C1"}, withButton, "sub_1")
	require.NoError(t, err)
	require.EqualValues(t, 1710000000000100, ts)
	form := s.asked[0].form
	require.JSONEq(t, `{"event_type":"ocpctl","event_payload":{"id":"sub_1"}}`, form["metadata"])
	require.Equal(t, []string{"C1", "ready", "false", "false", ""}, []string{form["channel"], form["text"], form["unfurl_links"], form["unfurl_media"], form["thread_ts"]})
	var blocks []map[string]any
	require.NoError(t, json.Unmarshal([]byte(form["blocks"]), &blocks))
	require.Len(t, blocks, 2)
}

func TestAnUpdateWithoutBlocksRemovesThem(t *testing.T) {
	c, s := scripted(t, map[string]string{"chat.update": `{"ok":true,"channel":"C1","ts":"1710000000.000100"}`})
	require.NoError(t, c.Update(t.Context(), "C1", 1710000000000100, words("done")))
	require.NoError(t, c.Update(t.Context(), "C1", 1710000000000100, withButton))
	require.Equal(t, []string{"1710000000.000100", "[]", "none"}, []string{s.asked[0].form["ts"], s.asked[0].form["blocks"], s.asked[0].form["parse"]})
	require.Contains(t, s.asked[1].form["blocks"], "ocp_extend")
	require.NotContains(t, s.asked[1].form, "metadata", "the marker stays")
}

func TestWhatLandsBesideItsThreadIsTakenBack(t *testing.T) {
	answers := map[string]string{
		"chat.postMessage": `{"ok":true,"channel":"C1","ts":"1710000001.000100","message":{"ts":"1710000001.000100","thread_ts":"1710000000.000100"}}`,
		"chat.delete":      `{"ok":true,"channel":"C1","ts":"1710000001.000100"}`,
	}
	c, s := scripted(t, answers)
	thread := slack.Place{Channel: "C1", Thread: 1710000000000100}
	_, err := c.Post(t.Context(), thread, words("done"), "sub_1")
	require.NoError(t, err)
	require.Equal(t, "1710000000.000100", s.asked[0].form["thread_ts"])
	answers["chat.postMessage"] = `{"ok":true,"channel":"C1","ts":"1710000001.000100","message":{"ts":"1710000001.000100"}}`
	_, err = c.Post(t.Context(), thread, words("done"), "sub_1")
	require.ErrorIs(t, err, slack.ErrGone)
	require.Equal(t, "chat.delete", s.asked[2].method)
	require.Equal(t, "1710000001.000100", s.asked[2].form["ts"])
}

func TestAMessageIsFoundByItsMarkerOnAnyPage(t *testing.T) {
	const found = `{"ok":true,"messages":[{"ts":"1710000005.000000","metadata":{"event_type":"other","event_payload":{"id":"sub_1"}}},
		{"ts":"1710000004.000000","metadata":{"event_type":"ocpctl","event_payload":{"id":"sub_1"}}},
		{"ts":"1710000003.000000","metadata":{"event_type":"ocpctl","event_payload":{"id":"sub_1"}}}]}`
	answers := map[string]string{"conversations.history": found, "conversations.replies": found}
	c, s := scripted(t, answers)
	since := time.Unix(1710000000, 0)
	for _, in := range []slack.Place{{Channel: "C1"}, {Channel: "C1", Thread: 1710000000000100}} {
		ts, ok, err := c.Find(t.Context(), in, "sub_1", since)
		require.NoError(t, err)
		require.True(t, ok)
		require.EqualValues(t, 1710000004000000, ts, "the newest of ours")
	}
	require.Equal(t, []string{"1", "1709999940.000000", "200"}, []string{s.asked[0].form["include_all_metadata"], s.asked[0].form["oldest"], s.asked[0].form["limit"]})
	require.Equal(t, "1710000000.000100", s.asked[1].form["ts"])

	_, ok, err := c.Find(t.Context(), slack.Place{Channel: "C1"}, "sub_2", since)
	require.NoError(t, err)
	require.False(t, ok)
	answers["conversations.history"] = `{"ok":true,"has_more":true,"messages":[],"response_metadata":{"next_cursor":"more"}}`
	s.asked = nil
	_, ok, err = c.Find(t.Context(), slack.Place{Channel: "C1"}, "sub_1", since)
	require.NoError(t, err)
	require.False(t, ok)
	require.Len(t, s.asked, 10, "it gives up after ten pages")
	require.Equal(t, "more", s.asked[1].form["cursor"])
}

func TestWithoutTheScopeNothingIsFound(t *testing.T) {
	c, _ := scripted(t, map[string]string{
		"conversations.history": `{"ok":false,"error":"missing_scope","needed":"channels:history"}`, "conversations.replies": `{"ok":false,"error":"thread_not_found"}`,
	})
	for _, in := range []slack.Place{{Channel: "C1"}, {Channel: "C1", Thread: 1}} {
		_, ok, err := c.Find(t.Context(), in, "sub_1", time.Now())
		require.NoError(t, err)
		require.False(t, ok)
	}
}

func TestInADirectMessageAnAnswerIsAnOrdinaryMessage(t *testing.T) {
	c, s := scripted(t, map[string]string{"chat.postMessage": `{"ok":true,"channel":"D1","ts":"1710000000.000100"}`})
	_, err := c.Send(t.Context(), slack.Target{Channel: "D1", User: "U1"}, withButton)
	require.NoError(t, err)
	require.Equal(t, []string{"chat.postMessage", "D1"}, []string{s.asked[0].method, s.asked[0].form["channel"]})
	require.Contains(t, s.asked[0].form["blocks"], "ocp_extend")
}

func TestAMessageSurvivesItsEncoding(t *testing.T) {
	again, err := slack.DecodeMessage(withButton.Text, withButton.EncodedBlocks())
	require.NoError(t, err)
	require.Equal(t, withButton.EncodedBlocks(), again.EncodedBlocks())
	require.JSONEq(t, `[]`, string(slack.Message{Text: "x"}.EncodedBlocks()))
	_, err = slack.DecodeMessage("x", []byte(`{`))
	require.Error(t, err)
}

// The stand-in is the Slack of the demo, which knows this client from the documentation alone.
func TestALifeOfAMessageInAWorkspace(t *testing.T) {
	c, s := wire(t, token)
	ctx, begun := t.Context(), time.Now()
	here := slack.Place{Channel: standin.Clusters}
	ts, err := c.Post(ctx, here, withButton, "sub_1")
	require.NoError(t, err)
	thread := slack.Place{Channel: standin.Clusters, Thread: ts}
	answer, err := c.Post(ctx, thread, words("began"), "sub_2:0")
	require.NoError(t, err)
	_, err = c.Send(ctx, slack.Target{Channel: here.Channel, User: "U0DEMOMAYA", Thread: ts}, words("for you"))
	require.NoError(t, err)
	said := s.Messages()[2]
	require.Equal(t, []any{standin.KindEphemeral, s.Messages()[0].TS, "for you"}, []any{said.Kind, said.Thread, said.Text}, "in the thread")
	require.NoError(t, c.Update(ctx, here.Channel, ts, words("over")))
	for marker, at := range map[string]struct {
		in   slack.Place
		want int64
	}{"sub_1": {here, ts}, "sub_2:0": {thread, answer}} {
		found, ok, err := c.Find(ctx, at.in, marker, begun)
		require.NoError(t, err)
		require.True(t, ok, marker)
		require.Equal(t, at.want, found)
	}
	_, ok, err := c.Find(ctx, here, "sub_1", time.Now().Add(10*time.Minute))
	require.NoError(t, err)
	require.False(t, ok, "only what was posted since")

	require.NoError(t, s.Archive(ctx, here.Channel))
	_, err = c.Post(ctx, here, words("more"), "sub_3")
	require.ErrorIs(t, err, slack.ErrChannel)
	require.Equal(t, "is_archived", slack.CodeOf(err))
	require.ErrorIs(t, c.Update(ctx, here.Channel, ts, words("more")), slack.ErrChannel)
	require.NoError(t, s.Unarchive(ctx, here.Channel))

	require.NoError(t, s.DeleteMessage(here.Channel, s.Messages()[0].TS))
	require.ErrorIs(t, c.Update(ctx, here.Channel, ts, words("more")), slack.ErrGone)
	alone, err := c.Post(ctx, here, words("alone"), "sub_4")
	require.NoError(t, err)
	last := s.Messages()[3]
	require.Equal(t, alone, last.ID)
	require.NoError(t, s.DeleteMessage(here.Channel, last.TS))
	_, err = c.Post(ctx, slack.Place{Channel: here.Channel, Thread: alone}, words("below"), "sub_5")
	require.ErrorIs(t, err, slack.ErrGone)
	for _, m := range s.Messages()[3:] {
		require.True(t, m.Deleted, "nothing is left beside the thread")
	}

	require.NoError(t, s.Kick(ctx, here.Channel))
	_, err = c.Post(ctx, here, words("more"), "sub_6")
	require.ErrorIs(t, err, slack.ErrChannel)
	require.Equal(t, "not_in_channel", slack.CodeOf(err))
	require.NoError(t, s.RevokeToken(ctx))
	_, err = c.Post(ctx, here, words("more"), "sub_7")
	require.True(t, slack.TokenRefused(err), "%v", err)
}
