package slack_test

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/slack"
)

func TestPeopleAreDescribedAsSlackDescribesThem(t *testing.T) {
	s := start(t, slack.Config{})
	user := func(id string) m { return done(t, s, "users.info", m{"user": id})["user"].(m) }
	require.Equal(t, "maya@acme.example", user("U0DEMOMAYA")["profile"].(m)["email"])
	require.Equal(t, true, user("U0DEMOGUST")["is_ultra_restricted"])
	require.Equal(t, true, user("U0DEMODEAN")["deleted"])
	require.Equal(t, true, user("U0DEMOCIBO")["is_bot"])
	require.Equal(t, slack.Org, user("W0DEMOGWEN")["enterprise_user"].(m)["enterprise_id"])
	require.Equal(t, []any{false, "T0OTHERCOM"}, []any{user("U0OTHERSAM")["is_stranger"], user("U0OTHERSAM")["team_id"]}, "he is in a shared channel")
	require.NoError(t, s.Leave(t.Context(), "sam", slack.Shared))
	require.Equal(t, true, user("U0OTHERSAM")["is_stranger"])
	require.Equal(t, "user_not_found", call(t, s, "users.info", m{"user": "maya"})["error"])
}

func TestChannelsAreDescribedAsSlackDescribesThem(t *testing.T) {
	s := start(t, slack.Config{})
	about := func(id string) m { return done(t, s, "conversations.info", m{"channel": id})["channel"].(m) }
	require.Equal(t, []any{true, false, false}, []any{about(slack.Clusters)["is_member"], about(slack.Clusters)["is_archived"], about(slack.Random)["is_member"]})
	require.Equal(t, []any{true, true, true}, []any{about(slack.Archived)["is_archived"], about(slack.Private)["is_private"], about(slack.Shared)["is_ext_shared"]})
	require.Equal(t, "channel_not_found", call(t, s, "conversations.info", m{"channel": "C0NOWHERE"})["error"])
	require.Contains(t, done(t, s, "conversations.members", m{"channel": slack.Payments})["members"], "U0DEMOGUST")
	answer := call(t, s, "conversations.open", m{"users": "U0DEMOMAYA,U0DEMOROBB"})
	require.Equal(t, []any{"missing_scope", "mpim:write", strings.Join(slack.Scopes, ",")}, []any{answer["error"], answer["needed"], answer["provided"]})
	for who, want := range map[string]string{"U0DEMODEAN": "user_disabled", "U0DEMOCIBO": "cannot_dm_bot", "U0": "user_not_found"} {
		require.Equal(t, want, call(t, s, "conversations.open", m{"users": who})["error"])
	}
	require.Equal(t, false, done(t, s, "conversations.open", m{"users": "W0DEMOGWEN"})["already_open"])
	require.Equal(t, true, done(t, s, "conversations.open", m{"users": "W0DEMOGWEN"})["already_open"])
}

func TestWithoutItsScopeACallIsRefused(t *testing.T) {
	s := start(t, slack.Config{})
	all := slack.Scopes
	t.Cleanup(func() { slack.Scopes = all })
	for scope, c := range map[string]struct {
		method string
		args   m
	}{
		"chat:write":       {"chat.update", m{}},
		"channels:history": {"conversations.history", m{"channel": slack.Clusters}},
		"groups:history":   {"conversations.replies", m{"channel": slack.Private, "ts": "1"}},
		"channels:read":    {"conversations.info", m{"channel": slack.Clusters}},
	} {
		slack.Scopes = nil
		for _, s := range all {
			if s != scope {
				slack.Scopes = append(slack.Scopes, s)
			}
		}
		answer := call(t, s, c.method, c.args)
		require.Equal(t, []any{"missing_scope", scope}, []any{answer["error"], answer["needed"]}, c.method)
	}
	slack.Scopes = []string{"users:read"}
	require.NotContains(t, done(t, s, "users.info", m{"user": "U0DEMOMAYA"})["user"].(m)["profile"], "email")
}

