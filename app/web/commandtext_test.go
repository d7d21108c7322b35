package web

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/commands"
)

func TestACommandIsQuotedForAShell(t *testing.T) {
	require.Equal(t, `ocpctl hold shop 24h --reason 'a demo; it'\''s on Friday'`, commandLine("hold", "shop", "24h", "--reason", "a demo; it's on Friday"))
}

// Each command below a form is one of the command line, with options that it has.
func TestTheCommandBelowAFormExists(t *testing.T) {
	h := newFixture(t)
	row := h.shown("shop")
	h.make("maya", "soak", "platform", 60)
	will, shown := h.as("will"), map[string]bool{}
	for _, path := range []string{"/clusters/" + row.ID, "/clusters/" + row.ID + "/destroy", "/new?name=x1&team=platform", "/approvals"} {
		_, page, _ := will.get(path)
		found := regexp.MustCompile(`(?s)<p class="cli">.*?<code data-copy>(.*?)</code>`).FindAllStringSubmatch(page, -1)
		require.NotEmpty(t, found, path)
		for _, m := range found {
			words := strings.Fields(html.UnescapeString(m[1]))
			form := cliForm(words[1])
			require.NotNil(t, form, m[1])
			shown[words[1]] = true
			for _, word := range words {
				if option, isOption := strings.CutPrefix(word, "--"); isOption {
					require.Contains(t, form.Options, option, m[1])
				}
			}
		}
	}
	require.Subset(t, shown, map[string]bool{"extend": true, "hold": true, "sleep": true, "share": true, "transfer": true, "scale-workers": true, "destroy": true, "create": true, "approve": true, "kubeconfig": true, "open": true})
}

// cliForm returns the form of a command of the command line; nil: there is none.
func cliForm(name string) *commands.Form {
	for _, c := range commands.Table {
		if c.CLI != nil && (c.Name == name && c.CLI.Name == "" || c.CLI.Name == name || slices.Contains(c.CLI.Aliases, name)) {
			return c.CLI
		}
	}
	return nil
}
