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

// newMissingError returns the error for a required flag.
func newMissingError(flag string, accepted ...string) error {
	return exit.With(exit.Usage, &exit.Problem{Title: "A value is missing.", Fields: []exit.Field{{Name: flag, Detail: "Required.", Accepted: accepted}}})
}

// guest is who a cluster is shared with.
type guest struct{ team, principal string }

func (a *app) addGuestFlags(c *cobra.Command, g *guest) {
	c.Flags().StringVar(&g.team, "team", "", optionUsage(c.Name(), "team"))
	c.Flags().StringVar(&g.principal, "with", "", optionUsage(c.Name(), "with"))
	c.Flags().StringVar(&g.principal, "principal", "", "the earlier name of --with: a `principal`")
	panicOnError(c.Flags().MarkHidden("principal")) // its earlier name, which scripts use
}

// kindAndName returns the kind and the name.
func (g guest) kindAndName() (kind, with string, err error) {
	switch {
	case (g.team == "") == (g.principal == ""):
		return "", "", newMissingError("--team or --with", "one of the two")
	case g.team != "":
		return string(v1.ShareKindTeam), g.team, nil
	}
	return string(v1.ShareKindPrincipal), g.principal, nil
}

func (a *app) newShareCommand() *cobra.Command {
	var g guest
	var access, role string
	c := fromTable("share", &cobra.Command{
		Long: `Share a cluster. With --access see they only see it here. With --role (or --access use, which is --role edit) they also get
kubeconfigs of their own with this role, and no higher one. To share it again with another role changes it; a lower one ends the
kubeconfigs that go beyond it.`,
		Example: "  ocpctl share pr41-shop --team payments\n  ocpctl share pr41-shop --with https://issuer.example.com#maya --role view",
	})
	a.addGuestFlags(c, &g)
	c.Flags().StringVar(&access, "access", "", optionUsage("share", "access"))
	c.Flags().StringVar(&role, "role", "", optionUsage("share", "role"))
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		kind, with, err := g.kindAndName()
		if err != nil {
			return err
		}
		if access == "" {
			access = string(v1.ShareAccessSee)
			if role != "" {
				access = string(v1.ShareAccessUse)
			}
		}
		if err := checkShare(access, role); err != nil {
			return err
		}
		return a.printShares(api.ShareCluster(ctx, id, v1.ShareRequest{
			Kind: v1.ShareRequestKind(kind), With: with, Access: v1.ShareRequestAccess(access), Role: v1.ShareRequestRole(role)}))
	})
}

// shareLevels are the values of --access.
var shareLevels = []string{string(v1.ShareAccessSee), string(v1.ShareAccessUse)}

func checkShare(access, role string) error {
	var wrong []exit.Field
	if !slices.Contains(shareLevels, access) {
		wrong = append(wrong, exit.Field{Name: "--access", Detail: fmt.Sprintf("%q is not an access right.", access), Accepted: shareLevels})
	}
	switch {
	case role == "":
	case !slices.Contains(accessRoles(), role):
		wrong = append(wrong, exit.Field{Name: "--role", Detail: fmt.Sprintf("%q is not a role.", role), Accepted: accessRoles()})
	case access == string(v1.ShareAccessSee):
		wrong = append(wrong, exit.Field{Name: "--role", Detail: "Who only sees the cluster has no role in it.", Accepted: []string{"--access use"}})
	}
	if len(wrong) > 0 {
		return exit.With(exit.Usage, &exit.Problem{Title: "The cluster cannot be shared this way.", Fields: wrong})
	}
	return nil
}

func (a *app) newUnshareCommand() *cobra.Command {
	var g guest
	c := fromTable("unshare", &cobra.Command{})
	a.addGuestFlags(c, &g)
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		kind, with, err := g.kindAndName()
		if err != nil {
			return err
		}
		return a.printShares(api.UnshareCluster(ctx, id, &v1.UnshareClusterParams{Kind: v1.UnshareClusterParamsKind(kind), With: with}))
	})
}

func (a *app) newSharesCommand() *cobra.Command {
	c := &cobra.Command{Use: "shares CLUSTER", Short: "List whom a cluster is shared with"}
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		return a.printShares(api.ListShares(ctx, id))
	})
}

// printShares shows the shares after a call.
func (a *app) printShares(res *http.Response, err error) error {
	return listOf[v1.Share]{
		name:  func(one v1.Share) string { return one.With },
		heads: []string{"KIND", "WITH", "ACCESS", "ROLE", "BY", "SINCE"},
		row: func(_ *table.Screen, one v1.Share) []any {
			return []any{one.Kind, one.With, one.Access, one.Role, one.By, humanize.Stamp(one.At)}
		},
		none: "The cluster is not shared.",
	}.showAnswer(a)(res, err)
}
