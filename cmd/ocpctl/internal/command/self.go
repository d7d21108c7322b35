package command

import (
	"cmp"
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

// versions is what ocpctl version prints for programs.
type versions struct {
	Version  string           `json:"version"`
	Commit   string           `json:"commit,omitempty"`
	Built    string           `json:"built,omitempty"`
	Go       string           `json:"go"`
	Platform string           `json:"platform"`
	Server   *connect.Release `json:"server,omitempty"`
}

func (a *app) newVersionCommand() *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use: "version", Short: "Show the version", Args: rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		Long: "Show the version. With --check, ask the server for its own, and exit with 1 if the two do not work together.",
		RunE: a.runCommand(func(ctx context.Context, _ []string) error {
			v := versions{Version: a.Version, Commit: a.Commit, Built: a.Built, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
			if check {
				api, err := a.connectAPI()
				if err != nil {
					return err
				}
				said, err := api.Release(ctx)
				if err != nil {
					return err
				}
				v.Server = &said
			}
			if err := a.printVersions(v); err != nil || v.Server == nil {
				return err
			}
			return v.Server.WorksWith(a.Version)
		}),
	}
	c.Flags().BoolVar(&check, "check", false, "ask the server for its version, and whether it works with this ocpctl")
	return c
}

func (a *app) printVersions(v versions) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return a.printAnswer(raw, []string{v.Version}, func(s *table.Screen) {
		s.Linef("ocpctl %s", v.Version)
		f := s.Facts()
		f.Add("commit", v.Commit)
		f.Add("of", v.Built)
		f.Add("built with", v.Go+" for "+v.Platform)
		if v.Server != nil {
			f.Add("server", cmp.Or(v.Server.Version, "an older one, which does not say its version"))
			f.Add("oldest ocpctl", v.Server.OldestClient)
		}
		f.Write()
	})
}

func (a *app) newCompletionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use: "completion SHELL", Short: "Print the shell completion script",
		Long: `Print a shell completion script. It completes commands, and from the server: clusters, profiles, regions, versions, teams and
approvals. If the server does not answer quickly, it completes nothing.

  bash        source <(ocpctl completion bash), in ~/.bashrc; needs the package bash-completion
  zsh         ocpctl completion zsh > "${fpath[1]}/_ocpctl"
  fish        ocpctl completion fish > ~/.config/fish/completions/ocpctl.fish
  powershell  ocpctl completion powershell | Out-String | Invoke-Expression`,
		Args: rangeArgs(1, 1), ValidArgs: shells, DisableFlagsInUseLine: true,
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
