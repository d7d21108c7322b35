package slack_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	api "github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/slack"
)

func TestACommandIsSentAsSlackSendsIt(t *testing.T) {
	var sent url.Values
	status, text := http.StatusOK, `{"response_type":"ephemeral","text":"Got it"}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		verifier, err := api.NewSecretsVerifier(r.Header, "secret")
		if err == nil {
			_, _ = verifier.Write(body)
			err = verifier.Ensure()
		}
		if err != nil {
			status = http.StatusUnauthorized
		}
		sent, _ = url.ParseQuery(string(body))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	s := start(t, slack.Config{CommandURL: server.URL})
	got, err := s.Command(t.Context(), "maya", slack.Clusters, "refuse x <too> big")
	require.NoError(t, err)
	require.Equal(t, "Got it", got)
	require.Equal(t, []string{"/ocp", "refuse x &lt;too&gt; big", "U0DEMOMAYA", "maya", slack.Workspace, slack.Clusters},
		[]string{sent.Get("command"), sent.Get("text"), sent.Get("user_id"), sent.Get("user_name"), sent.Get("team_id"), sent.Get("channel_id")})
	for _, field := range []string{"token", "response_url", "trigger_id"} {
		require.NotEmpty(t, sent.Get(field), field)
	}
	require.Equal(t, []string{"Got it"}, s.Seen("maya"))
	require.Empty(t, s.Seen("rob"), "only she sees it")

	status = http.StatusInternalServerError
	got, err = s.Command(t.Context(), "maya", slack.Clusters, "help")
	require.NoError(t, err)
	require.Contains(t, got, "dispatch_failed")
	_, err = s.Command(t.Context(), "nobody", slack.Clusters, "help")
	require.Error(t, err)
}

func TestCallsAreRefusedAsSlackRefusesThem(t *testing.T) {
	s := start(t, slack.Config{})
	call := func(method, token string, form url.Values) string {
		form.Set("token", token)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.API()+method, strings.NewReader(form.Encode()))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return code(t, r)
	}
	in := func(channel, text string) url.Values {
		return url.Values{"channel": {channel}, "user": {"U0DEMOMAYA"}, "text": {text}}
	}
	for _, c := range []struct {
		method, token string
		form          url.Values
		want          string
	}{
		{"auth.test", token, url.Values{}, ""},
		{"auth.test", "", url.Values{}, "not_authed"},
		{"chat.postEphemeral", "other", in(slack.Clusters, "hi"), "invalid_auth"},
		{"chat.deleteAll", token, url.Values{}, "unknown_method"},
		{"chat.postEphemeral", token, in(slack.Clusters, "hi"), ""},
		{"chat.postEphemeral", token, in(slack.Random, "hi"), "not_in_channel"},
		{"chat.postEphemeral", token, in("C0NOWHERE", "hi"), "channel_not_found"},
		{"chat.postEphemeral", token, in(slack.Clusters, ""), "no_text"},
		{"chat.postEphemeral", token, in(slack.Clusters, strings.Repeat("x", 40_001)), "msg_too_long"},
		{"chat.postEphemeral", token, url.Values{"channel": {slack.Clusters}, "user": {"U0"}, "text": {"hi"}}, "user_not_in_channel"},
		{"chat.postMessage", token, in("D0DEMOMAYA", "hi"), "channel_not_found"},
		{"conversations.open", token, url.Values{"users": {"U0"}}, "user_not_found"},
		{"conversations.open", token, url.Values{"users": {"U0DEMOMAYA"}}, ""},
		{"chat.postMessage", token, in("D0DEMOMAYA", "hello"), ""},
	} {
		require.Equal(t, c.want, call(c.method, c.token, c.form), "%s %v", c.method, c.form)
	}
	require.Equal(t, []string{"hi", "hello"}, s.Seen("maya"))
}

func TestWhatWasSaidOutlivesARestartAndTheNextIsLater(t *testing.T) {
	path, at := filepath.Join(t.TempDir(), "slack.json"), time.Now()
	cfg := slack.Config{StatePath: path, Token: token, CommandURL: "http://127.0.0.1:1", Now: func() time.Time { return at }}
	first, err := slack.Start(t.Context(), cfg)
	require.NoError(t, err)
	_, err = first.Command(t.Context(), "ada", slack.Clusters, "help")
	require.NoError(t, err)
	require.NoError(t, first.Stop())
	second := start(t, cfg)
	_, err = second.Command(t.Context(), "ada", slack.Clusters, "status")
	require.NoError(t, err)
	said := second.Messages()
	require.Len(t, said, 4)
	for i := range said[1:] {
		require.Greater(t, said[i+1].TS, said[i].TS)
	}
}
