package rsakey

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAStoredKeyIsMadeOnceAndKeptPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep")
	path := filepath.Join(dir, "key.pem")
	first, err := LoadFrom(dir)
	require.NoError(t, err)
	first.Release()
	second, err := Load(path)
	require.NoError(t, err)
	require.Equal(t, first, second)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(first.PEM()), string(raw))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	for _, bad := range []string{"hello", "-----BEGIN RSA PRIVATE KEY-----\n-----END RSA PRIVATE KEY-----\n"} {
		require.NoError(t, os.WriteFile(path, []byte(bad), 0o600))
		_, err = Load(path)
		require.ErrorContains(t, err, path)
	}
}

func TestNoTwoOwnersHaveTheSameKey(t *testing.T) {
	first, err := LoadFrom("")
	require.NoError(t, err)
	second, err := Load("")
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	first.Release()
	third, err := Load("")
	require.NoError(t, err)
	require.Equal(t, first, third, "a key that was taken back serves the next owner")
}
