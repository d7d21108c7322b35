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
	var page, only, renew bool
	var role string
	c := fromTable("console", &cobra.Command{
		Long: `Print a one-time link that shows you an account of the cluster's console, made for you, and leads to the console. oc login --web works
with the same account. A cluster that is not ready has no console, and its ocpctl page is printed. On a terminal, also open the address in a browser.
Without a browser, ocpctl redeem shows the account.`,
		Example: "  ocpctl open team-a-smoke-01\n  ocpctl open team-a-smoke-01 --role view --print\n  ocpctl open team-a-smoke-01 --print | ocpctl redeem -",
	})
	addTextFlags(c, "console", map[string]*string{"role": &role})
	c.Flags().BoolVar(&page, "page", false, optionUsage("console", "page"))
	c.Flags().BoolVar(&only, "print", false, optionUsage("console", "print"))
	c.Flags().BoolVar(&renew, "renew", false, optionUsage("console", "renew"))
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		found, err := connect.Read[v1.ClusterDetail](api.GetCluster(ctx, id))
		if err != nil {
			return err
		}
		address := api.Context.Server + "/clusters/" + url.PathEscape(found.Value.ClusterID)
		console := !page && found.Value.ConsoleURL != "" && found.Value.ReleasedAt.IsZero()
		if console {
			link, err := connect.Read[v1.Link](api.LinkConsole(ctx, id, &v1.LinkConsoleParams{Role: role, Renew: renew}))
			if err != nil {
				return err
			}
			address = link.Value.URL
		}
		// A browser is started with it, and URLs can have schemes that start other programs.
		if u, err := url.Parse(address); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
			return exit.With(exit.Other, fmt.Errorf("the server's address %q is not a web address and is not opened", humanize.Line(address)))
		}
		fmt.Fprintln(a.Out, humanize.Line(address))
		if console {
			a.printNotef("The link works once, only for you, for ten minutes.")
		}
		if only || !a.OutTTY {
			return nil
		}
		if err := a.Browse(ctx, address); err != nil {
			a.printNotef("The browser could not be started (%v). Open the address yourself.", err)
		}
		return nil
	})
}
