package postgres

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

func TestServer(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dir := t.TempDir()

	first, err := Start(ctx, Config{Dir: dir})
	require.NoError(t, err)
	exec1(t, first, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")

	second, err := Start(ctx, Config{Dir: dir})
	require.NoError(t, err, "a server left running on the directory is stopped first")
	<-first.exited
	require.Equal(t, 7, number1(t, second, "SELECT n FROM kept"), "and what it held is still there")

	require.NoError(t, second.Stop())
	require.NoError(t, second.Stop(), "stopping twice is stopping once")
	require.NoFileExists(t, filepath.Join(dir, "data", "postmaster.pid"))
}

func TestAServerKilledAtOnceIsStartedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := Start(t.Context(), Config{Dir: dir})
	require.NoError(t, err)
	exec1(t, first, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (8)")
	require.NoError(t, syscall.Kill(first.pid, syscall.SIGKILL))
	<-first.exited

	second, err := Start(t.Context(), Config{Dir: dir})
	require.NoError(t, err)
	require.Equal(t, 8, number1(t, second, "SELECT n FROM kept"))
	require.NoError(t, second.Stop())
}

func TestALockFileThatNamesAStrangerIsStale(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := Start(t.Context(), Config{Dir: dir})
	require.NoError(t, err)
	require.NoError(t, first.Stop())
	stranger := exec.Command("sleep", "60")
	require.NoError(t, stranger.Start())
	defer func() { _ = stranger.Process.Kill(); _ = stranger.Wait() }()
	lock := filepath.Join(dir, "data", "postmaster.pid")
	require.NoError(t, os.WriteFile(lock, []byte(strconv.Itoa(stranger.Process.Pid)+"\n"), 0o600))

	second, err := Start(t.Context(), Config{Dir: dir})
	require.NoError(t, err)
	require.NoError(t, stranger.Process.Signal(syscall.Signal(0)), "the stranger still lives")
	require.NoError(t, second.Stop())
}

// TestTheServerEndsWithItsParent runs this test binary again as the parent and kills it.
func TestTheServerEndsWithItsParent(t *testing.T) {
	if dir := os.Getenv("PARENT_OF_A_SERVER"); dir != "" {
		s, err := Start(context.Background(), Config{Dir: dir, Fast: true})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "pid"), []byte(strconv.Itoa(s.pid)), 0o600))
		<-s.exited
		return
	}
	t.Parallel()
	dir := t.TempDir()
	parent := exec.Command(os.Args[0], "-test.run=^TestTheServerEndsWithItsParent$")
	parent.Env = append(os.Environ(), "PARENT_OF_A_SERVER="+dir)
	require.NoError(t, parent.Start())
	var pid int
	require.Eventually(t, func() bool {
		raw, err := os.ReadFile(filepath.Join(dir, "pid"))
		pid, _ = strconv.Atoi(string(raw))
		return err == nil && pid > 0
	}, time.Minute, 20*time.Millisecond)
	data := filepath.Join(dir, "data")
	require.True(t, serves(pid, data))

	require.NoError(t, parent.Process.Kill())
	_ = parent.Wait()
	require.Eventually(t, func() bool { return !serves(pid, data) }, 20*time.Second, 20*time.Millisecond)
}

func TestAMachineWithoutPostgreSQLIsToldWhatToInstall(t *testing.T) {
	t.Setenv("PG_BIN", t.TempDir())
	_, err := Start(t.Context(), Config{Dir: t.TempDir()})
	require.ErrorContains(t, err, "no PostgreSQL found")
	require.ErrorContains(t, err, "install")
	require.ErrorContains(t, err, "PG_BIN")
}

func TestADirectoryOfAnotherMajorVersionIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "data"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data", "PG_VERSION"), []byte("9\n"), 0o600))
	_, err := Start(t.Context(), Config{Dir: dir})
	require.ErrorContains(t, err, "written by PostgreSQL 9")
}

func exec1(t *testing.T, s *Server, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.URL("postgres"))
	require.NoError(t, err)
	defer conn.Close(t.Context())
	for one := range strings.SplitSeq(sql, ";") {
		_, err = conn.Exec(t.Context(), one)
		require.NoError(t, err)
	}
}

func number1(t *testing.T, s *Server, sql string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.URL("postgres"))
	require.NoError(t, err)
	defer conn.Close(t.Context())
	require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&n))
	return n
}

func TestAFolderThatTheDatabasesUserCannotEnterIsNamed(t *testing.T) {
	t.Parallel()
	closed := filepath.Join(t.TempDir(), "closed")
	require.NoError(t, os.Chmod(filepath.Dir(filepath.Dir(closed)), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(closed, "inner"), 0o755))
	require.NoError(t, checkEntry(filepath.Join(closed, "inner", "postgres")))
	require.NoError(t, os.Chmod(closed, 0o700))
	require.ErrorContains(t, checkEntry(filepath.Join(closed, "inner", "postgres")), "cannot enter "+closed+":")
}
