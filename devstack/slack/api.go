package slack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Scopes are the permissions that the app got at its installation.
var Scopes = []string{
	"commands", "chat:write", "im:write", "im:history", "app_mentions:read", "users:read", "users:read.email", "usergroups:read",
	"channels:read", "groups:read", "channels:history", "groups:history", "mpim:history",
}

// reply is a response of the Web API: 200 and ok, unless a limit is reached.
type reply map[string]any

func no(code string) reply { return reply{"ok": false, "error": code} }

// Error makes a refusal an error, by which a method ends.
func (r reply) Error() string { return fmt.Sprint(r["error"]) }

// method is a method of the Web API.
type method struct {
	scope string // that it needs; empty: none, or it depends on the arguments
	tier  int    // calls a minute, https://docs.slack.dev/apis/web-api/rate-limits; 0: not limited by tier
	do    func(*Server, args) reply
}

// call calls a method, which ends with its reply or with the first error.
func (m method) call(s *Server, a args) (answer reply) {
	err := func() (err error) {
		defer must.Catch(&err)
		answer = m.do(s, a)
		return nil
	}()
	if err != nil && !errors.As(err, &answer) {
		return no("internal_error")
	}
	return answer
}

// The tiers of Slack's rate limits, in calls a minute.
const (
	tier1 = 1
	tier3 = 50
	tier4 = 100
)

// methods have their scopes and tiers from https://docs.slack.dev/reference/methods
var methods = map[string]method{
	"auth.test":             {"", 0, (*Server).authTest},
	"chat.postMessage":      {"chat:write", 0, (*Server).postMessage}, // limited by channel
	"chat.postEphemeral":    {"chat:write", tier4, (*Server).postEphemeral},
	"chat.update":           {"chat:write", tier3, (*Server).update},
	"chat.delete":           {"chat:write", tier3, (*Server).remove},
	"conversations.open":    {"im:write", tier3, (*Server).conversationOpen},
	"conversations.info":    {"", tier3, (*Server).conversationInfo},
	"conversations.history": {"", tier3, (*Server).history},
	"conversations.replies": {"", tier3, (*Server).replies},
	"conversations.members": {"", tier4, (*Server).conversationMembers},
	"users.info":            {"users:read", tier4, (*Server).userInfo},
	"views.open":            {"", tier4, (*Server).viewOpen},
	"views.update":          {"", tier4, (*Server).viewUpdate},
	"views.publish":         {"", tier4, (*Server).viewPublish},
	connectionsOpen:         {"", tier1, (*Server).connectionOpen}, // its scope, connections:write, is the app-level token's
}

const connectionsOpen = "apps.connections.open"

// args are a call's arguments. Those that are no strings are JSON.
type args map[string]string

func (a args) is(name string) bool { return a[name] == "true" || a[name] == "1" }

// number returns an argument, or what it is without.
func (a args) number(name string, without int) int {
	if n, err := strconv.Atoi(a[name]); err == nil {
		return n
	}
	return without
}

// mostBody is the largest request that is read.
const mostBody = 1 << 20

// serveAPI checks the token before anything else, and the scope before it does anything.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("method")
	given, token, refusal := arguments(r)
	fault, broken := s.fault(name)
	if broken && fault.Hold != nil {
		select {
		case <-fault.Hold:
		case <-r.Context().Done():
		}
	}
	if broken && fault.RetryAfter > 0 {
		tooMany(w, fault.RetryAfter)
		return
	}
	m, known := methods[name]
	s.mu.Lock()
	var answer reply
	wait := 0
	switch code := s.token(name, token); {
	case !known:
		answer = no("unknown_method")
	case refusal != "":
		answer = no(refusal)
	case code != "":
		answer = no(code)
	case m.scope != "" && !slices.Contains(Scopes, m.scope):
		answer = lacks(m.scope)
	case broken && fault.Code != "":
		answer = no(fault.Code)
	default:
		if wait = s.limited(name, m.tier, given); wait == 0 {
			answer = m.call(s, given)
		}
	}
	s.mu.Unlock()
	if wait > 0 {
		tooMany(w, wait)
		return
	}
	if broken && fault.LoseAnswer {
		panic(http.ErrAbortHandler) // the connection breaks after the effect
	}
	w.Header().Set("X-OAuth-Scopes", strings.Join(Scopes, ","))
	w.Header().Set("X-Accepted-OAuth-Scopes", m.scope)
	write(w, answer)
}

func tooMany(w http.ResponseWriter, seconds int) {
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(http.StatusTooManyRequests)
	_ = json.NewEncoder(w).Encode(no("ratelimited")) // the caller disconnected
}

func lacks(scope string) reply {
	return reply{"ok": false, "error": "missing_scope", "needed": scope, "provided": strings.Join(Scopes, ",")}
}

// token says why a token is refused; empty: it is not. Under the lock.
func (s *Server) token(method, given string) (code string) {
	right, wrong := s.cfg.Token, s.cfg.AppToken
	if method == connectionsOpen {
		right, wrong = wrong, right
	}
	switch {
	case given == "":
		return "not_authed"
	case given == wrong && given != right:
		return "not_allowed_token_type"
	case given != right:
		return "invalid_auth"
	case method != connectionsOpen:
		return s.world.Token
	}
	return ""
}

// arguments reads a call: its arguments, and its token from the header or the form. A token in a JSON body or in the URL does not
// count.
func arguments(r *http.Request) (given args, token, refusal string) {
	given = args{}
	token, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	for name, values := range r.URL.Query() {
		given[name] = values[0]
	}
	delete(given, "token")
	if r.Method == http.MethodGet {
		return given, token, ""
	}
	raw, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, mostBody))
	if err != nil {
		return nil, token, "request_timeout" // cut off
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case len(raw) == 0: // no arguments, whatever the type
	case kind == "application/json":
		return given, token, fromJSON(given, raw)
	case kind == "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(raw))
		if err != nil {
			return nil, token, "invalid_form_data"
		}
		for name, values := range form {
			given[name] = values[0]
		}
	case kind == "":
		return nil, token, "missing_post_type"
	default:
		return nil, token, "invalid_post_type"
	}
	if token == "" {
		token = given["token"]
	}
	delete(given, "token")
	return given, token, ""
}

// fromJSON adds the arguments of a JSON body.
func fromJSON(given args, raw []byte) (refusal string) {
	var body map[string]json.RawMessage
	if len(raw) == 0 { // no arguments, as slack-go's apps.connections.open
		return ""
	}
	if !json.Valid(raw) {
		return "invalid_json"
	}
	if json.Unmarshal(raw, &body) != nil || body == nil {
		return "json_not_object"
	}
	for name, value := range body {
		var text string
		if json.Unmarshal(value, &text) == nil {
			given[name] = text
			continue
		}
		given[name] = string(value)
	}
	delete(given, "token")
	return ""
}

func write(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(answer) // the caller disconnected
}

func (s *Server) authTest(args) reply {
	return reply{
		"ok": true, "url": s.base + "/", "team": "acme", "user": "ocpctl", "team_id": Workspace, "user_id": Bot, "bot_id": botID,
		"is_enterprise_install": false,
	}
}
