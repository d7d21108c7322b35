package commands

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write docs/commands.md anew")

const page = "../../docs/commands.md"

// reference is the page that lists the table.
func reference() string {
	var b strings.Builder
	b.WriteString(`# Commands

What you can type about a cluster: in a comment on its pull request, behind ` + "`/ocp`" + ` in Slack, and on the command line. This page is
made from the table in ` + "`internal/commands`" + ` by ` + "`go test ./internal/commands -update`" + `; the parsers and the help texts use the same table.
[github.md](github.md), [slack.md](slack.md) and [cli.md](cli.md) explain the three entry points; [policy.md](policy.md) explains permissions.

| command | pull request | Slack | command line | permission |
|---|---|---|---|---|
`)
	for _, c := range Table {
		cell := func(e Entry, prefix string) string {
			f := c.Form(e)
			if f == nil {
				return ""
			}
			return fmt.Sprintf("`%s %s`<br>%s", prefix, strings.ReplaceAll(c.Usage(e), "|", "\\|"), f.Summary)
		}
		fmt.Fprintf(&b, "| **%s** | %s | %s | %s | %s |\n", c.Name, cell(PullRequest, "/ocp"), cell(Slack, "/ocp"), cell(CLI, "ocpctl"), c.Permission)
	}
	b.WriteString("\n## Options\n\n| command | option | meaning | pull request | Slack | command line |\n|---|---|---|---|---|---|\n")
	for _, c := range Table {
		for _, o := range c.Options {
			taken := func(e Entry) string {
				for _, at := range c.OptionsAt(e) {
					if at.Name == o.Name {
						return "yes"
					}
				}
				return ""
			}
			fmt.Fprintf(&b, "| %s | `--%s` | %s | %s | %s | %s |\n", c.Name, strings.TrimSpace(o.Name+" "+o.Example), o.Plain(), taken(PullRequest), taken(Slack), taken(CLI))
		}
	}
	return b.String()
}

func TestTheReferencePageIsTheTable(t *testing.T) {
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(reference()), 0o644))
		return
	}
	raw, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Equal(t, string(raw), reference(), "go test ./internal/commands -update writes it anew")
}

func TestEveryRowIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Table {
		require.False(t, seen[c.Name], c.Name)
		seen[c.Name] = true
		for _, e := range []Entry{PullRequest, Slack, CLI} {
			f := c.Form(e)
			if f == nil {
				continue
			}
			require.NotEmpty(t, f.Summary, c.Name)
			require.False(t, strings.HasSuffix(f.Summary, "."), c.Name)
			require.Len(t, c.OptionsAt(e), len(f.Options), "%s takes an option that it does not have", c.Name)
			if e != CLI {
				require.True(t, strings.HasPrefix(f.Example, c.Name), c.Name)
			}
		}
		if c.PullRequest != nil {
			require.NotNil(t, c.Slack, "Slack has every command of pull requests: %s", c.Name)
		}
		for _, word := range c.Synonyms {
			for _, other := range Table {
				require.NotEqual(t, word, other.Name, "%s is a command and another word for %s", word, c.Name)
			}
		}
	}
}
