package command

import (
	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/internal/commands"
)

// fromTable fills in what the command table says of a command: how it is typed, its aliases, what it does, and the other words for
// it that are answered with it.
func fromTable(name string, c *cobra.Command) *cobra.Command {
	row := commands.Get(name)
	c.Use, c.Aliases, c.Short, c.SuggestFor = row.Usage(commands.CLI), row.CLI.Aliases, row.CLI.Summary, row.Synonyms
	return c
}

// optionUsage is what the command table says of a command's option.
func optionUsage(command, option string) string {
	o, known := commands.Get(command).Option(option)
	if !known {
		panic("the command " + command + " has no option " + option) // a mistake in this package
	}
	return o.Summary
}
