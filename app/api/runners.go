package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/internal/token"
)

// statusPath is the path for runners, with their attempts' tokens; all other paths are for people and workloads.
const statusPath = "/api/v1/status/"

type claimsKey struct{}

// ofRunners checks an attempt's token, which is valid only for the attempt in the path.
func (s *server) ofRunners(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		claims, err := s.Tokens.Verify(auth.Bearer(r), s.Now())
		if err != nil {
			writeTokenProblem(w, "The attempt's token is not accepted: "+err.Error()+".")
			return
		}
		if claims.Attempt != r.PathValue("id") {
			writeTokenProblem(w, "The token belongs to another attempt.")
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), claimsKey{}, claims)))
	})
}

func claimsOf(r *http.Request) token.Claims {
	c, _ := r.Context().Value(claimsKey{}).(token.Claims)
	return c
}

// RunnersOnly returns the part of the handler that New returns which runners need: the Status API and the probes.
func RunnersOnly(all http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, statusPath) && r.URL.Path != "/healthz" && r.URL.Path != "/readyz" {
			writeProblem(w, http.StatusNotFound, "This address serves only the Status API for runners.")
			return
		}
		all.ServeHTTP(w, r)
	})
}
