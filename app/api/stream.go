package api

import (
	"context"
	"net/http"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/internal/eventstream"
	"github.com/ocpctl/ocpctl/policy"
)

// heartbeat is the time between two keep-alives of a stream.
const heartbeat = 15 * time.Second

// newStream prepares a stream; nil: it was answered already, because there are too many. ctx ends when the reader disconnects, its token
// expires, or the server stops.
func (s *server) newStream(w http.ResponseWriter, r *http.Request) (*eventstream.Stream, context.Context, context.CancelFunc) {
	leave, found := s.Streams.Take(principal(r).ID)
	if !found {
		tooManyStreams(w)
		return nil, nil, nil
	}
	ctx, cancel := eventstream.Until(r, visitOf(r).session.Expires, s.Stopping)
	return eventstream.New(w), ctx, func() { cancel(); leave() }
}

// tooManyStreams answers a principal with too many open streams.
func tooManyStreams(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "5")
	writeProblem(w, http.StatusTooManyRequests, "Too many open streams. Close one, or watch several clusters with one stream: GET /api/v1/watch?cluster=a&cluster=b.")
}

// whoNow returns the principal with its current seats, because a stream may outlive a change of the catalogue's identities.
func (s *server) whoNow(r *http.Request) func() policy.Principal {
	session := visitOf(r).session
	return func() policy.Principal { return s.Auth.Now(r.Context(), session) }
}

// endStream ends a stream with the reason, if a person may see it.
func (s *server) endStream(r *http.Request, out *eventstream.Stream, err error) {
	detail := "The stream ends here. Connect again."
	if app.KindOf(err) != "" {
		detail = err.Error()
	} else if r.Context().Err() == nil {
		s.Log.ErrorContext(r.Context(), "stream broken", "request", visitOf(r).id, "path", pathOf(r), "err", err)
	}
	_ = out.SendJSON("problem", v1.Problem{Type: "about:blank", Title: "Stream ended", Status: http.StatusServiceUnavailable, Detail: detail})
}
