package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/internal/price"
)

// period is the flags for a time range.
type period struct{ from, to string }

func (p *period) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&p.from, "from", "", "from this `time`: "+humanize.Moments+", or how long ago: 7d")
	c.Flags().StringVar(&p.to, "to", "", "until this `time`, not included")
	panicOnError(c.RegisterFlagCompletionFunc("from", cobra.NoFileCompletions))
	panicOnError(c.RegisterFlagCompletionFunc("to", cobra.NoFileCompletions))
}

func (a *app) readPeriod(p period) (from v1.From, to v1.To, err error) {
	var wrong []exit.Field
	if p.from != "" {
		if from, err = humanize.Past(p.from, a.Now()); err != nil {
			wrong = append(wrong, exit.Field{Name: "--from", Detail: err.Error() + "."})
		}
	}
	if p.to != "" {
		if to, err = humanize.Past(p.to, a.Now()); err != nil {
			wrong = append(wrong, exit.Field{Name: "--to", Detail: err.Error() + "."})
		}
	}
	if len(wrong) > 0 {
		return from, to, exit.With(exit.Usage, &exit.Problem{Title: "The period is not valid.", Fields: wrong})
	}
	return from, to, nil
}

func (a *app) newReportCommand() *cobra.Command {
	var params v1.ReportUsageParams
	var p period
	usage := &cobra.Command{
		Use: "usage", Short: "Report hours and cost by list prices, per team or tag", Long: "Report hours and cost by list prices, per team or tag. It is an estimate, not an invoice.",
		Example: "  ocpctl report usage --by costCenter --from 2025-03-01 --to 2025-04-01\n  ocpctl report usage --by tag:RequestSource --from 30d",
		Args:    rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runCommand(func(ctx context.Context, _ []string) (err error) {
			if params.From, params.To, err = a.readPeriod(p); err != nil {
				return err
			}
			api, err := a.connectAPI()
			if err != nil {
				return err
			}
			answer, err := connect.Read[v1.UsageReport](api.ReportUsage(ctx, &params))
			if err != nil {
				return err
			}
			return a.printUsage(answer)
		}),
	}
	addByFlag(usage, &params.By)
	p.addFlags(usage)
	return newGroupCommand("report", "Usage and cost, and what became of clusters", "", usage, a.newForecastCommand(), a.newActualCommand(), a.newChargebackCommand(), a.newFocusCommand(), a.newSummaryCommand())
}

func (a *app) printUsage(answer connect.Answer[v1.UsageReport]) error {
	r := answer.Value
	var names []string
	for _, line := range r.Items {
		names = append(names, line.Key)
	}
	return a.printAnswer(answer.Raw, names, func(s *table.Screen) {
		s.Linef("%s to %s, by %s", humanize.Stamp(r.From), humanize.Stamp(r.To), humanize.Line(r.By))
		t := s.Columns("KEY", "CLUSTERS", "READY", "CLUSTER HOURS", "NODE HOURS", "SPEND", "SAVED")
		line := func(l v1.UsageLine) {
			t.Row(l.Key, l.Clusters, l.Ready, fmt.Sprintf("%.1f", l.ClusterHours), fmt.Sprintf("%.1f", l.NodeHours), price.Dollars(l.Cents), price.Dollars(l.SavedCents))
		}
		for _, l := range r.Items {
			line(l)
		}
		if len(r.Items) > 1 {
			r.Total.Key = "total"
			line(r.Total)
		}
		t.Write("No usage.")
		if r.Estimate {
			s.Linef("Estimate by list prices, not an invoice. SAVED is what clusters that slept would have cost more awake.")
		}
	})
}
