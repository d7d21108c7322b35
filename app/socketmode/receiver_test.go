package socketmode

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/secret"
)

const appToken = "xapp-of-a-test"

// socket is the side of Slack: it opens connections, sends envelopes and keeps what is acknowledged.
type socket struct {
	*testing.T
	server *httptest.Server
	conns  chan *websocket.Conn
	acks   chan map[string]any

	opened atomic.Int32
	writes sync.Mutex // of a connection: one write at a time
}

func newSocket(t *testing.T) *socket {
	s := &socket{T: t, conns: make(chan *websocket.Conn, 20), acks: make(chan map[string]any, 200)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/apps.connections.open", func(w http.ResponseWriter, r *http.Request) {
		answer := map[string]any{"ok": true, "url": "ws" + strings.TrimPrefix(s.server.URL, "http") + "/link"}
		if r.Header.Get("Authorization") != "Bearer "+appToken {
			answer = map[string]any{"ok": false, "error": "invalid_auth"}
		}
		_ = json.NewEncoder(w).Encode(answer)
	})
	mux.HandleFunc("/link", s.link)
	s.server = httptest.NewServer(mux)
	t.Cleanup(s.server.Close)
	return s
}

func (s *socket) link(w http.ResponseWriter, r *http.Request) {
	conn, err := (&websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	s.opened.Add(1)
	s.write(conn, map[string]any{"type": "hello", "num_connections": 1, "connection_info": map[string]string{"app_id": "A1"}})
	s.conns <- conn
	for {
		var ack map[string]any
		if conn.ReadJSON(&ack) != nil {
			return
		}
		s.acks <- ack
	}
}

func (s *socket) write(conn *websocket.Conn, message any) {
	s.writes.Lock()
	defer s.writes.Unlock()
	_ = conn.WriteJSON(message)
}

// next returns what comes over a channel soon.
func next[T any](t *testing.T, from chan T) (got T) {
	t.Helper()
	select {
	case got = <-from:
	case <-time.After(10 * time.Second):
		require.Fail(t, "nothing came in ten seconds")
	}
	return got
}

// run starts a receiver; stop ends it and waits.
func (s *socket) run(token string, take func(context.Context, string, []byte) (any, bool)) (r *Receiver, stop func()) {
	s.Helper()
	r, err := New(Config{AppToken: secret.New(token), APIURL: s.server.URL + "/api", Take: take})
	require.NoError(s, err)
	ctx, cancel := context.WithCancel(s.Context())
	done := make(chan struct{})
	go func() { defer close(done); r.Run(ctx) }()
	stop = func() { cancel(); next(s.T, done) }
	s.Cleanup(stop)
	return r, stop
}

func envelope(id, kind string, accepts bool, payload string) map[string]any {
	return map[string]any{"envelope_id": id, "type": kind, "accepts_response_payload": accepts, "payload": json.RawMessage(payload)}
}

// echo answers with what came, and refuses what says so.
func echo(_ context.Context, contentType string, body []byte) (any, bool) {
	return map[string]string{"got": string(body), "as": contentType}, !strings.Contains(string(body), "not stored")
}

func TestEveryEnvelopeIsAnsweredOnceItIsStored(t *testing.T) {
	s := newSocket(t)
	s.run(appToken, echo)
	conn := next(t, s.conns)
	for _, e := range []map[string]any{
		envelope("1", "slash_commands", true, `{"command":"/ocp","text":"help"}`),
		envelope("2", "interactive", true, `{"type":"view_submission","view":{"id":"V1"}}`),
		envelope("3", "events_api", false, `{"type":"event_callback","event":{"type":"app_mention"}}`),
		envelope("4", "events_api", false, `{"type":"event_callback","event":{"type":"an_event_of_next_year"}}`),
	} {
		s.write(conn, e)
		ack := next(t, s.acks)
		require.Equal(t, e["envelope_id"], ack["envelope_id"])
		if e["accepts_response_payload"] == false {
			require.NotContains(t, ack, "payload", "Slack takes no answer to events")
			continue
		}
		require.Equal(t, map[string]any{"got": string(e["payload"].(json.RawMessage)), "as": "application/json"}, ack["payload"])
	}
	s.write(conn, envelope("5", "slash_commands", true, `{"command":"/ocp","text":"not stored"}`))
	s.write(conn, envelope("6", "slash_commands", true, `{"command":"/ocp","text":"help"}`))
	require.Equal(t, "6", next(t, s.acks)["envelope_id"], "what is not stored is not acknowledged")
}

func TestALostConnectionIsReplaced(t *testing.T) {
	s := newSocket(t)
	r, _ := s.run(appToken, echo)
	first, second := next(t, s.conns), next(t, s.conns)
	require.EqualValues(t, connections, s.opened.Load())
	require.Eventually(t, func() bool { return r.links.downSince().IsZero() }, 10*time.Second, 10*time.Millisecond)

	s.write(first, map[string]any{"type": "disconnect", "reason": "refresh_requested"})
	s.write(second, envelope("1", "slash_commands", true, `{"command":"/ocp"}`))
	require.Equal(t, "1", next(t, s.acks)["envelope_id"], "the other connection receives meanwhile")
	third := next(t, s.conns)
	s.write(third, envelope("2", "slash_commands", true, `{"command":"/ocp"}`))
	require.Equal(t, "2", next(t, s.acks)["envelope_id"])

	require.NoError(t, second.Close())
	fourth := next(t, s.conns)
	s.write(fourth, envelope("3", "slash_commands", true, `{"command":"/ocp"}`))
	require.Equal(t, "3", next(t, s.acks)["envelope_id"])
}

func TestAtTheStopWhatWasTakenIsAnswered(t *testing.T) {
	s := newSocket(t)
	taken, finish := make(chan struct{}), make(chan struct{})
	var stored atomic.Bool
	_, stop := s.run(appToken, func(context.Context, string, []byte) (any, bool) {
		close(taken)
		<-finish
		stored.Store(true)
		return nil, true
	})
	conn := next(t, s.conns)
	s.write(conn, envelope("1", "slash_commands", true, `{"command":"/ocp"}`))
	next(t, taken)
	stopped := make(chan struct{})
	go func() { defer close(stopped); stop() }()
	close(finish)
	next(t, stopped)
	require.True(t, stored.Load(), "it stopped while a request was being stored")
}

func TestManyEnvelopesAreStoredAtOnce(t *testing.T) {
	s := newSocket(t)
	var inside atomic.Int32
	together := make(chan struct{})
	s.run(appToken, func(context.Context, string, []byte) (any, bool) {
		if inside.Add(1) == takenAtOnce {
			close(together)
		}
		<-together // the first ones wait for each other
		return nil, true
	})
	conn := next(t, s.conns)
	answered := map[any]bool{}
	for i := range 100 {
		s.write(conn, envelope(strconv.Itoa(i), "slash_commands", true, `{"command":"/ocp"}`))
	}
	for range 100 {
		answered[next(t, s.acks)["envelope_id"]] = true
	}
	require.Len(t, answered, 100)
}

func TestARefusedTokenIsTriedAgainLater(t *testing.T) {
	s := newSocket(t)
	r, stop := s.run("xapp-of-somebody-else", echo)
	require.Eventually(t, func() bool { return !r.links.downSince().IsZero() }, 10*time.Second, 10*time.Millisecond)
	require.ErrorContains(t, r.Check(t.Context()), "invalid_auth")
	stop()
	require.Zero(t, s.opened.Load())
	_, err := New(Config{})
	require.ErrorContains(t, err, "app token is empty")
}

func TestItIsKnownSinceWhenNoConnectionIsOpen(t *testing.T) {
	l := &links{}
	require.True(t, l.downSince().IsZero(), "nobody asked for one")
	a, b := l.addLink(), l.addLink()
	require.False(t, l.downSince().IsZero())
	a.setOpen(true)
	b.setOpen(true)
	a.setOpen(false)
	a.setOpen(false)
	require.True(t, l.downSince().IsZero())
	b.setOpen(false)
	require.WithinDuration(t, time.Now(), l.downSince(), time.Minute)
	a.setOpen(true)
	require.True(t, l.downSince().IsZero())
}
