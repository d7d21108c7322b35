// Package dispatchtest has the tests that every dispatcher passes: Process in `make test`, Jobs on a real Kubernetes cluster with the build
// tag kubernetes (internal/dispatch/kubernetes/real_test.go says what it needs). Their runner is the program probe.
package dispatchtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/dispatch"
)

// Dispatcher is what is tested.
type Dispatcher interface {
	Start(ctx context.Context, job dispatch.Job) error
	Observe(ctx context.Context, attempt string) (dispatch.Observation, error)
	Living(ctx context.Context, cluster string) ([]int, error)
	Stop(ctx context.Context, attempt string) error
	Kill(ctx context.Context, attempt string) error
	Kept(ctx context.Context) ([]string, error)
	Forget(ctx context.Context, attempt string) error
}

// Config says how a dispatcher is made for the tests.
type Config struct {
	// New returns another dispatcher over the same runners, as another replica of the server has it. Its runners are the program probe and
	// get statusURL as the address of the Status API.
	New func(t *testing.T, statusURL string) Dispatcher
	// Patience is how long a runner may take to start or to end.
	Patience time.Duration
	// Mode is the widest permission of the token's file.
	Mode fs.FileMode
}

// Build builds the program probe, without C libraries.
func Build(path string) error {
	cmd := exec.Command("go", "build", "-o", path, "github.com/ocpctl/ocpctl/internal/dispatch/dispatchtest/probe")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the probe: %w: %s", err, out)
	}
	return nil
}

// Run runs all tests.
func Run(t *testing.T, cfg Config) {
	for _, c := range []struct {
		name string
		test func(*suite)
	}{
		{"a start asked for many times starts once", (*suite).startsOnce},
		{"another dispatcher finds the runner and stops it once", (*suite).stopsOnce},
		{"a runner that ended by itself is not started again", (*suite).endsByItself},
		{"a kill ends a runner that does not end when it is asked to", (*suite).kills},
		{"what is left is kept until it is forgotten, and not while it is alive", (*suite).forgets},
		{"nothing is known of what was never started", (*suite).knowsNothing},
		{"nothing is started beside a living runner of the cluster", (*suite).standsAlone},
		{"a scan runs without a cluster, beside others, and again once it was forgotten", (*suite).scans},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &suite{T: t, cfg: cfg, cluster: fmt.Sprintf("clu_%d", time.Now().UnixNano()), heard: map[string][]heard{}}
			server := httptest.NewServer(s)
			t.Cleanup(server.Close)
			s.url = server.URL
			s.d = cfg.New(t, s.url)
			c.test(s)
		})
	}
}

// suite is one test: a dispatcher, a cluster of its own, and what its runners reported.
type suite struct {
	*testing.T
	cfg     Config
	d       Dispatcher
	url     string
	cluster string
	mu      sync.Mutex
	heard   map[string][]heard // by attempt
}

type heard struct {
	Attempt, What, Token, Error string
	Mode                        fs.FileMode
}

// ServeHTTP takes a runner's report.
func (s *suite) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var h heard
	if err := json.NewDecoder(r.Body).Decode(&h); err != nil {
		s.Errorf("a report: %v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard[h.Attempt] = append(s.heard[h.Attempt], h)
}

// reports returns an attempt's reports of one kind.
func (s *suite) reports(attempt, what string) (list []heard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.heard[attempt] {
		if h.What == what {
			list = append(list, h)
		}
	}
	return list
}

func (s *suite) job(number int, kind, behaviour string) dispatch.Job {
	prefix := "att"
	if kind == dispatch.KindScan {
		prefix = "scn"
	}
	job := dispatch.Job{
		Attempt: fmt.Sprintf("%s_%s_%d_%d", prefix, behaviour, number, time.Now().UnixNano()), Cluster: s.cluster, Number: number, Kind: kind,
		Token: "the-token-of-" + s.cluster, Job: "job_1", Team: "platform", Profile: "aws-standard", Platform: "aws",
	}
	s.Cleanup(func() { // whatever became of the test
		ctx := context.Background()
		require.NoError(s, s.d.Kill(ctx, job.Attempt))
		s.until("the runner was cleaned up", func() bool { return s.d.Forget(ctx, job.Attempt) == nil })
	})
	return job
}

func (s *suite) until(what string, done func() bool) {
	s.Helper()
	require.Eventually(s, done, s.cfg.Patience, 20*time.Millisecond, what)
}

func (s *suite) start(job dispatch.Job) {
	s.Helper()
	require.NoError(s, s.d.Start(s.Context(), job))
	s.until("it started", func() bool { return len(s.reports(job.Attempt, "started")) > 0 })
}

func (s *suite) see(d Dispatcher, attempt string) dispatch.Sighting {
	s.Helper()
	seen, err := d.Observe(context.Background(), attempt)
	require.NoError(s, err)
	return seen.Sighting
}

func (s *suite) ends(attempt string) {
	s.Helper()
	s.until("it ended", func() bool { return s.see(s.d, attempt) == dispatch.Ended })
}

func (s *suite) startsOnce() {
	job := s.job(1, "create", "polite")
	other := s.cfg.New(s.T, s.url)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			d := s.d
			if i%2 == 1 {
				d = other
			}
			if err := d.Start(s.Context(), job); err != nil {
				s.Errorf("start %d: %v", i, err)
			}
		})
	}
	all.Wait()
	s.start(job)
	require.Equal(s, dispatch.Running, s.see(other, job.Attempt))
	require.NoError(s, s.d.Stop(s.Context(), job.Attempt))
	s.ends(job.Attempt)
	started := s.reports(job.Attempt, "started")
	require.Len(s, started, 1)
	require.Empty(s, started[0].Error, "it reads its token and writes its work directory")
	require.Equal(s, job.Token, started[0].Token)
	require.Zero(s, started[0].Mode&^s.cfg.Mode, "the token's file is %s, and at most %s is accepted", started[0].Mode, s.cfg.Mode)
}