func TestATokenInTheWrongPlaceDoesNotCount(t *testing.T) {
	s := start(t, slack.Config{})
	ask := func(method, target, kind, body, bearer string) string {
		r, err := http.NewRequestWithContext(t.Context(), method, s.API()+target, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", kind)
		if bearer != "" {
			r.Header.Set("Authorization", "Bearer "+bearer)
		}
		return code(t, r)
	}
	const form, json = "application/x-www-form-urlencoded", "application/json"
	for _, c := range []struct{ method, target, kind, body, bearer, want string }{
		{"POST", "auth.test", form, "token=" + token, "", ""},
		{"GET", "auth.test", "", "", token, ""},
		{"GET", "auth.test?token=" + token, "", "", "", "not_authed"},
		{"POST", "auth.test", json, `{"token":"` + token + `"}`, "", "not_authed"},
		{"POST", "auth.test", json, `{"a":1}`, token, ""},
		{"POST", "auth.test", json, "", token, ""},
		{"POST", "auth.test", json, `[]`, token, "json_not_object"},
		{"POST", "auth.test", json, `{`, token, "invalid_json"},
		{"POST", "auth.test", form, "a=%zz", token, "invalid_form_data"},
		{"POST", "auth.test", "image/png", "x", token, "invalid_post_type"},
		{"POST", "auth.test", "", "x", token, "missing_post_type"},
		{"POST", "auth.test", form, "", slack.DefaultAppToken, "not_allowed_token_type"},
		{"POST", "apps.connections.open", form, "", token, "not_allowed_token_type"},
	} {
		require.Equal(t, c.want, ask(c.method, c.target, c.kind, c.body, c.bearer), "%+v", c)
	}
}

func TestARevokedTokenIsRefusedUntilTheAppIsInstalledAgain(t *testing.T) {
	a := withApp(t, slack.Config{})
	require.NoError(t, a.RevokeToken(t.Context()))
	require.Equal(t, "token_revoked", call(t, a.Server, "auth.test", m{})["error"])
	require.Equal(t, "tokens_revoked", a.last().at("event.type"))
	require.NoError(t, a.Install())
	done(t, a.Server, "auth.test", m{})
	require.NoError(t, a.Uninstall(t.Context()))
	require.Equal(t, "account_inactive", call(t, a.Server, "auth.test", m{})["error"])
	require.Equal(t, "app_uninstalled", a.all()[1].at("event.type"))
}

func TestLimitsAreSlacks(t *testing.T) {
	at := time.Now()
	s := start(t, slack.Config{Limits: true, Now: func() time.Time { return at }})
	post := func(channel string) (int, string) {
		resp, err := http.PostForm(s.API()+"chat.postMessage", url.Values{"token": {token}, "channel": {channel}, "text": {"x"}})
		require.NoError(t, err)
		resp.Body.Close()
		return resp.StatusCode, resp.Header.Get("Retry-After")
	}
	for range 4 { // a short burst
		status, _ := post(slack.Clusters)
		require.Equal(t, http.StatusOK, status)
	}
	status, after := post(slack.Clusters)
	require.Equal(t, []any{http.StatusTooManyRequests, "1"}, []any{status, after})
	status, _ = post(slack.Payments)
	require.Equal(t, http.StatusOK, status, "each channel has its own limit")
	at = at.Add(time.Second)
	status, _ = post(slack.Clusters)
	require.Equal(t, http.StatusOK, status)
	status, _ = post(slack.Clusters)
	require.Equal(t, http.StatusTooManyRequests, status)

	about := m{"channel": slack.Clusters}
	for range 50 {
		done(t, s, "conversations.info", about)
	}
	require.Equal(t, "ratelimited", call(t, s, "conversations.info", about)["error"])
	at = at.Add(3 * time.Second)
	done(t, s, "conversations.info", about)
}

func TestStateOutlivesARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "slack.json")
	cfg := slack.Config{StatePath: path, Token: token, CommandURL: "http://127.0.0.1:1"}
	first, err := slack.Start(t.Context(), cfg)
	require.NoError(t, err)
	ts := done(t, first, "chat.postMessage", m{"channel": slack.Clusters, "text": "one", "blocks": []m{actions("a", button("go", "Go"))}})["ts"]
	done(t, first, "views.publish", m{"user_id": "U0DEMOMAYA", "view": m{"type": "home", "blocks": []m{section("home")}}})
	require.NoError(t, first.Archive(t.Context(), slack.Payments))
	require.NoError(t, first.Deactivate(t.Context(), "rob"))
	require.NoError(t, first.Stop())

	second := start(t, cfg)
	require.Contains(t, string(second.Messages()[0].Blocks), "Go")
	done(t, second, "chat.update", m{"channel": slack.Clusters, "ts": ts, "text": "two"})
	require.NotNil(t, second.Home("maya"))
	require.Equal(t, "is_archived", call(t, second, "chat.postMessage", m{"channel": slack.Payments, "text": "x"})["error"])
	require.Equal(t, true, done(t, second, "users.info", m{"user": "U0DEMOROBB"})["user"].(m)["deleted"])
	_, err = second.Command(t.Context(), "rob", slack.Clusters, "help")
	require.ErrorContains(t, err, "deactivated")
}
