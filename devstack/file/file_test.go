package file

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFileIsReplacedWholeAndKeptPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "down", "key.pem")
	for _, want := range []string{"first", "second"} {
		require.NoError(t, Replace(path, []byte(want)))
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, want, string(raw))
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1, "nothing stays beside it")
}

func TestWhatCannotBeReplacedNamesTheFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "taken")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "child"), 0o700))
	require.ErrorContains(t, Replace(dir, nil), dir)
}
