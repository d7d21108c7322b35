package blocks

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	api "github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

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
	golden(t, name+".txt", readable(m.Blocks)+"\n=== text\n"+m.Text+"\n")
}

func goldenView(t *testing.T, name string, view any, blocks []api.Block) {
	t.Helper()
	raw := indented(t, view)
	require.Empty(t, blockkit.View(raw), name)
	golden(t, name+".json", string(raw))
	golden(t, name+".txt", readable(blocks))
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

// readable writes blocks for a person to read.
func readable(blocks []api.Block) string {
	var b strings.Builder
	for _, block := range blocks {
		switch block := block.(type) {
		case *api.HeaderBlock:
			fmt.Fprintf(&b, "# %s\n", block.Text.Text)
		case *api.SectionBlock:
			if block.Text != nil {
				fmt.Fprintf(&b, "%s\n", block.Text.Text)
			}
			for _, f := range block.Fields {
				fmt.Fprintf(&b, "| %s\n", strings.Replace(f.Text, "\n", " ", 1))
			}
			if block.Accessory != nil {
				b.WriteString(readableElement(block.Accessory.ButtonElement))
			}
		case *api.ContextBlock:
			for _, e := range block.ContextElements.Elements {
				fmt.Fprintf(&b, "~ %s\n", e.(*api.TextBlockObject).Text)
			}
		case *api.ActionBlock:
			for _, e := range block.Elements.ElementSet {
				b.WriteString(readableElement(e))
			}
		case *api.InputBlock:
			fmt.Fprintf(&b, "%s (%s)", block.Label.Text, block.BlockID)
			if block.Hint != nil {
				fmt.Fprintf(&b, " — %s", block.Hint.Text)
			}
			b.WriteString("\n" + readableElement(block.Element))
		case *api.DividerBlock:
			b.WriteString("----\n")
		}
	}
	return b.String()
}

func readableElement(e api.BlockElement) string {
	switch e := e.(type) {
	case *api.ButtonBlockElement:
		text := fmt.Sprintf("[%s] %s %s %s", e.Text.Text, e.Style, e.ActionID, e.Value)
		if e.Confirm != nil {
			text += fmt.Sprintf(" (%s %s [%s] [%s])", e.Confirm.Title.Text, e.Confirm.Text.Text, e.Confirm.Confirm.Text, e.Confirm.Deny.Text)
		}
		return text + "\n"
	case *api.SelectBlockElement:
		text := fmt.Sprintf("  %s: %s%s", e.Type, e.InitialConversation, e.InitialUser)
		return text + readableOptions(e.Options, e.InitialOption) + "\n"
	case *api.MultiSelectBlockElement:
		return fmt.Sprintf("  %s:", e.Type) + readableOptions(e.Options, e.InitialOptions...) + "\n"
	case *api.CheckboxGroupsBlockElement:
		return fmt.Sprintf("  %s:", e.Type) + readableOptions(e.Options, e.InitialOptions...) + "\n"
	case *api.PlainTextInputBlockElement:
		return fmt.Sprintf("  %s: %q\n", e.Type, e.InitialValue)
	}
	return fmt.Sprintf("  unknown element %T\n", e)
}

func readableOptions(all []*api.OptionBlockObject, chosen ...*api.OptionBlockObject) (text string) {
	for i, o := range all {
		if i == 5 {
			return text + fmt.Sprintf(" and %d more", len(all)-i)
		}
		mark := "( )"
		for _, c := range chosen {
			if c == o {
				mark = "(x)"
			}
		}
		text += fmt.Sprintf(" %s %s=%s", mark, o.Value, o.Text.Text)
	}
	return text
}
