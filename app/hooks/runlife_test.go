package hooks

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	stored "github.com/ocpctl/ocpctl/store/runs"
)

// runLife is a life whose clusters are asked for by workflow runs, on a database whose clock the test moves.
type runLife struct {
	*life
	at     *testClock
	names  int
	forged int
}

type testClock struct {
	sync.Mutex
	time.Time
}

func (c *testClock) now() time.Time {
	c.Lock()
	defer c.Unlock()
	return c.Time
}

// pass lets time pass in the database.
func (c *testClock) pass(d time.Duration) {
	c.Lock()
	defer c.Unlock()
	c.Time = c.Add(d)
}

func newRunLife(t testing.TB) *runLife {
	t.Helper()
	c := &testClock{Time: time.Now().UTC().Truncate(time.Second)}
	s, err := store.Open(t.Context(), pgtest.New(t), db.Options{Limits: servicetest.Limits(), Lease: time.Minute, Installation: "test", Now: c.now})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	l := &runLife{life: newLifeOn(t, s), at: c}
	l.waits = c.pass
	return l
}

// start starts a run with jobs of these names, all of them running.
func (l *runLife) start(jobs ...string) *github.Run {
	l.Helper()
	n := github.NewRun{}
	for _, job := range jobs {
		n.Jobs = append(n.Jobs, github.NewJob{Key: job})
	}
	run, err := l.github.Runs().Start(n)
	require.NoError(l, err)
	for _, job := range run.Jobs {
		require.NoError(l, l.github.Runs().Begin(job.ID))
	}
	return l.run(run.ID)
}

func (l *runLife) run(id int64) *github.Run {
	l.Helper()
	run, ok := l.github.Runs().Get(id)
	require.True(l, ok)
	return &run
}

// as is the principal of a job, as its token proves it.
func (l *runLife) as(job int64) policy.Principal {
	l.Helper()
	return servicetest.OfJob(l, l.github, job)
}

// create asks for a cluster as a job.
func (l *runLife) create(job int64, r *app.RunRequest) (app.Created, error) {
	l.names++
	return l.core.Create(l.Context(), l.as(job), app.CreateRequest{
		Name: fmt.Sprintf("c%d", l.names), Profile: first, CostCenter: "sandbox", Environment: "test", Source: policy.SourceAPI, Run: r,
	})
}

func (l *runLife) created(job int64, r *app.RunRequest) clusters.Row {
	l.Helper()
	made, err := l.create(job, r)
	require.NoError(l, err)
	require.NotEmpty(l, made.Row.ID)
	return made.Row
}

// row is a cluster as it is now.
func (l *runLife) row(id string) clusters.Row {
	l.Helper()
	row, err := l.store.Cluster(l.Context(), id)
	require.NoError(l, err)
	return row
}

// decide lets the controller decide about a cluster, so that an end whose time has come takes effect.
func (l *runLife) decide(id string) clusters.Row {
	l.Helper()
	c, facts, err := l.store.Load(l.Context(), id)
	require.NoError(l, err)
	require.NoError(l, l.store.Apply(l.Context(), lifecycle.Decide(c, facts, servicetest.Limits()), c.Version))
	return l.row(id)
}

// lookAtRuns has every run that is due looked at.
func (l *runLife) lookAtRuns() {
	l.Helper()
	require.NoError(l, l.runs.Look(l.Context()))
}

// known is what the store knows of a run.
func (l *runLife) known(run *github.Run) stored.Run {
	l.Helper()
	list, err := l.store.Runs.Named(l.Context(), lifecycle.GitHub, fmt.Sprint(github.RepoID), fmt.Sprint(run.ID))
	require.NoError(l, err)
	require.Len(l, list, 1)
	return list[0]
}

// ends is when and why a cluster ends with its run.
func (l *runLife) ends(id string) string {
	l.Helper()
	ends := l.row(id).Ends
	if ends.RunFinished.IsZero() {
		require.Empty(l, ends.RunWhy)
		return ""
	}
	return fmt.Sprintf("%s %s", ends.RunFinished.Sub(l.at.now()), ends.RunWhy)
}
