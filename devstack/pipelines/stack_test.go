//go:build act

package pipelines

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/binaries"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/github/runs"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/devstack/release"
)

const repository = "../.."

// programs are built once for all tests.
var programs string

func TestMain(m *testing.M) {
	os.Exit(binaries.With(m.Run, &programs, slices.Concat(binaries.Product, binaries.Tools)...))
}

// stack is a development stack with a mirror of ocpctl's releases.
type stack struct {
	*testing.T
	*devstack.Stack
	mirror  string // its address
	version string // of the only release
	archive string // of that, as a path
	mu      sync.Mutex
	fetched []string // from the mirror
}

// identities let jobs of acme/shop ask for clusters.
const identities = `identities:
  - {name: workflows, source: oidc, issuer: ISSUER, role: requester, teams: [platform],
     match: {repository: [acme/shop], event_name: [push, workflow_dispatch, pull_request, schedule, merge_group, deployment_status, repository_dispatch]}}
`

func newStack(t *testing.T) *stack {
	s := &stack{T: t}
	dir := pgtest.TempDir(t)
	require.NoError(t, pgtest.Prepare(t.Context(), filepath.Join(dir, "postgres")))
	h, err := devstack.Start(t.Context(), devstack.Config{
		Dir: dir, Bin: programs, Fast: true, Workflows: true, Source: repository, Pace: 20 * time.Millisecond, VerifyGap: 200 * time.Millisecond,
		Lease: 10 * time.Second, RetryBase: 200 * time.Millisecond, LookAgain: 500 * time.Millisecond, Grace: 1500 * time.Millisecond,
	})
	require.NoError(t, err)
	s.Stack = h
	t.Cleanup(func() { require.NoError(t, h.Stop()) })
	s.startMirror()
	require.NoError(t, os.WriteFile(filepath.Join(h.Dir, "catalogue", "identities", "workflows.yaml"), []byte(strings.ReplaceAll(identities, "ISSUER", s.JobIssuer())), 0o600))
	state := ask[v1.CatalogueState](s, http.MethodPost, "/api/v1/catalogue/reload", "admin")
	require.Empty(t, state.Problem)
	t.Cleanup(s.logFailure)
	return s
}

// startMirror serves a release of the built ocpctl.
func (s *stack) startMirror() {
	var err error
	s.version, err = release.Version(repository)
	require.NoError(s, err)
	dir := s.TempDir()
	s.archive, err = release.Write(dir, s.version, filepath.Join(programs, "ocpctl"))
	require.NoError(s, err)
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.fetched = append(s.fetched, filepath.Base(r.URL.Path))
		s.mu.Unlock()
		files.ServeHTTP(w, r)
	}))
	s.Cleanup(server.Close)
	s.mirror = server.URL
}

// ask sends a request to the API.
func ask[T any](s *stack, method, path, who string) (answer T) {
	s.Helper()
	token, err := s.Token(who)
	require.NoError(s, err)
	r, err := http.NewRequestWithContext(context.Background(), method, s.PrivateURL()+path, nil)
	require.NoError(s, err)
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	require.NoError(s, err)
	defer res.Body.Close()
	require.Equal(s, http.StatusOK, res.StatusCode, "%s %s", method, path)
	require.NoError(s, json.NewDecoder(res.Body).Decode(&answer))
	return answer
}

// cluster returns a cluster as the API shows it to an administrator.
func (s *stack) cluster(id string) v1.ClusterDetail {
	s.Helper()
	return ask[v1.ClusterDetail](s, http.MethodGet, "/api/v1/clusters/"+id, "admin")
}

// eventually waits for a condition. It takes seconds, unless the machine is busy; the API would limit who asks more often.
func (s *stack) eventually(what string, is func() bool) {
	s.Helper()
	deadline := time.Now().Add(4 * time.Minute)
	for !is() {
		require.Empty(s, s.GitHub.Trouble())
		require.True(s, time.Now().Before(deadline), "not in time: "+what)
		time.Sleep(250 * time.Millisecond)
	}
}

// push commits a workflow to main, which starts its run, and returns the run when it is as wanted.
func (s *stack) push(workflow string, is func(github.Run) bool) (run github.Run) {
	s.Helper()
	before := len(s.GitHub.Runs().List())
	text := strings.NewReplacer("SERVER", s.PrivateURL(), "MIRROR", s.mirror, "VERSION: VERSION", "VERSION: "+s.version).Replace(workflow)
	require.NoError(s, s.GitHub.Commit(".github/workflows/e2e.yml", text))
	s.eventually("the run begins", func() bool { return len(s.GitHub.Runs().List()) > before })
	return s.until(s.GitHub.Runs().List()[before].ID, is)
}

// next returns the first run that is not among those before, of an event, and as wanted.
func (s *stack) next(before int, event string, is func(github.Run) bool) (found github.Run) {
	s.Helper()
	s.eventually("a run of "+event+" is as wanted", func() bool {
		for _, run := range s.GitHub.Runs().List()[before:] {
			if run.Event == event && is(run) {
				found = run
				return true
			}
		}
		return false
	})
	return found
}

// until returns a run when it is as wanted.
func (s *stack) until(id int64, is func(github.Run) bool) (run github.Run) {
	s.Helper()
	s.eventually("the run is as wanted", func() bool {
		run, _ = s.GitHub.Runs().Get(id)
		return is(run)
	})
	return run
}

func finished(run github.Run) bool { return run.Status == runs.Completed }

// shows says whether the log of the run's last job shows a text.
func (s *stack) shows(text string) func(github.Run) bool {
	return func(run github.Run) bool {
		return len(run.Jobs) > 0 && strings.Contains(s.log(run.Jobs[len(run.Jobs)-1]), text)
	}
}

// log is a job's log without its times; commands stand before their texts.
func (s *stack) log(job *runs.Job) string {
	var b strings.Builder
	for _, line := range s.GitHub.Runs().Log(job.ID) {
		if line.Kind != "" {
			b.WriteString("[" + line.Kind + "] ")
		}
		b.WriteString(line.Text + "\n")
	}
	return b.String()
}

// logFailure shows what the jobs of a failed test said.
func (s *stack) logFailure() {
	if !s.Failed() {
		return
	}
	for _, c := range ask[v1.ClusterPage](s, http.MethodGet, "/api/v1/clusters", "admin").Items {
		s.Logf("cluster %s: %s, %s, because %s; wanted %s, because %s; left %v", c.Name, c.Status, c.Phase, c.Why, c.Desired, c.DesiredWhy, c.Blockers)
		for _, e := range s.cluster(c.ClusterID).Timeline {
			s.Logf("  %s %s %s %s", e.At.Format(time.TimeOnly), e.Action, e.To, e.Message)
		}
	}
	for _, run := range s.GitHub.Runs().List() {
		for _, job := range run.Jobs {
			s.Logf("run %d attempt %d, job %s: %s %s\n%s", run.Number, job.Attempt, job.Name, job.Status, job.Conclusion, s.log(job))
		}
	}
}
