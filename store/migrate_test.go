package store_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// Somebody holds what the migration wants, and waits for what the migration holds.
func TestAMigrationGivesWayToWhoIsAtWorkAndIsTriedAgain(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	db, err := sql.Open("pgx", url)
	require.NoError(t, err)
	defer db.Close()
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	for _, sql := range []string{`SET deadlock_timeout = '1h'`, `BEGIN`, `CREATE TABLE clusters ()`} {
		_, err := conn.ExecContext(t.Context(), sql)
		require.NoError(t, err)
	}
	done := make(chan error, 1)
	go func() { done <- store.Migrate(t.Context(), url) }()
	require.Eventually(t, func() bool {
		var waits bool
		err := db.QueryRow(`SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype = 'transactionid')`).Scan(&waits)
		return err == nil && waits
	}, storetest.Patience, time.Millisecond)
	_, err = conn.ExecContext(t.Context(), `CREATE TABLE accounts ()`) // the migration made it before
	require.NoError(t, err, "it is not the one that is ended")
	_, err = conn.ExecContext(t.Context(), `ROLLBACK`)
	require.NoError(t, err)
	require.NoError(t, <-done)
}
