package command

import (
	"cmp"
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

func (a *app) newAccessCommand() *cobra.Command {
	var reason string
	list := &cobra.Command{Use: "list CLUSTER", Short: "List who has access to a cluster, with which role and until when"}
	a.onCluster(list, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		return a.printAccesses(api.ListAccess(ctx, id))
	})
	revoke := &cobra.Command{
		Use: "revoke CLUSTER [ACCESS]", Short: "Revoke a kubeconfig or console account of a cluster: yours, or anybody's if you may share the cluster",
		Long: `Revoke a kubeconfig or a console account; without its id, your only one. It is not handed out from now on, and stops working as soon as a runner has deleted its account in
the cluster, usually within seconds; access list then shows it as removed. Anyone who may still use the cluster can get a new one: to end
that too, use ocpctl unshare. Revoking does not sign anybody out: if a machine is lost, end its sign-in first.`,
		Example: "  ocpctl access revoke team-a-smoke-01\n  ocpctl access revoke team-a-smoke-01 acc_01J9ZQ0M7V3N6WZ6M4C8Q2K5S3 --reason \"the file was in a public log\"",
	}
	reasonFlag(revoke, &reason)
	a.onCluster(revoke, 0, 1, func(ctx context.Context, api *connect.API, id string, rest []string) error {
		which := id
		if len(rest) > 0 {
			which = rest[0]
		}
		return a.printAccesses(api.RevokeAccess(ctx, id, which, &v1.RevokeAccessParams{Reason: reason}))
	})
	group := newGroupCommand("access", "Who has access to a cluster",
		"Who has access to a cluster: every kubeconfig and console account is made for one reader, with a role and an end, and can be revoked. See ocpctl kubeconfig.", list, revoke)
	group.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 { // people who name a cluster want its list
			return nil
		}
		return noSuchCommand(cmd, args)
	}
	group.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return list.RunE(cmd, args)
	}
	return group
}

// printAccesses shows the accesses after a call.
func (a *app) printAccesses(res *http.Response, err error) error {
	return listOf[v1.Access]{
		name:  func(one v1.Access) string { return one.AccessID },
		heads: []string{"ACCESS", "KIND", "READER", "ROLE", "STATE", "BY", "ENDS", "+USER", "+WHY"},
		row: func(s *table.Screen, one v1.Access) []any {
			reader := cmp.Or(one.ReaderName, one.Reader)
			if one.Mine {
				reader += " (you)"
			}
			return []any{one.AccessID, one.Kind, reader, one.Role, accessState(one), one.By, humanize.When(one.ExpiresAt, s.Now), one.User, cmp.Or(one.RevokeWhy, one.Trouble)}
		},
		none: "Nobody has access to the cluster.",
	}.showAnswer(a)(res, err)
}

// accessState says how far an access is.
func accessState(one v1.Access) table.Cell {
	switch one.State {
	case v1.AccessStateAsked:
		return table.Cell{Text: "being made", Paint: table.Busy}
	case v1.AccessStateReady:
		return table.Cell{Text: "valid", Paint: table.Good}
	case v1.AccessStateFailed:
		return table.Cell{Text: "not made", Paint: table.Bad}
	case v1.AccessStateRevoked:
		if !one.Removed {
			return table.Cell{Text: "being revoked", Paint: table.Busy}
		}
	}
	return table.Cell{Text: string(one.State), Paint: table.Faint}
}

// newMissingError returns the error for a required flag.
func newMissingError(flag string, accepted ...string) error {
	return exit.With(exit.Usage, &exit.Problem{Title: "A value is missing.", Fields: []exit.Field{{Name: flag, Detail: "Required.", Accepted: accepted}}})
}

// guest is who a cluster is shared with.
type guest struct{ team, principal string }

func (a *app) addGuestFlags(c *cobra.Command, g *guest) {
	addTextFlags(c, c.Name(), map[string]*string{"team": &g.team, "with": &g.principal})
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
	addTextFlags(c, "share", map[string]*string{"access": &access, "role": &role})
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
	return exit.Wrong("The cluster cannot be shared this way.", wrong)
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
			return []any{one.Kind, cmp.Or(one.WithName, one.With), one.Access, one.Role, cmp.Or(one.ByName, one.By), humanize.Stamp(one.At)}
		},
		none: "The cluster is not shared.",
	}.showAnswer(a)(res, err)
}
