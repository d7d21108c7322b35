package controller_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/internal/secret"
)

const (
	slackToken     = "demo-slack-bot-token"
	slackWorkspace = "T0DEMOACME"
	slackChannel   = "C0DEMOCLUS"
)

// workspace is a Slack that holds callers to its limits: a message a second in each channel, by the test's clock. It keeps messages
// with their markers, and fails as it is told to.
type workspace struct {
	mu       sync.Mutex
	now      func() time.Time
	token    string            // the one that is valid
	channels map[string]string // why nothing can be written in a channel: Slack's code; empty: it can be
	messages []*slackMessage
	next     int
	last     map[string]time.Time // the newest message in each channel
	calls    map[string]int
	storms   int                     // messages that came too early
	faults   map[string][]slackFault // of the next calls of a method
	noScope  string                  // a method whose scope is missing
}

type slackMessage struct {
	channel, ts, thread, marker, text, blocks string
	edits                                     int
	deleted                                   bool
}

type slackFault struct {
	retryAfter int    // respond 429
	code       string // instead of the call
	lose       bool   // the call is executed, its answer is lost
}

func newWorkspace(t testing.TB, now func() time.Time) (*workspace, *slack.Client) {
	t.Helper()
	w := &workspace{now: now, token: slackToken, channels: map[string]string{slackChannel: ""}, last: map[string]time.Time{}, calls: map[string]int{}, faults: map[string][]slackFault{}}
	server := httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(server.Close)
	client, err := slack.New(slack.Config{Token: secret.New(slackToken), BaseURL: server.URL + "/api/"})
	require.NoError(t, err)
	return w, client
}

func (w *workspace) serve(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	method := strings.TrimPrefix(r.URL.Path, "/api/")
	w.calls[method]++
	var fault slackFault
	if list := w.faults[method]; len(list) > 0 {
		fault, w.faults[method] = list[0], list[1:]
	}
	if fault.retryAfter > 0 {
		rw.Header().Set("Retry-After", strconv.Itoa(fault.retryAfter))
		rw.WriteHeader(http.StatusTooManyRequests)
		return
	}
	answer := map[string]any{"ok": false}
	switch {
	case r.PostFormValue("token") != w.token:
		answer["error"] = "token_revoked"
	case w.noScope == method:
		answer["error"], answer["needed"] = "missing_scope", "channels:history"
	case fault.code != "":
		answer["error"] = fault.code
	default:
		answer = w.do(method, r)
	}
	if fault.lose {
		panic(http.ErrAbortHandler)
	}
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(answer)
}

func (w *workspace) do(method string, r *http.Request) map[string]any {
	channel := r.PostFormValue("channel")
	no := func(code string) map[string]any { return map[string]any{"ok": false, "error": code} }
	if code, known := w.channels[channel]; !known {
		return no("channel_not_found")
	} else if code != "" {
		return no(code)
	}
	switch method {
	case "chat.postMessage", "chat.update":
		if at, seen := w.last[channel]; seen && w.now().Sub(at) < time.Second {
			w.storms++
			return no("rate_limited")
		}
		w.last[channel] = w.now()
		if method == "chat.update" {
			return w.update(channel, r, no)
		}
		return w.post(channel, r, no)
	case "chat.delete":
		if m := w.find(channel, r.PostFormValue("ts")); m != nil {
			m.deleted = true
		}
		return map[string]any{"ok": true, "channel": channel, "ts": r.PostFormValue("ts")}
	case "conversations.history", "conversations.replies":
		return w.list(channel, r)
	}
	return no("unknown_method")
}

func (w *workspace) post(channel string, r *http.Request, no func(string) map[string]any) map[string]any {
	var meta struct {
		Type    string            `json:"event_type"`
		Payload map[string]string `json:"event_payload"`
	}
	direct := strings.HasPrefix(channel, "D")
	if !direct && (json.Unmarshal([]byte(r.PostFormValue("metadata")), &meta) != nil || meta.Type != "ocpctl") || r.PostFormValue("text") == "" {
		return no("invalid_arguments")
	}
	thread := r.PostFormValue("thread_ts")
	if thread != "" && w.find(channel, thread) == nil {
		thread = "" // as Slack does it: beside the thread
	}
	w.next++
	m := &slackMessage{channel: channel, ts: fmt.Sprintf("%d.%06d", w.now().Unix(), w.next), thread: thread, marker: meta.Payload["id"], text: r.PostFormValue("text"), blocks: r.PostFormValue("blocks")}
	w.messages = append(w.messages, m)
	return map[string]any{"ok": true, "channel": channel, "ts": m.ts, "message": map[string]any{"ts": m.ts, "thread_ts": thread, "text": m.text}}
}

func (w *workspace) update(channel string, r *http.Request, no func(string) map[string]any) map[string]any {
	m := w.find(channel, r.PostFormValue("ts"))
	if m == nil {
		return no("message_not_found")
	}
	m.text, m.edits = r.PostFormValue("text"), m.edits+1
	return map[string]any{"ok": true, "channel": channel, "ts": m.ts, "text": m.text}
}

func (w *workspace) list(channel string, r *http.Request) map[string]any {
	var page []map[string]any
	for _, m := range w.messages {
		if m.channel != channel || m.deleted || m.thread != r.PostFormValue("ts") || m.ts < r.PostFormValue("oldest") {
			continue
		}
		shown := map[string]any{"ts": m.ts, "text": m.text}
		if r.PostFormValue("include_all_metadata") == "1" {
			shown["metadata"] = map[string]any{"event_type": "ocpctl", "event_payload": map[string]string{"id": m.marker}}
		}
		page = append([]map[string]any{shown}, page...)
	}
	return map[string]any{"ok": true, "messages": page}
}

func (w *workspace) find(channel, ts string) *slackMessage {
	for _, m := range w.messages {
		if m.channel == channel && m.ts == ts && !m.deleted {
			return m
		}
	}
	return nil
}

// fail makes the next calls of a method fail.
func (w *workspace) fail(method string, faults ...slackFault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults[method] = append(w.faults[method], faults...)
}

// set changes the workspace.
func (w *workspace) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

// standing are the messages that are there, of the channel or of its threads.
func (w *workspace) standing(inThreads bool) (out []slackMessage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.messages {
		if !m.deleted && (m.thread != "") == inThreads {
			out = append(out, *m)
		}
	}
	return out
}

// called counts the calls of the methods that write.
func (w *workspace) called() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls["chat.postMessage"] + w.calls["chat.update"]
}
