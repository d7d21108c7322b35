package slack

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// legacyToken is in every request, as Slack still sends it; code that checks signatures does not need it.
const legacyToken = "demo-legacy-verification-token"

// Sign returns X-Slack-Signature for a body sent at a time. https://docs.slack.dev/authentication/verifying-requests-from-slack
func Sign(secret, stamp, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("v0:" + stamp + ":" + body))
	return "v0=" + hex.EncodeToString(mac.Sum(nil))
}

// The kinds of requests, as Socket Mode names them.
const (
	slashCommands = "slash_commands"
	interactive   = "interactive"
	eventsAPI     = "events_api"
)

// request is what is sent to the app.
type request struct {
	kind    string
	name    string // what it is about, e.g. block_actions or app_mention
	id      string // of an event
	payload object
	form    url.Values // of a slash command, instead of the payload
	attempt int        // of an event: how often it was sent before
	reason  string     // of an event that is sent again: what was wrong
}

// Sent is one request that was sent to the app.
type Sent struct {
	Name    string // slash_command, or the type of an interaction or event
	ID      string // an event's
	Attempt int    // how often it was sent before
	Code    string // what was wrong: operation_timeout, dispatch_failed, …; empty: nothing
	Status  int    // the response's; 0: there was none
}

// Sent returns the newest requests that were sent to the app, oldest first.
func (s *Server) Sent() []Sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Sent(nil), s.sent...)
}

// mostSent is how many requests are remembered.
const mostSent = 500

// response is the app's response to a request.
type response struct {
	status int
	json   bool
	body   []byte
	final  bool   // it asks that the event is not sent again
	code   string // what was wrong; empty: nothing
	reason string // the same in the words of X-Slack-Retry-Reason
}

// deliver sends a request to the app once and waits for the response.
func (s *Server) deliver(ctx context.Context, q request) response {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Patience)
	defer cancel()
	var r response
	if s.cfg.Socket {
		r = s.overSocket(ctx, q)
	} else {
		r = s.overHTTP(ctx, q)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, Sent{q.name, q.id, q.attempt, r.code, r.status})
	s.sent = s.sent[max(0, len(s.sent)-mostSent):]
	return r
}

// body is a request as it is sent over HTTP.
func (q request) body() (body, kind string) {
	raw, err := json.Marshal(q.payload)
	if err != nil {
		panic(err) // made of JSON
	}
	switch q.kind {
	case slashCommands:
		return q.form.Encode(), "application/x-www-form-urlencoded"
	case interactive:
		return url.Values{"payload": {string(raw)}}.Encode(), "application/x-www-form-urlencoded"
	}
	return string(raw), "application/json"
}

func (s *Server) overHTTP(ctx context.Context, q request) response {
	body, kind := q.body()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.cfg.CommandURL, strings.NewReader(body))
	if err != nil {
		return response{code: "dispatch_failed", reason: "connection_failed"}
	}
	stamp := strconv.FormatInt(s.cfg.Now().Unix(), 10)
	r.Header.Set("Content-Type", kind)
	r.Header.Set("User-Agent", "Slackbot 1.0 (+https://api.slack.com/robots)")
	r.Header.Set("X-Slack-Request-Timestamp", stamp)
	r.Header.Set("X-Slack-Signature", Sign(s.cfg.SigningSecret, stamp, body))
	if q.attempt > 0 {
		r.Header.Set("X-Slack-Retry-Num", strconv.Itoa(q.attempt))
		r.Header.Set("X-Slack-Retry-Reason", q.reason)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil && ctx.Err() != nil {
		return response{code: "operation_timeout", reason: "http_timeout"}
	}
	if err != nil {
		return response{code: "dispatch_failed", reason: "connection_failed"}
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	answer := response{status: resp.StatusCode, json: media == "application/json", body: raw, final: resp.Header.Get("X-Slack-No-Retry") == "1"}
	switch {
	case err != nil && ctx.Err() != nil:
		answer.code, answer.reason = "operation_timeout", "http_timeout"
	case err != nil, resp.StatusCode >= 300, q.kind != eventsAPI && resp.StatusCode != http.StatusOK:
		answer.code, answer.reason = "dispatch_failed", "http_error"
	}
	return answer
}

// emit sends an event, and sends it again while the app does not respond. The channel is closed after the first attempt.
func (s *Server) emit(event object) <-chan struct{} {
	first := make(chan struct{})
	s.mu.Lock()
	q, subscribed := s.event(event)
	s.mu.Unlock()
	if !subscribed {
		close(first)
		return first
	}
	s.tasks.Go(func() {
		for i := 0; ; i++ {
			r := s.deliver(s.ctx, q)
			if i == 0 {
				close(first)
			}
			if r.code == "" || r.final || i == len(s.cfg.Retries) || !s.wait(s.cfg.Retries[i]) {
				return
			}
			q.attempt, q.reason = i+1, r.reason
		}
	})
	return first
}

// wait returns false if the stand-in is stopped before.
func (s *Server) wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// Events are those that the app is subscribed to.
var Events = []string{
	"app_mention", "message.im", "app_home_opened", "channel_id_changed", "channel_archive", "channel_unarchive", "channel_deleted", "channel_left", "group_archive",
	"group_unarchive", "group_deleted", "group_left", "member_joined_channel", "member_left_channel", "user_change", "app_uninstalled", "tokens_revoked",
}

// event wraps an event, unless the app is not subscribed to it. Under the lock.
// https://docs.slack.dev/apis/events-api
func (s *Server) event(event object) (q request, subscribed bool) {
	name := str(event, "type")
	subscription := name
	if name == "message" {
		subscription += "." + str(event, "channel_type")
	}
	if !slices.Contains(Events, subscription) {
		return request{}, false
	}
	c := s.channel(str(event, "channel"))
	micros, _ := s.stamp()
	eventID := "Ev" + id(9)
	return request{kind: eventsAPI, name: name, id: eventID, payload: object{
		"token": legacyToken, "team_id": Workspace, "context_team_id": Workspace, "context_enterprise_id": nil, "api_app_id": App,
		"event": event, "type": "event_callback", "event_id": eventID, "event_time": micros / 1_000_000,
		"authorizations": []object{{
			"enterprise_id": nil, "team_id": Workspace, "user_id": Bot, "is_bot": true, "is_enterprise_install": false,
		}},
		"is_ext_shared_channel": c != nil && c.External, "event_context": "4-" + random(40),
	}}, true
}

// background sends an event that nobody waits for, from under the lock.
func (s *Server) background(event object) {
	s.tasks.Go(func() { <-s.emit(event) })
}

// botWrote tells the app of what it wrote itself, as Slack does in direct messages. Under the lock.
func (s *Server) botWrote(c *Channel, m, before *Message) {
	if c.Direct == "" {
		return
	}
	_, at := s.stamp()
	if before == nil {
		o := m.object()
		o["channel"], o["channel_type"], o["event_ts"] = c.ID, "im", m.TS
		s.background(o)
		return
	}
	s.background(object{
		"type": "message", "subtype": "message_changed", "hidden": true, "channel": c.ID, "channel_type": "im", "ts": at, "event_ts": at,
		"message": m.object(), "previous_message": before.object(),
	})
}
