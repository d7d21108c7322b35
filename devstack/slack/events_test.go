package slack_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/slack"
)

func TestMentionsAndDirectMessagesAreEvents(t *testing.T) {
	a := withApp(t, slack.Config{})
	ts, err := a.Mention(t.Context(), "maya", slack.Clusters, "share @rob with #payments")
	require.NoError(t, err)
	g := a.last()
	require.Equal(t, []any{"event_callback", slack.Workspace, "app_mention", "U0DEMOMAYA", slack.Clusters, ts}, []any{
		g.at("type"), g.at("team_id"), g.at("event.type"), g.at("event.user"), g.at("event.channel"), g.at("event.ts"),
	})
	require.Equal(t, "<@"+slack.Bot+"> share <@U0DEMOROBB> with <#"+slack.Payments+">", g.at("event.text"))
	require.NotEmpty(t, g.at("event_id"))

	before := len(a.all())
	_, err = a.Mention(t.Context(), "maya", slack.Random, "help")
	require.NoError(t, err)
	_, err = a.Write(t.Context(), "maya", slack.Post{Channel: slack.Clusters, Text: "lunch?"})
	require.NoError(t, err)
	require.Len(t, a.all(), before, "where the app is not, or is not mentioned, it gets nothing")

	_, err = a.DirectMessage(t.Context(), "gwen", "list")
	require.NoError(t, err)
	g = a.last()
	require.Equal(t, []any{"message", "im", "W0DEMOGWEN", "D0DEMOGWEN", "list"}, []any{g.at("event.type"), g.at("event.channel_type"), g.at("event.user"), g.at("event.channel"), g.at("event.text")})

	_, err = a.Mention(t.Context(), "sam", slack.Shared, "create")
	require.NoError(t, err)
	require.Equal(t, []any{"T0OTHERCOM", true}, []any{a.last().at("event.user_team"), a.last().at("is_ext_shared_channel")})
	_, err = a.Mention(t.Context(), "dean", slack.Clusters, "help")
	require.ErrorContains(t, err, "deactivated")
	_, err = a.Mention(t.Context(), "gus", slack.Clusters, "help")
	require.ErrorContains(t, err, "is not in clusters")
}

func TestTheAppHearsOfItsOwnDirectMessages(t *testing.T) {
	a := withApp(t, slack.Config{})
	ts := done(t, a.Server, "chat.postMessage", m{"channel": "U0DEMOMAYA", "text": "hello"})["ts"]
	require.Eventually(t, func() bool { return len(a.all()) == 1 }, 5*time.Second, time.Millisecond)
	require.Equal(t, "B0DEMOOCPC", a.last().at("event.bot_id"))
	done(t, a.Server, "chat.update", m{"channel": "D0DEMOMAYA", "ts": ts, "text": "hello again"})
	require.Eventually(t, func() bool { return len(a.all()) == 2 }, 5*time.Second, time.Millisecond)
	require.Equal(t, []any{"message_changed", "hello again", "hello"}, []any{a.last().at("event.subtype"), a.last().at("event.message.text"), a.last().at("event.previous_message.text")})
}

func TestChangesOfTheWorkspaceAreEvents(t *testing.T) {
	a := withApp(t, slack.Config{})
	for _, c := range []struct {
		want string
		do   func() error
	}{
		{"channel_archive", func() error { return a.Archive(t.Context(), slack.Payments) }},
		{"channel_unarchive", func() error { return a.Unarchive(t.Context(), "#payments") }},
		{"group_archive", func() error { return a.Archive(t.Context(), slack.Private) }},
		{"channel_left", func() error { return a.Kick(t.Context(), slack.Clusters) }},
		{"member_joined_channel", func() error { return a.Invite(t.Context(), slack.Bot, slack.Random) }},
		{"member_left_channel", func() error { return a.Leave(t.Context(), "maya", slack.Random) }},
		{"channel_deleted", func() error { return a.DeleteChannel(t.Context(), slack.Admins) }},
		{"user_change", func() error { return a.Deactivate(t.Context(), "rob") }},
		{"user_change", func() error { return a.Reactivate(t.Context(), "rob") }},
	} {
		before := len(a.all())
		require.NoError(t, c.do(), c.want)
		require.Len(t, a.all(), before+1, c.want)
		require.Equal(t, c.want, a.last().at("event.type"))
	}
	require.Error(t, a.Archive(t.Context(), slack.Admins))
	require.Error(t, a.Kick(t.Context(), "nowhere"))
	require.Error(t, a.Deactivate(t.Context(), "nobody"))
}

func TestAnEventIsSentThreeTimesMore(t *testing.T) {
	a := withApp(t, slack.Config{})
	a.answers(http.StatusServiceUnavailable, "")
	require.NoError(t, a.OpenHome(t.Context(), "maya"))
	require.Eventually(t, func() bool { return len(a.Sent()) == 4 }, 5*time.Second, time.Millisecond)
	for i, g := range a.all() {
		require.Equal(t, a.all()[0].at("event_id"), g.at("event_id"))
		want := map[bool][]string{true: {"", ""}, false: {fmt.Sprint(i), "http_error"}}[i == 0]
		require.Equal(t, want, []string{g.Header.Get("X-Slack-Retry-Num"), g.Header.Get("X-Slack-Retry-Reason")})
	}
	require.Equal(t, slack.Sent{Name: "app_home_opened", ID: a.last().at("event_id").(string), Attempt: 3, Code: "dispatch_failed", Status: 503}, a.Sent()[3])
}

