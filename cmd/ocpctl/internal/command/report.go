package command

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/internal/price"
)

// period is a time range from flags. It is read before the command runs.
type period struct {
	From v1.From
	To   v1.To
}

func (a *app) addPeriodFlags(c *cobra.Command, p *period) {
	var from, to string
	c.Flags().StringVar(&from, "from", "", "from this `time`: "+humanize.Moments+", or how long ago: 7d")
	c.Flags().StringVar(&to, "to", "", "until this `time`, not included")
	c.PreRunE = func(*cobra.Command, []string) error {
		var wrong []exit.Field
		for _, end := range []struct {
			flag, text string
			into       *time.Time
		}{{"--from", from, &p.From}, {"--to", to, &p.To}} {
			if end.text == "" {
				continue
			}
			var err error
			if *end.into, err = humanize.Past(end.text, a.Now()); err != nil {
				wrong = append(wrong, exit.Field{Name: end.flag, Detail: err.Error() + "."})
			}
		}
		return exit.Wrong("The period is not valid.", wrong)
	}
}

func (a *app) newReportCommand() *cobra.Command {
	var params v1.ReportUsageParams
	var p period
	usage := &cobra.Command{
		Use: "usage", Short: "Report hours and cost by list prices, per team or tag", Long: "Report hours and cost by list prices, per team or tag. It is an estimate, not an invoice.",
		Example: "  ocpctl report usage --by costCenter --from 2025-03-01 --to 2025-04-01\n  ocpctl report usage --by tag:RequestSource --from 30d",
		Args:    rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, _ []string) error {
			params.From, params.To = p.From, p.To
			return a.printUsage(api.ReportUsage(ctx, &params))
		}),
	}
	addByFlag(usage, &params.By)
	a.addPeriodFlags(usage, &p)
	return newGroupCommand("report", "Usage and cost, and what became of clusters", "", usage, a.newForecastCommand(), a.newActualCommand(), a.newChargebackCommand(), a.newFocusCommand(), a.newSummaryCommand())
}

func (a *app) printUsage(res *http.Response, err error) error {
	lines := listOf[v1.UsageLine]{
		name:  func(l v1.UsageLine) string { return l.Key },
		heads: []string{"KEY", "CLUSTERS", "READY", "CLUSTER HOURS", "NODE HOURS", "SPEND", "SAVED"},
		row: func(_ *table.Screen, l v1.UsageLine) []any {
			return []any{cmp.Or(l.Name, l.Key), l.Clusters, l.Ready, fmt.Sprintf("%.1f", l.ClusterHours), fmt.Sprintf("%.1f", l.NodeHours), price.Dollars(l.Cents), price.Dollars(l.SavedCents)}
		},
		none: "No usage.",
	}
	return showAnswer(a, func(r v1.UsageReport) []string { return namesOf(r.Items, lines.name) }, func(s *table.Screen, r v1.UsageReport) {
		s.Linef("%s to %s, by %s", humanize.Stamp(r.From), humanize.Stamp(r.To), humanize.Line(r.By))
		r.Total.Key = "total"
		lines.writeWithTotal(s, r.Items, r.Total)
		if r.Estimate {
			s.Linef("Estimate by list prices, not an invoice. SAVED is what clusters that slept would have cost more awake.")
		}
	})(res, err)
}

// reportGroups are what reports can be grouped by.
var reportGroups = []string{"team", "owner", "costCenter", "repository", "profile", "environment", "pullRequest", "run", "cluster", "tag:"}

func addByFlag(c *cobra.Command, by *string) {
	c.Flags().StringVar(by, "by", "team", "group by `key`: team, owner, costCenter, repository, profile, environment, pullRequest, run, cluster or tag:<key>")
}

func (a *app) newForecastCommand() *cobra.Command {
	var params v1.ReportForecastParams
	c := &cobra.Command{
		Use: "forecast", Short: "Report what this month has cost and will cost, by team against its budget",
		Long: "Report what this month has cost and will cost by list prices, if nothing is requested or ended any more. By team it shows the budget, and which\n" +
			"parts of it are spent or promised to clusters.",
		Args: rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, _ []string) error {
			return a.printForecast(api.ReportForecast(ctx, &params))
		}),
	}
	addByFlag(c, &params.By)
	return c
}

func (a *app) printForecast(res *http.Response, err error) error {
	lines := listOf[v1.ForecastLine]{
		name:  func(l v1.ForecastLine) string { return l.Key },
		heads: []string{"KEY", "CLUSTERS", "SPENT", "TO COME", "FORECAST", "BUDGET", "REACHED", "+COMMITTED"},
		row: func(_ *table.Screen, l v1.ForecastLine) []any {
			return []any{l.Key, l.Clusters, price.Dollars(l.SpentCents), price.Dollars(l.ToComeCents), price.Dollars(l.ForecastCents),
				formatBudget(l), formatReached(l), price.Dollars(l.CommittedCents)}
		},
		none: "No clusters this month.",
	}
	return showAnswer(a, func(f v1.Forecast) []string { return namesOf(f.Items, lines.name) }, func(s *table.Screen, f v1.Forecast) {
		s.Linef("%s to %s, by %s, as of %s", humanize.Stamp(f.Month), humanize.Stamp(f.End), humanize.Line(f.By), humanize.Stamp(f.At))
		f.Total.Key = "total"
		lines.writeWithTotal(s, f.Items, f.Total)
		s.Linef("Estimate by list prices, not an invoice.")
	})(res, err)
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
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, _ []string) error {
			params.From, params.To = p.From, p.To
			return a.printActual(api.ReportActual(ctx, &params))
		}),
	}
	addByFlag(c, &params.By)
	a.addPeriodFlags(c, &p)
	return c
}

func (a *app) printActual(res *http.Response, err error) error {
	lines := listOf[v1.ActualLine]{
		name:  func(l v1.ActualLine) string { return l.Key },
		heads: []string{"KEY", "CLUSTERS", "BILLED", "ESTIMATE", "ACTUAL", "ERROR"},
		row: func(_ *table.Screen, l v1.ActualLine) []any {
			wrong := ""
			if l.ActualCents != 0 {
				wrong = fmt.Sprintf("%+.1f %%", l.ErrorPercent)
			}
			return []any{l.Key, l.Clusters, l.Billed, price.Dollars(l.EstimateCents), price.Dollars(l.ActualCents), wrong}
		},
		none: "The bill does not tell of these days.",
	}
	return showAnswer(a, func(r v1.ActualReport) []string { return namesOf(r.Items, lines.name) }, func(s *table.Screen, r v1.ActualReport) {
		s.Linef("%s to %s, by %s", humanize.Stamp(r.From), humanize.Stamp(r.To), humanize.Line(r.By))
		r.Total.Key = "total"
		lines.writeWithTotal(s, r.Items, r.Total)
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
	})(res, err)
}

// newCostFileCommand is a command that downloads a CSV file.
func (a *app) newCostFileCommand(use, short, long string, get func(context.Context, *connect.API, v1.From, v1.To) (*http.Response, error)) *cobra.Command {
	var p period
	var file string
	c := &cobra.Command{
		Use: use, Short: short, Long: long, Args: rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		Example: "  ocpctl report " + use + " --from 2025-03-01 --to 2025-04-01 --output " + use + ".csv",
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, _ []string) error {
			return a.downloadFile(file)(get(ctx, api, p.From, p.To))
		}),
	}
	a.addPeriodFlags(c, &p)
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
