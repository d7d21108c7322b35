package dispatch_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/dispatch"
	"github.com/ocpctl/ocpctl/internal/dispatch/dispatchtest"
)

func TestProcessIsADispatcher(t *testing.T) {
	dir := t.TempDir()
	runner := filepath.Join(dir, "ocpctl-runner")
	require.NoError(t, dispatchtest.Build(runner))
	dispatchtest.Run(t, dispatchtest.Config{
		New: func(t *testing.T, statusURL string) dispatchtest.Dispatcher {
			p, err := dispatch.NewProcess(dispatch.Config{
				Runner: runner, Installers: dir, WorkDir: filepath.Join(dir, "attempts"), StatusURL: statusURL, Env: []string{"PATH=" + os.Getenv("PATH")},
			})
			require.NoError(t, err)
			return p
		},
		Patience: 20 * time.Second, Mode: 0o600,
	})
}
