package slack_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	api "github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/internal/secret"
)

// script answers each method as it is told to, and keeps what was asked.
type script struct {
	mu      sync.Mutex
	answers map[string]string // by method; a JSON object
	status  int
	asked   []call
}

type call struct {
	method string
	form   map[string]string
	body   string
}

func scripted(t *testing.T, answers map[string]string) (*slack.Client, *script) {
	t.Helper()
	s := &script{answers: answers, status: http.StatusOK}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	c, err := slack.New(slack.Config{Token: secret.New(token), BaseURL: server.URL + "/api"})
	require.NoError(t, err)
	return c, s
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Contains(r.URL.String(), token) {
		panic("the token is in the address")
	}
	c := call{method: strings.TrimPrefix(r.URL.Path, "/api/"), form: map[string]string{}}
	if r.Header.Get("Content-Type") == "application/x-www-form-urlencoded" {
		_ = r.ParseForm()
		for name := range r.PostForm {
			c.form[name] = r.PostForm.Get(name)
		}
	} else {
		var body json.RawMessage
		_ = json.NewDecoder(r.Body).Decode(&body)
		c.body = string(body)
	}
	s.asked = append(s.asked, c)
	answer, known := s.answers[c.method]
	if !known {
		answer = `{"ok":false,"error":"unknown_method"}`
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(s.status)
	_, _ = w.Write([]byte(answer))
}

// calls are what the client can be asked to do, by the method that it calls.
var calls = map[string]func(*testing.T, *slack.Client) error{
	"chat.postMessage": func(t *testing.T, c *slack.Client) error {
		_, err := c.Post(t.Context(), slack.Place{Channel: "C1"}, words("done"), "sub_1")
		return err
	},
	"chat.update": func(t *testing.T, c *slack.Client) error {
		return c.Update(t.Context(), "C1", 1710000000000100, words("done"))
	},
	"conversations.history": func(t *testing.T, c *slack.Client) error {
		_, _, err := c.Find(t.Context(), slack.Place{Channel: "C1"}, "sub_1", time.Now())
		return err
	},
	"conversations.open":    func(t *testing.T, c *slack.Client) error { _, err := c.OpenDirect(t.Context(), "U1"); return err },
	"conversations.info":    func(t *testing.T, c *slack.Client) error { _, err := c.Channel(t.Context(), "C1"); return err },
	"users.info":            func(t *testing.T, c *slack.Client) error { _, err := c.Person(t.Context(), "U1"); return err },
	"usergroups.users.list": func(t *testing.T, c *slack.Client) error { _, err := c.GroupMembers(t.Context(), "S1"); return err },
	"views.open": func(t *testing.T, c *slack.Client) error {
		_, err := c.OpenForm(t.Context(), "1.2.3", api.ModalViewRequest{})
		return err
	},
	"views.update": func(t *testing.T, c *slack.Client) error {
		return c.UpdateForm(t.Context(), "V1", "h", api.ModalViewRequest{})
	},
	"views.publish": func(t *testing.T, c *slack.Client) error {
		return c.ShowHome(t.Context(), "U1", api.HomeTabViewRequest{})
	},
}

func TestEachCodeMeansTheSameWhereverItComesFrom(t *testing.T) {
	for _, c := range []struct {
		methods string
		codes   string
		is      error
	}{
		{"chat.postMessage chat.update conversations.history conversations.open conversations.info users.info usergroups.users.list views.open views.update views.publish",
			"invalid_auth not_authed account_inactive token_revoked token_expired not_allowed_token_type team_access_not_granted org_login_required team_added_to_org ekm_access_denied enterprise_is_restricted accesslimited two_factor_setup_required access_denied", slack.ErrRefused},
		{"chat.postMessage chat.update conversations.open conversations.info users.info usergroups.users.list views.open views.publish", "missing_scope", slack.ErrRefused},
		{"chat.postMessage chat.update conversations.history conversations.info", "channel_not_found not_in_channel is_archived is_inactive no_permission", slack.ErrChannel},
		{"chat.postMessage", "restricted_action restricted_action_read_only_channel restricted_action_thread_only_channel restricted_action_non_threadable_channel restricted_action_thread_locked messages_tab_disabled", slack.ErrChannel},
		{"chat.update", "message_not_found cant_update_message edit_window_closed", slack.ErrGone},
		{"chat.postMessage", "thread_not_found cannot_reply_to_message", slack.ErrGone},
		{"conversations.open users.info", "user_not_found users_not_found user_not_visible user_disabled", slack.ErrNever},
		{"conversations.open", "cannot_dm_bot invalid_user_combination", slack.ErrNever},
		{"usergroups.users.list", "no_such_subteam", slack.ErrGone},
		{"views.open", "expired_trigger_id exchanged_trigger_id invalid_trigger_id trigger_expired trigger_exchanged", slack.ErrExpired},
		{"views.update", "not_found hash_conflict", slack.ErrGone},
		{"views.publish", "not_enabled", slack.ErrRefused},
		{"chat.postMessage chat.update", "invalid_blocks msg_too_long", nil}, // our mistake
		{"chat.postMessage chat.update views.open users.info", "internal_error fatal_error service_unavailable request_timeout something_new", nil},
	} {
		for method := range strings.FieldsSeq(c.methods) {
			for code := range strings.FieldsSeq(c.codes) {
				client, _ := scripted(t, map[string]string{
					"auth.test": `{"ok":true,"team_id":"T1","user":"ocpctl"}`, method: `{"ok":false,"error":"` + code + `"}`,
				})
				err := calls[method](t, client)
				require.ErrorContains(t, err, code, method)
				require.NotContains(t, err.Error(), token)
				require.Equal(t, code, slack.CodeOf(err))
				for _, is := range []error{slack.ErrRefused, slack.ErrChannel, slack.ErrGone, slack.ErrNever, slack.ErrExpired} {
					require.Equal(t, is == c.is, errors.Is(err, is), "%s %s: %v", method, code, err)
				}
				whole := c.is == slack.ErrRefused && code != "missing_scope" && code != "access_denied" && code != "not_enabled"
				require.Equal(t, whole, slack.TokenRefused(err), code)
			}
		}
	}
}

func TestLimitsSayHowLongAndForWhom(t *testing.T) {
	for code, want := range map[string]slack.RateLimited{
		"ratelimited": {RetryAfter: time.Minute}, "message_limit_exceeded": {RetryAfter: time.Minute}, "rate_limited": {RetryAfter: 5 * time.Second, Channel: true},
	} {
		client, _ := scripted(t, map[string]string{"chat.postMessage": `{"ok":false,"error":"` + code + `"}`})
		var late slack.RateLimited
		require.ErrorAs(t, calls["chat.postMessage"](t, client), &late)
		require.Equal(t, want, late)
	}
	client, s := scripted(t, nil)
	s.status = http.StatusTooManyRequests // without the header
	var late slack.RateLimited
	require.ErrorAs(t, calls["chat.update"](t, client), &late)
	require.Equal(t, slack.RateLimited{RetryAfter: time.Minute}, late)
}

func TestAMissingScopeIsNamed(t *testing.T) {
	client, _ := scripted(t, map[string]string{"conversations.info": `{"ok":false,"error":"missing_scope","needed":"channels:read","provided":"chat:write"}`})
	require.ErrorContains(t, calls["conversations.info"](t, client), "the app lacks a scope: channels:read (missing_scope)")
}
