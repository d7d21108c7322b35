package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/client"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/kube"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/words"
)

func (a *app) breakGlass() *cobra.Command {
	var reason string
	var link bool
	c := &cobra.Command{
		Use: "break-glass CLUSTER", Short: "Ask for the kubeadmin password; a platform admin other than you has to approve",
		Long: `Ask for the kubeadmin password. A platform admin other than you has to approve; then --link gives a link to it that works
once, for you alone, for ten minutes. Each step is written to the audit trail.`,
		Example: `  ocpctl break-glass pr41-shop --reason "INC-1234: sign-in is broken"
  ocpctl break-glass pr41-shop --link -o name | ocpctl redeem -`,
	}
	reasonFlag(c, &reason, "why nothing else will do")
	c.Flags().BoolVar(&link, "link", false, "it was approved: make the link")
	return a.onCluster(c, 0, 0, func(ctx context.Context, id string, _ []string) error {
		if !link {
			if err := needReason(reason); err != nil {
				return err
			}
		}
		api, err := a.api()
		if err != nil {
			return err
		}
		if !link {
			if err := a.approval(api.BreakGlass(ctx, id, client.Reason{Reason: reason})); err != nil {
				return err
			}
			a.say("Once it is approved: ocpctl break-glass %s --link", words.Line(id))
			return nil
		}
		answer, err := connect.Read[client.Link](api.LinkKubeadmin(ctx, id))
		if err != nil {
			return err
		}
		return a.link(answer)
	})
}

func (a *app) redeem() *cobra.Command {
	var file, account string
	c := &cobra.Command{
		Use: "redeem LINK", Short: "Use a one-time link: a kubeconfig, a kubeadmin login, or an account to be yours",
		Long: `Use a one-time link. It answers with what the link is for: a kubeconfig, a kubeadmin login, or the account that is yours
from then on: say which, so that nobody's link makes you theirs. - reads the link from the standard input, where no list of
processes shows it.`,
		Example: "  ocpctl redeem -\n  ocpctl redeem https://ocpctl.example.com/links/… -f kubeconfig\n  ocpctl redeem https://ocpctl.example.com/links/… --account github:maya",
		Args:    between(1, 1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.run(func(ctx context.Context, args []string) error { return a.redeemLink(ctx, args[0], account, file) }),
	}
	c.Flags().StringVar(&account, "account", "", "the `account` that is yours, of an account's link")
	must(c.RegisterFlagCompletionFunc("account", cobra.NoFileCompletions))
	fileFlag(c, &file, "write a kubeconfig to this `file`, readable for you alone")
	return c
}

func (a *app) redeemLink(ctx context.Context, link, account, file string) error {
	if a.OutLogged && file == "" {
		return exit.Misused("what a link gives does not belong in a pipeline's log: use it where you sit, or give -f FILE for a kubeconfig")
	}
	if link == "-" {
		raw, err := a.read("-", 4096)
		if err != nil {
			return err
		}
		link = strings.TrimSpace(string(raw))
	}
	api, err := a.api()
	if err != nil {
		return err
	}
	secret, err := secretOf(link, api.Context.Server)
	if err != nil {
		return err
	}
	res, err := api.RedeemLink(ctx, secret, client.Redeem{Account: account})
	raw, err := connect.Body(res, err)
	if err != nil {
		return err
	}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "application/yaml" {
		return a.redeemed(raw, file)
	}
	var r client.Redeemed
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("read what the link is for: %w", err)
	}
	return a.print(raw, []string{orElse(r.Account, r.Username)}, func(s *table.Screen) {
		f := s.Facts()
		f.Add("account", r.Account)
		f.Add("user", r.Username)
		f.Add("password", r.Password)
		f.Write()
		if r.Kind == client.RedeemedKindAccount {
			s.Linef("It is yours now: what it does counts as done by you.")
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
		return "", exit.Misused("this is no one-time link; it looks like https://…/links/…")
	}
	if u, err := url.Parse(link); found && err == nil && u.Host != "" && !strings.HasPrefix(server+"/", u.Scheme+"://"+u.Host+"/") {
		return "", exit.Misused("the link is one of %s, and this is %s; give --server or --context", u.Host, server)
	}
	return secret, nil
}

// redeemed writes a kubeconfig. The link is used up by now, so the kubeconfig is never discarded: without a file it is printed.
func (a *app) redeemed(raw []byte, file string) error {
	if file == "" {
		_, err := a.Out.Write(raw)
		return err
	}
	if err := kube.Write(file, raw); err != nil {
		_, shown := a.Out.Write(raw)
		return errors.Join(err, shown)
	}
	a.say("Written to %s: KUBECONFIG=%s kubectl get nodes", file, file)
	return nil
}

func (a *app) whoami() *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Who you are here, and what you may do", Args: between(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.run(func(ctx context.Context, _ []string) error {
			api, err := a.api()
			if err != nil {
				return err
			}
			answer, err := connect.Read[client.Me](api.GetMe(ctx))
			if err != nil {
				return err
			}
			return a.me(api, answer)
		}),
	}
}

func (a *app) me(api *connect.API, answer connect.Answer[client.Me]) error {
	me := answer.Value
	return a.print(answer.Raw, []string{me.ID}, func(s *table.Screen) {
		fmt.Fprintln(s.Out, s.Painted(words.Line(me.Name), table.Bold))
		f := s.Facts()
		f.Add("id", me.ID)
		f.Add("server", api.Context.Server)
		f.Add("signed in by", string(api.Context.Auth))
		var seats []string
		for _, seat := range me.Seats {
			team := "team " + seat.Team
			if seat.Team == "*" {
				team = "every team"
			}
			seats = append(seats, words.Plain(string(seat.Role))+" of "+team)
		}
		f.Add("you are", orElse(strings.Join(seats, ", "), "in no team yet: a platform admin gives you a seat in the catalogue's identities"))
		f.Add("you may", strings.Join(me.May, ", "))
		f.Add("accounts", strings.Join(me.Accounts, ", "))
		f.Add("this token ends", words.When(me.ExpiresAt, s.Now))
		f.Write()
	})
}

func (a *app) account() *cobra.Command {
	unlink := &cobra.Command{
		Use: "unlink ACCOUNT", Short: "An account elsewhere is yours no longer", Example: "  ocpctl account unlink github:maya",
		Args: between(1, 1), ValidArgsFunction: first(a.completeAccounts),
		RunE: a.run(func(ctx context.Context, args []string) error {
			api, err := a.api()
			if err != nil {
				return err
			}
			answer, err := connect.Read[client.Me](api.UnlinkAccount(ctx, &client.UnlinkAccountParams{Account: args[0]}))
			if err != nil {
				return err
			}
			return a.me(api, answer)
		}),
	}
	return group("account", "Your accounts elsewhere, on GitHub and Slack",
		"Your accounts elsewhere. /ocp link on GitHub or Slack gives a link; ocpctl redeem --account with it makes the account yours. whoami lists them.", unlink)
}
