package command_test

import (
	"slices"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/command"
	commandtable "github.com/ocpctl/ocpctl/internal/commands"
)

func TestTheTableOfCommandsHasTheFlagsThatTheCommandsTake(t *testing.T) {
	root := command.Root(command.World{Env: func(string) string { return "" }})
	for _, row := range commandtable.At(commandtable.CLI) {
		name := row.CLI.Name
		if name == "" {
			name = row.Name
		}
		c, _, err := root.Find([]string{name})
		require.NoError(t, err)
		require.Equal(t, name, c.Name())
		flags, options := []string{}, []string{}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" && f.Name != "cluster-id" { // every command on a cluster takes an id instead of its name
				flags = append(flags, f.Name)
			}
		})
		for _, o := range row.OptionsAt(commandtable.CLI) {
			options = append(options, o.Name)
		}
		slices.Sort(options)
		require.Equal(t, flags, options, name)
	}
}
