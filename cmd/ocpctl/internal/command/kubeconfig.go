package command

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/kube"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
)

// keeping says what to do with a kubeconfig.
type keeping struct {
	asking
	file                     string
	merge, keep, print, link bool
}

func (a *app) newKubeconfigCommand() *cobra.Command {
	var k keeping
	c := fromTable("kubeconfig", &cobra.Command{
		Long: `Write a kubeconfig of a ready cluster, made for you, to the standard output or to a file that only you can read. It has the role
that --role names, and the cluster's own audit shows your name. It can be revoked (ocpctl access revoke), and ends with your right to
use the cluster. Every read is recorded in the audit trail.

On your machine the kubeconfig holds no token: kubectl calls ocpctl credential for one, so that it works as long as you may use the
cluster. In a pipeline (CI or OCPCTL_RUN_UID is set) and with --static it holds a token. It is then a credential: without --print it is not shown on a
terminal or in a pipeline's log. To work without a file, use ocpctl shell.`,
		Example: `  ocpctl kubeconfig team-a-smoke-01 -f kubeconfig
  ocpctl kubeconfig team-a-smoke-01 --merge && kubectl --context team-a-smoke-01 get nodes
  ocpctl kubeconfig team-a-smoke-01 --role view --lifetime 1h --static > kubeconfig`,
	})
	f := c.Flags()
	fileFlag(c, &k.file, "write it to this `file`, which only you can read")
	f.BoolVar(&k.merge, "merge", false, optionUsage("kubeconfig", "merge"))
	f.BoolVar(&k.keep, "keep-context", false, optionUsage("kubeconfig", "keep-context"))
	f.BoolVar(&k.print, "print", false, optionUsage("kubeconfig", "print"))
	f.BoolVar(&k.link, "link", false, optionUsage("kubeconfig", "link"))
	k.addFlags(c)
	a.addStaticFlag(c, &k.asking)
	c.MarkFlagsMutuallyExclusive("output", "merge", "print", "link")
	c.MarkFlagsMutuallyExclusive("link", "renew")
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		if k.keep && !k.merge {
			return exit.Misused("--keep-context needs --merge")
		}
		if (a.OutTTY || a.OutLogged) && k.static && k.file == "" && !k.merge && !k.print && !k.link {
			return exit.Misused("a kubeconfig with a token is a credential and is not printed to a terminal or a log. Give -f FILE, --merge or --print, or run: ocpctl shell %s", humanize.Line(id))
		}
		if k.link {
			return a.printLink(api.LinkKubeconfig(ctx, id, &v1.LinkKubeconfigParams{Role: k.role, Lifetime: k.lifetime}))
		}
		return a.keepKubeconfig(ctx, api, id, k)
	})
}

func (a *app) keepKubeconfig(ctx context.Context, api *connect.API, id string, k keeping) error {
	name := id
	if k.merge || !k.static { // the context gets the cluster's name, and the program the cluster's id, whichever was given
		found, err := connect.Read[v1.ClusterDetail](api.GetCluster(ctx, id))
		if err != nil {
			return err
		}
		id, name = found.Value.ClusterID, found.Value.Name
	}
	got, err := a.mintKubeconfig(ctx, api, id, k.asking)
	if err != nil {
		return err
	}
	raw, lasts := got.raw, "Its token is valid until "+humanize.When(got.expires, a.Now())+"."
	if !k.static {
		lasts = "It works for as long as you may use the cluster."
		if raw, err = a.renewingKubeconfig(api, id, k.asking, got, ""); err != nil {
			return err
		}
	}
	switch {
	case k.merge:
		path := kube.Default(a.Env)
		if err := kube.Merge(path, name, raw, !k.keep); err != nil {
			return err
		}
		a.printNotef("Added the context %s to %s: kubectl --context %s get nodes\n%s", name, path, name, lasts)
	case k.file != "":
		if err := kube.Write(k.file, raw); err != nil {
			return err
		}
		a.printNotef("Wrote %s. Try: KUBECONFIG=%s kubectl get nodes\n%s", k.file, k.file, lasts)
	default:
		if _, err := a.Out.Write(raw); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) printLink(res *http.Response, err error) error {
	return showAnswer(a, func(l v1.Link) []string { return []string{l.URL} }, func(s *table.Screen, l v1.Link) {
		fmt.Fprintln(s.Out, humanize.Line(l.URL))
		a.printNotef("The link works once, only for you, until %s. Open it in a browser, or use: ocpctl redeem -", humanize.When(l.ExpiresAt, s.Now))
	})(res, err)
}

func (a *app) newOutputsCommand() *cobra.Command {
	c := &cobra.Command{Use: "outputs CLUSTER", Short: "Show a ready cluster's console and API addresses, and how to get its credentials"}
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		return showAnswer(a, func(v1.Outputs) []string { return []string{id} }, func(s *table.Screen, o v1.Outputs) {
			f := s.Facts()
			f.Add("console", o.ConsoleURL+" (sign in: ocpctl open "+id+")")
			f.Add("API", o.APIURL)
			f.Add("kubeconfig", "ocpctl kubeconfig "+id+" -f FILE")
			f.Add("kubeadmin password", "ocpctl break-glass "+id+" --reason TEXT (another person must approve)")
			f.Add("installer's kubeconfig", "ocpctl break-glass "+id+" --kubeconfig --reason TEXT (another person must approve)")
			f.Write()
		})(api.GetOutputs(ctx, id))
	})
}
