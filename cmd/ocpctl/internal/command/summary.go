package command

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
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
		RunE: a.runCommand(func(ctx context.Context, _ []string) error {
			params.From, params.To = p.From, p.To
			if err := a.checkSummaryTable(params.Table); err != nil {
				return err
			}
			api, err := a.connectAPI()
			if err != nil {
				return err
			}
			if params.Table != "" {
				params.Format = "csv"
				return a.downloadFile("")(api.ReportSummary(ctx, &params))
			}
			return a.printSummary(api.ReportSummary(ctx, &params))
		}),
	}
	a.addPeriodFlags(c, &p)
	c.Flags().StringVar(&params.Team, "team", "", "only clusters of this `team`")
	c.Flags().StringVar(&params.Table, "csv", "", "write this `table` as CSV: inventory, oldest, lifetime, ready, weeks, failures, teardowns, unused, leaks or spenders")
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

func (a *app) printSummary(res *http.Response, err error) error {
	return showAnswer(a, func(r v1.ReportSummary) []string {
		return namesOf(r.Oldest, func(c v1.SummaryCluster) string { return c.Name })
	}, func(s *table.Screen, r v1.ReportSummary) {
		s.Linef("%s to %s", humanize.Stamp(r.From), humanize.Stamp(r.To))
		writePresent(s, r)
		writePast(s, r)
		s.Linef("Amounts are estimates by list prices, not an invoice.")
	})(res, err)
}

// writePresent shows the clusters that there are.
func writePresent(s *table.Screen, r v1.ReportSummary) {
	s.Head("Clusters now")
	writeTable(s, "None.", []string{"TEAM", "PROFILE", "STATUS", "CLUSTERS", "OLDEST", "PER HOUR"}, r.Inventory, func(_ *table.Screen, l v1.SummaryInventory) []any {
		return []any{l.Team, l.Profile, l.Status, l.Clusters, duration.Format(r.At.Sub(l.OldestAt)), price.Dollars(l.HourlyCents)}
	})
	s.Head("Oldest clusters")
	writeTable(s, "None.", []string{"NAME", "TEAM", "OWNER", "STATUS", "AGE", "PER HOUR", "+ID"}, r.Oldest, func(_ *table.Screen, c v1.SummaryCluster) []any {
		return []any{c.Name, c.Team, c.Owner, c.Status, duration.Format(r.At.Sub(c.CreatedAt)), price.Dollars(c.HourlyCents), c.ID}
	})
}

// writePast shows what happened in the period.
func writePast(s *table.Screen, r v1.ReportSummary) {
	writeByProfile(s, "Time until ready", r.Ready)
	writeByProfile(s, "Lifetime", r.Lifetime)
	s.Head("Weeks")
	writeTable(s, "None.", []string{"WEEK FROM", "ACCEPTED", "READY", "FAILED CREATES", "DESTROYED", "MEDIAN", "90 %"}, r.Weeks, func(_ *table.Screen, l v1.SummaryWeek) []any {
		return []any{l.Week.UTC().Format(time.DateOnly), l.Accepted, l.Ready, l.FailedCreates, l.Destroyed, formatSeconds(l.Took.P50), formatSeconds(l.Took.P90)}
	})
	s.Head("Failed attempts")
	writeTable(s, "None.", []string{"KIND", "REASON", "PROFILE", "ATTEMPTS", "CLUSTERS", "LAST"}, r.Failures, func(_ *table.Screen, l v1.SummaryFailure) []any {
		return []any{l.Kind, l.Reason, l.Profile, l.Attempts, l.Clusters, humanize.Stamp(l.LastAt)}
	})
	s.Head("Teardowns")
	writeTable(s, "None.", []string{"PROFILE", "CLUSTERS", "UNAIDED", "BLOCKED", "ABANDONED", "MEDIAN", "90 %", "LONGEST"}, r.Teardowns, func(_ *table.Screen, l v1.SummaryTeardown) []any {
		return []any{orAll(l.Profile), l.Clusters, l.Unaided, l.Blocked, l.Abandoned, formatSeconds(l.Took.P50), formatSeconds(l.Took.P90), formatSeconds(l.Took.Longest)}
	})
	s.Head("Unused clusters")
	writeTable(s, "None.", []string{"PROFILE", "ENDED", "SLEPT IDLE", "SLEPT OFF-HOURS", "SLEPT ON REQUEST", "HOURS ASLEEP", "SAVED"}, r.Unused, func(_ *table.Screen, l v1.SummaryUnused) []any {
		return []any{orAll(l.Profile), l.Ended, l.SleptIdle, l.SleptOffHours, l.SleptAsked, fmt.Sprintf("%.1f", l.AsleepHours), price.Dollars(l.SavedCents)}
	})
	s.Head("Leaks")
	writeTable(s, "None.", []string{"IDENTITY", "CLUSTER", "TEAM", "FIRST SEEN", "SOLVED", "COST", "WHY"}, r.Leaks, func(_ *table.Screen, l v1.SummaryLeak) []any {
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
		return []any{l.Identity, l.Cluster, l.Team, humanize.Stamp(l.FirstSeenAt), solved, cost, humanize.Line(l.Why)}
	})
	s.Head("Top spenders")
	writeTable(s, "None.", []string{"OWNER", "CLUSTERS", "CLUSTER HOURS", "SPEND", "SAVED"}, r.Spenders, func(_ *table.Screen, l v1.UsageLine) []any {
		return []any{l.Key, l.Clusters, fmt.Sprintf("%.1f", l.ClusterHours), price.Dollars(l.Cents), price.Dollars(l.SavedCents)}
	})
	s.Linef("Sleeping saved %s in all.", price.Dollars(r.SavedCents))
}

// writeByProfile shows how long something took.
func writeByProfile(s *table.Screen, head string, lines []v1.SummaryProfile) {
	s.Head(head)
	writeTable(s, "None.", []string{"PROFILE", "CLUSTERS", "MEDIAN", "90 %", "99 %", "LONGEST"}, lines, func(_ *table.Screen, l v1.SummaryProfile) []any {
		return []any{orAll(l.Profile), l.Clusters, formatSeconds(l.Took.P50), formatSeconds(l.Took.P90), formatSeconds(l.Took.P99), formatSeconds(l.Took.Longest)}
	})
}

func formatSeconds(n int64) string { return duration.Format(time.Duration(n) * time.Second) }

// orAll names the line over all profiles.
func orAll(profile string) string {
	if profile == "" {
		return "all"
	}
	return profile
}
