package api

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// visit is one request on its way through the door.
type visit struct {
	id      string       // of the request, for the logs of both sides
	session auth.Session // who asks; the zero value on a path that asks for nobody
}

type visitKey struct{}

func visitOf(r *http.Request) *visit {
	v, _ := r.Context().Value(visitKey{}).(*visit)
	if v == nil {
		return &visit{}
	}
	return v
}

func principal(r *http.Request) policy.Principal {
	return visitOf(r).session.Principal // without one the service refuses: no seat
}

// requestID is the header that names a request in the logs of both sides.
const requestID = "X-Request-Id"

// nameable is a name of a request that may stand in a log.
var nameable = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// enter gives every request its name, its time and somebody who tells how it went. A handler that panics is a failure of ours
// like any other.
func (s *server) enter(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{id: r.Header.Get(requestID)}
		if !nameable.MatchString(v.id) {
			v.id = store.NewID("req")
		}
		w.Header().Set(requestID, v.id)
		ctx, cancel := context.WithValue(r.Context(), visitKey{}, v), func() {}
		if !streams(r) {
			ctx, cancel = context.WithTimeout(ctx, s.Timeout)
		}
		defer cancel()
		r = r.WithContext(ctx)
		begun, seen := time.Now(), &statusWriter{ResponseWriter: w, code: http.StatusOK}
		defer func() {
			if p := recover(); p == http.ErrAbortHandler {
				defer panic(p) // the connection is to break
			} else if p != nil {
				s.Log.Error("handler panicked", "request", v.id, "path", pathOf(r), "err", p, "stack", string(debug.Stack()))
				if !seen.begun {
					problem(seen, http.StatusInternalServerError, "An internal error occurred. It is logged as "+v.id+".")
				}
			}
			s.told(r, v, seen.code, time.Since(begun))
		}()
		next.ServeHTTP(seen, r)
	})
}

// told counts a request under its route, never under its path: ids would make a series each. What changes something is logged.
func (s *server) told(r *http.Request, v *visit, code int, took time.Duration) {
	route := r.Pattern
	if route == "" {
		route = "none"
	}
	s.metrics.observe(r.Method, route, code, took)
	level := slog.LevelDebug
	if r.Method != http.MethodGet && r.Method != http.MethodHead && !strings.HasPrefix(r.URL.Path, statusPath) {
		level = slog.LevelInfo
	}
	s.Log.Log(r.Context(), level, "request answered", "request", v.id, "principal", v.session.Principal.ID,
		"method", r.Method, "route", route, "path", pathOf(r), "status", code, "took", took)
}

const linksPath = "/api/v1/links/"

// pathOf is where a request goes, for the log: a link is a secret until it is used.
func pathOf(r *http.Request) string {
	if strings.HasPrefix(r.URL.Path, linksPath) {
		return linksPath + "***"
	}
	return r.URL.Path
}

// streams says that an answer goes on until its reader leaves, or is as long as a large file.
func streams(r *http.Request) bool {
	follow := r.URL.Query().Get("follow")
	return r.URL.Path == "/api/v1/watch" || strings.HasSuffix(r.URL.Path, "/log-bundle") || r.URL.Path == "/api/v1/audit/export" || strings.HasSuffix(r.URL.Path, "/logs") && (follow == "true" || follow == "1")
}

// open are the paths of people and programs that ask for no token: what leads to one, and what explains itself.
var open = []string{"/api/v1/auth/aws", "/api/v1/openapi.yaml", "/api/docs"}

func isOpen(path string) bool {
	for _, o := range open {
		if path == o || o == "/api/docs" && strings.HasPrefix(path, o+"/") {
			return true
		}
	}
	return !strings.HasPrefix(path, "/api/") // probes and metrics
}

// authenticate lets nobody in without a token of theirs, and nobody in too often. Runners' tokens are looked at where their
// attempt is known. Who signs in has no token yet and is counted once they did: failures are charged in app/auth.
func (s *server) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, statusPath) || isOpen(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		session, err := s.Auth.Verify(r.Context(), auth.Bearer(r))
		if err != nil {
			s.unauthorized(w, r, err)
			return
		}
		visitOf(r).session = session
		if wait := s.Pace.Take(session.Principal.ID); wait > 0 {
			tooMany(w, wait)
			return
		}
		if r.Method == http.MethodHead && streams(r) { // there is a body and nothing else to it
			w.Header().Set("Allow", http.MethodGet)
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(w, r)
	})
}
