// Package metrics is what Prometheus reads from a server: figures from the database, which every replica reports alike, and figures
// of this process. docs/metrics.md lists all of them. No label holds the id of a cluster, a person or a pull request.
package metrics

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/ocpctl/ocpctl/internal/buildinfo"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/store"
)

// Config says what is measured.
type Config struct {
	Store     *store.Store
	Catalogue func() (loaded time.Time, err error) // when what is in force was loaded, and what is wrong with the folder; nil: not measured
	Every     time.Duration                        // how old figures from the database may be; zero: 10 s, negative: each scrape reads them
	Log       *slog.Logger                         // nil: nothing is logged

	Token secret.Text // shows names of teams and profiles to whoever sends it; empty: nobody sees them

	Pools    func(context.Context) ([]PoolLevel, error)    // nil: not measured
	Accounts func(context.Context) ([]AccountLevel, error) // nil: not measured

	ProcessOnly bool // nothing is read from the database's rows, because another process shows them
}

// PoolLevel is how a pool stands.
type PoolLevel struct {
	Pool         string
	Clusters     map[string]int // by state, and how many are wanted: desired, and running of them
	WaitingCents int64          // what waiting cost this month
}

// AccountLevel is how a cloud account of the catalogue stands.
type AccountLevel struct {
	Account       string
	Clusters, Cap int // Cap 0: no limit
	Room          []AccountRoom
	Unproven      bool // it gets no new cluster
	Failed        bool // … or its last proof failed
}

// AccountRoom is how many more clusters of a profile fit into a region.
type AccountRoom struct {
	Region, Profile string
	Clusters        int
}

// Metrics are one process's metrics. They are safe for concurrent use.
type Metrics struct {
	registry  *prometheus.Registry
	token     secret.Text
	requests  *prometheus.HistogramVec
	jobErrors *prometheus.CounterVec
	slack     *prometheus.CounterVec
	hooks     webhooks
}

// webhooks count what is odd about GitHub's webhooks.
type webhooks struct{ refused, undescribed *prometheus.CounterVec }

// New returns the metrics of a process.
func New(c Config) *Metrics {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Every == 0 {
		c.Every = defaultEvery
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(), token: c.Token,
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "ocpctl_http_request_duration_seconds", Help: "Duration of requests to the API and the Status API.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2, 5},
		}, []string{"method", "route", "code"}),
		jobErrors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ocpctl_job_errors_total", Help: "Failed runs of queue jobs, by kind; each attempt counts.",
		}, []string{"kind"}),
		slack: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ocpctl_slack_calls_total", Help: "Calls of Slack's Web API, by method and result: ok, limited, refused, failed.",
		}, []string{"method", "result"}),
		hooks: webhooks{
			prometheus.NewCounterVec(prometheus.CounterOpts{
				Name: "ocpctl_webhooks_refused_total", Help: "Signed webhooks of GitHub that were refused and kept, by reason: duplicate_field, wrong_event, unreadable.",
			}, []string{"reason"}),
			prometheus.NewCounterVec(prometheus.CounterOpts{
				Name: "ocpctl_webhooks_undescribed_total", Help: "Webhooks of GitHub with fields that are not known of their event, by event. The fields are ignored.",
			}, []string{"event"}),
		},
	}
	m.registry.MustRegister(m.requests, m.jobErrors, m.slack, m.hooks.refused, m.hooks.undescribed, process{store: c.Store, catalogue: c.Catalogue, build: buildinfo.Read()},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if !c.ProcessOnly {
		m.registry.MustRegister(newRows(c))
	}
	return m
}

// Handler answers scrapes of Prometheus. Only with the token they have the names that people chose.
func (m *Metrics) Handler() http.Handler { return newHandler(m.registry, m.token) }

// methods are the methods that have a label of their own.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// Request counts a request by its route. Unknown methods share one label: a client may send any word, and each would be a permanent
// series.
func (m *Metrics) Request(method, route string, code int, took time.Duration) {
	if !slices.Contains(methods, method) {
		method = "other"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(code)).Observe(took.Seconds())
}

// JobFailed counts a failed run of a queue job.
func (m *Metrics) JobFailed(kind string) { m.jobErrors.WithLabelValues(kind).Inc() }

// CountRefused counts a signed webhook that did not match its event.
func (m *Metrics) CountRefused(reason string) { m.hooks.refused.WithLabelValues(reason).Inc() }

// CountUndescribed counts a webhook that had fields which are not known of its event.
func (m *Metrics) CountUndescribed(event string) { m.hooks.undescribed.WithLabelValues(event).Inc() }

// SlackCalled counts a call of a method of Slack's Web API.
func (m *Metrics) SlackCalled(method, result string) { m.slack.WithLabelValues(method, result).Inc() }
