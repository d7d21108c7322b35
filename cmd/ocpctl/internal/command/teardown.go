package command

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/follow"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
)

func (a *app) newDestroyCommand() *cobra.Command {
	var waits waiting
	var yes bool
	var reason string
	c := fromTable("destroy", &cobra.Command{
		Long: `Destroy a cluster now. On a terminal it asks for confirmation; --yes skips the question. Repeating the command returns the same
job. For a cluster that is already gone it shows since when, and succeeds.

With --wait it returns when the server has counted that nothing is left in the cloud account. If the teardown is blocked and
somebody has to remove the blocker, the exit code is 8.`,
		Example: "  ocpctl destroy team-a-smoke-01 --wait\n  ocpctl destroy --cluster-id clu_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT --yes",
	})
	waits.addFlags(c, "destroy", destroyTime)
	c.Flags().BoolVarP(&yes, "yes", "y", false, optionUsage("destroy", "yes"))
	reasonFlag(c, &reason)
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		found, err := connect.Read[v1.ClusterDetail](api.GetCluster(ctx, id))
		if err != nil {
			return err
		}
		target := found.Value.Cluster
		if isGone(target) {
			yes = true // there is nothing to lose
		}
		question := fmt.Sprintf("Destroy %s (%s, team %s, owner %s, %s)?", target.Name, statusCell(target).Text, target.Team, target.Owner, target.ClusterID)
		if err := a.askToConfirm(humanize.Line(question), yes); err != nil {
			return err
		}
		// By its id, because the name may be another cluster's by the time the person has answered.
		answer, err := connect.Read[v1.Accepted](api.DestroyCluster(ctx, target.ClusterID, nil, v1.MaybeReason{Reason: reason}))
		if err != nil {
			return err
		}
		return a.printRequestedJob(ctx, api, answer, target, follow.Destroyed, waits)
	})
}

func (a *app) newRetryCommand() *cobra.Command {
	var reason string
	c := fromTable("retry", &cobra.Command{
		Long:    "Request a cluster again that failed or is gone: like the earlier one, for the same owner and pull request. Of a blocked teardown, start the next attempt now; that needs --reason.",
		Example: "  ocpctl retry pr41-shop\n  ocpctl retry pr42-shop --reason \"INC-1234: the VPC's peering was removed\"",
	})
	reasonFlag(c, &reason)
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		return a.printCluster(api.RetryCluster(ctx, id, v1.Reason{Reason: reason}))
	})
}

func (a *app) newAbandonCommand() *cobra.Command {
	var yes bool
	var reason string
	c := fromTable("abandon", &cobra.Command{
		Long: `Mark a blocked teardown as abandoned. Attempts continue, and the name, quota, cost and finding remain until a count finds
nothing left. On a terminal it asks for confirmation; --yes skips the question.`,
	})
	c.Flags().BoolVarP(&yes, "yes", "y", false, optionUsage("abandon", "yes"))
	addRequiredReason(c, &reason)
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		if err := a.askToConfirm("Mark the teardown of "+humanize.Line(id)+" as abandoned? The remaining resources keep costing money.", yes); err != nil {
			return err
		}
		return a.printCluster(api.AbandonCluster(ctx, id, v1.Reason{Reason: reason}))
	})
}

// printCluster shows a cluster's state after a call.
func (a *app) printCluster(res *http.Response, err error) error {
	return showAnswer(a, func(c v1.Cluster) []string { return []string{handleOf(c)} }, func(s *table.Screen, c v1.Cluster) { a.writeCluster(s, c, true) })(res, err)
}
