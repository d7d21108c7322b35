package runner_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
)

func TestAnInstallSharesTheImageThatItDownloadedIfItSucceeds(t *testing.T) {
	for name, c := range map[string]struct {
		end    string
		shared int
	}{"a success": {"", 1}, "a failure": {"\nexit 4", 0}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, contract.KindCreate)
			w.cfg.ImageCache = t.TempDir()
			w.on("create", `mkdir -p "$XDG_CACHE_HOME/openshift-installer/image_cache"; echo whole >"$XDG_CACHE_HOME/openshift-installer/image_cache/rhcos.qcow2"`+c.end)
			require.NoError(t, w.run(t.Context()))
			images, err := filepath.Glob(filepath.Join(w.cfg.ImageCache, "*"))
			require.NoError(t, err)
			require.Len(t, images, c.shared)
		})
	}
}

func TestAnInstallFindsAnImageThatIsShared(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.cfg.ImageCache = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(w.cfg.ImageCache, "rhcos.qcow2"), []byte("whole"), 0o444))
	w.on("create", `grep -q whole "$XDG_CACHE_HOME/openshift-installer/image_cache/rhcos.qcow2" || exit 4`)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
}
