package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/client"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/kube"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/words"
)

// keeping says what to do with a kubeconfig.
type keeping struct {
	file                     string
	merge, keep, print, link bool
}

func (a *app) kubeconfig() *cobra.Command {
	var k keeping
	c := &cobra.Command{
		Use: "kubeconfig CLUSTER", Short: "The admin kubeconfig of a ready cluster",
		Long: `The admin kubeconfig of a ready cluster, to the standard output or into a file that only you can read. Every reading is
written to the audit trail.

It is a credential: it is not shown on a terminal or in the log of a pipeline (CI is set, and the output is no file)
unless --print says so. ocpctl shell needs no file at all.`,
		Example: `  ocpctl kubeconfig team-a-smoke-01 -f kubeconfig
  ocpctl kubeconfig team-a-smoke-01 --merge && kubectl --context team-a-smoke-01 get nodes
  ocpctl kubeconfig team-a-smoke-01 > kubeconfig`,
	}
	f := c.Flags()
	fileFlag(c, &k.file, "write it to this `file`, readable for you alone, all at once")
	f.BoolVar(&k.merge, "merge", false, "add it to your own kubeconfig (the first of KUBECONFIG, or ~/.kube/config) as a context of the cluster's name, and use it")
	f.BoolVar(&k.keep, "keep-context", false, "with --merge: leave the current context as it is")
	f.BoolVar(&k.print, "print", false, "show it on the terminal, or in the log")
	f.BoolVar(&k.link, "link", false, "a link to it instead, that works once, for you alone, for ten minutes")
	c.MarkFlagsMutuallyExclusive("output", "merge", "print", "link")
	return a.onCluster(c, 0, 0, func(ctx context.Context, id string, _ []string) error {
		if k.keep && !k.merge {
			return exit.Misused("--keep-context goes with --merge")
		}
		if (a.OutTTY || a.OutLogged) && k.file == "" && !k.merge && !k.print && !k.link {
			return exit.Misused("the kubeconfig of an admin does not belong on a screen or in a pipeline's log. Give one of: -f FILE, --merge, --print; or run: ocpctl shell %s", words.Line(id))
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
		a.say("%s is a context of %s now: kubectl --context %s get nodes", name, path, name)
	case k.file != "":
		if err := kube.Write(k.file, raw); err != nil {
			return err
		}
		a.say("Written to %s: KUBECONFIG=%s kubectl get nodes", k.file, k.file)
	default:
		if _, err := a.Out.Write(raw); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) link(answer connect.Answer[client.Link]) error {
	return a.print(answer.Raw, []string{answer.Value.URL}, func(s *table.Screen) {
		fmt.Fprintln(s.Out, words.Line(answer.Value.URL))
		a.say("It works once, for you alone, until %s. In a browser, or: ocpctl redeem -", words.When(answer.Value.ExpiresAt, s.Now))
	})
}

func (a *app) outputs() *cobra.Command {
	c := &cobra.Command{Use: "outputs CLUSTER", Short: "Where a ready cluster is: its console, its API, and how to fetch its credentials"}
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
			f.Add("kubeadmin password", "ocpctl break-glass "+id+" --reason TEXT, which another person approves")
			f.Write()
		})
	})
}
