package api

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/internal/tracing"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/db"
)

// visit is one request while it is processed.
type visit struct {
	id      string       // request id, for the logs of both sides
	session auth.Session // who asks; the zero value on a path that needs no authentication
	span    tracing.Span
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
	return visitOf(r).session.Principal // without a principal the service refuses, because there is no seat
}

// requestID is the header that identifies a request in the logs of both sides.
const requestID = "X-Request-Id"

// nameable matches request ids that may be written to a log.
var nameable = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// enter gives every request its id and its time limit, and records the result. A panic in a handler is an internal error like any
// other.
func (s *server) enter(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{id: r.Header.Get(requestID)}
		if !nameable.MatchString(v.id) {
			v.id = db.NewID("req")
		}
		w.Header().Set(requestID, v.id)
		ctx := tracing.With(r.Context(), tracing.Cause{Correlation: v.id, Traceparent: r.Header.Get(tracing.TraceparentHeader)})
		ctx, v.span = tracing.Start(ctx, tracing.Server, r.Method)
		ctx, cancel := context.WithValue(ctx, visitKey{}, v), func() {}
		if !streams(r) {
			ctx, cancel = context.WithTimeout(ctx, s.Timeout)
		}
		defer cancel()
		r = r.WithContext(ctx)
		begun, seen := time.Now(), &statusWriter{ResponseWriter: w, code: http.StatusOK}
		defer func() {
			if p := recover(); p == http.ErrAbortHandler {
				defer panic(p) // the connection must break
			} else if p != nil {
				s.Log.ErrorContext(r.Context(), "handler panicked", "request", v.id, "path", pathOf(r), "err", p, "stack", string(debug.Stack()))
				if !seen.begun {
					writeProblem(seen, http.StatusInternalServerError, "An internal error occurred. It is logged as "+v.id+".")
				}
			}
			s.recordRequest(r, v, seen.code, time.Since(begun))
		}()
		next.ServeHTTP(seen, r)
	})
}

// recordRequest counts a request by its route, never by its path, because ids would make a series each. Requests that change something are
// logged.
func (s *server) recordRequest(r *http.Request, v *visit, code int, took time.Duration) {
	route := r.Pattern
	if route == "" {
		route = "none"
	}
	s.Metrics.Request(r.Method, route, code, took)
	v.span.Rename(route, "http.request.method", r.Method, "http.response.status_code", strconv.Itoa(code))
	if code >= http.StatusInternalServerError {
		v.span.Fail(http.StatusText(code))
	}
	v.span.End()
	level := slog.LevelDebug
	if r.Method != http.MethodGet && r.Method != http.MethodHead && !strings.HasPrefix(r.URL.Path, statusPath) {
		level = slog.LevelInfo
	}
	s.Log.Log(r.Context(), level, "request answered", "request", v.id, "principal", v.session.Principal.ID,
		"method", r.Method, "route", route, "path", pathOf(r), "status", code, "took", took)
}

const linksPath = "/api/v1/links/"

// pathOf returns a request's path for the log, without the secret of an unused link.
func pathOf(r *http.Request) string {
	if strings.HasPrefix(r.URL.Path, linksPath) {
		return linksPath + "***"
	}
	return r.URL.Path
}

// streams reports that a response lasts until its reader disconnects, or is a large file.
func streams(r *http.Request) bool {
	follow := r.URL.Query().Get("follow")
	return r.URL.Path == "/api/v1/watch" || strings.HasSuffix(r.URL.Path, "/log-bundle") || r.URL.Path == "/api/v1/audit/export" || r.URL.Path == "/api/v1/reports/chargeback" || r.URL.Path == "/api/v1/reports/focus" || strings.HasSuffix(r.URL.Path, "/logs") && (follow == "true" || follow == "1")
}

// open are the paths that need no token: those for getting one, and documentation.
var open = []string{"/api/v1/auth/aws", "/api/v1/openapi.yaml", "/api/docs"}

func isOpen(path string) bool {
	for _, o := range open {
		if path == o || o == "/api/docs" && strings.HasPrefix(path, o+"/") {
			return true
		}
	}
	return !strings.HasPrefix(path, "/api/") // probes and metrics
}

// authenticate refuses requests without a valid token, and principals with too many requests. Runners' tokens are checked where the
// attempt is known. A sign-in has no token yet and is counted once it succeeded; app/auth charges failures.
func (s *server) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, statusPath) || isOpen(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		session, err := s.Auth.Verify(r.Context(), auth.Bearer(r))
		if err != nil {
			s.writeUnauthorized(w, r, err)
			return
		}
		visitOf(r).session = session
		if wait := s.Pace.Take(session.Principal.ID); wait > 0 {
			tooMany(w, wait)
			return
		}
		s.App.RecordName(r.Context(), session.Principal)
		if r.Method == http.MethodHead && streams(r) { // the response would only consist of its body
			w.Header().Set("Allow", http.MethodGet)
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(w, r)
	})
}
