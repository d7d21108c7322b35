package command

import (
	"bytes"
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/actions"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
)

// newActionCommand is what the GitHub actions in workflows call. It is hidden: its inputs and results are the runner's, and may change with the
// actions.
func (a *app) newActionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "action NAME", Short: "Run a step of one of ocpctl's GitHub actions", Hidden: true, ValidArgs: actions.Names(), Args: rangeArgs(1, 1),
		RunE: a.runCommand(func(ctx context.Context, args []string) error {
			return actions.Run(ctx, actions.World{Env: a.Env, Out: a.Out, Now: a.Now, Exec: a.World.Run, Version: a.Version, Open: a.openCommands}, args[0])
		}),
	}
}

// openCommands returns the commands themselves, run in this process: they share one connection, write their answers to a buffer, and tell people
// the rest in the log.
func (a *app) openCommands(server string, log io.Writer) actions.Commands {
	inner := *a
	inner.inAction = true
	inner.Err, inner.InTTY, inner.OutTTY, inner.ErrTTY, inner.OutLogged = log, false, false, false, false
	if server != "" {
		inner.want = connect.Wanted{Server: server}
	}
	inner.opened = &connection{}
	return actions.Commands{
		API: inner.connectAPI,
		Run: func(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
			var out bytes.Buffer
			one := inner // the flags of one command are not those of the next
			one.In, one.Out, one.started, one.format = in, &out, false, ""
			err := one.runArguments(ctx, args)
			return out.Bytes(), err
		},
	}
}
