package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
)

// The groups of the help.
const (
	groupClusters = "clusters"
	groupAccess   = "access"
	groupPeople   = "people"
	groupWhat     = "what"
	groupAdmin    = "admin"
	groupSelf     = "self"
)

const long = `ocpctl creates and manages ephemeral OpenShift clusters through an ocpctl server.

Sign in once with ocpctl login. Give a cluster by its name or id. A name means the live cluster with
that name; if there is none, the newest one that is gone.
Every command supports -o json and -o yaml for programs, -o field=NAME for one value in a script, -o name for use in other
commands, and -o wide for more columns.`

// newRootCommand is the whole command table.
func (a *app) newRootCommand() *cobra.Command {
	cobra.EnableCommandSorting = false // the order below follows a cluster's life
	root := &cobra.Command{
		Use: "ocpctl", Short: "Create and manage ephemeral OpenShift clusters", Long: long,
		SilenceUsage: true, SilenceErrors: true, Version: a.Version,
		Args: noSuchCommand, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if !a.outputFormat().Known() {
				return exit.With(exit.Usage, &exit.Problem{Title: "Unknown output format.", Fields: []exit.Field{
					{Name: "--output", Detail: fmt.Sprintf("%q is not supported.", a.format), Accepted: append(table.Formats(), "field=NAME, e.g. field=destroyAt")},
				}})
			}
			return nil
		},
	}
	root.SetVersionTemplate("ocpctl {{.Version}}\n")
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if said := noSuchCommand(cmd, cmd.Flags().Args()); said != nil && cmd.HasSubCommands() {
			return said // an unknown command has no flags either
		}
		return exit.Misused("%w\nSee: %s --help", err, cmd.CommandPath())
	})
	for _, g := range []cobra.Group{
		{ID: groupClusters, Title: "Clusters:"}, {ID: groupAccess, Title: "Access:"}, {ID: groupPeople, Title: "Approvals and people:"},
		{ID: groupWhat, Title: "Catalogue and usage:"}, {ID: groupAdmin, Title: "Administration:"}, {ID: groupSelf, Title: "This program:"},
	} {
		root.AddGroup(&g)
	}
	root.Version = a.Version
	root.SetVersionTemplate("ocpctl {{.Version}}\n")
	flags := root.PersistentFlags()
	flags.StringVar(&a.want.Server, "server", "", "the server's `address`; default: OCPCTL_SERVER, or the current context's")
	flags.StringVar(&a.want.Context, "context", "", "the `name` of a context from ocpctl login; default: OCPCTL_CONTEXT, or the current one")
	flags.StringVarP(&a.format, "output", "o", "", "the output `format`: json, yaml, name, wide, or field=NAME for the value of one field of the JSON answer")
	flags.BoolVarP(&a.verbose, "verbose", "v", false, "print each request, but never a token")
	a.addCommands(root, groupClusters, a.newCreateCommand(), a.newListCommand(), a.newStatusCommand(), a.newWaitCommand(), a.newExplainCommand(), a.newTimelineCommand(), a.newLogsCommand(), a.newJobsCommand(), a.newTestsCommand(), a.newExtendCommand(), a.newHoldCommand(), a.newUnholdCommand(),
		a.newScaleCommand(), a.newRefreshCommand(), a.newSleepCommand(), a.newWakeCommand(), a.newTransferCommand(), a.newDestroyCommand(), a.newRetryCommand(), a.newAbandonCommand())
	a.addCommands(root, groupAccess, a.newKubeconfigCommand(), a.newShellCommand(), a.newOpenCommand(), a.newOutputsCommand(), a.newShareCommand(), a.newUnshareCommand(), a.newSharesCommand(), a.newUseCommand(), a.newReleaseCommand(), a.newAccessCommand(), a.newBreakGlassCommand(), a.newRedeemCommand(), a.newCredentialCommand())
	a.addCommands(root, groupPeople, a.newApprovalsCommand(), a.newApproveCommand(), a.newRefuseCommand(), a.newWhoamiCommand(), a.newAccountCommand())
	a.addCommands(root, groupWhat, a.newCatalogCommand(), a.newPoolCommand(), a.newReportCommand())
	a.addCommands(root, groupAdmin, a.newAuditCommand(), a.newAdminCommand())
	a.addCommands(root, groupSelf, a.newLoginCommand(), a.newLogoutCommand(), a.newContextCommand(), a.newCompletionCommand(), a.newVersionCommand())
	root.AddCommand(a.newActionCommand())
	root.SetHelpCommandGroupID(groupSelf)
	addCompletions(root, a.flagCompleters())
	return root
}

func (a *app) addCommands(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = group
		root.AddCommand(c)
	}
}

// panicOnError is for errors that only a mistake in this package can cause.
func panicOnError(err error) {
	if err != nil {
		panic(err)
	}
}

// noSuchCommand refuses an unknown command, with the one that was probably meant.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("%q is not a command of %s.", args[0], cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = min(2, len(args[0])/2)
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += " Did you mean " + strings.Join(near, " or ") + "?"
	}
	return exit.Misused("%s\nSee: %s --help", text, cmd.CommandPath())
}

// newGroupCommand makes a command that only contains others.
func newGroupCommand(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Long: long, Args: noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(commands...)
	return c
}
