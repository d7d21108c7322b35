package metrics

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/measures"
)

const (
	defaultEvery = 10 * time.Second
	readTimeout  = 5 * time.Second
)

// rows collects the figures from the database. They are read at most once in Every, however many scrape.
type rows struct {
	Config
	gauges map[string]*prometheus.Desc // of measures.Gauges, by name

	mu     sync.Mutex
	read   time.Time // when census and levels were read
	census store.Census
	levels []measures.Level
	pools  []PoolLevel
	clouds []AccountLevel
	counts []*counted
}

func newRows(c Config) *rows {
	r := &rows{Config: c, gauges: map[string]*prometheus.Desc{}}
	for _, g := range measures.Gauges() {
		r.gauges[g.Name] = prometheus.NewDesc(g.Name, g.Help, g.Labels, nil)
	}
	for _, m := range measures.All() {
		r.counts = append(r.counts, newCounted(m))
	}
	return r
}

var (
	upDesc           = prometheus.NewDesc("ocpctl_database_up", "1 if the figures from the database could be read; 0: they are missing from this scrape.", nil, nil)
	clustersDesc     = prometheus.NewDesc("ocpctl_clusters", "Clusters by status.", []string{"status"}, nil)
	jobsDesc         = prometheus.NewDesc("ocpctl_jobs", "Jobs of clusters by type and status, without successful looks for links and without scans of cloud accounts (see ocpctl_scan_age_seconds).", []string{"type", "status"}, nil)
	reservationsDesc = prometheus.NewDesc("ocpctl_reservations", "Reservations of cloud account capacity: installs, clusters, and clusters waiting in the queue.", []string{"state"}, nil)
	againDesc        = prometheus.NewDesc("ocpctl_redeliveries", "Webhook redeliveries requested from GitHub: came, awaited, given_up.", []string{"state"}, nil)
	findingsDesc     = prometheus.NewDesc("ocpctl_findings", "Open findings that need a person, by kind; abandoned are those of blocked teardowns that an admin abandoned, and no longer blocked.", []string{"kind"}, nil)
	leftDesc         = prometheus.NewDesc("ocpctl_github_calls_remaining", "Remaining calls in GitHub's primary rate limit until its reset.", []string{"installation", "resource"}, nil)
	allowedDesc      = prometheus.NewDesc("ocpctl_github_calls_allowed", "GitHub's primary rate limit per hour.", []string{"installation", "resource"}, nil)
	poolDesc         = prometheus.NewDesc("ocpctl_pool_clusters", "Clusters of a pool by state: waiting (awake), asleep, making, claimed; and how many are to wait (desired), running of them awake.", []string{"pool", "state"}, nil)
	poolCostDesc     = prometheus.NewDesc("ocpctl_pool_waiting_cost_dollars", "What the pool's waiting clusters cost this calendar month (UTC), by list prices.", []string{"pool"}, nil)
	accountDesc      = prometheus.NewDesc("ocpctl_account_clusters", "Clusters in a cloud account of the catalogue that are not proven destroyed.", []string{"account"}, nil)
	capDesc          = prometheus.NewDesc("ocpctl_account_cap", "The most clusters at once in a cloud account of the catalogue that has such a limit.", []string{"account"}, nil)
	roomDesc         = prometheus.NewDesc("ocpctl_account_room", "How many more clusters of a profile fit into a region of a cloud account by its own limits, as measured in the last day.", []string{"account", "region", "profile"}, nil)
	unprovenDesc     = prometheus.NewDesc("ocpctl_account_unproven", "1 if a cloud account gets no new cluster because it is not proven that clusters can be made there.", []string{"account"}, nil)
	proofDesc        = prometheus.NewDesc("ocpctl_account_proof_failed", "1 if the last proof of a cloud account that reached a result found a problem.", []string{"account"}, nil)
	awayDesc         = prometheus.NewDesc("ocpctl_github_away_seconds", "Seconds since GitHub stopped responding; 0 if it responds.", []string{"installation"}, nil)
)

