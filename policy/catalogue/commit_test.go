package catalogue

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheCommitOfAFolderIsFoundWhereGitSyncOrAFileSaysIt(t *testing.T) {
	commit := strings.Repeat("0a", 20)
	base := t.TempDir()
	folder := func(parts ...string) string {
		path := filepath.Join(append([]string{base}, parts...)...)
		require.NoError(t, os.MkdirAll(path, 0o755))
		return path
	}
	link := filepath.Join(base, "current")
	require.NoError(t, os.Symlink(filepath.Dir(folder(".worktrees", commit, "catalogue")), link))
	require.Equal(t, commit, readCommit(filepath.Join(link, "catalogue")), "git-sync 4")
	require.Equal(t, commit, readCommit(folder("rev-"+commit)), "git-sync 3")

	plain := folder("plain")
	require.Empty(t, readCommit(plain))
	require.NoError(t, os.WriteFile(filepath.Join(plain, commitFile), []byte("no commit\n"), 0o600))
	require.Empty(t, readCommit(plain))
	require.NoError(t, os.WriteFile(filepath.Join(plain, commitFile), []byte(commit+"\n"), 0o600))
	require.Equal(t, commit, readCommit(plain))
	require.Empty(t, readCommit(""), "the embedded catalogue")

	files := filepath.Join(link, "catalogue")
	require.NoError(t, os.CopyFS(files, embedded(t)))
	live, err := Open(Config{Dir: files})
	require.NoError(t, err)
	require.Equal(t, commit, live.Status().Commit)
}
