package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/store"
)

func TestARestartedProcessTakesOverItsOwnJobsAlone(t *testing.T) {
	t.Parallel()
	url, options := pgtest.New(t), store.Options{Limits: limits, Lease: time.Minute}
	first := openAt(t, url, options)
	watcher := openAt(t, url, options)
	name, err := first.Instance(t.Context(), "host-a")
	require.NoError(t, err)
	require.Equal(t, "host-a", name)
	_, err = watcher.Pool().Exec(t.Context(), `
		INSERT INTO river_job (kind, queue, args, state, attempt, max_attempts, attempted_at, attempted_by) VALUES
			('one', 'reconcile', '{}', 'running', 1, 5, now(), '{host-b,host-a}'),
			('last try', 'reconcile', '{}', 'running', 5, 5, now(), '{host-a}'),
			('another''s', 'reconcile', '{}', 'running', 1, 5, now(), '{host-a,host-b}')`)
	require.NoError(t, err)
	_, err = watcher.Pool().Exec(t.Context(), `
		INSERT INTO river_leader (elected_at, expires_at, leader_id) VALUES (now(), now() + interval '1 minute', 'host-a')`)
	require.NoError(t, err)
	states := func(state string) int {
		return count(t, watcher, `SELECT count(*) FROM river_job WHERE state::text = $1`, state)
	}

	beside := openAt(t, url, options)
	name, err = beside.Instance(t.Context(), "host-a")
	require.NoError(t, err)
	require.Regexp(t, `^host-a_.+`, name, "the name is taken")
	require.Equal(t, 3, states("running"), "nothing is taken from a living process")

	first.Close() // as the kernel does for a killed one
	second := openAt(t, url, options)
	require.Eventually(t, func() bool { // PostgreSQL ends a session a moment after its connection
		return count(t, watcher, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`) == 0
	}, 10*time.Second, 5*time.Millisecond)
	name, err = second.Instance(t.Context(), "host-a")
	require.NoError(t, err)
	require.Equal(t, "host-a", name)
	require.Equal(t, 1, count(t, watcher, `SELECT count(*) FROM river_job WHERE state = 'available' AND kind = 'one'`))
	require.Equal(t, 1, count(t, watcher, `SELECT count(*) FROM river_job WHERE state = 'discarded' AND kind = 'last try' AND finalized_at IS NOT NULL`))
	require.Equal(t, 1, states("running"), "another's job stays another's")
	require.Zero(t, count(t, watcher, `SELECT count(*) FROM river_leader`))
}
