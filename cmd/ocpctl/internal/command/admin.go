package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/internal/duration"
)

func (a *app) newAdminCommand() *cobra.Command {
	deliveries := newGroupCommand("deliveries", "Deliveries from GitHub, Slack and polling, and their results", "", a.newDeliveryListCommand(), a.newDeliveryShowCommand(), a.newDeliveryReplayCommand())
	reload := a.newSimpleCommand("reload-catalogue", "Reload the catalogue's directory now instead of at the next check", (*connect.API).ReloadCatalogue, a.printCatalogueState)
	reload.Aliases = []string{"reload-catalog"}
	orphans := a.newOrphansCommand()
	orphans.AddCommand(a.newOrphanActCommands()...)
	return newGroupCommand("admin", "For administrators: deliveries, findings, orphans, the catalogue, repository labels, brakes", "", deliveries, a.newFindingsCommand(), orphans, a.newScanCommand(), a.newScansCommand(), reload, a.newLabelsCommand(), a.newFreezeCommand(), a.newThawCommand(), a.newBrakesCommand())
}

func (a *app) newDeliveryListCommand() *cobra.Command {
	var params v1.ListDeliveriesParams
	var most int
	c := &cobra.Command{
		Use: "list", Short: "List deliveries from GitHub and Slack, and what the poll of pull requests found, newest first", Args: rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		Example: "  ocpctl admin deliveries list --state failed\n  ocpctl admin deliveries list --topic acme/shop#41",
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, _ []string) error {
			return listOf[v1.Delivery]{
				name:  func(d v1.Delivery) string { return d.ID },
				heads: []string{"ID", "SOURCE", "EVENT", "ABOUT", "STATE", "RECEIVED", "NOTE", "+DELIVERY"},
				row: func(s *table.Screen, d v1.Delivery) []any {
					return []any{d.ID, d.Source, d.Event, d.Topic, deliveryState(d), duration.Away(d.ReceivedAt, s.Now), d.Note, d.DeliveryID}
				},
				none: "No deliveries.",
			}.showPages(a, most, func(limit int, cursor string) (*http.Response, error) {
				params.Limit, params.Cursor = limit, cursor
				return api.ListDeliveries(ctx, &params)
			})
		}),
	}
	f := c.Flags()
	f.StringVar(&params.Source, "source", "", "filter by `source`: github, slack or poll")
	f.StringVar(&params.Event, "event", "", "filter by `event`, e.g. pull_request")
	f.StringVar(&params.Topic, "topic", "", "filter by `subject`, e.g. acme/shop#41")
	f.StringVar(&params.State, "state", "", "filter by `state`: received, done or failed")
	f.IntVar(&most, "limit", 50, "show at most this `number`; 0 shows all")
	return c
}

func deliveryState(d v1.Delivery) table.Cell {
	paint := map[v1.DeliveryState]table.Paint{v1.DeliveryStateDone: table.Good, v1.DeliveryStateFailed: table.Bad}[d.State]
	return table.Cell{Text: string(d.State), Paint: paint}
}

func (a *app) writeDelivery(s *table.Screen, d v1.Delivery) {
	fmt.Fprintf(s.Out, "%s  %s\n", s.Painted(humanize.Line(d.ID), table.Bold), s.Painted(string(d.State), deliveryState(d).Paint))
	f := s.Facts()
	f.Add("from", d.Source)
	f.Add("event", d.Event)
	f.Add("about", d.Topic)
	f.Add("delivery", d.DeliveryID)
	f.Add("received", humanize.When(d.ReceivedAt, s.Now))
	f.Add("finished", humanize.When(d.FinishedAt, s.Now))
	f.Add("note", d.Note)
	f.Write()
}

func (a *app) newDeliveryShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show one delivery with its body", Args: rangeArgs(1, 1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, args []string) error {
			return showAnswer(a, func(d v1.DeliveryDetail) []string { return []string{d.ID} }, func(s *table.Screen, d v1.DeliveryDetail) {
				a.writeDelivery(s, d.Delivery)
				s.Head("Body")
				var indented bytes.Buffer
				if json.Indent(&indented, []byte(d.Body), "", "  ") != nil {
					indented.Reset()
					indented.WriteString(d.Body) // a form, as Slack sends it
				}
				s.Linef("%s", indented.String())
			})(api.GetDelivery(ctx, args[0]))
		}),
	}
}

func (a *app) newDeliveryReplayCommand() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "replay ID", Short: "Process a delivery again as if it had just arrived; its earlier results are not duplicated",
		Args: rangeArgs(1, 1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, args []string) error {
			return showAnswer(a, func(d v1.Delivery) []string { return []string{d.ID} }, a.writeDelivery)(api.ReplayDelivery(ctx, args[0], v1.Reason{Reason: reason}))
		}),
	}
	addRequiredReason(c, &reason)
	return c
}

func (a *app) newFindingsCommand() *cobra.Command {
	var params v1.ListFindingsParams
	c := &cobra.Command{
		Use: "findings", Short: "List problems that ocpctl found, newest first", Args: rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, _ []string) error {
			return listOf[v1.Finding]{
				name:  func(f v1.Finding) string { return cmp.Or(f.ClusterID, f.Identity) },
				heads: []string{"KIND", "CLUSTER", "IDENTITY", "SINCE", "SEEN", "RESOLVED", "WHY"},
				row: func(s *table.Screen, f v1.Finding) []any {
					return []any{f.Kind, cmp.Or(f.ClusterName, f.ClusterID), f.Identity, duration.Away(f.Since, s.Now), humanize.Count(f.TimesSeen, "time"), duration.Away(f.ResolvedAt, s.Now), f.Why}
				},
				none: "No findings.",
				after: func(s *table.Screen, all []v1.Finding) {
					for _, f := range all {
						if s.Wide {
							writeParagraphs(s, fmt.Sprintf("Evidence for %s %s", f.Kind, cmp.Or(f.ClusterName, f.ClusterID, f.Identity)), f.Evidence)
						}
					}
				},
			}.showAnswer(a)(api.ListFindings(ctx, &params))
		}),
	}
	c.Flags().StringVar(&params.Kind, "kind", "", "filter by `kind`: overdue, stuck, blocked, remains, delivery_failing, delivery_lost, job_failed, access_not_revoked, slack_channel, slack_refused, orphan, scan_failing, cloud_gone, archive_missing, archive_unknown, shown_behind or breaker_open")
	c.Flags().BoolVarP(&params.All, "all", "a", false, "include resolved findings")
	return c
}
