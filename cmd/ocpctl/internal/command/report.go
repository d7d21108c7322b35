package command

import (
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
		if len(wrong) > 0 {
			return exit.With(exit.Usage, &exit.Problem{Title: "The period is not valid.", Fields: wrong})
		}
		return nil
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
			return []any{l.Key, l.Clusters, l.Ready, fmt.Sprintf("%.1f", l.ClusterHours), fmt.Sprintf("%.1f", l.NodeHours), price.Dollars(l.Cents), price.Dollars(l.SavedCents)}
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
