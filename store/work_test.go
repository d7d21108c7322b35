package store_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/migrations"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// Work that has columns of its own becomes one column, and columns again.
func TestWorkIsCarriedOverAndBack(t *testing.T) {
	t.Parallel()
	const before = 69
	url, clock := pgtest.Empty(t), storetest.NewClock()
	database, err := sql.Open("pgx", url)
	require.NoError(t, err)
	defer database.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, database, migrations.FS)
	require.NoError(t, err)
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := database.Exec(sql, args...)
		require.NoError(t, err, sql)
	}
	_, err = p.UpTo(t.Context(), 10)
	require.NoError(t, err)
	exec(ofBefore, "old", "READY", "ready", true, clock.Now())
	_, err = p.UpTo(t.Context(), before)
	require.NoError(t, err)
	at := clock.Now().Add(time.Hour).UTC()
	exec(`UPDATE clusters SET seen = 7, workers_base = 3, workers_least = 1, workers_most = 5, workers_wanted = 4, scale_failures = 1, retry_at = $1,
		addons_wanted = 3, addons_done = 2, addon_failures = 2, access_wanted = 5, access_done = 4, access_failures = 1, access_retry_at = $1,
		sleep_mode = 'stopped', sleep_wanted = true, sleep_failures = 2, sleep_retry_at = $1, observed_at = $1, observe_failures = 1,
		observe_failed_at = $1, tagged_at = $1`, at)
	exec(`INSERT INTO jobs (id, cluster_id, job_type, status, created_at) VALUES ('job_1', 'clu_old', 'CONFIGURE', 'PENDING', $1)`, clock.Now())
	exec(`INSERT INTO attempts (id, cluster_id, job_id, number, kind, token_id, opened_at, phase, addons_wanted, closed_at, outcome)
		VALUES ('att_1', 'clu_old', 'job_1', 7, 'configure', 'tok_1', $1, 'configuring', 2, $1, 'lost')`, clock.Now())
	columns := func() (all string) {
		t.Helper()
		require.NoError(t, database.QueryRow(`SELECT concat_ws(' ', seen, retry_at, scale_failures, addons_wanted, addons_done, addon_failures, access_wanted, access_done,
			access_failures, access_retry_at, sleep_failures, sleep_retry_at, observed_at, observe_failures, observe_failed_at, tagged_at,
			(SELECT addons_wanted FROM attempts)) FROM clusters`).Scan(&all))
		return all
	}
	were := columns()

	require.NoError(t, store.Migrate(t.Context(), url))
	s := storetest.OpenAt(t, url, db.Options{Limits: storetest.Limits, Lease: 15 * time.Minute, Now: clock.Now})
	c, f, err := s.Load(t.Context(), "clu_old")
	require.NoError(t, err)
	for k, w := range c.Work {
		w.RetryAt, w.DoneAt = w.RetryAt.UTC(), w.DoneAt.UTC()
		c.Work[k] = w
	}
	require.Equal(t, map[lifecycle.Kind]lifecycle.Work{
		lifecycle.Scale:     {Wanted: 1, Failures: 1, RetryAt: at, Seen: 7},
		lifecycle.Configure: {Wanted: 3, Done: 2, Failures: 2, RetryAt: at, Seen: 7},
		lifecycle.Access:    {Wanted: 5, Done: 4, Failures: 1, RetryAt: at, Seen: 7},
		lifecycle.Sleep:     {Failures: 2, RetryAt: at, Seen: 7},
		lifecycle.Wake:      {Seen: 7},
		lifecycle.Observe:   {Failures: 1, RetryAt: at.Add(30 * time.Second), DoneAt: at, Seen: 7},
		lifecycle.Tag:       {DoneAt: at, Seen: 7},
	}, c.Work)
	require.Equal(t, []any{2, true, 0}, []any{f.Last.Request, c.RetryAt.IsZero(), len(f.Missed)})
	s.Close()

	_, err = p.DownTo(t.Context(), before)
	require.NoError(t, err)
	require.Equal(t, were, columns())
}
