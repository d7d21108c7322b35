package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/app/auth"
)

// statuses maps the service's kinds of error to HTTP statuses.
var statuses = map[app.Kind]int{
	app.Invalid: http.StatusBadRequest, app.Denied: http.StatusForbidden, app.NotFound: http.StatusNotFound,
	app.Conflict: http.StatusConflict, app.Stale: http.StatusPreconditionFailed, app.Busy: http.StatusServiceUnavailable,
}

// writeError answers an error: a service error with its text; any other is logged and answered without its text.
func (s *server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	var said *app.Error
	var unread *malformed
	switch {
	case errors.As(err, &unread):
		writeDocument(w, problemOf(http.StatusBadRequest, &unread.Said))
	case errors.As(err, &said):
		if said.Kind == app.Busy {
			w.Header().Set("Retry-After", retryAfter(cmp.Or(said.Later, 5*time.Second)))
		}
		writeDocument(w, problemOf(statusOf(r, said.Kind), said))
	case errors.Is(err, context.DeadlineExceeded) && r.Context().Err() != nil:
		s.Log.WarnContext(r.Context(), "request took too long", "request", visitOf(r).id, "method", r.Method, "path", pathOf(r), "err", err)
		if r.Method != http.MethodGet && r.Method != http.MethodHead { // the database may have committed before it could say so
			writeProblem(w, http.StatusGatewayTimeout, "The request took too long and was canceled. The change may have been made all the same. Check before you try again.")
			return
		}
		w.Header().Set("Retry-After", "5")
		writeProblem(w, http.StatusServiceUnavailable, "The request took too long and was canceled. Try again in a moment.")
	default:
		s.Log.ErrorContext(r.Context(), "request failed", "request", visitOf(r).id, "method", r.Method, "path", pathOf(r), "err", err)
		writeProblem(w, http.StatusInternalServerError, "An internal error occurred. It is logged as "+visitOf(r).id+". Try again in a moment.")
	}
}

// problemOf converts a service error to a document.
func problemOf(status int, said *app.Error) v1.Problem {
	p := v1.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: said.Message}
	for _, field := range said.Fields {
		p.Errors = append(p.Errors, v1.FieldError{Field: field.Name, Detail: field.Detail, Accepted: field.Accept})
	}
	return p
}

// statusOf distinguishes a valid document with invalid content from an invalid parameter. Runners get the same status for both.
func statusOf(r *http.Request, kind app.Kind) int {
	if kind == app.Invalid && r.Method == http.MethodPost && !strings.HasPrefix(r.URL.Path, statusPath) {
		return http.StatusUnprocessableEntity
	}
	return statuses[kind]
}

// unauthorized answers a token that was not accepted, or an issuer that did not respond.
func (s *server) writeUnauthorized(w http.ResponseWriter, r *http.Request, err error) {
	var said *auth.Error
	if !errors.As(err, &said) {
		s.writeError(w, r, err)
		return
	}
	if said.Reason == auth.Unavailable {
		s.Log.WarnContext(r.Context(), "sign-in service unavailable", "err", said.Cause)
		w.Header().Set("Retry-After", "5")
		writeProblem(w, http.StatusServiceUnavailable, said.Message)
		return
	}
	var later auth.Later
	if errors.As(err, &later) {
		w.Header().Set("Retry-After", retryAfter(time.Duration(later)))
		writeProblem(w, http.StatusTooManyRequests, said.Message)
		return
	}
	if said.Reason == auth.Missing { // no token was sent, so there is no error code: RFC 6750, 3.1
		w.Header().Set("WWW-Authenticate", realm)
		writeProblem(w, http.StatusUnauthorized, said.Message)
		return
	}
	writeTokenProblem(w, said.Message)
}

const realm = `Bearer realm="ocpctl"`

func writeTokenProblem(w http.ResponseWriter, detail string) {
	w.Header().Set("WWW-Authenticate", realm+`, error="invalid_token"`)
	writeProblem(w, http.StatusUnauthorized, detail)
}

var methods = []string{http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodPatch, http.MethodPut}

// noSuchPath answers a request without an operation. If the path has other methods, it lists them.
func noSuchPath(mux *http.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var others []string
		for _, method := range methods {
			if _, pattern := mux.Handler(&http.Request{Method: method, Host: r.Host, URL: r.URL}); strings.HasPrefix(pattern, method+" ") {
				others = append(others, method)
			}
		}
		if len(others) == 0 {
			writeProblem(w, http.StatusNotFound, r.Method+" "+r.URL.Path+" does not exist. GET /api/docs lists all operations.")
			return
		}
		w.Header().Set("Allow", strings.Join(others, ", "))
		writeProblem(w, http.StatusMethodNotAllowed, r.URL.Path+" supports only "+strings.Join(others, " and ")+".")
	}
}

func writeProblem(w http.ResponseWriter, status int, detail string) {
	writeDocument(w, v1.Problem{Status: status, Detail: detail})
}

func writeDocument(w http.ResponseWriter, p v1.Problem) {
	p.Type, p.Title = "about:blank", http.StatusText(p.Status)
	writeReply(w, problemType, p.Status, p)
}

const (
	jsonType    = "application/json"
	problemType = "application/problem+json"
)

// encodeDocument returns a document as it is sent.
func encodeDocument(body any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(body)
	return out.Bytes(), err
}

func writeReply(w http.ResponseWriter, contentType string, status int, body any) {
	raw, err := encodeDocument(body)
	if err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	bytesOf(w, contentType, status, raw)
}

func bytesOf(w http.ResponseWriter, contentType string, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client disconnected and will retry
}

func writeOK(w http.ResponseWriter, body any) { writeReply(w, jsonType, http.StatusOK, body) }
