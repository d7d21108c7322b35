//go:build kubernetes

package kubernetes

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	development "github.com/ocpctl/ocpctl/devstack/kubernetes"
	"github.com/ocpctl/ocpctl/internal/dispatch"
)

// line is a connection to the API server that can be cut.
type line struct {
	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

func (l *line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		return nil, errors.New("the line is cut")
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err == nil {
		l.conns = append(l.conns, conn)
	}
	return conn, err
}

func (l *line) set(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
	for _, conn := range l.conns {
		_ = conn.Close()
	}
	l.conns = nil
}

// watched counts what a watch of the attempt's cluster reports until the test ends.
func (l *life) watched(d *Dispatcher) (count func() int) {
	l.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var mu sync.Mutex
	n := 0
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.Watch(ctx, func(cluster string) {
			mu.Lock()
			defer mu.Unlock()
			if cluster == l.job.Cluster {
				n++
			}
		})
	}()
	l.Cleanup(func() { cancel(); <-done })
	count = func() int { mu.Lock(); defer mu.Unlock(); return n }
	l.until("it is reported", func() bool { return count() > 0 })
	return count
}

func TestWhatHappenedWhileTheWatchWasCutIsReported(t *testing.T) {
	l := newLife(t, "polite", nil).start()
	l.running()
	to, wire := asServer(t), &line{}
	to.Dial = wire.dial
	d := replica(t, to, reports.URL, nil)
	reported := l.watched(d)
	wire.set(true)
	_, err := d.Observe(t.Context(), l.job.Attempt)
	require.Error(t, err, "an API that does not answer decides nothing")
	admin(t, http.MethodDelete, batch+"/jobs/"+l.name()+"?propagationPolicy=Background", nil)
	l.sees(dispatch.Missing, Deleted, "")
	before := reported()
	wire.set(false)
	l.until("the deletion is reported", func() bool { return reported() > before })
}

// stale makes every first watch of a resource begin at a version that the API server has forgotten, and counts how often each is listed.
type stale struct {
	next    http.RoundTripper
	mu      sync.Mutex
	watched map[string]bool
	lists   map[string]int
}

func (s *stale) RoundTrip(r *http.Request) (*http.Response, error) {
	query := r.URL.Query()
	s.mu.Lock()
	switch path := r.URL.Path; {
	case query.Get("watch") == "":
		s.lists[path]++
	case !s.watched[path]:
		s.watched[path] = true
		query.Set("resourceVersion", "1")
		r = r.Clone(r.Context())
		r.URL.RawQuery = query.Encode()
	}
	s.mu.Unlock()
	return s.next.RoundTrip(r)
}

func TestAVersionThatHasExpiredIsReadAgain(t *testing.T) {
	require.NoError(t, real.Stop()) // the watch cache of an API server begins at its start
	restart(t)
	l := newLife(t, "polite", nil).start()
	l.running()
	to, expired := asServer(t), &stale{watched: map[string]bool{}, lists: map[string]int{}}
	to.Wrap(func(next http.RoundTripper) http.RoundTripper { expired.next = next; return expired })
	reported := l.watched(replica(t, to, reports.URL, nil))
	l.until("both watches were refused, and both lists read again", func() bool {
		expired.mu.Lock()
		defer expired.mu.Unlock()
		return expired.lists[batch+"/jobs"] > 1 && expired.lists[core+"/pods"] > 1
	})
	before := reported()
	require.NoError(t, l.d.Stop(t.Context(), l.job.Attempt))
	l.sees(dispatch.Ended, "", "")
	l.until("the end is reported", func() bool { return reported() > before })
}

// restart starts the stopped cluster again, for this test and those after it.
func restart(t *testing.T) {
	t.Helper()
	again, err := development.Start(context.Background(), settings)
	require.NoError(t, err)
	real = again
}

func TestAfterARestartOfTheClusterItsRunnersHaveEndedAndTheWatchGoesOn(t *testing.T) {
	l := newLife(t, "polite", nil).start()
	l.running()
	d := replica(t, asServer(t), reports.URL, nil)
	reported := l.watched(d)
	require.NoError(t, real.Stop())
	_, err := d.Observe(t.Context(), l.job.Attempt)
	require.Error(t, err)
	require.Error(t, d.Start(t.Context(), l.job))
	before := reported()
	restart(t)
	l.sees(dispatch.Ended, NodeLost, "restarted")
	l.until("the end is reported", func() bool { return reported() > before })
}

