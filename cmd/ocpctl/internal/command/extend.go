package command

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
)

// printChange shows the response of a call that changes a cluster at once, with the server's text about the change.
func (a *app) printChange(res *http.Response, err error) error {
	return showAnswer(a, func(c v1.Change) []string { return []string{handleOf(c.Cluster)} }, func(s *table.Screen, change v1.Change) {
		c := change.Cluster
		s.Linef("%s", humanize.Line(change.Message))
		f := s.Facts()
		f.Add("ends", humanize.Ends(c, s.Now))
		f.Add("held until", humanize.When(c.HoldUntil, s.Now))
		if change.Capped {
			f.Paint("limited", "the profile's maximum lifetime ends "+humanize.Stamp(c.MaxDestroyAt), table.Warn)
		} else {
			f.Add("latest end", humanize.Stamp(c.MaxDestroyAt))
		}
		f.Write()
	})(res, err)
}

func (a *app) newExtendCommand() *cobra.Command {
	var until string
	c := fromTable("extend", &cobra.Command{
		Example: "  ocpctl extend team-a-smoke-01 4h\n  ocpctl extend team-a-smoke-01 --until 2025-03-02T18:00:00Z",
	})
	c.Flags().StringVar(&until, "until", "", optionUsage("extend", "until"))
	return a.onCluster(c, 0, 1, func(ctx context.Context, api *connect.API, id string, rest []string) error {
		s, err := readSpan(rest, until)
		if err != nil {
			return err
		}
		return a.printChange(api.ExtendCluster(ctx, id, nil, v1.Extend{For: s.For, Until: s.Until}))
	})
}

func (a *app) newHoldCommand() *cobra.Command {
	var until, reason string
	c := fromTable("hold", &cobra.Command{
		Example: `  ocpctl hold pr41-shop 8h --reason "INC-1234: under investigation"` + "\n  ocpctl hold pr41-shop tonight",
	})
	c.Flags().StringVar(&until, "until", "", optionUsage("hold", "until"))
	reasonFlag(c, &reason)
	return a.onCluster(c, 0, 1, func(ctx context.Context, api *connect.API, id string, rest []string) error {
		if len(rest) == 1 && rest[0] == "tonight" && until == "" {
			return a.printChange(api.HoldCluster(ctx, id, nil, v1.Hold{Tonight: true, Reason: reason}))
		}
		s, err := readSpan(rest, until)
		if err != nil {
			return err
		}
		if err := needReason(reason); err != nil {
			return err
		}
		return a.printChange(api.HoldCluster(ctx, id, nil, v1.Hold{For: s.For, Until: s.Until, Reason: reason}))
	})
}

func (a *app) newUnholdCommand() *cobra.Command {
	c := fromTable("unhold", &cobra.Command{})
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		return a.printChange(api.ReleaseHold(ctx, id, nil))
	})
}

func (a *app) newTransferCommand() *cobra.Command {
	var t v1.Transfer
	c := fromTable("transfer", &cobra.Command{
		Long: "Transfer a cluster to another of your teams. Quotas and costs move with it; the cloud tags keep their original values.",
	})
	addTextFlags(c, "transfer", map[string]*string{"team": &t.Team, "owner": &t.Owner})
	reasonFlag(c, &t.Reason)
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		if t.Team == "" {
			return newMissingError("--team", "one of your teams; ocpctl catalog teams lists them")
		}
		return a.printChange(api.TransferCluster(ctx, id, nil, t))
	})
}