func TestWithoutAResponseInTimeARequestFails(t *testing.T) {
	a := withApp(t, slack.Config{Patience: 50 * time.Millisecond})
	a.hang = make(chan struct{})
	t.Cleanup(func() { close(a.hang) })
	got, err := a.Command(t.Context(), "maya", slack.Clusters, "help")
	require.NoError(t, err)
	require.Contains(t, got, "operation_timeout")
	require.NoError(t, a.OpenHome(t.Context(), "maya"))
	require.Eventually(t, func() bool { return a.last().Header.Get("X-Slack-Retry-Reason") == "http_timeout" }, 5*time.Second, time.Millisecond)
}

func TestACommandNamesWhomItMentions(t *testing.T) {
	a := withApp(t, slack.Config{})
	for typed, want := range map[string]string{
		"share @rob":                    "share <@U0DEMOROBB|rob>",
		"share @payments-oncall, @gwen": "share <!subteam^S0DEMOPAYM|@payments-oncall>, <@W0DEMOGWEN|gwen>",
		"notify #payments ready":        "notify <#" + slack.Payments + "|payments> ready",
		"notify #platform-private":      "notify #platform-private", // she is not in it
		"create x --pr acme/shop#44":    "create x --pr acme/shop#44",
		"a <@U0DEMOROBB> & b":           "a &lt;@U0DEMOROBB&gt; &amp; b",
		"see https://ui/x":              "see <https://ui/x>",
		"mail maya@acme.example":        "mail maya@acme.example",
	} {
		_, err := a.Command(t.Context(), "maya", slack.Clusters, typed)
		require.NoError(t, err)
		require.Equal(t, want, a.last().Form.Get("text"))
	}
	_, err := a.Command(t.Context(), "gwen", slack.Clusters, "help")
	require.NoError(t, err)
	require.Equal(t, slack.Org, a.last().Form.Get("enterprise_id"))
	_, err = a.Command(t.Context(), "maya", slack.Archived, "help")
	require.ErrorContains(t, err, "archived")
}

func TestAResponseCanHaveBlocksAndBeForAll(t *testing.T) {
	a := withApp(t, slack.Config{})
	a.answers(http.StatusOK, `{"response_type":"in_channel","text":"x","blocks":[{"type":"divider"}]}`)
	_, err := a.Command(t.Context(), "maya", slack.Clusters, "list")
	require.NoError(t, err)
	require.Len(t, a.Visible("rob", slack.Clusters), 1)
	a.answers(http.StatusOK, `{"text":"x","blocks":[{"type":"dividr"}]}`)
	got, err := a.Command(t.Context(), "maya", slack.Clusters, "list")
	require.NoError(t, err)
	require.Contains(t, got, "invalid_command_response")
	a.answers(http.StatusOK, "")
	got, err = a.Command(t.Context(), "maya", slack.Clusters, "list")
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestAResponseURLWorksFiveTimes(t *testing.T) {
	a, post := withResponseURL(t, slack.Config{})
	require.Equal(t, "ok", post(`{"replace_original":true,"text":"replaced"}`))
	require.Equal(t, "replaced", a.Messages()[0].Text)
	require.Equal(t, "ok", post(`{"text":"for him"}`))
	require.Equal(t, []string{"for him"}, a.Seen("rob"))
	require.Contains(t, post(`{}`), "no_text", "what is refused does not count")
	for range 3 {
		require.Equal(t, "ok", post(`{"response_type":"in_channel","text":"for all"}`))
	}
	require.Contains(t, post(`{"text":"x"}`), "used_url")
}

func TestAResponseURLExpiresAfterHalfAnHour(t *testing.T) {
	at := time.Now()
	_, post := withResponseURL(t, slack.Config{Now: func() time.Time { return at }})
	at = at.Add(30 * time.Minute)
	require.Equal(t, "ok", post(`{"text":"in time"}`))
	at = at.Add(time.Second)
	require.Contains(t, post(`{"text":"x"}`), "expired_url")
}

// withResponseURL starts an app in which somebody clicked a button, and returns it with a function that posts to the click's response_url.
func withResponseURL(t *testing.T, cfg slack.Config) (*app, func(body string) string) {
	t.Helper()
	a := withApp(t, cfg)
	ts := done(t, a.Server, "chat.postMessage", m{"channel": slack.Clusters, "text": "x", "blocks": []m{actions("a", button("go", "Go"))}})["ts"].(string)
	require.NoError(t, a.Click(t.Context(), "rob", ts, "go"))
	return a, func(body string) string {
		resp, err := http.Post(a.last().at("response_url").(string), "application/json", bytes.NewBufferString(body))
		require.NoError(t, err)
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return strings.TrimSpace(string(raw))
	}
}
