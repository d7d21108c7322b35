package command_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/command"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
)

const intro = `# The command line

Written from the command table by ` + "`go test ./cmd/ocpctl/internal/command -run Documentation -update`" + `; do not edit it by hand.

` + "`ocpctl`" + ` asks an ocpctl server, and nothing else: it runs no installer, talks to no cloud but to sign in, and keeps no secret.

` + "```sh" + `
ocpctl login --server https://ocpctl.example.com          # once; with the AWS credentials you have
ocpctl create aws-minimal-test --name team-a-smoke-01 --ttl 24h --wait
ocpctl shell team-a-smoke-01                              # kubectl and oc talk to it
ocpctl extend team-a-smoke-01 4h
ocpctl destroy team-a-smoke-01 --wait
` + "```" + `

In a pipeline no login is needed. A job of GitHub Actions signs in as itself:

` + "```yaml" + `
permissions: {id-token: write}
env: {OCPCTL_SERVER: "https://ocpctl.example.com"}
steps:
  - run: ocpctl create aws-minimal-test --name pr-${{ github.event.number }} --ttl 4h --idempotency-key ${{ github.run_id }}-${{ github.run_attempt }} --wait -o json > cluster.json
  - run: ocpctl shell pr-${{ github.event.number }} -- ./run-tests.sh
  - run: ocpctl destroy pr-${{ github.event.number }} --yes
    if: always()
` + "```" + `

## Signing in

` + "`ocpctl login`" + ` writes a context to ` + "`$XDG_CONFIG_HOME/ocpctl/config.yaml`" + ` (0600): the server and how to sign in there, no secret. Every command signs
in anew and keeps what it gets in memory. A context's proof goes to the context's own server alone; a token is never sent without TLS to another machine.

| variable | means |
|---|---|
| ` + "`OCPCTL_SERVER`" + ` | the server, where no ` + "`--server`" + ` says it |
| ` + "`OCPCTL_CONTEXT`" + ` | the context, where no ` + "`--context`" + ` says it |
| ` + "`OCPCTL_TOKEN`" + ` | the token to send; it goes before every context's way to sign in |
| ` + "`OCPCTL_AUTH`" + ` | ` + "`aws` or `github`" + `, for a server that no context names; a job of GitHub Actions with ` + "`id-token: write`" + ` needs none |
| ` + "`OCPCTL_CONFIG`" + ` | another file with contexts |
| ` + "`NO_COLOR`, `TERM=dumb`" + ` | no colours, and with the latter no progress bar |
| ` + "`KUBECONFIG`" + ` | the first file in it is where ` + "`kubeconfig --merge`" + ` adds to |
| ` + "`BROWSER`, `SHELL`" + ` | what ` + "`open` and `shell`" + ` start |

## Output

People get tables, times in words (UTC) and colours on a terminal. ` + "`-o json` and `-o yaml`" + ` are what the API said, member for member in its order, as
[openapi.yaml](../app/api/openapi.yaml) has it; ` + "`create` adds the `idempotencyKey`" + `, lists of several pages are one. ` + "`-o name`" + ` is what other commands take. What
goes on beside the answer (progress, hints, errors) goes to the standard error, so a pipe gets the answer alone. While it waits it draws one line on a
terminal and writes a line for each change elsewhere.

What is asked again by itself, up to six times and as long as ` + "`Retry-After`" + ` says: whatever the server was too busy for, and after a lost connection
whatever the server does once however often it is asked. ` + "`create`" + ` is safe because of its key.

## Exit codes

`

func TestTheDocumentationIsThatOfTheCommandTable(t *testing.T) {
	var b strings.Builder
	b.WriteString(intro + "| code | means |\n|---|---|\n")
	for _, m := range exit.Meanings() {
		fmt.Fprintf(&b, "| %d | %s |\n", m.Code, m.Words)
	}
	b.WriteString("\n`ocpctl shell CLUSTER -- COMMAND` ends as the command ends.\n")
	root := command.Root(command.World{Env: func(string) string { return "" }})
	b.WriteString("\n## Flags of every command\n\n" + flags(root.PersistentFlags()))
	for _, group := range root.Groups() {
		fmt.Fprintf(&b, "\n## %s\n", strings.TrimSuffix(group.Title, ":"))
		for _, c := range root.Commands() {
			if c.GroupID == group.ID && c.Name() != "help" {
				document(&b, c)
			}
		}
	}
	path := filepath.Join("..", "..", "..", "..", "docs", "cli.md")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, b.String(), string(have), "go test -update writes it")
}

// document writes one command and those below it.
func document(b *strings.Builder, c *cobra.Command) {
	if c.HasSubCommands() {
		for _, below := range c.Commands() {
			document(b, below)
		}
		return
	}
	about := c.Long
	if about == "" {
		about = c.Short + "."
	}
	fmt.Fprintf(b, "\n### `%s`\n\n", strings.TrimSuffix(c.UseLine(), " [flags]"))
	if len(c.Aliases) > 0 {
		fmt.Fprintf(b, "Also `%s`.\n\n", strings.Join(c.Aliases, "`, `"))
	}
	for _, paragraph := range strings.Split(about, "\n\n") {
		if strings.HasPrefix(paragraph, "  ") { // a list, set out by hand
			paragraph = "```\n" + paragraph + "\n```"
		}
		b.WriteString(paragraph + "\n\n")
	}
	if c.Example != "" {
		fmt.Fprintf(b, "```sh\n%s\n```\n\n", strings.ReplaceAll(strings.TrimPrefix(c.Example, "  "), "\n  ", "\n"))
	}
	b.WriteString(flags(c.LocalNonPersistentFlags()))
}

func flags(set *pflag.FlagSet) string {
	var b strings.Builder
	set.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" {
			return
		}
		value, words := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if value != "" {
			name += " " + value
		}
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" {
			words += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.ReplaceAll(words, "|", "\\|"))
	})
	if b.Len() == 0 {
		return ""
	}
	return "| flag | means |\n|---|---|\n" + b.String()
}

func TestEveryFlagOfEveryCommandIsExplained(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			require.NotEmpty(t, f.Usage, "%s --%s", c.CommandPath(), f.Name)
		})
		require.NotEmpty(t, c.Short, c.CommandPath())
		require.False(t, strings.HasSuffix(c.Short, "."), "%s: a list of sentences needs no full stops", c.CommandPath())
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(command.Root(command.World{Env: func(string) string { return "" }}))
}
