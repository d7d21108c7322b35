package command_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
)

const bundleName = "team-a-smoke-01-attempt-1-logs.tar.gz"

// givesBundle answers with a log bundle under a name.
func (d *service) givesBundle(name, content string) (query *string) {
	query = new(string)
	d.Handle("getLogBundle", func(w http.ResponseWriter, r *http.Request) {
		*query = r.URL.RawQuery
		w.Header().Set("Content-Type", "application/gzip")
		w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
		_, _ = w.Write([]byte(content))
	})
	return query
}

func TestALogBundleIsWrittenWholeForItsOwnerAlone(t *testing.T) {
	d := newService(t)
	t.Chdir(t.TempDir())
	query := d.givesBundle(bundleName, "bundle")
	require.Equal(t, exit.OK, d.run("logs", "team-a-smoke-01", "--bundle"))
	require.Empty(t, d.out.String())
	require.Contains(t, d.err.String(), "Wrote "+bundleName+" (6 bytes)")
	require.Equal(t, "attempt=0", *query)
	info, err := os.Stat(bundleName)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	query = d.givesBundle(bundleName, "another")
	require.Equal(t, exit.Usage, d.run("logs", "team-a-smoke-01", "--bundle"), "what is there is not replaced unless it is named")
	require.Contains(t, d.err.String(), "already exists")
	require.Equal(t, exit.OK, d.run("logs", "team-a-smoke-01", "--bundle", "--file", bundleName, "--attempt", "3"))
	require.Equal(t, "attempt=3", *query)
	require.Equal(t, exit.OK, d.run("logs", "team-a-smoke-01", "--bundle", "-f", "b.tgz"), "-f names a file, as in other commands")
	require.FileExists(t, "b.tgz")
	require.Equal(t, exit.Usage, d.run("logs", "team-a-smoke-01", "b.tgz"))
	raw, err := os.ReadFile(bundleName)
	require.NoError(t, err)
	require.Equal(t, "another", string(raw))
}

func TestALogBundleThatBreaksOffIsNoFile(t *testing.T) {
	d := newService(t)
	d.Handle("getLogBundle", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("half"))
		panic(http.ErrAbortHandler)
	})
	folder := t.TempDir()
	require.Equal(t, exit.Other, d.run("logs", "team-a-smoke-01", "--bundle", "--file", filepath.Join(folder, "b.tar.gz")))
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestTheServerChoosesNoOtherFolderForALogBundle(t *testing.T) {
	for _, name := range []string{"../evil.tar.gz", "/tmp/evil", ".bashrc", "", `a\\b`} {
		d := newService(t)
		t.Chdir(t.TempDir())
		d.givesBundle(name, "bundle")
		require.Equal(t, exit.Usage, d.run("logs", "team-a-smoke-01", "--bundle"), name)
		require.Contains(t, d.err.String(), "Give one with --file FILE")
	}
	d := newService(t)
	d.Refuse("getLogBundle", http.StatusNotFound, map[string]any{"title": "Not Found", "status": 404, "detail": "There is no log bundle."})
	require.Equal(t, exit.NotFound, d.run("logs", "team-a-smoke-01", "--bundle"))
	require.Contains(t, d.err.String(), "There is no log bundle.")
	require.Equal(t, exit.Usage, d.run("logs", "team-a-smoke-01", "--file", "x"))
	require.Contains(t, d.err.String(), "--file needs --bundle")
	require.Equal(t, exit.Usage, d.run("logs", "team-a-smoke-01", "--bundle", "--attempt", "0"))
	require.Equal(t, exit.Usage, d.run("logs", "team-a-smoke-01", "--bundle", "-f"))
}
