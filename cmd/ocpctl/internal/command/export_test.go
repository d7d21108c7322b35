package command

import "github.com/spf13/cobra"

// Root is the command table, for its documentation.
func Root(w World) *cobra.Command {
	root := (&app{World: w}).newRootCommand()
	root.InitDefaultHelpCmd()
	return root
}

// SummaryTables are the tables of a summary that can be had as CSV.
var SummaryTables = summaryTables

// DescribeEnd is how a list says when a cluster ends.
var DescribeEnd = describeEnd
