package main

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
)

func TestMigrateNeedsTheDatabaseAloneAndMayRunAgain(t *testing.T) {
	url := pgtest.Empty(t)
	file := write(t, "ocpctl.yaml", fmt.Sprintf("database_url_ref: file:%s\n", write(t, "database-url", url)))
	for range 2 {
		var out, errs bytes.Buffer
		require.NoError(t, migrateDatabase([]string{"-config", file}, &out, &errs))
		require.Equal(t, "the database's schema is up to date\n", out.String())
	}
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer conn.Close(t.Context())
	var clusters int
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM clusters`).Scan(&clusters))
}

func TestMigrateSaysWhatIsWrong(t *testing.T) {
	for file, want := range map[string]string{
		"":                           "database_url_ref is not a reference; give one",
		"databse_url_ref: file:/x":   "line 1: field databse_url_ref is not supported",
		"database_url_ref: file:/no": "database_url_ref: read secret reference",
	} {
		var out, errs bytes.Buffer
		err := migrateDatabase([]string{"-config", write(t, "ocpctl.yaml", file)}, &out, &errs)
		require.ErrorContains(t, err, want)
	}
	require.ErrorContains(t, migrateDatabase([]string{"up"}, &bytes.Buffer{}, &bytes.Buffer{}), `"up" is one`)
}
