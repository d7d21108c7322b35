package command

import (
	"cmp"
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
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
		Use: "revoke CLUSTER ACCESS", Short: "Revoke a kubeconfig of a cluster: yours, or anybody's if you may share the cluster",
		Long: `Revoke a kubeconfig. It is not handed out from now on, and its token stops working as soon as a runner has deleted its service account in
the cluster, usually within seconds; access list then shows it as removed. Anyone who may still use the cluster can get a new one: to end
that too, use ocpctl unshare. Revoking does not sign anybody out: if a machine is lost, end its sign-in first.`,
		Example: "  ocpctl access revoke team-a-smoke-01 acc_01J9ZQ0M7V3N6WZ6M4C8Q2K5S3 --reason \"the file was in a public log\"",
	}
	reasonFlag(revoke, &reason)
	a.onCluster(revoke, 1, 1, func(ctx context.Context, api *connect.API, id string, rest []string) error {
		return a.printAccesses(api.RevokeAccess(ctx, id, rest[0], &v1.RevokeAccessParams{Reason: reason}))
	})
	return newGroupCommand("access", "Who has access to a cluster",
		"Who has access to a cluster: every kubeconfig is made for one reader, with a role and an end, and can be revoked. See ocpctl kubeconfig.", list, revoke)
}

// printAccesses shows the accesses after a call.
func (a *app) printAccesses(res *http.Response, err error) error {
	return listOf[v1.Access]{
		name:  func(one v1.Access) string { return one.AccessID },
		heads: []string{"ACCESS", "READER", "ROLE", "STATE", "BY", "ENDS", "+USER", "+WHY"},
		row: func(s *table.Screen, one v1.Access) []any {
			reader := cmp.Or(one.ReaderName, one.Reader)
			if one.Mine {
				reader += " (you)"
			}
			return []any{one.AccessID, reader, one.Role, accessState(one), one.By, humanize.When(one.ExpiresAt, s.Now), one.User, cmp.Or(one.RevokeWhy, one.Trouble)}
		},
		none: "Nobody has a kubeconfig of the cluster.",
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