func (s *suite) stopsOnce() {
	job := s.job(1, "create", "polite")
	s.start(job)
	other := s.cfg.New(s.T, s.url)
	require.Equal(s, dispatch.Running, s.see(other, job.Attempt))
	for range 3 {
		require.NoError(s, other.Stop(s.Context(), job.Attempt))
	}
	s.ends(job.Attempt)
	require.NoError(s, s.d.Stop(s.Context(), job.Attempt))
	require.Len(s, s.reports(job.Attempt, "asked"), 1)
	require.NoError(s, s.d.Start(s.Context(), job))
	require.Equal(s, dispatch.Ended, s.see(s.d, job.Attempt))
}

func (s *suite) endsByItself() {
	job := s.job(1, "destroy", "brief")
	s.start(job)
	s.ends(job.Attempt)
	for range 2 {
		require.NoError(s, s.d.Start(s.Context(), job))
		require.Equal(s, dispatch.Ended, s.see(s.d, job.Attempt))
	}
	require.Len(s, s.reports(job.Attempt, "started"), 1)
}

func (s *suite) kills() {
	job := s.job(1, "create", "stubborn")
	s.start(job)
	require.NoError(s, s.d.Kill(s.Context(), job.Attempt))
	s.ends(job.Attempt)
}

func (s *suite) forgets() {
	job := s.job(1, "create", "polite")
	s.start(job)
	require.ErrorContains(s, s.d.Forget(s.Context(), job.Attempt), "not seen to end")
	require.Equal(s, dispatch.Running, s.see(s.d, job.Attempt))
	require.NoError(s, s.d.Stop(s.Context(), job.Attempt))
	s.ends(job.Attempt)
	kept, err := s.d.Kept(s.Context())
	require.NoError(s, err)
	require.Contains(s, kept, job.Attempt)
	require.NoError(s, s.d.Forget(s.Context(), job.Attempt))
	s.until("nothing is left", func() bool {
		seen := s.see(s.d, job.Attempt)
		return seen == dispatch.NotStarted || seen == dispatch.Missing
	})
	kept, err = s.d.Kept(s.Context())
	require.NoError(s, err)
	require.NotContains(s, kept, job.Attempt)
}

func (s *suite) knowsNothing() {
	const attempt = "att_never_1"
	require.Contains(s, []dispatch.Sighting{dispatch.NotStarted, dispatch.Missing}, s.see(s.d, attempt))
	require.NoError(s, s.d.Stop(s.Context(), attempt))
	require.NoError(s, s.d.Kill(s.Context(), attempt))
	require.NoError(s, s.d.Forget(s.Context(), attempt))
	living, err := s.d.Living(s.Context(), s.cluster)
	require.NoError(s, err)
	require.Empty(s, living)
}

func (s *suite) standsAlone() {
	first, second := s.job(1, "create", "polite"), s.job(2, "destroy", "polite")
	s.start(first)
	living, err := s.d.Living(s.Context(), s.cluster)
	require.NoError(s, err)
	require.Equal(s, []int{1}, living)
	require.ErrorContains(s, s.d.Start(s.Context(), second), "the runner of attempt 1 of cluster "+s.cluster+" is still alive")
	other, err := s.d.Living(s.Context(), s.cluster+"0")
	require.NoError(s, err)
	require.Empty(s, other, "another cluster's")

	require.NoError(s, s.d.Stop(s.Context(), first.Attempt))
	s.ends(first.Attempt)
	s.start(second)
	living, err = s.d.Living(s.Context(), s.cluster)
	require.NoError(s, err)
	require.Equal(s, []int{2}, living)
}

func (s *suite) scans() {
	scan := func() dispatch.Job {
		job := s.job(1, dispatch.KindScan, "polite")
		job.Cluster, job.Team, job.Profile = "", "", ""
		return job
	}
	create := s.job(1, "create", "polite")
	s.start(create)
	first, other := scan(), scan()
	s.start(first)
	s.start(other)
	require.Empty(s, s.reports(first.Attempt, "started")[0].Error)
	require.Equal(s, dispatch.Running, s.see(s.d, first.Attempt))
	living, err := s.d.Living(s.Context(), s.cluster)
	require.NoError(s, err)
	require.Equal(s, []int{1}, living, "the cluster's attempt alone")

	require.NoError(s, s.d.Stop(s.Context(), first.Attempt))
	s.ends(first.Attempt)
	again := first
	again.Number = 2
	require.NoError(s, s.d.Start(s.Context(), again))
	require.Equal(s, dispatch.Ended, s.see(s.d, first.Attempt), "its end is not seen by anybody yet, so nothing starts")
	require.NoError(s, s.d.Forget(s.Context(), first.Attempt))
	s.until("its next runner started", func() bool {
		return s.d.Start(s.Context(), again) == nil && len(s.reports(first.Attempt, "started")) == 2
	})
	require.Equal(s, dispatch.Running, s.see(s.d, first.Attempt))

	wrong := s.job(1, dispatch.KindScan, "polite")
	require.ErrorContains(s, s.d.Start(s.Context(), wrong), "a scan or proof has none")
	wrong = s.job(1, "create", "polite")
	wrong.Cluster = ""
	require.ErrorContains(s, s.d.Start(s.Context(), wrong), "everything else has one")
}
