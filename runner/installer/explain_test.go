package installer

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// ending is an entry of testdata/lines.yaml.
type ending struct {
	Name     string   `yaml:"name"`
	Program  string   `yaml:"program"` // empty: openshift-install
	Exit     int      `yaml:"exit"`
	TimedOut bool     `yaml:"timedOut"`
	Lines    []string `yaml:"lines"`
	Reason   string   `yaml:"reason"`
	Whose    string   `yaml:"whose"`
	Retried  bool     `yaml:"retried"`
}

func readEndings(t *testing.T, path string) (list []ending) {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&list))
	return list
}

func TestEachLineIsExplained(t *testing.T) {
	for path, least := range map[string]int{"testdata/lines.yaml": 100, "testdata/real.yaml": 40} {
		endings := readEndings(t, path)
		require.GreaterOrEqual(t, len(endings), least)
		explainEach(t, endings)
	}
}

func explainEach(t *testing.T, endings []ending) {
	t.Helper()
	for _, e := range endings {
		t.Run(e.Name, func(t *testing.T) {
			got := Explain(Exit{Code: e.Exit, TimedOut: e.TimedOut, Stopped: e.TimedOut}, e.Lines...)
			if e.Program == "ccoctl" {
				var known bool
				got, known = ExplainCCO(e.Lines...)
				require.True(t, known, got.Line)
			}
			require.Equal(t, e.Reason, got.Reason, got.Line)
			require.Equal(t, e.Whose, got.Whose)
			require.Equal(t, e.Retried, got.Retryable)
		})
	}
}
