package command

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
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
	addTextFlags(c, "sleep", map[string]*string{"for": &length, "until": &until})
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
		return a.requestJob(ctx, api, id, follow.Asleep, waits, "", func(id string) (*http.Response, error) {
			return api.SleepCluster(ctx, id, nil, asked)
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
		return a.requestJob(ctx, api, id, follow.Ready, waits, "", func(id string) (*http.Response, error) { return api.WakeCluster(ctx, id, nil) })
	})
}

func (a *app) newScaleCommand() *cobra.Command {
	var replicas int
	var waits waiting
	c := fromTable("scale", &cobra.Command{
		Long:    "Change the number of workers of a ready cluster, within the profile's limits. The control plane is not changed.",
		Example: "  ocpctl scale-workers team-a-smoke-01 --replicas 3 --wait",
	})
	c.Flags().IntVar(&replicas, "replicas", -1, optionUsage("scale", "replicas"))
	c.Flags().Lookup("replicas").DefValue = ""
	waits.addFlags(c, "scale", scaleTime)
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		const form = "a whole number, 0 or more, within the profile's limits"
		switch {
		case !c.Flags().Changed("replicas"):
			return newMissingError("--replicas", form)
		case replicas < 0:
			return exit.With(exit.Usage, &exit.Problem{Title: "The number of workers is not valid.", Fields: []exit.Field{
				{Name: "--replicas", Detail: fmt.Sprintf("%d is negative.", replicas), Accepted: []string{form}}}})
		}
		return a.requestJob(ctx, api, id, follow.Scaled, waits, jobsOfGoals[follow.Scaled].otherwise, func(id string) (*http.Response, error) {
			return api.ScaleWorkers(ctx, id, nil, v1.Scale{Replicas: replicas})
		})
	})
}

func (a *app) newRefreshCommand() *cobra.Command {
	var waits waiting
	c := fromTable("refresh", &cobra.Command{
		Long: `Install a ready cluster's add-ons again, in the versions that were fixed when the cluster was accepted. Changes made to them in
the cluster are reverted, and failed add-ons are retried. The cluster stays READY.`,
		Example: "  ocpctl refresh team-a-smoke-01 --wait",
	})
	waits.addFlags(c, "refresh", scaleTime)
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		return a.requestJob(ctx, api, id, follow.Refreshed, waits, jobsOfGoals[follow.Refreshed].otherwise, func(id string) (*http.Response, error) {
			return api.RefreshCluster(ctx, id, nil)
		})
	})
}

// describeAddons lists a cluster's add-ons, and whether they are being applied again.
func describeAddons(c v1.Cluster) string {
	switch {
	case len(c.Addons) == 0:
		return ""
	case c.Refreshing:
		return strings.Join(c.Addons, ", ") + " (being refreshed)"
	}
	return strings.Join(c.Addons, ", ")
}