func TestAJobOfTheSameNameIsAConflict(t *testing.T) {
	l := newLife(t, "polite", nil).start()
	other := l.job
	other.Attempt = "att_other_" + other.Cluster
	require.ErrorContains(t, l.d.Start(t.Context(), other), "not to this attempt; delete it", "the same number with another id")
}

func TestTwoServersThatStartAtOnceMakeOneJob(t *testing.T) {
	l := newLife(t, "polite", nil)
	one, two := l.d, replica(t, asServer(t), reports.URL, nil)
	var all sync.WaitGroup
	errs := make(chan error, 40)
	for i := range 40 {
		all.Go(func() { errs <- []*Dispatcher{one, two}[i%2].Start(t.Context(), l.job) })
	}
	all.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	l.running()
	require.Len(t, l.left(t.Context()), 3, "one Job, one pod, one secret")
	require.NoError(t, l.d.Stop(t.Context(), l.job.Attempt))
	l.sees(dispatch.Ended, "", "")
	require.NoError(t, l.d.Forget(t.Context(), l.job.Attempt))
	l.until("the garbage collector has deleted what the Job owned", func() bool { return len(l.left(t.Context())) == 0 })
}

// counted counts the calls of the API by method and resource.
type counted struct {
	next  http.RoundTripper
	mu    sync.Mutex
	calls map[string]int
}

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.calls[r.Method+" "+resourceOf(r.URL.Path)]++
	c.mu.Unlock()
	return c.next.RoundTrip(r)
}

func counting(to *rest.Config) *counted {
	c := &counted{calls: map[string]int{}}
	to.Wrap(func(next http.RoundTripper) http.RoundTripper { c.next = next; return c })
	return c
}

// BenchmarkStart measures attempts dispatched per second, without client-go's limit on calls.
func BenchmarkStart(b *testing.B) {
	to := asServer(b)
	to.QPS = -1
	calls := counting(to)
	d := replica(b, to, reports.URL, func(c *Config) { c.NodeSelector = map[string]string{"nowhere": "true"} }) // pods are not part of it
	var mu sync.Mutex
	var made []string
	began := time.Now()
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			job := newJob("polite")
			if err := d.Start(b.Context(), job); err != nil {
				b.Error(err)
			}
			mu.Lock()
			made = append(made, job.Attempt)
			mu.Unlock()
		}
	})
	b.StopTimer()
	b.ReportMetric(float64(len(made))/time.Since(began).Seconds(), "starts/s")
	total := 0
	for _, n := range calls.calls {
		total += n
	}
	b.ReportMetric(float64(total)/float64(len(made)), "calls/start")
	for _, attempt := range made {
		require.NoError(b, d.Stop(context.Background(), attempt))
		require.Eventually(b, func() bool { return d.Forget(context.Background(), attempt) == nil }, patience, 10*time.Millisecond)
	}
}

// BenchmarkLife measures a whole life of an attempt: from its start to the runner's first report, the calls that a server makes besides
// looking, and those of one look.
func BenchmarkLife(b *testing.B) {
	to := asServer(b)
	calls := counting(to)
	var untilRuns time.Duration
	looks := 0
	for b.Loop() {
		heard := make(chan struct{}, 8)
		server := listen(b, func() { heard <- struct{}{} })
		d := replica(b, to, server, nil)
		job := newJob("polite")
		began := time.Now()
		require.NoError(b, d.Start(b.Context(), job))
		<-heard
		untilRuns += time.Since(began)
		require.NoError(b, d.Stop(b.Context(), job.Attempt))
		<-heard
		require.Eventually(b, func() bool {
			looks++
			seen, err := d.Observe(b.Context(), job.Attempt)
			return err == nil && seen.Sighting == dispatch.Ended
		}, patience, 50*time.Millisecond)
		require.NoError(b, d.Forget(b.Context(), job.Attempt))
	}
	total := 0
	for _, n := range calls.calls {
		total += n
	}
	b.ReportMetric(untilRuns.Seconds()/float64(b.N), "s/until-it-runs")
	b.ReportMetric(float64(total-2*looks)/float64(b.N), "calls/life") // without the looks, two calls each
}
