package command

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
)

// missing returns the error for a required flag.
func missing(flag string, accepted ...string) error {
	return exit.With(exit.Usage, &exit.Problem{Title: "A value is missing.", Fields: []exit.Field{{Name: flag, Detail: "Required.", Accepted: accepted}}})
}

// guest is who a cluster is shared with.
type guest struct{ team, principal string }

func (a *app) guestFlags(c *cobra.Command, g *guest) {
	c.Flags().StringVar(&g.team, "team", "", optionUsage(c.Name(), "team"))
	c.Flags().StringVar(&g.principal, "with", "", optionUsage(c.Name(), "with"))
	c.Flags().StringVar(&g.principal, "principal", "", "the earlier name of --with: a `principal`")
	must(c.Flags().MarkHidden("principal")) // its earlier name, which scripts use
	must(c.RegisterFlagCompletionFunc("team", cobra.NoFileCompletions))
	must(c.RegisterFlagCompletionFunc("with", cobra.NoFileCompletions))
}

// who returns the kind and the name.
func (g guest) who() (kind, with string, err error) {
	switch {
	case (g.team == "") == (g.principal == ""):
		return "", "", missing("--team or --with", "one of the two")
	case g.team != "":
		return string(v1.ShareKindTeam), g.team, nil
	}
	return string(v1.ShareKindPrincipal), g.principal, nil
}

func (a *app) share() *cobra.Command {
	var g guest
	var access, role string
	c := fromTable("share", &cobra.Command{
		Long: `Share a cluster. With --access see they only see it here. With --role (or --access use, which is --role edit) they also get
kubeconfigs of their own with this role, and no higher one. To share it again with another role changes it; a lower one ends the
kubeconfigs that go beyond it.`,
		Example: "  ocpctl share pr41-shop --team payments\n  ocpctl share pr41-shop --with https://issuer.example.com#maya --role view",
	})
	a.guestFlags(c, &g)
	c.Flags().StringVar(&access, "access", "", optionUsage("share", "access"))
	c.Flags().StringVar(&role, "role", "", optionUsage("share", "role"))
	levels := []string{string(v1.ShareAccessSee), string(v1.ShareAccessUse)}
	must(c.RegisterFlagCompletionFunc("access", cobra.FixedCompletions(levels, cobra.ShellCompDirectiveNoFileComp)))
	must(c.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(roles(), cobra.ShellCompDirectiveNoFileComp)))
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		kind, with, err := g.who()
		if err != nil {
			return err
		}
		if access == "" {
			access = string(v1.ShareAccessSee)
			if role != "" {
				access = string(v1.ShareAccessUse)
			}
		}
		if err := canShare(access, role, levels); err != nil {
			return err
		}
		return a.sharesAfter(api.ShareCluster(ctx, id, v1.ShareRequest{
			Kind: v1.ShareRequestKind(kind), With: with, Access: v1.ShareRequestAccess(access), Role: v1.ShareRequestRole(role)}))
	})
}

func canShare(access, role string, levels []string) error {
	var wrong []exit.Field
	if !slices.Contains(levels, access) {
		wrong = append(wrong, exit.Field{Name: "--access", Detail: fmt.Sprintf("%q is not an access right.", access), Accepted: levels})
	}
	switch {
	case role == "":
	case !slices.Contains(roles(), role):
		wrong = append(wrong, exit.Field{Name: "--role", Detail: fmt.Sprintf("%q is not a role.", role), Accepted: roles()})
	case access == string(v1.ShareAccessSee):
		wrong = append(wrong, exit.Field{Name: "--role", Detail: "Who only sees the cluster has no role in it.", Accepted: []string{"--access use"}})
	}
	if len(wrong) > 0 {
		return exit.With(exit.Usage, &exit.Problem{Title: "The cluster cannot be shared this way.", Fields: wrong})
	}
	return nil
}

func (a *app) unshare() *cobra.Command {
	var g guest
	c := fromTable("unshare", &cobra.Command{})
	a.guestFlags(c, &g)
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		kind, with, err := g.who()
		if err != nil {
			return err
		}
		return a.sharesAfter(api.UnshareCluster(ctx, id, &v1.UnshareClusterParams{Kind: v1.UnshareClusterParamsKind(kind), With: with}))
	})
}

func (a *app) shares() *cobra.Command {
	c := &cobra.Command{Use: "shares CLUSTER", Short: "List whom a cluster is shared with"}
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		return a.sharesAfter(api.ListShares(ctx, id))
	})
}

// sharesAfter shows the shares after a call.
func (a *app) sharesAfter(res *http.Response, err error) error {
	answer, err := connect.Read[v1.Shares](res, err)
	if err != nil {
		return err
	}
	names := namesOf(answer.Value.Items, func(share v1.Share) string { return share.With })
	return a.print(answer.Raw, names, func(s *table.Screen) {
		t := s.Columns("KIND", "WITH", "ACCESS", "ROLE", "BY", "SINCE")
		for _, share := range answer.Value.Items {
			t.Row(string(share.Kind), share.With, string(share.Access), string(share.Role), share.By, humanize.Stamp(share.At))
		}
		t.Write("The cluster is not shared.")
	})
}
