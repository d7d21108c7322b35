package binaries

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const oc = "devstack/installer/cmd/oc"

func TestAProgramIsLinkedOnceAndCopied(t *testing.T) {
	first, second := filepath.Join(t.TempDir(), "deep"), t.TempDir()
	require.NoError(t, Build(t.Context(), first, oc))
	shared := filepath.Join("..", "..", ".demo", "binaries", "oc")
	linked, err := os.Stat(shared)
	require.NoError(t, err)
	require.NoError(t, Build(t.Context(), second, oc))
	again, err := os.Stat(shared)
	require.NoError(t, err)
	require.True(t, os.SameFile(linked, again))
	for _, dir := range []string{first, second} {
		require.Error(t, exec.Command(filepath.Join(dir, "oc"), "nonsense").Run(), "it runs, and refuses this")
		copied, err := os.Stat(filepath.Join(dir, "oc"))
		require.NoError(t, err)
		require.False(t, os.SameFile(linked, copied), "a later build does not touch a program that runs")
	}
}

func TestAProgramThatIsNoneNamesTheReason(t *testing.T) {
	require.ErrorContains(t, Build(t.Context(), t.TempDir(), "devstack/nothing"), "devstack/nothing")
}
