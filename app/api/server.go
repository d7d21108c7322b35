// Package api is the private door for programs: the REST API of openapi.yaml, the Status API that runners speak to,
// and what probes and Prometheus ask.
//
// openapi.yaml comes first; api.gen.go is written from it. The package maps between JSON and what the desk and the
// store give, and decides nothing. It is the only place that turns the desk's errors into HTTP, and nothing internal
// ever leaves through it: an error that is not the desk's is logged and answered without its words.
package api

//go:generate go tool -modfile=../../tools/go.mod oapi-codegen --config=oapi-codegen.yaml openapi.yaml

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/internal/token"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// Config wires the private door.
type Config struct {
	Desk   *app.Desk
	Store  *store.Store // the Status API, readiness and metrics
	Auth   *auth.Verifier
	AWS    *auth.Exchange // of signed AWS identities for sessions; nil: none
	Tokens *token.Signer  // the attempts' tokens
	Runner RunnerSettings
	Now    func() time.Time // nil: time.Now
	Log    *slog.Logger
}

// RunnerSettings are what every runner is told beside its cluster.
type RunnerSettings struct {
	Installation                  string
	Bucket, KMSKey, OperateKMSKey string
	Lease                         time.Duration // as in store.Options
	Heartbeat                     time.Duration
	VerifyGap                     time.Duration
	SnapshotMaxAge                time.Duration // zero: an hour
}

type server struct {
	Config
}

// New returns the handler of /api/v1/…, /healthz, /readyz and /metrics.
func New(c Config) http.Handler {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Runner.SnapshotMaxAge == 0 {
		c.Runner.SnapshotMaxAge = time.Hour
	}
	s := &server{Config: c}
	m := newMetrics(c.Store, c.Log)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", healthy)
	mux.HandleFunc("GET /readyz", s.ready)
	mux.Handle("GET /metrics", m.handler())
	HandlerWithOptions(s, StdHTTPServerOptions{
		BaseRouter:       mux,
		Middlewares:      []MiddlewareFunc{s.authenticate},
		ErrorHandlerFunc: s.badParameter,
	})
	mux.HandleFunc("/api/", noSuchPath(mux))
	return m.measure(s.recovered(mux))
}

// statusPath is where runners speak, with their attempts' tokens; everything else is people's and workloads'.
const statusPath = "/api/v1/status/"

type principalKey struct{}

type claimsKey struct{}

// authenticate lets a request through only with the token its operation asks for in openapi.yaml.
func (s *server) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, statusPath) {
			s.asRunner(w, r, next)
			return
		}
		session, err := s.Auth.Verify(r.Context(), auth.Bearer(r))
		if err != nil {
			s.unauthorized(w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), principalKey{}, session.Principal)))
	})
}

// asRunner checks an attempt's token, which speaks for the attempt in the path and no other.
func (s *server) asRunner(w http.ResponseWriter, r *http.Request, next http.Handler) {
	claims, err := s.Tokens.Verify(auth.Bearer(r), s.Now())
	if err != nil {
		unauthorized(w, "The attempt's token is not accepted: "+err.Error()+".")
		return
	}
	if claims.Attempt != r.PathValue("id") {
		unauthorized(w, "The token is another attempt's.")
		return
	}
	next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), claimsKey{}, claims)))
}

func principal(r *http.Request) policy.Principal {
	p, _ := r.Context().Value(principalKey{}).(policy.Principal) // without one the desk refuses: no role
	return p
}

func claims(r *http.Request) token.Claims {
	c, _ := r.Context().Value(claimsKey{}).(token.Claims)
	return c
}
