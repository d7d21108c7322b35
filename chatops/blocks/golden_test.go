package blocks

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	api "github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/blocks/blockstest"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/internal/blockkit"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// goldenMessage compares a message with its files, one as Slack gets it and one for people to read, after checking it.
func goldenMessage(t *testing.T, name string, m slack.Message) {
	t.Helper()
	raw := encoded(t, m)
	require.Empty(t, blockkit.Message(raw), name)
	require.LessOrEqual(t, slack.Length(m.Text), blockkit.GoodText, name)
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case *api.SectionBlock:
			if b.Text != nil {
				require.Contains(t, m.Text, b.Text.Text, "the text alone says the same")
			}
			for _, f := range b.Fields {
				require.Contains(t, m.Text, strings.Replace(f.Text, "*\n", ":* ", 1), "the text alone says the same")
			}
		case *api.HeaderBlock:
			require.Contains(t, m.Text, b.Text.Text)
		}
	}
	golden(t, name+".json", string(raw))
	golden(t, name+".txt", blockstest.Readable(m.Blocks)+"\n=== text\n"+m.Text+"\n")
}

func goldenView(t *testing.T, name string, view any, blocks []api.Block) {
	t.Helper()
	raw := indented(t, view)
	require.Empty(t, blockkit.View(raw), name)
	golden(t, name+".json", string(raw))
	golden(t, name+".txt", blockstest.Readable(blocks))
}

func encoded(t require.TestingT, m slack.Message) []byte {
	v := map[string]any{"text": m.Text}
	if m.Blocks != nil {
		v["blocks"] = m.Blocks
	}
	return indented(t, v)
}

func indented(t require.TestingT, v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	require.NoError(t, e.Encode(v))
	return b.Bytes()
}
