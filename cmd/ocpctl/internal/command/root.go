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

Sign in once with ocpctl login; no secret is stored. Give a cluster by its name or id. A name means the live cluster with
that name; if there is none, the newest one that is gone.
Every command supports -o json and -o yaml for programs, -o field=NAME for one value in a script, -o name for use in other
commands, and -o wide for more columns.`

// root is the whole command table.
func (a *app) root() *cobra.Command {
	cobra.EnableCommandSorting = false // the order below follows a cluster's life
	root := &cobra.Command{
		Use: "ocpctl", Short: "Create and manage ephemeral OpenShift clusters", Long: long,
		SilenceUsage: true, SilenceErrors: true, Version: a.Version,
		Args: noSuchCommand, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if !a.form().Known() {
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
	must(root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(table.Formats(), cobra.ShellCompDirectiveNoFileComp)))
	must(root.RegisterFlagCompletionFunc("context", a.completeContexts))
	must(root.RegisterFlagCompletionFunc("server", cobra.NoFileCompletions))
	a.add(root, groupClusters, a.create(), a.list(), a.status(), a.wait(), a.explain(), a.timeline(), a.logs(), a.jobs(), a.tests(), a.extend(), a.hold(), a.unhold(),
		a.scale(), a.refresh(), a.sleep(), a.wake(), a.transfer(), a.destroy(), a.retry(), a.abandon())
	a.add(root, groupAccess, a.kubeconfig(), a.shell(), a.openPage(), a.outputs(), a.share(), a.unshare(), a.shares(), a.use(), a.release(), a.access(), a.breakGlass(), a.redeem(), a.credential())
	a.add(root, groupPeople, a.approvals(), a.approve(), a.refuse(), a.whoami(), a.account())
	a.add(root, groupWhat, a.catalog(), a.report())
	a.add(root, groupAdmin, a.audit(), a.admin())
	a.add(root, groupSelf, a.login(), a.logout(), a.contexts(), a.completion(), a.version())
	root.AddCommand(a.action())
	root.SetHelpCommandGroupID(groupSelf)
	return root
}

func (a *app) add(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = group
		root.AddCommand(c)
	}
}

// must is for errors that only a mistake in this package can cause.
func must(err error) {
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

// group makes a command that only contains others.
func group(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Long: long, Args: noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(commands...)
	return c
}
