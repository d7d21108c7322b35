// Package eventstream sends server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html): how a stream begins,
// what it costs while nothing happens, when it ends, and how many may be open. What it sends is decided by its callers.
package eventstream

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Slowest is how long a reader may accept nothing before it counts as disconnected.
const Slowest = 30 * time.Second

// Stream is a response with server-sent events. Every write has its own deadline; the listener's deadlines do not apply.
type Stream struct {
	Begun, Gone bool // the first byte was sent; the reader disconnected

	w    http.ResponseWriter
	ctrl *http.ResponseController
	pack *packer // nil: nothing is compressed
}

// New returns a stream that was not begun, so that its handler can still answer otherwise.
func New(w http.ResponseWriter) *Stream {
	return &Stream{w: w, ctrl: http.NewResponseController(w)}
}

// Until returns a context that ends with the request, at the time at which its session expires (zero: never), and when the server
// stops (nil: never).
func Until(r *http.Request, expires time.Time, stopping context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(r.Context())
	if !expires.IsZero() {
		cancel()
		ctx, cancel = context.WithDeadline(r.Context(), expires)
	}
	if stopping == nil {
		return ctx, cancel
	}
	release := context.AfterFunc(stopping, cancel)
	return ctx, func() { release(); cancel() }
}

// Begin sends the headers, so that the reader knows that the stream began.
func (s *Stream) Begin() error {
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no") // otherwise nginx would buffer events
	h.Set("X-Content-Type-Options", "nosniff")
	_ = s.ctrl.SetReadDeadline(time.Time{}) // a test's recorder does not support it
	s.Begun = true
	if s.pack != nil {
		h.Set("Content-Encoding", "gzip")
		if err := s.writeBytes(gzipHeader); err != nil {
			return err
		}
	}
	return s.sendText(": here\n\n")
}

// Send sends one event. Its data must not contain a line break; JSON without indentation does not. The id is what a reader that lost
// the connection sends as Last-Event-ID; empty: none.
func (s *Stream) Send(name, id string, data []byte) error {
	text := "event: " + name + "\n"
	if id != "" {
		text += "id: " + id + "\n"
	}
	return s.sendText(text + "data: " + string(data) + "\n\n")
}

// SendJSON sends one event with JSON data.
func (s *Stream) SendJSON(name string, of any) error {
	raw, err := json.Marshal(of)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	return s.Send(name, "", raw)
}

// Beat keeps the connection open while nothing happens.
func (s *Stream) Beat() error { return s.sendText(":\n\n") }

// Retry tells the reader how long it waits before it connects again.
func (s *Stream) Retry(after time.Duration) error {
	return s.sendText(fmt.Sprintf("retry: %d\n\n", after.Milliseconds()))
}

// End completes a stream that began, so that its reader does not take the end for a broken connection.
func (s *Stream) End() {
	if s.pack != nil && s.Begun && !s.Gone {
		_ = s.writeBytes(s.pack.packEnd()) // the reader disconnected
	}
}

func (s *Stream) sendText(text string) error {
	if s.pack != nil {
		return s.writeBytes(s.pack.packText(text))
	}
	return s.writeBytes([]byte(text))
}

func (s *Stream) writeBytes(raw []byte) error {
	_ = s.ctrl.SetWriteDeadline(time.Now().Add(Slowest))
	_, err := s.w.Write(raw)
	if err == nil {
		err = s.ctrl.Flush()
	}
	if err != nil {
		s.Gone = true
		return fmt.Errorf("write the stream: %w", err)
	}
	return nil
}
