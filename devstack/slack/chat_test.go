package slack_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/slack"
)

func TestAMessageIsPostedChangedAndDeleted(t *testing.T) {
	s := start(t, slack.Config{})
	posted := done(t, s, "chat.postMessage", m{
		"channel": slack.Clusters, "text": "one", "blocks": []m{section("*one*"), actions("a", button("go", "Go"))},
		"metadata": m{"event_type": "ocpctl", "event_payload": m{"id": "n1"}},
	})
	ts := posted["ts"]
	now := func() slack.Message { return s.Messages()[0] }
	require.Equal(t, slack.KindChannel, now().Kind)
	require.Contains(t, string(now().Blocks), `"block_id":"a"`)
	require.Regexp(t, `"block_id":"[0-9a-f]{5}"`, string(now().Blocks), "Slack names blocks without a name")

	done(t, s, "chat.update", m{"channel": slack.Clusters, "ts": ts, "text": "two", "blocks": []m{section("two")}})
	require.Equal(t, []any{"two", 1}, []any{now().Text, now().Edits})
	require.NotContains(t, string(now().Blocks), "Go")
	require.Contains(t, string(now().Metadata), "n1", "metadata stay if a change has none")
	done(t, s, "chat.update", m{"channel": slack.Clusters, "ts": ts, "text": "three"})
	require.Empty(t, now().Blocks, "a text without blocks replaces them")
	done(t, s, "chat.update", m{"channel": slack.Clusters, "ts": ts, "blocks": []m{}, "text": "four", "metadata": m{}})
	require.Empty(t, now().Metadata)

	done(t, s, "chat.delete", m{"channel": slack.Clusters, "ts": ts})
	require.True(t, now().Deleted)
	for _, method := range []string{"chat.update", "chat.delete"} {
		require.Equal(t, "message_not_found", call(t, s, method, m{"channel": slack.Clusters, "ts": ts, "text": "five"})["error"])
	}
}

func TestMessagesAreRefusedAsSlackRefusesThem(t *testing.T) {
	a := withApp(t, slack.Config{})
	s := a.Server
	ts := done(t, s, "chat.postMessage", m{"channel": slack.Clusters, "text": "mine"})["ts"]
	typed, err := s.Write(t.Context(), "maya", slack.Post{Channel: "clusters", Text: "hers"})
	require.NoError(t, err)
	hidden := done(t, s, "chat.postEphemeral", m{"channel": slack.Clusters, "user": "U0DEMOMAYA", "text": "psst"})["message_ts"]
	old := done(t, s, "chat.postMessage", m{"channel": slack.Payments, "text": "old"})["ts"]
	require.NoError(t, s.Archive(t.Context(), slack.Payments))
	for _, c := range []struct {
		method string
		args   m
		want   string
	}{
		{"chat.postMessage", m{"channel": "clusters", "text": "by name"}, "channel_not_found"},
		{"chat.postMessage", m{"text": "nowhere"}, "channel_not_found"},
		{"chat.postMessage", m{"channel": slack.Archived, "text": "x"}, "is_archived"},
		{"chat.postMessage", m{"channel": slack.Random, "text": "x"}, "not_in_channel"},
		{"chat.postMessage", m{"channel": slack.Clusters}, "no_text"},
		{"chat.postMessage", m{"channel": slack.Clusters, "text": strings.Repeat("x", 40_001)}, "msg_too_long"},
		{"chat.postMessage", m{"channel": slack.Clusters, "text": "x", "blocks": "no list"}, "invalid_blocks_format"},
		{"chat.postMessage", m{"channel": slack.Clusters, "text": "x", "blocks": []m{{"type": "sectoin"}}}, "invalid_blocks"},
		{"chat.postMessage", m{"channel": slack.Clusters, "text": "x", "metadata": m{"event_type": "a"}}, "invalid_metadata_format"},
		{"chat.postMessage", m{"channel": slack.Clusters, "text": "x", "thread_ts": "yesterday"}, "invalid_thread_ts"},
		{"chat.postMessage", m{"channel": "U0DEMODEAN", "text": "x"}, "channel_not_found"},
		{"chat.postEphemeral", m{"channel": slack.Admins, "user": "U0DEMOMAYA", "text": "x"}, "user_not_in_channel"},
		{"chat.update", m{"channel": slack.Clusters, "ts": "1710000000.000100", "text": "x"}, "message_not_found"},
		{"chat.update", m{"channel": slack.Clusters, "ts": hidden, "text": "x"}, "message_not_found"},
		{"chat.update", m{"channel": slack.Clusters, "ts": typed, "text": "x"}, "cant_update_message"},
		{"chat.update", m{"channel": slack.Clusters, "ts": ts, "text": strings.Repeat("x", 4_001)}, "msg_too_long"},
		{"chat.update", m{"channel": slack.Clusters, "ts": ts}, "no_text"},
		{"chat.update", m{"channel": slack.Payments, "ts": old, "text": "x"}, "is_inactive"},
		{"chat.delete", m{"channel": slack.Clusters, "ts": typed}, "cant_delete_message"},
	} {
		require.Equal(t, c.want, call(t, s, c.method, c.args)["error"], "%s %v", c.method, c.args)
	}
	problems := call(t, s, "chat.postMessage", m{"channel": slack.Clusters, "text": "x", "blocks": []m{{"type": "sectoin"}}})["response_metadata"]
	require.Contains(t, problems.(m)["messages"].([]any)[0], "[ERROR] blocks[0]")

	require.NoError(t, s.Kick(t.Context(), slack.Clusters))
	require.Equal(t, "not_in_channel", call(t, s, "chat.postMessage", m{"channel": slack.Clusters, "text": "x"})["error"])
	require.NoError(t, s.Kick(t.Context(), slack.Private))
	require.Equal(t, "channel_not_found", call(t, s, "chat.postMessage", m{"channel": slack.Private, "text": "x"})["error"], "the bot cannot see it")
	require.NoError(t, s.Invite(t.Context(), slack.Bot, slack.Clusters))
	require.NoError(t, s.Unarchive(t.Context(), slack.Payments))
	done(t, s, "chat.update", m{"channel": slack.Payments, "ts": old, "text": "x"})
}

