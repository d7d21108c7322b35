package db_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// beat is ten times as fast as a server's.
const beat = 200 * time.Millisecond

// works inserts jobs that run under a name, and makes it the leader.
func works(t *testing.T, s *store.Store, name string) {
	t.Helper()
	_, err := s.Pool().Exec(t.Context(), `
		INSERT INTO river_job (kind, queue, args, state, attempt, max_attempts, attempted_at, attempted_by) VALUES
			('one', 'reconcile', '{}', 'running', 1, 5, now(), ARRAY['before', $1]),
			('last try', 'reconcile', '{}', 'running', 5, 5, now(), ARRAY[$1])`, name)
	require.NoError(t, err)
	_, err = s.Pool().Exec(t.Context(), `
		INSERT INTO river_leader (elected_at, expires_at, leader_id) VALUES (now(), now() + interval '1 minute', $1)`, name)
	require.NoError(t, err)
}

// hold runs Hold and returns what it reports, and how to end it.
func hold(t *testing.T, i *db.Instance) (taken <-chan db.TakenOver, lost <-chan error, end func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	takes, losses, done := make(chan db.TakenOver, 100), make(chan error, 100), make(chan error, 1)
	go func() {
		done <- i.Hold(ctx, func(t db.TakenOver) { takes <- t }, func(err error) { losses <- err })
	}()
	return takes, losses, func() error { cancel(); return <-done }
}

