package pgtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/devstack/postgres"
)

func TestOneProcessMakesTheTemplateAndTheOthersCopyIt(t *testing.T) {
	t.Parallel()
	cache := filepath.Join(t.TempDir(), "cache")
	half := filepath.Join(cache, unfinished+"of-a-killed-process")
	require.NoError(t, os.MkdirAll(half, 0o700))
	dirs := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	var together errgroup.Group
	for _, dir := range dirs {
		together.Go(func() error { return prepare(t.Context(), cache, dir) })
	}
	require.NoError(t, together.Wait())
	require.NoDirExists(t, half)

	name, err := schemaKey(t.Context())
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(cache, name, "PG_VERSION"))
	require.NoFileExists(t, filepath.Join(cache, name, "postmaster.pid"), "it was stopped before it was copied")
	require.NoError(t, os.WriteFile(filepath.Join(cache, name, "mark"), nil, 0o600))
	last := t.TempDir()
	require.NoError(t, prepare(t.Context(), cache, last))
	require.FileExists(t, filepath.Join(last, "data", "mark"), "it is a copy")
	for _, dir := range append(dirs, last) {
		server, err := postgres.Start(t.Context(), postgres.Config{Dir: dir, Fast: true})
		require.NoError(t, err)
		conn, err := pgx.Connect(t.Context(), server.URL(template))
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), `SELECT FROM clusters`)
		require.NoError(t, err)
		require.NoError(t, conn.Close(t.Context()))
		require.NoError(t, server.Stop())
	}
}

func TestWithoutACacheTheTemplateIsMade(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	dir := t.TempDir()
	require.NoError(t, prepare(t.Context(), filepath.Join(file, "cache"), dir))
	require.FileExists(t, filepath.Join(dir, "data", "PG_VERSION"))
}
