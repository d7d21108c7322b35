package installer

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const image = "rhcos-ibmcloud.x86_64.qcow2"

func TestAnImageIsSharedAfterItsInstallAndFoundByTheNext(t *testing.T) {
	shared := t.TempDir()
	first := ImageCache{Shared: shared, Home: t.TempDir()}
	require.NoError(t, first.Take(), "nothing is shared yet")
	for name, content := range map[string]string{image: "whole", image + ".lock": "", "other.tmp": "half"} {
		require.NoError(t, os.WriteFile(filepath.Join(first.ownDir(), name), []byte(content), 0o600))
	}
	require.NoError(t, first.Share("att_1"))
	require.Equal(t, []string{image}, must(t)(listImages(shared)), "no lock and no unfinished download")

	second := ImageCache{Shared: shared, Home: t.TempDir()}
	require.NoError(t, second.Take())
	content, err := os.ReadFile(filepath.Join(second.ownDir(), image))
	require.NoError(t, err)
	require.Equal(t, "whole", string(content))
	require.NoError(t, second.Share("att_2"), "a link is not shared again")

	require.NoError(t, os.Remove(filepath.Join(shared, image)))
	_, err = os.Stat(filepath.Join(second.ownDir(), image))
	require.ErrorIs(t, err, os.ErrNotExist, "the installer downloads an image that was deleted")
}

func TestAHalfCopiedImageIsNeverTaken(t *testing.T) {
	shared := t.TempDir()
	abandoned, begun := filepath.Join(shared, "."+image+".att_1"), filepath.Join(shared, "."+image+".att_2")
	for _, path := range []string{abandoned, begun} {
		require.NoError(t, os.WriteFile(path, []byte("ha"), 0o400))
	}
	long := time.Now().Add(-2 * abandonedAfter)
	require.NoError(t, os.Chtimes(abandoned, long, long))
	c := ImageCache{Shared: shared, Home: t.TempDir()}
	require.NoError(t, c.Take())
	require.Empty(t, must(t)(listImages(c.ownDir())))
	require.NoError(t, os.WriteFile(filepath.Join(c.ownDir(), image), []byte("whole"), 0o600))
	require.NoError(t, c.Share("att_3"))
	require.NoFileExists(t, abandoned, "its runner is gone")
	require.FileExists(t, begun, "another runner is at work")
	content, err := os.ReadFile(filepath.Join(shared, image))
	require.NoError(t, err)
	require.Equal(t, "whole", string(content))
}

func TestWithoutASharedDirectoryOrAnImageNothingIsShared(t *testing.T) {
	require.NoError(t, ImageCache{Home: t.TempDir()}.Take())
	require.NoError(t, ImageCache{Home: t.TempDir()}.Share("att_1"))
	require.NoError(t, ImageCache{Shared: t.TempDir(), Home: t.TempDir()}.Share("att_1"), "AWS has images of its own")
	require.Error(t, ImageCache{Shared: "/does/not/exist", Home: t.TempDir()}.Take())
}

func must(t *testing.T) func([]string, error) []string {
	return func(names []string, err error) []string {
		t.Helper()
		require.NoError(t, err)
		return names
	}
}
