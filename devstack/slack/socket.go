package slack

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Socket Mode: https://docs.slack.dev/apis/events-api/using-socket-mode
const (
	mostSockets  = 10               // connections of one app
	ticketLife   = 30 * time.Second // of a connection's URL
	pingEvery    = 5 * time.Second
	writeTimeout = 5 * time.Second
)

// socket is one connection of the app.
type socket struct {
	conn  *websocket.Conn
	write sync.Mutex // one frame at a time
	gone  chan struct{}
	once  sync.Once

	mu      sync.Mutex
	waiting map[string]chan []byte // by envelope: takes the acknowledgement's payload
}

// envelope is a request in Socket Mode.
type envelope struct {
	ID      string `json:"envelope_id"`
	Payload any    `json:"payload"`
	Type    string `json:"type"`
	Accepts bool   `json:"accepts_response_payload"`
	Attempt *int   `json:"retry_attempt,omitempty"`
	Reason  string `json:"retry_reason,omitempty"`
}

// connectionOpen returns the URL of one connection.
func (s *Server) connectionOpen(args) reply {
	must.EndIf(!s.cfg.Socket, no("access_denied")) // Socket Mode is off in the app's settings
	ticket := random(32)
	s.tickets[ticket] = s.cfg.Now()
	return reply{"ok": true, "url": "ws" + s.base[len("http"):] + "/link/?ticket=" + ticket + "&app_id=" + App}
}

// serveSocket takes a connection. Its URL works once.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	ticket := r.URL.Query().Get("ticket")
	s.mu.Lock()
	issued, ok := s.tickets[ticket]
	delete(s.tickets, ticket)
	full := len(s.sockets) >= mostSockets
	s.mu.Unlock()
	if !ok || full || s.cfg.Now().Sub(issued) > ticketLife {
		http.Error(w, "this URL was used, is too old, or the app has ten connections", http.StatusForbidden)
		return
	}
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // it answered
	}
	c := &socket{conn: conn, gone: make(chan struct{}), waiting: map[string]chan []byte{}}
	s.mu.Lock()
	s.sockets = append(s.sockets, c)
	n := len(s.sockets)
	s.mu.Unlock()
	hello := object{
		"type": "hello", "num_connections": n, "connection_info": object{"app_id": App},
		"debug_info": object{"host": "applink-demo", "build_number": 1, "approximate_connection_time": 18060},
	}
	if c.send(hello) == nil {
		s.tasks.Go(c.ping)
		c.read()
	}
	s.end(c)
}

// end closes a connection. Nothing is sent over it any more.
func (s *Server) end(c *socket) {
	c.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sockets = slices.DeleteFunc(s.sockets, func(other *socket) bool { return other == c })
}

func (c *socket) close() {
	c.once.Do(func() { close(c.gone); _ = c.conn.Close() }) // it ends either way
}

func (c *socket) send(v any) error {
	c.write.Lock()
	defer c.write.Unlock()
	if err := c.conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	return c.conn.WriteJSON(v)
}

// ping keeps the connection alive, and finds out that it is dead.
func (c *socket) ping() {
	t := time.NewTicker(pingEvery)
	defer t.Stop()
	for {
		select {
		case <-c.gone:
			return
		case <-t.C:
			if c.conn.WriteControl(websocket.PingMessage, []byte("Ping from applink-demo"), time.Now().Add(writeTimeout)) != nil {
				c.close()
				return
			}
		}
	}
}

// read takes acknowledgements until the connection ends.
func (c *socket) read() {
	for {
		_, raw, err := c.conn.ReadMessage()
		if err != nil {
			return
		}
		var ack struct {
			ID      string          `json:"envelope_id"`
			Payload json.RawMessage `json:"payload"`
		}
		if json.Unmarshal(raw, &ack) != nil {
			continue
		}
		c.mu.Lock()
		wait := c.waiting[ack.ID]
		delete(c.waiting, ack.ID)
		c.mu.Unlock()
		if wait != nil {
			wait <- ack.Payload
		}
	}
}

// overSocket sends a request to one connection, and to another one if that ends before it acknowledges.
func (s *Server) overSocket(ctx context.Context, q request) response {
	payload := any(q.payload)
	if q.kind == slashCommands {
		fields := object{}
		for name, values := range q.form {
			fields[name] = values[0]
		}
		payload = fields
	}
	tried := map[*socket]bool{}
	for {
		c := s.connection(tried)
		if c == nil {
			return response{code: "dispatch_failed", reason: "connection_failed"}
		}
		tried[c] = true
		e := envelope{ID: random(8) + "-" + random(4) + "-4" + random(3) + "-" + random(12), Payload: payload, Type: q.kind, Accepts: q.kind != eventsAPI}
		if q.kind == eventsAPI {
			e.Attempt, e.Reason = &q.attempt, q.reason
		}
		wait := make(chan []byte, 1)
		c.mu.Lock()
		c.waiting[e.ID] = wait
		c.mu.Unlock()
		if c.send(e) != nil {
			c.close()
			continue
		}
		select {
		case raw := <-wait:
			return response{status: http.StatusOK, json: true, body: raw}
		case <-ctx.Done():
			return response{code: "operation_timeout", reason: "timeout"}
		case <-c.gone:
		}
	}
}

// connection picks a connection that was not tried, in turn.
func (s *Server) connection(tried map[*socket]bool) *socket {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, c := range s.sockets {
		if !tried[c] {
			s.sockets = append(slices.Delete(s.sockets, i, i+1), c)
			return c
		}
	}
	return nil
}

// Sockets returns how many connections the app has.
func (s *Server) Sockets() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sockets)
}

// Disconnect announces the end of the oldest connection, for a reason that Slack names: warning, refresh_requested or link_disabled.
// It ends the connection too, except for a warning.
func (s *Server) Disconnect(reason string) {
	s.mu.Lock()
	if len(s.sockets) == 0 {
		s.mu.Unlock()
		return
	}
	c := s.sockets[0]
	s.mu.Unlock()
	_ = c.send(object{"type": "disconnect", "reason": reason, "debug_info": object{"host": "applink-demo"}}) // it ends either way
	if reason != "warning" {
		s.end(c)
	}
}
