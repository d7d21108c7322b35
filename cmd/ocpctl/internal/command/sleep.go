package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/follow"
)

func (a *app) newSleepCommand() *cobra.Command {
	var length, until, why string
	var waits waiting
	c := fromTable("sleep", &cobra.Command{
		Long: `Put a ready cluster to sleep, in the way of its profile: its workers are removed, or all its machines are stopped. It costs less,
and cannot be used until it is awake. Its status stays READY, the phase is asleep, and its end does not move.`,
		Example: "  ocpctl sleep team-a-smoke-01 --for 12h\n  ocpctl sleep team-a-smoke-01 --until 2025-03-03T07:00:00Z --reason \"the weekend\"",
	})
	c.Flags().StringVar(&length, "for", "", optionUsage("sleep", "for"))
	c.Flags().StringVar(&until, "until", "", optionUsage("sleep", "until"))
	c.Flags().StringVarP(&why, "reason", "m", "", optionUsage("sleep", "reason"))
	waits.addFlags(c, "sleep", scaleTime)
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		asked := v1.SleepRequest{Reason: why}
		if length != "" || until != "" {
			var given []string
			if length != "" {
				given = []string{length}
			}
			s, err := readSpan(given, until)
			if err != nil {
				return err
			}
			asked.For, asked.Until = s.For, s.Until
		}
		return a.changePower(ctx, api, id, follow.Asleep, waits, func(api *connect.API, id string) (connect.Answer[v1.Accepted], error) {
			return connect.Read[v1.Accepted](api.SleepCluster(ctx, id, nil, asked))
		})
	})
}

func (a *app) newWakeCommand() *cobra.Command {
	var waits waiting
	c := fromTable("wake", &cobra.Command{
		Long:    "Wake a cluster that is asleep. It can be used as soon as its nodes and its operators are well, which takes some minutes.",
		Example: "  ocpctl wake team-a-smoke-01 --wait",
	})
	waits.addFlags(c, "wake", scaleTime)
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		return a.changePower(ctx, api, id, follow.Ready, waits, func(api *connect.API, id string) (connect.Answer[v1.Accepted], error) {
			return connect.Read[v1.Accepted](api.WakeCluster(ctx, id, nil))
		})
	})
}

// changePower asks for a cluster's sleep or its end, and waits for it if asked to.
func (a *app) changePower(ctx context.Context, api *connect.API, id string, goal follow.Goal, waits waiting, ask func(*connect.API, string) (connect.Answer[v1.Accepted], error)) error {
	found, err := connect.Read[v1.ClusterDetail](api.GetCluster(ctx, id))
	if err != nil {
		return err
	}
	answer, err := ask(api, found.Value.ClusterID)
	if err != nil {
		return err
	}
	return a.printRequestedJob(ctx, api, answer, found.Value.Cluster, goal, waits)
}
