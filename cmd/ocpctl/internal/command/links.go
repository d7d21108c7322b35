package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/kube"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
)

func (a *app) newBreakGlassCommand() *cobra.Command {
	var reason string
	var link, installers bool
	c := fromTable("break-glass", &cobra.Command{
		Long: `Request the kubeadmin password, or with --kubeconfig the kubeconfig that the installer made. Both give every right in the cluster,
belong to no person and do not expire; for everything else, use ocpctl kubeconfig. A platform admin other than you must approve. Then --link
prints a one-time link, which works only for you and for ten minutes. Every step is recorded in the audit trail.`,
		Example: `  ocpctl break-glass pr41-shop --reason "INC-1234: sign-in is broken"
  ocpctl break-glass pr41-shop --link -o name | ocpctl redeem -
  ocpctl break-glass pr41-shop --kubeconfig --reason "INC-1234: no account of ours works"`,
	})
	reasonFlag(c, &reason)
	c.Flags().BoolVar(&installers, "kubeconfig", false, optionUsage("break-glass", "kubeconfig"))
	c.Flags().BoolVar(&link, "link", false, optionUsage("break-glass", "link"))
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		if !link {
			if err := needReason(reason); err != nil {
				return err
			}
		}
		what, again := v1.BreakGlassWhatPassword, ""
		if installers {
			what, again = v1.BreakGlassWhatKubeconfig, " --kubeconfig"
		}
		if !link {
			if err := a.printApproval(api.BreakGlass(ctx, id, v1.BreakGlass{Reason: reason, What: what})); err != nil {
				return err
			}
			a.printNotef("After the approval run: ocpctl break-glass %s%s --link", humanize.Line(id), again)
			return nil
		}
		newLink := api.LinkKubeadmin
		if installers {
			newLink = api.LinkAdminKubeconfig
		}
		return a.printLink(newLink(ctx, id))
	})
}

func (a *app) newRedeemCommand() *cobra.Command {
	var file, account string
	c := &cobra.Command{
		Use: "redeem LINK", Short: "Use a one-time link to a kubeconfig, a console account, the kubeadmin password or an account",
		Long: `Use a one-time link to a kubeconfig, to a console account, to the kubeadmin password, or to link an account to you. For an account, --account must
name it: this protects you from a link that somebody else sent. The command shows a code. The account is linked when
it sends /ocp link CODE. With - the link is read from the standard input, so that it does not appear in process lists.`,
		Example: "  ocpctl redeem -\n  ocpctl redeem https://ocpctl.example.com/links/… -f kubeconfig\n  ocpctl redeem https://ocpctl.example.com/links/… --account github:maya",
		Args:    rangeArgs(1, 1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runCommand(func(ctx context.Context, args []string) error { return a.redeemLink(ctx, args[0], account, file) }),
	}
	c.Flags().StringVar(&account, "account", "", "the `account` to link to you, if the link is for an account")
	fileFlag(c, &file, "write a kubeconfig to this `file`, which only you can read")
	return c
}

func (a *app) redeemLink(ctx context.Context, link, account, file string) error {
	if a.OutLogged && file == "" {
		return exit.Misused("a link gives a credential, which must not be written to a pipeline's log. Run this on your own machine, or give -f FILE for a kubeconfig")
	}
	if link == "-" {
		raw, err := a.readInput("-", 4096)
		if err != nil {
			return err
		}
		link = strings.TrimSpace(string(raw))
	}
	api, err := a.connectAPI()
	if err != nil {
		return err
	}
	secret, err := secretOf(link, api.Context.Server)
	if err != nil {
		return err
	}
	res, err := api.RedeemLink(ctx, secret, v1.Redeem{Account: account})
	raw, err := connect.Body(res, err)
	if err != nil {
		return err
	}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "application/yaml" {
		return a.writeRedeemed(raw, file)
	}
	var r v1.Redeemed
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("read the server's response: %w", err)
	}
	return a.printAnswer(raw, []string{cmp.Or(r.Account, r.Username)}, func(s *table.Screen) {
		f := s.Facts()
		f.Add("account", r.Account)
		f.Add("user", r.Username)
		f.Add("password", r.Password)
		f.Add("console", r.ConsoleURL)
		f.Write()
		if r.Kind == v1.RedeemedKindAccount {
			place, name, _ := strings.Cut(r.Account, ":")
			s.Linef("Nothing is linked yet. Within ten minutes, type as %s on %s: /ocp link %s", name, place, r.Code)
			s.Linef("Type this code yourself from your own account. Never give it to anybody who asks for it.")
		}
	})
}

