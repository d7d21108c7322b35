package api

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ocpctl/ocpctl/store"
)

const probeTimeout = 2 * time.Second

// healthy answers that the process is running; it checks nothing else.
func healthy(w http.ResponseWriter, _ *http.Request) { ok(w, map[string]string{"status": "ok"}) }

// ready answers whether PostgreSQL responds, without which nothing works.
func (s *server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), probeTimeout)
	defer cancel()
	if err := s.Store.Ping(ctx); err != nil {
		s.Log.WarnContext(r.Context(), "not ready", "err", err)
		problem(w, http.StatusServiceUnavailable, "PostgreSQL does not respond.")
		return
	}
	ok(w, map[string]string{"status": "ready", "postgresql": "ok"})
}

// metrics are the metrics for Prometheus: requests, and the numbers of clusters and jobs by state.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
}

func newMetrics(s *store.Store, log *slog.Logger) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "ocpctl_http_request_duration_seconds", Help: "Duration of requests to the private listener.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5},
		}, []string{"method", "route", "code"}),
	}
	m.registry.MustRegister(m.requests, census{store: s, log: log},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// NewJobErrors returns the counter of failed runs of queue jobs. Every failed try counts.
func NewJobErrors() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "ocpctl_job_errors_total", Help: "Failed runs of queue jobs, by kind; each attempt counts.",
	}, []string{"kind"})
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// observe counts a request. Unknown methods share one label: a client may send any word, and each would be a permanent series.
func (m *metrics) observe(method, route string, code int, took time.Duration) {
	if !slices.Contains(methods, method) && method != http.MethodHead {
		method = "other"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(code)).Observe(took.Seconds())
}

// statusWriter remembers the status of the response.
type statusWriter struct {
	http.ResponseWriter
	code  int
	begun bool
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(code int) {
	w.code, w.begun = code, true
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *statusWriter) Write(body []byte) (int, error) {
	w.begun = true
	return w.ResponseWriter.Write(body)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// census counts rows at every scrape, so that no counter can differ from the database.
type census struct {
	store *store.Store
	log   *slog.Logger
}

var (
	clustersDesc     = prometheus.NewDesc("ocpctl_clusters", "Clusters by status.", []string{"status"}, nil)
	jobsDesc         = prometheus.NewDesc("ocpctl_jobs", "Jobs by type and status.", []string{"type", "status"}, nil)
	reservationsDesc = prometheus.NewDesc("ocpctl_reservations", "Reservations of cloud account capacity: installs, clusters, and clusters waiting in the queue.", []string{"state"}, nil)
	againDesc        = prometheus.NewDesc("ocpctl_redeliveries", "Webhook redeliveries requested from GitHub: came, awaited, given_up.", []string{"state"}, nil)
	findingsDesc     = prometheus.NewDesc("ocpctl_findings", "Open findings that need a person, by kind.", []string{"kind"}, nil)
	leftDesc         = prometheus.NewDesc("ocpctl_github_calls_remaining", "Remaining calls in GitHub's primary rate limit until its reset.", []string{"installation", "resource"}, nil)
	allowedDesc      = prometheus.NewDesc("ocpctl_github_calls_allowed", "GitHub's primary rate limit per hour.", []string{"installation", "resource"}, nil)
	awayDesc         = prometheus.NewDesc("ocpctl_github_away_seconds", "Seconds since GitHub stopped responding; 0 if it responds.", []string{"installation"}, nil)
)

// Describe implements prometheus.Collector.
func (c census) Describe(out chan<- *prometheus.Desc) {
	out <- clustersDesc
	out <- jobsDesc
	out <- findingsDesc
	out <- reservationsDesc
	out <- againDesc
	out <- leftDesc
	out <- allowedDesc
	out <- awayDesc
}

// Collect implements prometheus.Collector. If the database does not respond, the counts are missing from this scrape.
func (c census) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	counts, err := c.store.Census(ctx)
	if err != nil {
		c.log.Warn("counting failed", "err", err)
		return
	}
	for status, n := range counts.Clusters {
		out <- prometheus.MustNewConstMetric(clustersDesc, prometheus.GaugeValue, float64(n), string(status))
	}
	for _, j := range counts.Jobs {
		out <- prometheus.MustNewConstMetric(jobsDesc, prometheus.GaugeValue, float64(j.N), string(j.Type), string(j.Status))
	}
	for state, n := range counts.Room {
		out <- prometheus.MustNewConstMetric(reservationsDesc, prometheus.GaugeValue, float64(n), state)
	}
	for state, n := range counts.Again {
		out <- prometheus.MustNewConstMetric(againDesc, prometheus.GaugeValue, float64(n), state)
	}
	for _, b := range counts.Budgets {
		installation := strconv.FormatInt(b.Installation, 10)
		out <- prometheus.MustNewConstMetric(leftDesc, prometheus.GaugeValue, float64(b.Remaining), installation, b.Resource)
		out <- prometheus.MustNewConstMetric(allowedDesc, prometheus.GaugeValue, float64(b.Allowed), installation, b.Resource)
	}
	for installation, away := range counts.Away {
		out <- prometheus.MustNewConstMetric(awayDesc, prometheus.GaugeValue, away.Seconds(), strconv.FormatInt(installation, 10))
	}
	for kind, n := range counts.Findings {
		out <- prometheus.MustNewConstMetric(findingsDesc, prometheus.GaugeValue, float64(n), string(kind))
	}
}
