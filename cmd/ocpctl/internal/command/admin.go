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
	reload := a.newCatalogueStateCommand("reload-catalogue", "Reload the catalogue's directory now instead of at the next check",
		func(ctx context.Context, api *connect.API) (*http.Response, error) { return api.ReloadCatalogue(ctx) })
	reload.Aliases = []string{"reload-catalog"}
	orphans := a.newOrphansCommand()
	orphans.AddCommand(a.newOrphanActCommands()...)
	return newGroupCommand("admin", "For administrators: deliveries, findings, orphans, the catalogue, repository labels", "", deliveries, a.newFindingsCommand(), orphans, a.newScanCommand(), a.newScansCommand(), reload, a.newLabelsCommand())
}

func (a *app) newDeliveryListCommand() *cobra.Command {
	var params v1.ListDeliveriesParams
	var most int
	c := &cobra.Command{
		Use: "list", Short: "List deliveries from GitHub and Slack, and what the poll of pull requests found, newest first", Args: rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		Example: "  ocpctl admin deliveries list --state failed\n  ocpctl admin deliveries list --topic acme/shop#41",
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, _ []string) error {
			raw, items, err := readPages(most, func(limit int, cursor string) (connect.Answer[v1.DeliveryPage], error) {
				params.Limit, params.Cursor = limit, cursor
				return connect.Read[v1.DeliveryPage](api.ListDeliveries(ctx, &params))
			}, func(p v1.DeliveryPage) ([]v1.Delivery, string) { return p.Items, p.NextCursor })
			if err != nil {
				return err
			}
			var names []string
			for _, d := range items {
				names = append(names, d.ID)
			}
			return a.printAnswer(raw, names, func(s *table.Screen) {
				t := s.Columns("ID", "SOURCE", "EVENT", "ABOUT", "STATE", "RECEIVED", "NOTE", "+DELIVERY")
				for _, d := range items {
					t.Row(d.ID, d.Source, d.Event, d.Topic, deliveryState(d), duration.Away(d.ReceivedAt, s.Now), d.Note, d.DeliveryID)
				}
				t.Write("No deliveries.")
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
			answer, err := connect.Read[v1.DeliveryDetail](api.GetDelivery(ctx, args[0]))
			if err != nil {
				return err
			}
			return a.printAnswer(answer.Raw, []string{answer.Value.ID}, func(s *table.Screen) {
				a.writeDelivery(s, answer.Value.Delivery)
				s.Head("Body")
				var indented bytes.Buffer
				if json.Indent(&indented, []byte(answer.Value.Body), "", "  ") != nil {
					indented.Reset()
					indented.WriteString(answer.Value.Body) // a form, as Slack sends it
				}
				s.Linef("%s", indented.String())
			})
		}),
	}
}

func (a *app) newDeliveryReplayCommand() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "replay ID", Short: "Process a delivery again as if it had just arrived; its earlier results are not duplicated",
		Args: rangeArgs(1, 1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runCommand(func(ctx context.Context, args []string) error {
			if err := needReason(reason); err != nil {
				return err
			}
			api, err := a.connectAPI()
			if err != nil {
				return err
			}
			answer, err := connect.Read[v1.Delivery](api.ReplayDelivery(ctx, args[0], v1.Reason{Reason: reason}))
			if err != nil {
				return err
			}
			return a.printAnswer(answer.Raw, []string{answer.Value.ID}, func(s *table.Screen) { a.writeDelivery(s, answer.Value) })
		}),
	}
	reasonFlag(c, &reason)
	return c
}

func (a *app) newFindingsCommand() *cobra.Command {
	var params v1.ListFindingsParams
	c := &cobra.Command{
		Use: "findings", Short: "List problems that ocpctl found, newest first", Args: rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, _ []string) error {
			answer, err := connect.Read[v1.Findings](api.ListFindings(ctx, &params))
			if err != nil {
				return err
			}
			names := namesOf(answer.Value.Items, func(f v1.Finding) string { return cmp.Or(f.ClusterID, f.Identity) })
			return a.printAnswer(answer.Raw, names, func(s *table.Screen) {
				t := s.Columns("KIND", "CLUSTER", "IDENTITY", "SINCE", "SEEN", "RESOLVED", "WHY")
				for _, f := range answer.Value.Items {
					t.Row(string(f.Kind), f.ClusterID, f.Identity, duration.Away(f.Since, s.Now), humanize.Count(f.TimesSeen, "time"), duration.Away(f.ResolvedAt, s.Now), f.Why)
				}
				t.Write("No findings.")
				for _, f := range answer.Value.Items {
					if s.Wide && len(f.Evidence) > 0 {
						writeParagraphs(s, fmt.Sprintf("Evidence for %s %s", f.Kind, cmp.Or(f.ClusterID, f.Identity)), f.Evidence)
					}
				}
			})
		}),
	}
	c.Flags().StringVar(&params.Kind, "kind", "", "filter by `kind`: overdue, stuck, blocked, remains, delivery_failing, delivery_lost, job_failed, access_not_revoked, slack_channel, slack_refused, orphan, scan_failing, cloud_gone, archive_missing, archive_unknown or shown_behind")
	c.Flags().BoolVarP(&params.All, "all", "a", false, "include resolved findings")
	return c
}