func TestARepliesThreadIsItsRoots(t *testing.T) {
	s := start(t, slack.Config{})
	say := func(text string, thread any) string {
		return done(t, s, "chat.postMessage", m{"channel": slack.Clusters, "text": text, "thread_ts": thread})["ts"].(string)
	}
	root := say("root", nil)
	first := say("first", root)
	second := say("second", first) // a reply to a reply is in the same thread
	thread := func(ts string) (texts []string) {
		for _, v := range done(t, s, "conversations.replies", m{"channel": slack.Clusters, "ts": ts})["messages"].([]any) {
			texts = append(texts, v.(m)["text"].(string))
		}
		return texts
	}
	require.Equal(t, []string{"root", "first", "second"}, thread(root))
	require.Equal(t, []string{"root", "first", "second"}, thread(second))
	top := done(t, s, "conversations.history", m{"channel": slack.Clusters})["messages"].([]any)
	require.Len(t, top, 1)
	require.EqualValues(t, 2, top[0].(m)["reply_count"])

	require.NoError(t, s.DeleteMessage(slack.Clusters, root))
	require.Equal(t, []string{"This message was deleted.", "first", "second"}, thread(root))
	require.Equal(t, root, s.Messages()[len(s.Messages())-1].Thread)

	lonely := say("lonely", nil)
	require.NoError(t, s.DeleteMessage("clusters", lonely))
	lost := say("lost", lonely)
	require.Empty(t, s.Messages()[len(s.Messages())-1].Thread, "Slack shows a reply to nothing in the channel")
	require.NotEqual(t, lonely, lost)
	require.Equal(t, "thread_not_found", call(t, s, "conversations.replies", m{"channel": slack.Clusters, "ts": lonely})["error"])
}

func TestHistoryFindsAMessageByItsMetadata(t *testing.T) {
	s := start(t, slack.Config{})
	var stamps []string
	for _, id := range []string{"a", "b", "c"} {
		stamps = append(stamps, done(t, s, "chat.postMessage", m{
			"channel": slack.Clusters, "text": id, "metadata": m{"event_type": "ocpctl", "event_payload": m{"id": id}},
		})["ts"].(string))
	}
	ids := func(args m) (list []string) {
		args["channel"] = slack.Clusters
		for _, v := range done(t, s, "conversations.history", args)["messages"].([]any) {
			payload, _ := v.(m)["metadata"].(m)["event_payload"].(m)
			id, _ := payload["id"].(string)
			list = append(list, id)
		}
		return list
	}
	require.Equal(t, []string{"c", "b", "a"}, ids(m{"include_all_metadata": true}))
	require.Equal(t, []string{"", "", ""}, ids(m{}), "without the flag Slack returns the type alone")
	require.Equal(t, []string{"c"}, ids(m{"include_all_metadata": true, "oldest": stamps[1]}))
	require.Equal(t, []string{"c", "b"}, ids(m{"include_all_metadata": true, "oldest": stamps[1], "inclusive": true}))
	require.Equal(t, []string{"a"}, ids(m{"include_all_metadata": true, "latest": stamps[1]}))

	page := done(t, s, "conversations.history", m{"channel": slack.Clusters, "limit": 2})
	require.Equal(t, true, page["has_more"])
	next := page["response_metadata"].(m)["next_cursor"]
	page = done(t, s, "conversations.history", m{"channel": slack.Clusters, "limit": 2, "cursor": next})
	require.Len(t, page["messages"], 1)
	require.Equal(t, "invalid_cursor", call(t, s, "conversations.history", m{"channel": slack.Clusters, "cursor": "x"})["error"])
	require.Equal(t, "not_in_channel", call(t, s, "conversations.history", m{"channel": slack.Random})["error"])
}

func TestAPersonsIDIsTheirDirectMessage(t *testing.T) {
	s := start(t, slack.Config{})
	answer := done(t, s, "chat.postMessage", m{"channel": "U0DEMOMAYA", "text": "hello"})
	require.Equal(t, "D0DEMOMAYA", answer["channel"])
	require.Equal(t, []string{"hello"}, s.Seen("maya"))
	require.Empty(t, s.Visible("rob", "D0DEMOMAYA"))
	require.Len(t, s.Visible("maya", "D0DEMOMAYA"), 1)
	raw, err := json.Marshal(done(t, s, "conversations.history", m{"channel": "D0DEMOMAYA"}))
	require.NoError(t, err)
	require.Contains(t, string(raw), "hello")
}
