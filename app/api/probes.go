package api

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/ocpctl/ocpctl/app/metrics"
	"github.com/ocpctl/ocpctl/store"
)

// NewProbes returns the handler of /healthz, /readyz and /metrics for a listener of their own, which a process without the private
// listener needs. It is not ready once draining is done.
func NewProbes(s *store.Store, log *slog.Logger, draining context.Context, m *metrics.Metrics) http.Handler {
	probed := &server{Config: Config{Store: s, Log: log, Draining: draining}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", writeHealthy)
	mux.HandleFunc("GET /readyz", probed.writeReady)
	mux.Handle("GET /metrics", m.Handler())
	return mux
}
