package command

import (
	"context"
	"encoding/json"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
)

// contextsJSON returns the contexts for programs.
func contextsJSON(c connect.Config) ([]byte, error) {
	type one struct {
		Name    string         `json:"name"`
		Server  string         `json:"server"`
		Auth    connect.Method `json:"auth"`
		Current bool           `json:"current"`
	}
	items := []one{}
	for _, name := range c.Names() {
		items = append(items, one{name, c.Contexts[name].Server, c.Contexts[name].Auth, name == c.Current})
	}
	return json.Marshal(map[string]any{"items": items})
}

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show the version", Args: between(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.run(func(context.Context, []string) error {
			raw, err := json.Marshal(struct {
				Version  string `json:"version"`
				Commit   string `json:"commit,omitempty"`
				Built    string `json:"built,omitempty"`
				Go       string `json:"go"`
				Platform string `json:"platform"`
			}{a.Version, a.Commit, a.Built, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH})
			if err != nil {
				return err
			}
			return a.print(raw, []string{a.Version}, func(s *table.Screen) {
				s.Linef("ocpctl %s", a.Version)
				f := s.Facts()
				f.Add("commit", a.Commit)
				f.Add("of", a.Built)
				f.Add("built with", runtime.Version()+" for "+runtime.GOOS+"/"+runtime.GOARCH)
				f.Write()
			})
		}),
	}
}

func (a *app) completion() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use: "completion SHELL", Short: "Print the shell completion script",
		Long: `Print a shell completion script. It completes commands, and from the server: clusters, profiles, regions, versions, teams and
approvals. If the server does not answer quickly, it completes nothing.

  bash        source <(ocpctl completion bash), in ~/.bashrc; needs the package bash-completion
  zsh         ocpctl completion zsh > "${fpath[1]}/_ocpctl"
  fish        ocpctl completion fish > ~/.config/fish/completions/ocpctl.fish
  powershell  ocpctl completion powershell | Out-String | Invoke-Expression`,
		Args: between(1, 1), ValidArgs: shells, DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.Out, true)
			case "zsh":
				return root.GenZshCompletion(a.Out)
			case "fish":
				return root.GenFishCompletion(a.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.Out)
			}
			return exit.With(exit.Usage, &exit.Problem{Title: "Unknown shell.", Fields: []exit.Field{{Name: "SHELL", Detail: strconv.Quote(args[0]) + " is not supported.", Accepted: shells}}})
		},
	}
}