func TestALivingInstanceTakesOverFromADeadOne(t *testing.T) {
	t.Parallel()
	url, options := pgtest.New(t), db.Options{Limits: storetest.Limits, Lease: time.Minute}
	s := storetest.OpenAt(t, url, options)
	first, _, err := storetest.OpenAt(t, url, options).Instance(t.Context(), "pod-a", beat)
	require.NoError(t, err)
	_, _, endFirst := hold(t, first)
	second, _, err := storetest.OpenAt(t, url, options).Instance(t.Context(), "pod-a", beat)
	require.NoError(t, err)
	taken, lost, endSecond := hold(t, second)
	require.Regexp(t, `^pod-a/[0-9A-Z]{26}$`, first.Name())
	require.NotEqual(t, first.Name(), second.Name(), "no name comes twice, so no process waits for another's")
	works(t, s, first.Name())
	_, err = s.Pool().Exec(t.Context(), `
		INSERT INTO river_job (kind, queue, args, state, attempt, max_attempts, attempted_at, attempted_by) VALUES
			('of the release before', 'reconcile', '{}', 'running', 1, 5, now(), '{pod-old}'),
			('own', 'reconcile', '{}', 'running', 1, 5, now(), ARRAY[$1])`, second.Name())
	require.NoError(t, err)
	listener, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer listener.Close(t.Context())
	_, err = listener.Exec(t.Context(), `LISTEN "public.river_leadership"; LISTEN "public.river_insert"`)
	require.NoError(t, err)

	third, none, err := storetest.OpenAt(t, url, options).Instance(t.Context(), "pod-c", beat)
	require.NoError(t, err)
	defer third.Release()
	require.Empty(t, none.From, "nothing is taken from the living")
	require.Equal(t, 4, storetest.Count(t, s, `SELECT count(*) FROM river_job WHERE state = 'running'`))

	require.NoError(t, endFirst())
	first.Release() // as the kernel does for a killed process
	require.Equal(t, db.TakenOver{From: []string{first.Name()}, Jobs: 1, Discarded: 1}, <-taken)
	require.NoError(t, endSecond())
	require.Empty(t, lost)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM river_job WHERE state = 'available' AND kind = 'one' AND finalized_at IS NULL`))
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM river_job WHERE state = 'discarded' AND kind = 'last try' AND finalized_at IS NOT NULL
		AND errors[1] ->> 'error' = 'the process that ran the job ended'`), "its tries are used up, and the finding says why")
	require.Equal(t, 2, storetest.Count(t, s, `SELECT count(*) FROM river_job WHERE state = 'running' AND kind IN ('of the release before', 'own')`),
		"a process of the release before holds no name, so nobody can tell whether it lives")
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM river_leader`))
	heard := map[string]string{}
	for range 2 {
		n, err := listener.WaitForNotification(t.Context())
		require.NoError(t, err)
		heard[n.Channel] = n.Payload
	}
	require.JSONEq(t, `{"leader_id": "`+first.Name()+`", "action": "resigned"}`, heard["public.river_leadership"], "another leads at once")
	require.JSONEq(t, `{"queue": "reconcile"}`, heard["public.river_insert"])
}

func TestAnInstanceThatStartsTakesOverAtOnce(t *testing.T) {
	t.Parallel()
	url, options := pgtest.New(t), db.Options{Limits: storetest.Limits, Lease: time.Minute}
	s := storetest.OpenAt(t, url, options)
	dead, _, err := s.Instance(t.Context(), "pod-a", beat)
	require.NoError(t, err)
	works(t, s, dead.Name())
	dead.Release()
	next := storetest.OpenAt(t, url, options)
	require.Eventually(t, func() bool { // PostgreSQL ends a session a moment after its connection
		next, taken, err := next.Instance(t.Context(), "pod-a", beat)
		require.NoError(t, err)
		next.Release()
		return taken.Jobs == 1 && taken.Discarded == 1
	}, storetest.Patience, time.Millisecond)
}

// The pool may be busy with waiting for what the dead process holds, and its jobs may be in a queue that this release does not have.
func TestAnInstanceTakesOverWithoutThePoolAndFromAnotherRelease(t *testing.T) {
	t.Parallel()
	url, options := pgtest.New(t), db.Options{Limits: storetest.Limits, Lease: time.Minute}
	s := storetest.OpenAt(t, url, options)
	dead := "pod-a/01HZZZZZZZZZZZZZZZZZZZZZZZ"
	works(t, s, dead)
	_, err := s.Pool().Exec(t.Context(), `UPDATE river_job SET queue = 'of the next release'`)
	require.NoError(t, err)
	for range s.Pool().Config().MaxConns {
		conn, err := s.Pool().Acquire(t.Context())
		require.NoError(t, err)
		t.Cleanup(conn.Release)
	}
	next, taken, err := s.Instance(t.Context(), "pod-b", beat)
	require.NoError(t, err)
	next.Release()
	require.Equal(t, db.TakenOver{From: []string{dead}, Jobs: 1, Discarded: 1}, taken)
}

// A process that hangs, or whose host is cut off, keeps its connection open and does not use it.
func TestAnInstanceThatIsSilentIsTakenOverAndTakesItsNameAgain(t *testing.T) {
	t.Parallel()
	url, options := pgtest.New(t), db.Options{Limits: storetest.Limits, Lease: time.Minute}
	s, hung := storetest.OpenAt(t, url, options), storetest.OpenAt(t, url, options)
	silent, _, err := hung.Instance(t.Context(), "pod-a", beat)
	require.NoError(t, err)
	works(t, s, silent.Name())
	change, err := hung.Pool().Begin(t.Context())
	require.NoError(t, err)
	_, err = change.Exec(t.Context(), `SELECT pg_advisory_xact_lock(1)`)
	require.NoError(t, err)
	other, _, err := storetest.OpenAt(t, url, options).Instance(t.Context(), "pod-b", beat)
	require.NoError(t, err)
	taken, _, end := hold(t, other)
	require.Equal(t, []string{silent.Name()}, (<-taken).From)

	_, err = s.Pool().Exec(t.Context(), `SELECT pg_advisory_lock(1)`)
	require.NoError(t, err, "what it was in the middle of holds nobody up")
	require.Error(t, change.Commit(t.Context()), "and does not happen")

	_, lost, endSilent := hold(t, silent) // it goes on
	require.ErrorContains(t, <-lost, "look for dead instances")
	holds := func() bool {
		return storetest.Count(t, s, `SELECT count(*) FROM pg_locks, (SELECT hashtextextended('instance ' || $1, 0) AS key) k WHERE locktype = 'advisory' AND granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND (classid::bigint << 32) | objid::bigint = key`, silent.Name()) == 1
	}
	require.Eventually(t, holds, storetest.Patience, time.Millisecond)
	require.NoError(t, endSilent())
	silent.Release()
	require.NoError(t, end())
	other.Release()
}

func TestAnInstanceEndsIfItCannotHoldItsNameThoughTheDatabaseAnswers(t *testing.T) {
	t.Parallel()
	s := storetest.OpenAt(t, pgtest.New(t), db.Options{Limits: storetest.Limits, Lease: time.Minute})
	i, _, err := s.Instance(t.Context(), "pod-a", beat)
	require.NoError(t, err)
	thief, err := pgx.Connect(t.Context(), s.Pool().Config().ConnString())
	require.NoError(t, err)
	defer thief.Close(t.Context())
	_, err = thief.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ocpctl instance' AND datname = current_database()`)
	require.NoError(t, err)
	_, err = thief.Exec(t.Context(), `SELECT pg_advisory_lock(hashtextextended('instance ' || $1, 0))`, i.Name())
	require.NoError(t, err)
	lost := 0
	err = i.Hold(t.Context(), func(db.TakenOver) {}, func(error) { lost++ })
	require.Equal(t, 1, lost)
	require.ErrorContains(t, err, "the database answers, but this process cannot hold its name in the queue")
}
