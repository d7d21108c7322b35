package actions

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// TestTheSamplesUseOnlyWhatTheDemoHas holds the samples and the demo's own workflows against the stand-ins of GitHub's actions.
func TestTheSamplesUseOnlyWhatTheDemoHas(t *testing.T) {
	e := &Engine{Config: Config{Dir: t.TempDir()}}
	require.NoError(t, e.layOut())
	var paths []string
	for _, folder := range []string{"../../../workflows/samples", "../shop/github/workflows"} {
		found, err := filepath.Glob(filepath.Join(folder, "*.yml"))
		require.NoError(t, err)
		require.NotEmpty(t, found, folder)
		paths = append(paths, found...)
	}
	for _, path := range paths {
		var file struct {
			Jobs map[string]struct {
				Steps []struct {
					Uses string
					With map[string]any
				}
			}
		}
		readYAML(t, path, &file)
		for _, job := range file.Jobs {
			for _, step := range job.Steps {
				name, _, _ := strings.Cut(step.Uses, "@")
				if name == "" || strings.HasPrefix(name, "ocpctl/ocpctl/") {
					continue
				}
				require.Contains(t, e.Repositories(), name, path)
				var action struct{ Inputs map[string]any }
				readYAML(t, filepath.Join(e.Repositories()[name], "action.yml"), &action)
				for input := range step.With {
					require.Contains(t, action.Inputs, input, "%s gives it to %s", path, name)
				}
			}
		}
	}
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(raw, into), path)
}
