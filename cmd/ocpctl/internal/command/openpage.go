package command

import (
	"context"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
)

func (a *app) newOpenCommand() *cobra.Command {
	var page, only bool
	c := &cobra.Command{
		Use: "open CLUSTER", Short: "Open a cluster's console or ocpctl page in a browser",
		Long: "Print the address of a cluster's console, or of its ocpctl page if it has no console yet. On a terminal, also open it in a browser.",
	}
	c.Flags().BoolVar(&page, "page", false, "use its ocpctl page: timeline, log, proof of destruction")
	c.Flags().BoolVar(&only, "print", false, "only print the address")
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		found, err := connect.Read[v1.ClusterDetail](api.GetCluster(ctx, id))
		if err != nil {
			return err
		}
		address := api.Context.Server + "/clusters/" + url.PathEscape(found.Value.ClusterID)
		if !page && found.Value.ConsoleURL != "" && found.Value.ReleasedAt.IsZero() {
			address = found.Value.ConsoleURL
		}
		// A browser is started with it, and URLs can have schemes that start other programs.
		if u, err := url.Parse(address); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
			return exit.With(exit.Other, fmt.Errorf("the server's address %q is not a web address and is not opened", humanize.Line(address)))
		}
		fmt.Fprintln(a.Out, humanize.Line(address))
		if only || !a.OutTTY {
			return nil
		}
		if err := a.Browse(ctx, address); err != nil {
			a.printNotef("The browser could not be started (%v). Open the address yourself.", err)
		}
		return nil
	})
}
