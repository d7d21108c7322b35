package command

import "github.com/spf13/cobra"

// Root is the command table, for its documentation.
func Root(w World) *cobra.Command {
	root := (&app{World: w}).root()
	root.InitDefaultHelpCmd()
	return root
}
