package command

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/internal/price"
)

// reportGroups are what reports can be grouped by.
var reportGroups = []string{"team", "owner", "costCenter", "repository", "profile", "environment", "pullRequest", "run", "cluster", "tag:"}

func addByFlag(c *cobra.Command, by *string) {
	c.Flags().StringVar(by, "by", "team", "group by `key`: team, owner, costCenter, repository, profile, environment, pullRequest, run, cluster or tag:<key>")
	panicOnError(c.RegisterFlagCompletionFunc("by", cobra.FixedCompletions(reportGroups, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace)))
}

func (a *app) newForecastCommand() *cobra.Command {
	var params v1.ReportForecastParams
	c := &cobra.Command{
		Use: "forecast", Short: "Report what this month has cost and will cost, by team against its budget",
		Long: "Report what this month has cost and will cost by list prices, if nothing is requested or ended any more. By team it shows the budget, and which\n" +
			"parts of it are spent or promised to clusters.",
		Args: rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, _ []string) error {
			answer, err := connect.Read[v1.Forecast](api.ReportForecast(ctx, &params))
			if err != nil {
				return err
			}
			return a.printForecast(answer)
		}),
	}
	addByFlag(c, &params.By)
	return c
}

func (a *app) printForecast(answer connect.Answer[v1.Forecast]) error {
	f := answer.Value
	var names []string
	for _, line := range f.Items {
		names = append(names, line.Key)
	}
	return a.printAnswer(answer.Raw, names, func(s *table.Screen) {
		s.Linef("%s to %s, by %s, as of %s", humanize.Stamp(f.Month), humanize.Stamp(f.End), humanize.Line(f.By), humanize.Stamp(f.At))
		t := s.Columns("KEY", "CLUSTERS", "SPENT", "TO COME", "FORECAST", "BUDGET", "REACHED", "+COMMITTED")
		line := func(l v1.ForecastLine) {
			t.Row(l.Key, l.Clusters, price.Dollars(l.SpentCents), price.Dollars(l.ToComeCents), price.Dollars(l.ForecastCents),
				formatBudget(l), formatReached(l), price.Dollars(l.CommittedCents))
		}
		for _, l := range f.Items {
			line(l)
		}
		if len(f.Items) > 1 {
			f.Total.Key = "total"
			line(f.Total)
		}
		t.Write("No clusters this month.")
		s.Linef("Estimate by list prices, not an invoice.")
	})
}

func formatBudget(l v1.ForecastLine) string {
	switch {
	case l.BudgetCents == 0:
		return ""
	case l.BudgetHard:
		return price.Dollars(l.BudgetCents) + " hard"
	}
	return price.Dollars(l.BudgetCents)
}

// formatReached is the largest part of the budget that is spent or promised, of those that people are told of.
func formatReached(l v1.ForecastLine) string {
	if len(l.Reached) == 0 {
		return ""
	}
	return fmt.Sprintf("%d %%", l.Reached[len(l.Reached)-1])
}

func (a *app) newActualCommand() *cobra.Command {
	var params v1.ReportActualParams
	var p period
	c := &cobra.Command{
		Use: "actual", Short: "Compare the estimate with what the cloud billed", Args: rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		Long: "Compare the estimate by list prices with what the cloud billed, over whole days (UTC) that the billing export tells of.",
		RunE: a.runCommand(func(ctx context.Context, _ []string) (err error) {
			if params.From, params.To, err = a.readPeriod(p); err != nil {
				return err
			}
			api, err := a.connectAPI()
			if err != nil {
				return err
			}
			answer, err := connect.Read[v1.ActualReport](api.ReportActual(ctx, &params))
			if err != nil {
				return err
			}
			return a.printActual(answer)
		}),
	}
	addByFlag(c, &params.By)
	p.addFlags(c)
	return c
}

func (a *app) printActual(answer connect.Answer[v1.ActualReport]) error {
	r := answer.Value
	var names []string
	for _, line := range r.Items {
		names = append(names, line.Key)
	}
	return a.printAnswer(answer.Raw, names, func(s *table.Screen) {
		s.Linef("%s to %s, by %s", humanize.Stamp(r.From), humanize.Stamp(r.To), humanize.Line(r.By))
		t := s.Columns("KEY", "CLUSTERS", "BILLED", "ESTIMATE", "ACTUAL", "ERROR")
		line := func(l v1.ActualLine) {
			wrong := ""
			if l.ActualCents != 0 {
				wrong = fmt.Sprintf("%+.1f %%", l.ErrorPercent)
			}
			t.Row(l.Key, l.Clusters, l.Billed, price.Dollars(l.EstimateCents), price.Dollars(l.ActualCents), wrong)
		}
		for _, l := range r.Items {
			line(l)
		}
		if len(r.Items) > 1 {
			r.Total.Key = "total"
			line(r.Total)
		}
		t.Write("The bill does not tell of these days yet.")
		for _, other := range []struct {
			cents int64
			what  string
		}{
			{r.LateCents, "for clusters that had ended before"}, {r.UnknownCents, "for clusters that are not in the database"}, {r.UntaggedCents, "without a cluster's tag"},
		} {
			if other.cents != 0 {
				s.Linef("%s billed %s.", price.Dollars(other.cents), other.what)
			}
		}
	})
}

// newCostFileCommand is a command that downloads a CSV file.
func (a *app) newCostFileCommand(use, short, long string, get func(context.Context, *connect.API, v1.From, v1.To) (*http.Response, error)) *cobra.Command {
	var p period
	var file string
	c := &cobra.Command{
		Use: use, Short: short, Long: long, Args: rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		Example: "  ocpctl report " + use + " --from 2025-03-01 --to 2025-04-01 --output " + use + ".csv",
		RunE: a.runCommand(func(ctx context.Context, _ []string) error {
			from, to, err := a.readPeriod(p)
			if err != nil {
				return err
			}
			api, err := a.connectAPI()
			if err != nil {
				return err
			}
			body, err := connect.Stream(get(ctx, api, from, to))
			if err != nil {
				return err
			}
			defer body.Close()
			if file == "" {
				return a.writeStream(body)
			}
			return saveStream(file, body)
		}),
	}
	p.addFlags(c)
	fileFlag(c, &file, "write it to this `file` once it is complete")
	return c
}

func (a *app) newChargebackCommand() *cobra.Command {
	return a.newCostFileCommand("chargeback", "Export the cost of each cluster as CSV, for accounting",
		"Export the cost of each cluster as CSV, for accounting: by list prices, and what the cloud billed if the server knows it. Without times it is this month so far.",
		func(ctx context.Context, api *connect.API, from v1.From, to v1.To) (*http.Response, error) {
			return api.ReportChargeback(ctx, &v1.ReportChargebackParams{From: from, To: to})
		})
}

func (a *app) newFocusCommand() *cobra.Command {
	return a.newCostFileCommand("focus", "Export the cost of clusters as CSV in the FOCUS specification",
		"Export the cost of clusters as CSV in the FinOps Open Cost and Usage Specification 1.2: a line for each cluster, day and rate, by list prices.\nWithout times it is this month so far.",
		func(ctx context.Context, api *connect.API, from v1.From, to v1.To) (*http.Response, error) {
			return api.ReportFocus(ctx, &v1.ReportFocusParams{From: from, To: to})
		})
}
