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

Generated from the command table by ` + "`go test ./cmd/ocpctl/internal/command -run Documentation -update`" + `; do not edit it by hand.

` + "`ocpctl`" + ` is a client of an ocpctl server. It runs no installer, uses a cloud only to sign in, and stores no secret
but the tokens of clusters that kubectl uses (see ` + "`ocpctl credential`" + `).

` + "```sh" + `
ocpctl login --server https://ocpctl.example.com          # once, with your AWS credentials
ocpctl create aws-minimal-test --name team-a-smoke-01 --ttl 24h --wait
ocpctl shell team-a-smoke-01                              # a shell where kubectl and oc use the cluster
ocpctl extend team-a-smoke-01 4h
ocpctl destroy team-a-smoke-01 --wait
` + "```" + `

In a pipeline no login is needed. A GitHub Actions job signs in with its own OIDC token. Use [the actions](actions.md), or the program itself:

` + "```yaml" + `
permissions: {id-token: write}
env: {OCPCTL_SERVER: "https://ocpctl.example.com"}
steps:
  - run: ocpctl create aws-minimal-test --name e2e-${{ github.run_id }} --ttl 4h --idempotency-key ${{ github.run_id }}-${{ github.run_attempt }} --wait -o json > cluster.json
  - run: ocpctl shell e2e-${{ github.run_id }} -- ./run-tests.sh
` + "```" + `

The cluster [ends with the workflow's run](github.md#clusters-of-workflow-runs), also if the run is cancelled. Jobs that run at the same time, a matrix for
example, each need a ` + "`--slot`" + `.

## Signing in

` + "`ocpctl login`" + ` saves a context to ` + "`$XDG_CONFIG_HOME/ocpctl/config.yaml`" + ` (0600): the server and how to sign in there, but no secret. Every command
signs in again and keeps the token in memory. Credentials of a context are sent only to that context's server, and a token is never sent to
another machine without TLS.

| variable | meaning |
|---|---|
| ` + "`OCPCTL_SERVER`" + ` | the server, if ` + "`--server`" + ` is not given |
| ` + "`OCPCTL_CONTEXT`" + ` | the context, if ` + "`--context`" + ` is not given |
| ` + "`OCPCTL_TOKEN`" + ` | the token to send; it takes precedence over the context's sign-in method |
| ` + "`OCPCTL_TOKEN_FILE`" + ` | a file with the token, e.g. a Kubernetes service account's; it is read anew whenever a token is needed |
| ` + "`OCPCTL_CA_FILE`" + ` | a file with CA certificates (PEM) for the server, besides the machine's |
| ` + "`OCPCTL_RUN_NAME`, `OCPCTL_RUN_UID`" + ` | the PipelineRun in which the command runs, because a service account's token does not name it |
| ` + "`OCPCTL_AUTH`" + ` | ` + "`aws` or `github`" + `, for a server without a context; not needed in a GitHub Actions job with ` + "`id-token: write`" + ` |
| ` + "`OCPCTL_CONFIG`" + ` | another file for the contexts |
| ` + "`NO_COLOR`, `TERM=dumb`" + ` | no colors; with ` + "`TERM=dumb`" + ` no progress bar either |
| ` + "`KUBECONFIG`" + ` | ` + "`kubeconfig --merge`" + ` adds to the first file in it |
| ` + "`BROWSER`, `SHELL`" + ` | the programs that ` + "`open` and `shell`" + ` start |

## Output

The default output is a table or text, with times in UTC and colors on a terminal. ` + "`-o json` and `-o yaml`" + ` print the API's response unchanged, as
described in [openapi.yaml](../app/api/openapi.yaml); ` + "`create` adds the `idempotencyKey`" + `, and lists of several pages are joined. ` + "`-o name`" + ` prints names for
use in other commands. Progress, hints and errors go to the standard error, so that a pipe gets only the result. While waiting, a terminal shows one
progress line; other outputs get a line for each change.

Requests are retried automatically, up to six times and after the time in ` + "`Retry-After`" + `: always if the server was too busy, and after a lost connection
if the request is idempotent. ` + "`create`" + ` is idempotent because of its key.

## Exit codes

`

func TestTheDocumentationIsThatOfTheCommandTable(t *testing.T) {
	var b strings.Builder
	b.WriteString(intro + "| code | meaning |\n|---|---|\n")
	for _, m := range exit.Meanings() {
		fmt.Fprintf(&b, "| %d | %s |\n", m.Code, m.Words)
	}
	b.WriteString("\n`ocpctl shell CLUSTER -- COMMAND` ends with the exit code of the command.\n")
	root := command.Root(command.World{Env: func(string) string { return "" }})
	b.WriteString("\n## Global flags\n\n" + flags(root.PersistentFlags()))
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
	for paragraph := range strings.SplitSeq(about, "\n\n") {
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
		value, text := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if value != "" {
			name += " " + value
		}
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" {
			text += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.ReplaceAll(text, "|", "\\|"))
	})
	if b.Len() == 0 {
		return ""
	}
	return "| flag | meaning |\n|---|---|\n" + b.String()
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
