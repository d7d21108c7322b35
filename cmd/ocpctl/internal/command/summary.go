package command

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/price"
)

// summaryTables are the tables that can be had as CSV.
var summaryTables = []string{"inventory", "oldest", "lifetime", "ready", "weeks", "failures", "teardowns", "unused", "leaks", "spenders"}

func (a *app) newSummaryCommand() *cobra.Command {
	var params v1.ReportSummaryParams
	var p period
	c := &cobra.Command{
		Use: "summary", Short: "Report lifetimes, time to ready, failures, teardowns, leaks and the clusters there are",
		Long:    "Report what became of clusters: how long they lived, how soon they were ready, what failed, how teardowns ended,\nwhich clusters nobody used, what leaked, whose clusters cost the most, and which clusters there are now. Without times it covers the last 30 days.",
		Example: "  ocpctl report summary --from 90d --team payments\n  ocpctl report summary --csv failures > failures.csv",
		Args:    rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runCommand(func(ctx context.Context, _ []string) (err error) {
			if params.From, params.To, err = a.readPeriod(p); err != nil {
				return err
			}
			if err := a.checkSummaryTable(params.Table); err != nil {
				return err
			}
			api, err := a.connectAPI()
			if err != nil {
				return err
			}
			if params.Table != "" {
				params.Format = "csv"
				body, err := connect.Stream(api.ReportSummary(ctx, &params))
				if err != nil {
					return err
				}
				defer body.Close()
				return a.writeStream(body)
			}
			answer, err := connect.Read[v1.ReportSummary](api.ReportSummary(ctx, &params))
			if err != nil {
				return err
			}
			return a.printSummary(answer)
		}),
	}
	p.addFlags(c)
	c.Flags().StringVar(&params.Team, "team", "", "only clusters of this `team`")
	panicOnError(c.RegisterFlagCompletionFunc("team", cobra.NoFileCompletions))
	c.Flags().StringVar(&params.Table, "csv", "", "write this `table` as CSV: inventory, oldest, lifetime, ready, weeks, failures, teardowns, unused, leaks or spenders")
	panicOnError(c.RegisterFlagCompletionFunc("csv", cobra.FixedCompletions(summaryTables, cobra.ShellCompDirectiveNoFileComp)))
	return c
}

// checkSummaryTable refuses a table that does not exist, and an output format besides CSV.
func (a *app) checkSummaryTable(name string) error {
	switch {
	case name == "":
		return nil
	case !slices.Contains(summaryTables, name):
		return exit.With(exit.Usage, &exit.Problem{Title: "The table is not valid.", Fields: []exit.Field{{Name: "--csv", Detail: fmt.Sprintf("%q is not a table.", name), Accepted: summaryTables}}})
	case a.outputFormat() != table.People:
		return exit.With(exit.Usage, &exit.Problem{Title: "The output format is not valid.", Fields: []exit.Field{{Name: "--output", Detail: "It cannot be combined with --csv.", Accepted: []string{"either --csv or --output"}}}})
	}
	return nil
}

func (a *app) printSummary(answer connect.Answer[v1.ReportSummary]) error {
	r := answer.Value
	var names []string
	for _, c := range r.Oldest {
		names = append(names, c.Name)
	}
	return a.printAnswer(answer.Raw, names, func(s *table.Screen) {
		s.Linef("%s to %s", humanize.Stamp(r.From), humanize.Stamp(r.To))
		writePresent(s, r)
		writePast(s, r)
		s.Linef("Amounts are estimates by list prices, not an invoice.")
	})
}

// writePresent shows the clusters that there are.
func writePresent(s *table.Screen, r v1.ReportSummary) {
	s.Head("Clusters now")
	t := s.Columns("TEAM", "PROFILE", "STATUS", "CLUSTERS", "OLDEST", "PER HOUR")
	for _, l := range r.Inventory {
		t.Row(l.Team, l.Profile, l.Status, l.Clusters, duration.Format(r.At.Sub(l.OldestAt)), price.Dollars(l.HourlyCents))
	}
	t.Write("None.")
	s.Head("Oldest clusters")
	t = s.Columns("NAME", "TEAM", "OWNER", "STATUS", "AGE", "PER HOUR", "+ID")
	for _, c := range r.Oldest {
		t.Row(c.Name, c.Team, c.Owner, c.Status, duration.Format(r.At.Sub(c.CreatedAt)), price.Dollars(c.HourlyCents), c.ID)
	}
	t.Write("None.")
}

