package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/follow"
)

func (a *app) newRefreshCommand() *cobra.Command {
	var waits waiting
	c := fromTable("refresh", &cobra.Command{
		Long: `Install a ready cluster's add-ons again, in the versions that were fixed when the cluster was accepted. Changes made to them in
the cluster are reverted, and failed add-ons are retried. The cluster stays READY.`,
		Example: "  ocpctl refresh team-a-smoke-01 --wait",
	})
	waits.addFlags(c, "refresh", scaleTime)
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		found, err := connect.Read[v1.ClusterDetail](api.GetCluster(ctx, id))
		if err != nil {
			return err
		}
		answer, err := connect.Read[v1.Accepted](api.RefreshCluster(ctx, found.Value.ClusterID, nil))
		if err != nil {
			return err
		}
		if err := a.printRequestedJob(ctx, api, answer, found.Value.Cluster, follow.Refreshed, waits); err != nil || !waits.wait {
			return err
		}
		return a.checkJob(ctx, api, answer.Value.JobID, "not all add-ons were installed")
	})
}

// describeAddons lists a cluster's add-ons, and whether they are being applied again.
func describeAddons(c v1.Cluster) string {
	switch {
	case len(c.Addons) == 0:
		return ""
	case c.Refreshing:
		return strings.Join(c.Addons, ", ") + " (being refreshed)"
	}
	return strings.Join(c.Addons, ", ")
}
