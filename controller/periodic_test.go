package controller_test

import (
	"context"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
)

// runQueue runs the controller's workers and periodic jobs as a server does, and returns its name in the queue.
func (h *fixture) runQueue(host string) (name string, stop func()) {
	h.t.Helper()
	s, err := store.Open(h.ctx, h.store.Pool().Config().ConnString(), db.Options{Limits: limits, Lease: lease, Installation: "test", Now: h.now})
	require.NoError(h.t, err)
	instance, _, err := s.Instance(h.ctx, host, 0)
	require.NoError(h.t, err)
	workers := river.NewWorkers()
	h.Register(workers)
	client, err := queue.NewClient(h.ctx, s.Pool(), workers, queue.RiverConfig{Instance: instance.Name(), Periodic: h.Periodic()})
	require.NoError(h.t, err)
	require.NoError(h.t, client.Start(h.ctx))
	stop = func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		require.NoError(h.t, client.Stop(ctx))
		instance.Release()
		s.Close()
	}
	return instance.Name(), stop
}

// Both processes have the whole schedule, and only the leader enqueues by it. When it stops, the other one goes on.
func TestPeriodicWorkRunsOnceHoweverManyProcessesThereAre(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	stops := map[string]func(){}
	for _, host := range []string{"pod-a", "pod-b"} {
		name, stop := h.runQueue(host)
		stops[name] = stop
	}
	number := func(sql string) (n int) {
		t.Helper()
		require.NoError(t, h.store.Pool().QueryRow(h.ctx, sql).Scan(&n))
		return n
	}
	ran := func(more int) {
		t.Helper()
		const looked = `SELECT count(*) FROM river_job WHERE kind = 'findings' AND state = 'completed'`
		want := number(looked) + more
		require.Eventually(t, func() bool { return number(looked) >= want }, time.Minute, 10*time.Millisecond)
	}
	leader := func() (name string) {
		_ = h.store.Pool().QueryRow(h.ctx, `SELECT leader_id FROM river_leader`).Scan(&name) // none for a moment
		return name
	}
	ran(4) // one a second
	first := leader()
	require.Contains(t, stops, first)
	stops[first]()
	delete(stops, first)
	require.Eventually(t, func() bool { return stops[leader()] != nil }, time.Minute, 10*time.Millisecond)
	ran(3)
	require.Zero(t, number(`SELECT count(*) - count(DISTINCT scheduled_at) FROM river_job WHERE kind = 'findings'`), "nothing is enqueued twice in one period")
	require.Zero(t, number(`SELECT count(*) FROM river_job WHERE state = 'discarded'`))
	for _, stop := range stops {
		stop()
	}
}
