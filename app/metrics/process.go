package metrics

import (
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ocpctl/ocpctl/internal/buildinfo"
	"github.com/ocpctl/ocpctl/store"
)

// process collects what only this process knows.
type process struct {
	store     *store.Store
	catalogue func() (time.Time, error)
	build     buildinfo.Info
}

var (
	buildDesc       = prometheus.NewDesc("ocpctl_build_info", "1, with the version of this process.", []string{"version", "commit", "go"}, nil)
	validDesc       = prometheus.NewDesc("ocpctl_catalogue_valid", "1 if the catalogue's folder is in force as it is; 0 if its content was refused.", nil, nil)
	loadedDesc      = prometheus.NewDesc("ocpctl_catalogue_loaded_timestamp_seconds", "When the catalogue in force was loaded; 0: none ever was.", nil, nil)
	connectionsDesc = prometheus.NewDesc("ocpctl_database_connections", "Connections of this process to PostgreSQL, by state: used, idle, and the most it may open.", []string{"state"}, nil)
	waitDesc        = prometheus.NewDesc("ocpctl_database_wait_seconds_total", "Time that this process waited for a free connection.", nil, nil)
)

// Describe implements prometheus.Collector.
func (p process) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{buildDesc, validDesc, loadedDesc, connectionsDesc, waitDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (p process) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	gauge(buildDesc, 1, p.build.Version, p.build.Commit, runtime.Version())
	if p.catalogue != nil {
		loaded, err := p.catalogue()
		valid, at := 1.0, 0.0
		if err != nil {
			valid = 0
		}
		if !loaded.IsZero() {
			at = float64(loaded.UnixMilli()) / 1000
		}
		gauge(validDesc, valid)
		gauge(loadedDesc, at)
	}
	if p.store != nil {
		pool := p.store.Pool().Stat()
		gauge(connectionsDesc, float64(pool.AcquiredConns()), "used")
		gauge(connectionsDesc, float64(pool.IdleConns()), "idle")
		gauge(connectionsDesc, float64(pool.MaxConns()), "most")
		out <- prometheus.MustNewConstMetric(waitDesc, prometheus.CounterValue, pool.EmptyAcquireWaitTime().Seconds())
	}
}
