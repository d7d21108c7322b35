package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
)

// mostOrphans is how many orphans the server takes in one request.
const mostOrphans = 100

// newOrphanActCommands are the commands that decide about orphans.
func (a *app) newOrphanActCommands() []*cobra.Command {
	return []*cobra.Command{a.newOrphanApproveCommand(), a.newOrphanExemptCommand()}
}

func (a *app) newOrphanApproveCommand() *cobra.Command {
	var reason string
	var dry, yes bool
	c := &cobra.Command{
		Use: "approve ORPHAN...", Short: "Approve the removal of orphans (platform admins)",
		Long: `Approve the removal of orphans, all or none. The teardown of the orphan's own cluster removes it, and counts what is left.

With --dry-run nothing is changed, and you see what the teardown would delete, by which calls and names, and what it would leave.
Resources of another installation, of a person or of nobody known are never removed.`,
		Example: `  ocpctl admin orphans approve orp_01J8Z --dry-run
  ocpctl admin orphans approve orp_01J8Z orp_01J90 --reason "INC-1234: leaks of Friday"`,
		Args: rangeArgs(1, mostOrphans), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runCommand(func(ctx context.Context, args []string) error {
			if !dry {
				if err := needReason(reason); err != nil {
					return err
				}
			}
			api, err := a.connectAPI()
			if err != nil {
				return err
			}
			if !dry {
				if err := a.askToConfirm(fmt.Sprintf("Approve the removal of %s? Its resources are deleted.", humanize.Count(len(args), "orphan")), yes); err != nil {
					return err
				}
			}
			return showAnswer(a, func(v1.RemovalPlans) []string { return args }, func(s *table.Screen, plans v1.RemovalPlans) {
				for _, p := range plans.Items {
					a.writeRemovalPlan(s, p, dry)
				}
			})(api.ApproveOrphans(ctx, v1.OrphanApproval{Ids: args, Reason: reason, DryRun: dry}))
		}),
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "show what would be deleted, and change nothing")
	reasonFlag(c, &reason)
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	return c
}

// writeRemovalPlan shows how one orphan is removed.
func (a *app) writeRemovalPlan(s *table.Screen, p v1.RemovalPlan, dry bool) {
	state, paint := "approved", table.Good
	switch {
	case p.Refused != "":
		state, paint = "cannot be removed", table.Bad
	case dry:
		state, paint = "would be removed", table.Bold
	}
	fmt.Fprintf(s.Out, "%s  %s\n", s.Painted(humanize.Line(p.Orphan), table.Bold), s.Painted(state, paint))
	f := s.Facts()
	f.Add("class", p.Class)
	f.Add("cluster", strings.TrimSpace(p.ClusterName+" "+p.ClusterID))
	f.Add("why not", p.Refused)
	f.Add("waits", p.Waits)
	f.Add("doubt", p.Doubt)
	f.Add("new names", strings.Join(p.Names, ", "))
	f.Write()
	var calls []string
	for _, call := range p.Calls {
		calls = append(calls, call.What+": "+call.Call)
	}
	writeParagraphs(s, "The teardown", calls)
	writeParagraphs(s, "It deletes", listRemovals(p.Removed))
	writeParagraphs(s, "It leaves", listRemovals(p.Kept))
}

func listRemovals(of []v1.RemovalResource) (lines []string) {
	for _, r := range of {
		lines = append(lines, fmt.Sprintf("%s (%s)", r.ID, r.Why))
	}
	return lines
}

func (a *app) newOrphanExemptCommand() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "exempt ORPHAN...", Short: "Let orphans stay, and report them no more (platform admins)",
		Long:    "Let orphans stay, all or none, and report them no more. An approval whose removal has not begun is taken back.",
		Example: `  ocpctl admin orphans exempt orp_01J8Z --reason "the network team keeps this VPC"`,
		Args:    rangeArgs(1, mostOrphans), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, args []string) error {
			return showAnswer(a, func(e v1.ExemptOrphans) []string { return e.Ids }, func(s *table.Screen, e v1.ExemptOrphans) {
				s.Linef("Exempt: %s", humanize.Line(strings.Join(e.Ids, ", ")))
			})(api.ExemptOrphans(ctx, v1.OrphanExemption{Ids: args, Reason: reason}))
		}),
	}
	addRequiredReason(c, &reason)
	return c
}
