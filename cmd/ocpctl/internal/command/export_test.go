package command

import (
	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
)

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

// StatusText is what a list says of a cluster's status.
func StatusText(c v1.Cluster) string { return statusCell(c).Text }

// DomainText is what is said of a cluster's base domain.
var DomainText = domainText
