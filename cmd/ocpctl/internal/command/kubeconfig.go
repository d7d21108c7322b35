package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/client"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/kube"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
)

// keeping says what to do with a kubeconfig.
type keeping struct {
	file                     string
	merge, keep, print, link bool
}

func (a *app) kubeconfig() *cobra.Command {
	var k keeping
	c := fromTable("kubeconfig", &cobra.Command{
		Long: `Write the admin kubeconfig of a ready cluster to the standard output or to a file that only you can read. Every read is
recorded in the audit trail.

The kubeconfig is a credential. Without --print it is not shown on a terminal or in a pipeline's log (CI is set and the
output is not a file). To work without a file, use ocpctl shell.`,
		Example: `  ocpctl kubeconfig team-a-smoke-01 -f kubeconfig
  ocpctl kubeconfig team-a-smoke-01 --merge && kubectl --context team-a-smoke-01 get nodes
  ocpctl kubeconfig team-a-smoke-01 > kubeconfig`,
	})
	f := c.Flags()
	fileFlag(c, &k.file, "write it to this `file`, which only you can read")
	f.BoolVar(&k.merge, "merge", false, "add it to your kubeconfig (the first file in KUBECONFIG, or ~/.kube/config) as a context with the cluster's name, and make it current")
	f.BoolVar(&k.keep, "keep-context", false, "with --merge: do not change the current context")
	f.BoolVar(&k.print, "print", false, "print it even to a terminal or a log")
	f.BoolVar(&k.link, "link", false, "print a one-time link instead, which works only for you and for ten minutes")
	c.MarkFlagsMutuallyExclusive("output", "merge", "print", "link")
	return a.onCluster(c, 0, 0, func(ctx context.Context, id string, _ []string) error {
		if k.keep && !k.merge {
			return exit.Misused("--keep-context needs --merge")
		}
		if (a.OutTTY || a.OutLogged) && k.file == "" && !k.merge && !k.print && !k.link {
			return exit.Misused("the admin kubeconfig is a credential and is not printed to a terminal or a log. Give -f FILE, --merge or --print, or run: ocpctl shell %s", humanize.Line(id))
		}
		api, err := a.api()
		if err != nil {
			return err
		}
		if k.link {
			answer, err := connect.Read[client.Link](api.LinkKubeconfig(ctx, id))
			if err != nil {
				return err
			}
			return a.link(answer)
		}
		return a.keepKubeconfig(ctx, api, id, k)
	})
}

func (a *app) keepKubeconfig(ctx context.Context, api *connect.API, id string, k keeping) error {
	name := id
	if k.merge { // the context gets the cluster's name, even if it was given by id
		found, err := connect.Read[client.ClusterDetail](api.GetCluster(ctx, id))
		if err != nil {
			return err
		}
		name = found.Value.Name
	}
	raw, err := connect.Body(api.GetKubeconfig(ctx, id))
	if err != nil {
		return err
	}
	switch {
	case k.merge:
		path := kube.Default(a.Env)
		if err := kube.Merge(path, name, raw, !k.keep); err != nil {
			return err
		}
		a.say("Added the context %s to %s: kubectl --context %s get nodes", name, path, name)
	case k.file != "":
		if err := kube.Write(k.file, raw); err != nil {
			return err
		}
		a.say("Wrote %s. Try: KUBECONFIG=%s kubectl get nodes", k.file, k.file)
	default:
		if _, err := a.Out.Write(raw); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) link(answer connect.Answer[client.Link]) error {
	return a.print(answer.Raw, []string{answer.Value.URL}, func(s *table.Screen) {
		fmt.Fprintln(s.Out, humanize.Line(answer.Value.URL))
		a.say("The link works once, only for you, until %s. Open it in a browser, or use: ocpctl redeem -", humanize.When(answer.Value.ExpiresAt, s.Now))
	})
}

func (a *app) outputs() *cobra.Command {
	c := &cobra.Command{Use: "outputs CLUSTER", Short: "Show a ready cluster's console and API addresses, and how to get its credentials"}
	return a.onCluster(c, 0, 0, func(ctx context.Context, id string, _ []string) error {
		api, err := a.api()
		if err != nil {
			return err
		}
		answer, err := connect.Read[client.Outputs](api.GetOutputs(ctx, id))
		if err != nil {
			return err
		}
		o := answer.Value
		return a.print(answer.Raw, []string{id}, func(s *table.Screen) {
			f := s.Facts()
			f.Add("console", o.ConsoleURL)
			f.Add("API", o.APIURL)
			f.Add("kubeconfig", "ocpctl kubeconfig "+id+" -f FILE")
			f.Add("kubeadmin password", "ocpctl break-glass "+id+" --reason TEXT (another person must approve)")
			f.Write()
		})
	})
}
