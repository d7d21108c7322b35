package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/auth"
)

// statuses maps the desk's kinds of error, once.
var statuses = map[app.Kind]int{
	app.Invalid: http.StatusBadRequest, app.Denied: http.StatusForbidden, app.NotFound: http.StatusNotFound,
	app.Conflict: http.StatusConflict, app.Busy: http.StatusServiceUnavailable,
}

// fail answers an error: the desk's in its words, any other logged and answered without them.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var said *app.Error
	if !errors.As(err, &said) {
		s.Log.Error("request failed", "method", r.Method, "path", r.URL.Path, "err", err)
		problem(w, http.StatusInternalServerError, "Something went wrong on our side and was written to the log. Try again in a moment.")
		return
	}
	p := Problem{Status: statusOf(r, said.Kind), Detail: said.Message}
	for _, field := range said.Fields {
		p.Errors = append(p.Errors, FieldError{Field: field.Name, Detail: field.Detail, Accepted: field.Accept})
	}
	if said.Kind == app.Busy {
		w.Header().Set("Retry-After", "5")
	}
	write(w, p)
}

// statusOf tells a person's document that could be read and says too little from a parameter that is none. Runners know
// one answer for both.
func statusOf(r *http.Request, kind app.Kind) int {
	if kind == app.Invalid && r.Method == http.MethodPost && !strings.HasPrefix(r.URL.Path, statusPath) {
		return http.StatusUnprocessableEntity
	}
	return statuses[kind]
}

// unauthorized answers a token that was not accepted, or an issuer that did not answer.
func (s *server) unauthorized(w http.ResponseWriter, r *http.Request, err error) {
	var said *auth.Error
	if !errors.As(err, &said) {
		s.fail(w, r, err)
		return
	}
	if said.Reason == auth.Unavailable {
		s.Log.Warn("sign-in service unavailable", "err", said.Cause)
		w.Header().Set("Retry-After", "5")
		problem(w, http.StatusServiceUnavailable, said.Message)
		return
	}
	if said.Reason == auth.Missing { // nothing was sent, so nothing was wrong with it: RFC 6750, 3.1
		w.Header().Set("WWW-Authenticate", realm)
		problem(w, http.StatusUnauthorized, said.Message)
		return
	}
	unauthorized(w, said.Message)
}

const realm = `Bearer realm="ocpctl"`

func unauthorized(w http.ResponseWriter, detail string) {
	w.Header().Set("WWW-Authenticate", realm+`, error="invalid_token"`)
	problem(w, http.StatusUnauthorized, detail)
}

// badParameter answers a parameter that could not be read as its type.
func (s *server) badParameter(w http.ResponseWriter, _ *http.Request, err error) {
	var format *InvalidParamFormatError
	if !errors.As(err, &format) {
		problem(w, http.StatusBadRequest, err.Error())
		return
	}
	write(w, Problem{
		Status: http.StatusBadRequest, Detail: "The request has an invalid parameter.",
		Errors: []FieldError{{Field: format.ParamName, Detail: "it cannot be read; openapi.yaml says its type"}},
	})
}

// noSuchPath answers what no operation is for. A path that only knows other methods says which.
func noSuchPath(mux *http.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			if _, pattern := mux.Handler(&http.Request{Method: method, Host: r.Host, URL: r.URL}); strings.HasPrefix(pattern, method+" ") {
				detail := r.URL.Path + " answers " + method + " only."
				if strings.HasPrefix(r.URL.Path, "/api/v1/clusters") {
					detail += " Clusters are made and ended on their pull request: set a label ocp/<profile>, or comment /ocp help."
				}
				w.Header().Set("Allow", method)
				problem(w, http.StatusMethodNotAllowed, detail)
				return
			}
		}
		problem(w, http.StatusNotFound, "There is no "+r.Method+" "+r.URL.Path+". GET /api/v1/clusters is a good start.")
	}
}

// recovered answers a panic of a handler as any other failure of ours.
func (s *server) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if v := recover(); v != nil {
				s.Log.Error("handler panicked", "path", r.URL.Path, "err", v, "stack", string(debug.Stack()))
				problem(w, http.StatusInternalServerError, "Something went wrong on our side and was written to the log.")
			}
		}()
		next.ServeHTTP(w, r)
	})
}

func problem(w http.ResponseWriter, status int, detail string) {
	write(w, Problem{Status: status, Detail: detail})
}

func write(w http.ResponseWriter, p Problem) {
	p.Type, p.Title = "about:blank", http.StatusText(p.Status)
	reply(w, "application/problem+json", p.Status, p)
}

func reply(w http.ResponseWriter, contentType string, status int, body any) {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(out.String())) // a client that went away will ask again
}

func ok(w http.ResponseWriter, body any) { reply(w, "application/json", http.StatusOK, body) }
