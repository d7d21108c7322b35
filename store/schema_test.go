package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestAServerWorksOnTheSchemaOfANewerReleaseUnlessThatExcludesIt(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t)
	s := storetest.OpenAt(t, url, db.Options{Limits: storetest.Limits, Lease: time.Minute})
	exec := func(sql string) {
		t.Helper()
		_, err := s.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	schema, err := s.Schema(t.Context())
	require.NoError(t, err)
	require.Equal(t, schema.Known, schema.Database)
	require.False(t, schema.Newer())
	require.LessOrEqual(t, schema.Oldest, schema.Known)
	require.Equal(t, 74, schema.Oldest, "older servers read and write sentences instead of reasons")

	exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9000, true)`)
	exec(`INSERT INTO river_migration (line, version) VALUES ('main', 9000)`)
	exec(`ALTER TABLE clusters ADD COLUMN of_the_future text`)
	require.NoError(t, store.Migrate(t.Context(), url), "nothing is to do")
	schema, err = s.Schema(t.Context())
	require.NoError(t, err)
	require.True(t, schema.Newer())
	require.Equal(t, 9000, schema.Database)
	storetest.Accept(t, s, storetest.Granted("shop"))
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM information_schema.columns WHERE column_name = 'of_the_future'`), "and nothing is undone")

	exec(`UPDATE schema_support SET oldest = 9000`)
	const excluded = "the database works with servers that know migration 9000, and this one knows"
	require.ErrorContains(t, store.Migrate(t.Context(), url), excluded)
	_, err = s.Schema(t.Context())
	require.ErrorContains(t, err, excluded)
}

func TestAServerThatDoesNotMigrateWaitsForItsSchema(t *testing.T) {
	t.Parallel()
	s := storetest.OpenAt(t, pgtest.New(t), db.Options{Limits: storetest.Limits, Lease: time.Minute})
	_, err := s.Pool().Exec(t.Context(), `DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)`)
	require.NoError(t, err)
	_, err = s.Schema(t.Context())
	require.ErrorContains(t, err, "migrate it first, with a server that has -migrate")
}

func TestADatabaseOfBeforeTheFirstReleaseIsUpgradedByAnOlderServer(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t)
	s := storetest.OpenAt(t, url, db.Options{Limits: storetest.Limits, Lease: time.Minute})
	_, err := s.Pool().Exec(t.Context(), `UPDATE goose_db_version SET version_id = 70 WHERE version_id > 0`)
	require.NoError(t, err)
	const refusal = "the database is at migration 70, and this server's begin with 71: build a server from the commit before"
	require.ErrorContains(t, store.Migrate(t.Context(), url), refusal)
	_, err = s.Schema(t.Context())
	require.ErrorContains(t, err, refusal)
}

// A database that the migrations before the first release made has their numbers.
func TestADatabaseThatHasTheSchemaOfTheFirstReleaseGoesOn(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t)
	s := storetest.OpenAt(t, url, db.Options{Limits: storetest.Limits, Lease: time.Minute})
	_, err := s.Pool().Exec(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) SELECT n, true FROM generate_series(1, 70) n`)
	require.NoError(t, err)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	require.NoError(t, store.Migrate(t.Context(), url))
	schema, err := s.Schema(t.Context())
	require.NoError(t, err)
	require.Equal(t, schema.Known, schema.Database)
	_, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
}
