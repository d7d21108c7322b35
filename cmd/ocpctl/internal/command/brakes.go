package command

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
)

// allBrakes is what thaws everything, as the API spells it.
const allBrakes = "all"

func (a *app) newFreezeCommand() *cobra.Command {
	var said v1.FreezeRequest
	var yes bool
	c := &cobra.Command{
		Use: "freeze", Short: "Keep new clusters from being created until a time", Args: rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		Long:    "Keep new clusters from being created until a time. Requests are accepted and wait; every waiting cluster shows the reason and the end. What runs goes on; so do teardowns, sleep, scaling and access. With --drain, the clusters there end too: their people are warned, and a hold does not protect them. ocpctl admin thaw cancels that for clusters that have not ended yet. Without --platform, --account, --region, --profile and --team it applies everywhere.",
		Example: "  ocpctl admin freeze --region us-east-1 --until 4h --reason \"AWS has an outage\"\n  ocpctl admin freeze --profile aws-gpu --until 2030-01-31T18:00:00Z --reason \"the quota is being raised\"\n  ocpctl admin freeze --account 210987654321 --drain-by 2h --until 3d --reason \"the account is closed\"",
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, _ []string) error {
			if said.Drain || said.DrainBy != "" {
				var where []string
				for _, part := range [][2]string{{"platform ", said.Platform}, {"account ", said.Account}, {"region ", said.Region}, {"profile ", said.Profile}, {"team ", said.Team}} {
					if part[1] != "" {
						where = append(where, part[0]+part[1])
					}
				}
				question := "End all clusters everywhere?"
				if len(where) > 0 {
					question = "End all clusters of " + strings.Join(where, " and ") + "?"
				}
				if err := a.askToConfirm(humanize.Line(question), yes); err != nil {
					return err
				}
			}
			return showAnswer(a, func(b v1.Brake) []string { return []string{b.ID} }, func(s *table.Screen, b v1.Brake) {
				s.Linef("%s: %s.", humanize.Line(b.ID), humanize.Line(b.Message))
			})(api.Freeze(ctx, said))
		}),
	}
	f := c.Flags()
	f.StringVar(&said.Platform, "platform", "", "only this `platform`: aws or ibmcloud")
	f.StringVar(&said.Account, "account", "", "only this cloud `account`")
	f.StringVar(&said.Region, "region", "", "only this `region`")
	f.StringVar(&said.Profile, "profile", "", "only this `profile`")
	f.StringVar(&said.Team, "team", "", "only this `team`")
	f.StringVar(&said.Until, "until", "", "how long, such as 4h, or a `time` (RFC 3339); at most 14 days away; required")
	f.BoolVar(&said.Drain, "drain", false, "also end the clusters there, after the longest of their grace periods")
	f.StringVar(&said.DrainBy, "drain-by", "", "also end the clusters there, at this `time` or after this long (30m); no later than the freeze ends")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	reasonFlag(c, &said.Reason)
	c.PreRunE = func(*cobra.Command, []string) error {
		if strings.TrimSpace(said.Until) == "" {
			return exit.With(exit.Usage, &exit.Problem{Title: "A freeze needs an end.", Fields: []exit.Field{
				{Name: "--until", Detail: "Required.", Accepted: []string{"how long, such as 4h", "a time, such as 2030-01-31T18:00:00Z"}},
			}})
		}
		return needReason(said.Reason)
	}
	return c
}

func (a *app) newThawCommand() *cobra.Command {
	var said v1.MaybeReason
	var all bool
	c := &cobra.Command{
		Use: "thaw ID | --all", Short: "End a freeze or close a breaker: waiting clusters start, and drained ones that have not ended yet stay", Args: rangeArgs(0, 1), ValidArgsFunction: completeFirst(a.completeBrakes),
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, args []string) error {
			id := allBrakes
			if len(args) == 1 {
				id = args[0]
			}
			if all != (len(args) == 0) {
				return exit.With(exit.Usage, &exit.Problem{Title: "Name one brake, or all.", Fields: []exit.Field{
					{Name: "ID", Detail: "Exactly one of them is required.", Accepted: []string{"an id of ocpctl admin brakes", "--all"}},
				}})
			}
			return a.printBrakes("There was no brake to end.")(api.Thaw(ctx, id, said))
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "end all of them")
	reasonFlag(c, &said.Reason)
	return c
}

func (a *app) newBrakesCommand() *cobra.Command {
	return a.newSimpleCommand("brakes", "List what keeps new clusters from being created", (*connect.API).ListBrakes, a.printBrakes("No brakes: new clusters are created as they are requested."))
}

func (a *app) printBrakes(none string) func(*http.Response, error) error {
	return listOf[v1.Brake]{
		name:  func(b v1.Brake) string { return b.ID },
		heads: []string{"ID", "KIND", "WHERE", "BY", "SINCE", "UNTIL", "DRAINED", "REASON"},
		row: func(s *table.Screen, b v1.Brake) []any {
			where := strings.Fields(strings.Join([]string{b.Platform, b.Account, b.Region, b.Profile, b.Version, b.Team}, " "))
			drained := ""
			if !b.DrainAt.IsZero() {
				drained = humanize.When(b.DrainAt, s.Now)
			}
			return []any{b.ID, string(b.Kind), cmp.Or(strings.Join(where, " "), "everywhere"), b.By, humanize.When(b.Since, s.Now), humanize.When(b.Until, s.Now), drained, b.Reason}
		},
		none: none,
	}.showAnswer(a)
}

func (a *app) completeBrakes(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromServer(cmd, start, func(ctx context.Context, api *connect.API) (out []string) {
		answer, err := connect.Read[v1.Brakes](api.ListBrakes(ctx))
		if err != nil {
			return nil
		}
		for _, b := range answer.Value.Items {
			out = append(out, formatHint(b.ID, b.Message))
		}
		return out
	})
}
