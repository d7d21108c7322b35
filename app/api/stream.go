package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/policy"
)

const (
	heartbeat = 15 * time.Second // between two signs of life of a stream
	slowest   = 30 * time.Second // a reader that takes nothing for so long has left
)

// stream is an answer of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). Every write has
// a deadline of its own; the listener's do not hold for an answer that goes on.
type stream struct {
	w           http.ResponseWriter
	ctrl        *http.ResponseController
	begun, gone bool // the first byte is out; the reader left
}

// stream prepares one; nil: it was answered already, because whoever asks has too many. ctx ends when the reader leaves, its
// token ends, or the server stops.
func (s *server) stream(w http.ResponseWriter, r *http.Request) (*stream, context.Context, context.CancelFunc) {
	leave, found := s.places.take(principal(r).ID)
	if !found {
		tooManyStreams(w)
		return nil, nil, nil
	}
	ctx, cancel := context.WithCancel(r.Context())
	if expires := visitOf(r).session.Expires; !expires.IsZero() {
		cancel()
		ctx, cancel = context.WithDeadline(r.Context(), expires)
	}
	release := func() bool { return true }
	if s.Stopping != nil {
		release = context.AfterFunc(s.Stopping, cancel)
	}
	return &stream{w: w, ctrl: http.NewResponseController(w)}, ctx, func() { release(); cancel(); leave() }
}

// whoNow gives who asks with the seats of each moment: a stream goes on after an identity of the catalogue was changed.
func (s *server) whoNow(r *http.Request) func() policy.Principal {
	session := visitOf(r).session
	return func() policy.Principal { return s.Auth.Now(r.Context(), session) }
}

// begin sends the head, so that the reader knows that it is listened to.
func (s *stream) begin() error {
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would keep events back
	h.Set("X-Content-Type-Options", "nosniff")
	_ = s.ctrl.SetReadDeadline(time.Time{}) // a recorder in a test has none
	s.begun = true
	return s.send(": here\n\n")
}

// event sends one. Its data must hold no line break, as JSON without indents does not.
func (s *stream) event(name string, data []byte) error {
	return s.send("event: " + name + "\ndata: " + string(data) + "\n\n")
}

// document sends one as JSON.
func (s *stream) document(name string, of any) error {
	raw, err := json.Marshal(of)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	return s.event(name, raw)
}

// beat keeps the connection open where nothing happens.
func (s *stream) beat() error { return s.send(": still here\n\n") }

func (s *stream) send(text string) error {
	_ = s.ctrl.SetWriteDeadline(time.Now().Add(slowest))
	_, err := s.w.Write([]byte(text))
	if err == nil {
		err = s.ctrl.Flush()
	}
	if err != nil {
		s.gone = true
		return fmt.Errorf("write the stream: %w", err)
	}
	return nil
}

// broken ends a stream that cannot go on with the reason, where a person may see it.
func (s *server) broken(r *http.Request, out *stream, err error) {
	detail := "The stream ends here. Connect again."
	if app.KindOf(err) != "" {
		detail = err.Error()
	} else if r.Context().Err() == nil {
		s.Log.Error("stream broken", "request", visitOf(r).id, "path", pathOf(r), "err", err)
	}
	_ = out.document("problem", Problem{Type: "about:blank", Title: "Stream ended", Status: http.StatusServiceUnavailable, Detail: detail})
}