// writePast shows what happened in the period.
func writePast(s *table.Screen, r v1.ReportSummary) {
	writeByProfile(s, "Time until ready", r.Ready)
	writeByProfile(s, "Lifetime", r.Lifetime)
	s.Head("Weeks")
	t := s.Columns("WEEK FROM", "ACCEPTED", "READY", "FAILED CREATES", "DESTROYED", "MEDIAN", "90 %")
	for _, l := range r.Weeks {
		t.Row(l.Week.UTC().Format(time.DateOnly), l.Accepted, l.Ready, l.FailedCreates, l.Destroyed, formatSeconds(l.Took.P50), formatSeconds(l.Took.P90))
	}
	t.Write("None.")
	s.Head("Failed attempts")
	t = s.Columns("KIND", "REASON", "PROFILE", "ATTEMPTS", "CLUSTERS", "LAST")
	for _, l := range r.Failures {
		t.Row(l.Kind, l.Reason, l.Profile, l.Attempts, l.Clusters, humanize.Stamp(l.LastAt))
	}
	t.Write("None.")
	s.Head("Teardowns")
	t = s.Columns("PROFILE", "CLUSTERS", "UNAIDED", "BLOCKED", "ABANDONED", "MEDIAN", "90 %", "LONGEST")
	for _, l := range r.Teardowns {
		t.Row(orAll(l.Profile), l.Clusters, l.Unaided, l.Blocked, l.Abandoned, formatSeconds(l.Took.P50), formatSeconds(l.Took.P90), formatSeconds(l.Took.Longest))
	}
	t.Write("None.")
	s.Head("Unused clusters")
	t = s.Columns("PROFILE", "ENDED", "SLEPT IDLE", "SLEPT OFF-HOURS", "SLEPT ON REQUEST", "HOURS ASLEEP", "SAVED")
	for _, l := range r.Unused {
		t.Row(orAll(l.Profile), l.Ended, l.SleptIdle, l.SleptOffHours, l.SleptAsked, fmt.Sprintf("%.1f", l.AsleepHours), price.Dollars(l.SavedCents))
	}
	t.Write("None.")
	s.Head("Leaks")
	t = s.Columns("IDENTITY", "CLUSTER", "TEAM", "FIRST SEEN", "SOLVED", "COST", "WHY")
	for _, l := range r.Leaks {
		cost, solved := "not known", "no"
		if l.Cents != nil {
			cost = price.Dollars(*l.Cents)
			if l.Unpriced > 0 {
				cost = "at least " + cost
			}
		}
		if !l.ResolvedAt.IsZero() {
			solved = humanize.Stamp(l.ResolvedAt)
		}
		t.Row(l.Identity, l.Cluster, l.Team, humanize.Stamp(l.FirstSeenAt), solved, cost, humanize.Line(l.Why))
	}
	t.Write("None.")
	s.Head("Top spenders")
	t = s.Columns("OWNER", "CLUSTERS", "CLUSTER HOURS", "SPEND", "SAVED")
	for _, l := range r.Spenders {
		t.Row(l.Key, l.Clusters, fmt.Sprintf("%.1f", l.ClusterHours), price.Dollars(l.Cents), price.Dollars(l.SavedCents))
	}
	t.Write("None.")
	s.Linef("Sleeping saved %s in all.", price.Dollars(r.SavedCents))
}

// writeByProfile shows how long something took.
func writeByProfile(s *table.Screen, head string, lines []v1.SummaryProfile) {
	s.Head(head)
	t := s.Columns("PROFILE", "CLUSTERS", "MEDIAN", "90 %", "99 %", "LONGEST")
	for _, l := range lines {
		t.Row(orAll(l.Profile), l.Clusters, formatSeconds(l.Took.P50), formatSeconds(l.Took.P90), formatSeconds(l.Took.P99), formatSeconds(l.Took.Longest))
	}
	t.Write("None.")
}

func formatSeconds(n int64) string { return duration.Format(time.Duration(n) * time.Second) }

// orAll names the line over all profiles.
func orAll(profile string) string {
	if profile == "" {
		return "all"
	}
	return profile
}
