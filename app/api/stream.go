package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/policy"
)

const (
	heartbeat = 15 * time.Second // time between two keep-alives of a stream
	slowest   = 30 * time.Second // a reader that accepts nothing for so long counts as disconnected
)

// stream is a response with server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). Every write has its
// own deadline; the listener's deadlines do not apply.
type stream struct {
	w           http.ResponseWriter
	ctrl        *http.ResponseController
	begun, gone bool // the first byte was sent; the reader disconnected
}

// newStream prepares a stream; nil: it was answered already, because the principal has too many. ctx ends when the reader disconnects,
// its token expires, or the server stops.
func (s *server) newStream(w http.ResponseWriter, r *http.Request) (*stream, context.Context, context.CancelFunc) {
	leave, found := s.places.takePlace(principal(r).ID)
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

// whoNow returns the principal with its current seats, because a stream may outlive a change of the catalogue's identities.
func (s *server) whoNow(r *http.Request) func() policy.Principal {
	session := visitOf(r).session
	return func() policy.Principal { return s.Auth.Now(r.Context(), session) }
}

// beginStream sends the headers, so that the reader knows that the stream began.
func (s *stream) beginStream() error {
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // otherwise nginx would buffer events
	h.Set("X-Content-Type-Options", "nosniff")
	_ = s.ctrl.SetReadDeadline(time.Time{}) // a test's recorder does not support it
	s.begun = true
	return s.sendText(": here\n\n")
}

// sendEvent sends one event. Its data must not contain a line break; JSON without indentation does not.
func (s *stream) sendEvent(name string, data []byte) error {
	return s.sendText("event: " + name + "\ndata: " + string(data) + "\n\n")
}

// sendDocument sends one event with JSON data.
func (s *stream) sendDocument(name string, of any) error {
	raw, err := json.Marshal(of)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	return s.sendEvent(name, raw)
}

// keepAlive keeps the connection open while nothing happens.
func (s *stream) keepAlive() error { return s.sendText(": still here\n\n") }

func (s *stream) sendText(text string) error {
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

// endStream ends a stream with the reason, if a person may see it.
func (s *server) endStream(r *http.Request, out *stream, err error) {
	detail := "The stream ends here. Connect again."
	if app.KindOf(err) != "" {
		detail = err.Error()
	} else if r.Context().Err() == nil {
		s.Log.ErrorContext(r.Context(), "stream broken", "request", visitOf(r).id, "path", pathOf(r), "err", err)
	}
	_ = out.sendDocument("problem", v1.Problem{Type: "about:blank", Title: "Stream ended", Status: http.StatusServiceUnavailable, Detail: detail})
}