// Describe implements prometheus.Collector.
func (r *rows) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{upDesc, clustersDesc, jobsDesc, reservationsDesc, againDesc, findingsDesc, leftDesc, allowedDesc, awayDesc, poolDesc, poolCostDesc, accountDesc, capDesc, roomDesc, unprovenDesc, proofDesc} {
		out <- d
	}
	for _, d := range r.gauges {
		out <- d
	}
	for _, c := range r.counts {
		out <- c.desc
	}
}

// Collect implements prometheus.Collector. If the database does not respond, only ocpctl_database_up is in this scrape.
func (r *rows) Collect(out chan<- prometheus.Metric) {
	r.mu.Lock()
	defer r.mu.Unlock()
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	if err := r.refreshRows(); err != nil {
		r.Log.Warn("figures for the metrics were not read", "err", err)
		gauge(upDesc, 0)
		return
	}
	gauge(upDesc, 1)
	r.showCensus(gauge)
	for _, l := range r.levels {
		gauge(r.gauges[l.Metric], l.Value, l.Labels...)
	}
	for _, c := range r.counts {
		c.collectMetrics(out)
	}
}

// refresh reads what is older than Every. Of what is counted over time, only the new events are read.
func (r *rows) refreshRows() (err error) {
	if !r.read.IsZero() && time.Since(r.read) < r.Every {
		return nil
	}
	if r.Store == nil {
		return errors.New("there is no database")
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	if r.census, err = r.Store.Census(ctx); err != nil {
		return err
	}
	if r.levels, err = r.Store.Measures.Levels(ctx); err != nil {
		return err
	}
	if r.Pools != nil {
		if r.pools, err = r.Pools(ctx); err != nil {
			return err
		}
	}
	if r.Accounts != nil {
		if r.clouds, err = r.Accounts(ctx); err != nil {
			return err
		}
	}
	for _, c := range r.counts {
		if err := c.refreshCounts(ctx, r.Store.Measures); err != nil {
			return err
		}
	}
	r.read = time.Now()
	return nil
}

func (r *rows) showCensus(gauge func(*prometheus.Desc, float64, ...string)) {
	for status, n := range r.census.Clusters {
		gauge(clustersDesc, float64(n), string(status))
	}
	for _, j := range r.census.Jobs {
		gauge(jobsDesc, float64(j.N), string(j.Type), string(j.Status))
	}
	for state, n := range r.census.Room {
		gauge(reservationsDesc, float64(n), state)
	}
	for state, n := range r.census.Again {
		gauge(againDesc, float64(n), state)
	}
	for _, p := range r.pools {
		for state, n := range p.Clusters {
			gauge(poolDesc, float64(n), p.Pool, state)
		}
		gauge(poolCostDesc, float64(p.WaitingCents)/100, p.Pool)
	}
	for _, a := range r.clouds {
		a.showLevel(gauge)
	}
	for kind, n := range r.census.Findings {
		gauge(findingsDesc, float64(n), string(kind))
	}
	for _, b := range r.census.Budgets {
		installation := strconv.FormatInt(b.Installation, 10)
		gauge(leftDesc, float64(b.Remaining), installation, b.Resource)
		gauge(allowedDesc, float64(b.Allowed), installation, b.Resource)
	}
	for installation, away := range r.census.Away {
		gauge(awayDesc, away.Seconds(), strconv.FormatInt(installation, 10))
	}
}

// showLevel shows how an account stands.
func (a AccountLevel) showLevel(gauge func(*prometheus.Desc, float64, ...string)) {
	gauge(accountDesc, float64(a.Clusters), a.Account)
	if a.Cap > 0 {
		gauge(capDesc, float64(a.Cap), a.Account)
	}
	for _, r := range a.Room {
		gauge(roomDesc, float64(r.Clusters), a.Account, r.Region, r.Profile)
	}
	for desc, is := range map[*prometheus.Desc]bool{unprovenDesc: a.Unproven, proofDesc: a.Failed} {
		value := 0.0
		if is {
			value = 1
		}
		gauge(desc, value, a.Account)
	}
}