// secretOf returns the part after /links/ in a link, which is sent only to the server that made it.
func secretOf(link, server string) (string, error) {
	_, secret, found := strings.Cut(link, "/links/")
	if !found {
		secret = link
	}
	if secret == "" || strings.ContainsAny(secret, "/?# ") {
		return "", exit.Misused("this is not a one-time link, which looks like https://…/links/…")
	}
	if u, err := url.Parse(link); found && err == nil && u.Host != "" && !strings.HasPrefix(server+"/", u.Scheme+"://"+u.Host+"/") {
		return "", exit.Misused("the link is for %s, but the server is %s; give --server or --context", u.Host, server)
	}
	return secret, nil
}

// writeRedeemed writes a kubeconfig. The link is used up by now, so the kubeconfig is never discarded: without a file it is printed.
func (a *app) writeRedeemed(raw []byte, file string) error {
	if file == "" {
		_, err := a.Out.Write(raw)
		return err
	}
	if err := kube.Write(file, raw); err != nil {
		_, shown := a.Out.Write(raw)
		return errors.Join(err, shown)
	}
	a.printNotef("Wrote %s. Try: KUBECONFIG=%s kubectl get nodes", file, file)
	return nil
}

func (a *app) newWhoamiCommand() *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Show who you are and what you may do", Args: rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, _ []string) error {
			answer, err := connect.Read[v1.Me](api.GetMe(ctx))
			if err != nil {
				return err
			}
			return a.printMe(api, answer)
		}),
	}
}

func (a *app) printMe(api *connect.API, answer connect.Answer[v1.Me]) error {
	me := answer.Value
	return a.printAnswer(answer.Raw, []string{me.ID}, func(s *table.Screen) {
		fmt.Fprintln(s.Out, s.Painted(humanize.Line(me.Name), table.Bold))
		f := s.Facts()
		f.Add("id", me.ID)
		f.Add("server", api.Context.Server)
		f.Add("signed in with", string(api.Context.Auth))
		var seats []string
		for _, seat := range me.Seats {
			team := "team " + seat.Team
			if seat.Team == "*" {
				team = "every team"
			}
			seats = append(seats, humanize.Plain(string(seat.Role))+" of "+team)
		}
		f.Add("roles", cmp.Or(strings.Join(seats, ", "), "none yet: a platform admin can add you to a team in the catalogue's identities"))
		f.Add("you may", strings.Join(me.May, ", "))
		f.Add("accounts", strings.Join(me.Accounts, ", "))
		f.Add("token expires", humanize.When(me.ExpiresAt, s.Now))
		f.Write()
	})
}

func (a *app) newAccountCommand() *cobra.Command {
	unlink := &cobra.Command{
		Use: "unlink ACCOUNT", Short: "Unlink one of your GitHub or Slack accounts", Example: "  ocpctl account unlink github:maya",
		Args: rangeArgs(1, 1), ValidArgsFunction: completeFirst(a.completeAccounts),
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, args []string) error {
			answer, err := connect.Read[v1.Me](api.UnlinkAccount(ctx, &v1.UnlinkAccountParams{Account: args[0]}))
			if err != nil {
				return err
			}
			return a.printMe(api, answer)
		}),
	}
	return newGroupCommand("account", "Cloud accounts, and your linked GitHub and Slack accounts",
		"Cloud accounts in which clusters are made, and your linked GitHub and Slack accounts. To link one, type /ocp link on GitHub or Slack and use the link with ocpctl redeem --account.\nwhoami lists your accounts.", append(a.newCloudAccountCommands(), unlink)...)
}
