package api

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ocpctl/ocpctl/store"
)

// NewProbes returns the handler of /healthz, /readyz and /metrics for a listener of their own, which a process without the private
// listener needs. Its metrics are those of the process alone: what is counted in the database is at the private listener. It is
// not ready once draining is done. jobErrors may be nil.
func NewProbes(s *store.Store, log *slog.Logger, draining context.Context, jobErrors prometheus.Collector) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if jobErrors != nil {
		registry.MustRegister(jobErrors)
	}
	probed := &server{Config: Config{Store: s, Log: log, Draining: draining}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", healthy)
	mux.HandleFunc("GET /readyz", probed.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
	return mux
}
