package slack

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Scopes are the permissions that the app got at its installation.
var Scopes = []string{"commands", "chat:write", "im:write"}

// mostText is the longest message that Slack accepts, in characters.
const mostText = 40_000

// reply is a response of the Web API: always 200, with ok.
type reply map[string]any

func no(code string) reply { return reply{"ok": false, "error": code} }

// method is a method of the Web API, with the scope that it needs.
type method struct {
	scope string
	do    func(*Server, *http.Request) reply
}

var methods = map[string]method{
	"auth.test":          {"", (*Server).authTest},
	"chat.postEphemeral": {"chat:write", (*Server).postEphemeral},
	"chat.postMessage":   {"chat:write", (*Server).postMessage},
	"conversations.open": {"im:write", (*Server).openDirect},
}

// serveAPI checks the token before anything else, and the scope before it does anything.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("method")
	fault, broken := s.fault(name)
	if broken && fault.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(fault.RetryAfter))
		w.WriteHeader(http.StatusTooManyRequests)
		write(w, no("ratelimited"))
		return
	}
	m, known := methods[name]
	var answer reply
	switch token := token(r); {
	case !known:
		answer = no("unknown_method")
	case token == "":
		answer = no("not_authed")
	case token != s.cfg.Token:
		answer = no("invalid_auth")
	case m.scope != "" && !slices.Contains(Scopes, m.scope):
		answer = reply{"ok": false, "error": "missing_scope", "needed": m.scope, "provided": strings.Join(Scopes, ",")}
	case broken && fault.Code != "":
		answer = no(fault.Code)
	default:
		answer = m.do(s, r)
	}
	if broken && fault.LoseAnswer {
		panic(http.ErrAbortHandler) // the connection breaks after the effect
	}
	w.Header().Set("X-OAuth-Scopes", strings.Join(Scopes, ","))
	write(w, answer)
}

// token returns the caller's token from the header or the form.
func token(r *http.Request) string {
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return bearer
	}
	return r.PostFormValue("token")
}

func write(w http.ResponseWriter, answer reply) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(answer) // the caller disconnected
}

func (s *Server) authTest(*http.Request) reply {
	return reply{"ok": true, "url": s.base + "/", "team": "acme", "user": "ocpctl", "team_id": Workspace, "user_id": botUser, "bot_id": "B0DEMOOCPC"}
}

func (s *Server) postEphemeral(r *http.Request) reply {
	channel, to, text := r.PostFormValue("channel"), r.PostFormValue("user"), r.PostFormValue("text")
	if code := s.speaks(channel, text); code != "" {
		return no(code)
	}
	if _, ok := By(to); !ok {
		return no("user_not_in_channel")
	}
	m, err := s.say(Message{Kind: "ephemeral", Channel: channel, To: to, Text: text})
	if err != nil {
		return no("internal_error")
	}
	return reply{"ok": true, "message_ts": m.TS}
}

func (s *Server) postMessage(r *http.Request) reply {
	channel, text := r.PostFormValue("channel"), r.PostFormValue("text")
	if code := s.speaks(channel, text); code != "" {
		return no(code)
	}
	kind, to := "direct", "U"+strings.TrimPrefix(channel, "D")
	if !strings.HasPrefix(channel, "D") {
		kind, to = "channel", "" // visible to all
	}
	m, err := s.say(Message{Kind: kind, Channel: channel, To: to, Text: text})
	if err != nil {
		return no("internal_error")
	}
	return reply{"ok": true, "channel": channel, "ts": m.TS, "message": reply{"type": "message", "user": botUser, "text": text, "ts": m.TS}}
}

// speaks says why the bot cannot post there; empty: it can.
func (s *Server) speaks(channel, text string) (code string) {
	s.mu.Lock()
	opened := s.opened[channel]
	s.mu.Unlock()
	switch {
	case channel == Random:
		return "not_in_channel"
	case channel != Clusters && !opened:
		return "channel_not_found"
	case text == "":
		return "no_text"
	case utf8.RuneCountInString(text) > mostText:
		return "msg_too_long"
	}
	return ""
}

func (s *Server) openDirect(r *http.Request) reply {
	who := r.PostFormValue("users")
	if who == botUser {
		return no("cannot_dm_bot")
	}
	if p, ok := By(who); !ok || p.ID != who {
		return no("user_not_found")
	}
	id := "D" + strings.TrimPrefix(who, "U")
	s.mu.Lock()
	defer s.mu.Unlock()
	already := s.opened[id]
	s.opened[id] = true
	return reply{"ok": true, "no_op": already, "already_open": already, "channel": reply{"id": id, "is_im": true, "user": who}}
}
