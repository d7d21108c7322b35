package command

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/client"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/words"
)

// ask is one API call about one cluster.
type ask func(ctx context.Context, api *connect.API, id string) (*http.Response, error)

// change makes a command that changes a cluster at once and shows the server's text about the change.
func (a *app) change(ctx context.Context, id string, do ask) error {
	api, err := a.api()
	if err != nil {
		return err
	}
	answer, err := connect.Read[client.Change](do(ctx, api, id))
	if err != nil {
		return err
	}
	c := answer.Value.Cluster
	return a.print(answer.Raw, []string{handle(c)}, func(s *table.Screen) {
		s.Linef("%s", words.Line(answer.Value.Words))
		f := s.Facts()
		f.Add("ends", end(c, s.Now))
		f.Add("held until", words.When(c.HoldUntil, s.Now))
		if answer.Value.Capped {
			f.Paint("cut short", "the profile gives no more: nothing extends it past "+words.Stamp(c.MaxDestroyAt), table.Warn)
		} else {
			f.Add("at the latest", words.Stamp(c.MaxDestroyAt))
		}
		f.Write()
	})
}

func (a *app) extend() *cobra.Command {
	var until string
	c := &cobra.Command{
		Use: "extend CLUSTER DURATION", Short: "Add to a cluster's end, at most up to the profile's maximum",
		Example: "  ocpctl extend team-a-smoke-01 4h\n  ocpctl extend team-a-smoke-01 --until 2025-03-02T18:00:00Z",
	}
	c.Flags().StringVar(&until, "until", "", "the new end as a `time` instead of a duration")
	must(c.RegisterFlagCompletionFunc("until", cobra.NoFileCompletions))
	return a.onCluster(c, 0, 1, func(ctx context.Context, id string, rest []string) error {
		s, err := readSpan(rest, until)
		if err != nil {
			return err
		}
		return a.change(ctx, id, func(ctx context.Context, api *connect.API, id string) (*http.Response, error) {
			return api.ExtendCluster(ctx, id, nil, client.Extend{Hours: s.Hours, Until: s.Until})
		})
	})
}

func (a *app) hold() *cobra.Command {
	var until, reason string
	c := &cobra.Command{
		Use: "hold CLUSTER DURATION", Short: "Keep a cluster whatever becomes of its pull request, up to the profile's maximum",
		Example: `  ocpctl hold pr41-shop 8h --reason "INC-1234: somebody looks at it"`,
	}
	c.Flags().StringVar(&until, "until", "", "until when as a `time` instead of a duration from now")
	must(c.RegisterFlagCompletionFunc("until", cobra.NoFileCompletions))
	reasonFlag(c, &reason, "why it is kept")
	return a.onCluster(c, 0, 1, func(ctx context.Context, id string, rest []string) error {
		s, err := readSpan(rest, until)
		if err != nil {
			return err
		}
		if err := needReason(reason); err != nil {
			return err
		}
		return a.change(ctx, id, func(ctx context.Context, api *connect.API, id string) (*http.Response, error) {
			return api.HoldCluster(ctx, id, nil, client.Hold{Hours: s.Hours, Until: s.Until, Reason: reason})
		})
	})
}

func (a *app) unhold() *cobra.Command {
	c := &cobra.Command{Use: "unhold CLUSTER", Short: "Lift a hold; the other ends count again"}
	return a.onCluster(c, 0, 0, func(ctx context.Context, id string, _ []string) error {
		return a.change(ctx, id, func(ctx context.Context, api *connect.API, id string) (*http.Response, error) {
			return api.ReleaseHold(ctx, id, nil)
		})
	})
}

func (a *app) transfer() *cobra.Command {
	var t client.Transfer
	c := &cobra.Command{
		Use: "transfer CLUSTER --team TEAM", Short: "Give a cluster to another team of yours",
		Long: "Give a cluster to another team of yours. Quotas and costs follow; the tags in the cloud keep the names of its acceptance.",
	}
	c.Flags().StringVar(&t.Team, "team", "", "the `team` that gets it")
	c.Flags().StringVar(&t.Owner, "owner", "", "the `person` who answers for it then; you, when left out")
	must(c.RegisterFlagCompletionFunc("team", a.completeTeams))
	must(c.RegisterFlagCompletionFunc("owner", cobra.NoFileCompletions))
	reasonFlag(c, &t.Reason, "why it is given away")
	return a.onCluster(c, 0, 0, func(ctx context.Context, id string, _ []string) error {
		if t.Team == "" {
			return missing("--team", "a team of yours; ocpctl catalog teams lists them")
		}
		return a.change(ctx, id, func(ctx context.Context, api *connect.API, id string) (*http.Response, error) {
			return api.TransferCluster(ctx, id, nil, t)
		})
	})
}
