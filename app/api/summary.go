package api

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/store/statistics"
)

// ReportSummary implements GET /api/v1/reports/summary.
func (s *server) ReportSummary(w http.ResponseWriter, r *http.Request, params v1.ReportSummaryParams) {
	q := s.newQuery(r)
	f := admin.SummaryFilter{Team: params.Team}
	f.From, f.To = q.checkSpan(params.From, params.To)
	csv := q.readChoice("format", params.Format, "json", "csv") == "csv"
	table := q.readChoice("table", params.Table, summaryTableNames()...)
	switch {
	case csv && params.Table == "":
		q.addRefusal("table", "a CSV file has one table", summaryTableNames()...)
	case !csv && params.Table != "":
		q.addRefusal("table", "JSON has all tables", "no table, or format=csv")
	}
	if err := q.refusals(); err != nil {
		s.writeError(w, r, err)
		return
	}
	sum, err := s.Admin.Summary(r.Context(), principal(r), f)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	if !csv {
		writeOK(w, summaryOf(sum))
		return
	}
	var file bytes.Buffer
	if err := summaryCSV(&file, table, summaryOf(sum)); err != nil {
		s.writeError(w, r, fmt.Errorf("write the table %s: %w", table, err))
		return
	}
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s.csv"`, table))
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	_, _ = w.Write(file.Bytes()) // the reader disconnected
}

func summaryOf(sum admin.Summary) v1.ReportSummary {
	out := v1.ReportSummary{
		At: sum.At.UTC(), From: sum.From.UTC(), To: sum.To.UTC(), Ages: barsOf(sum.Ages), Lifetimes: barsOf(sum.Lifetimes), Lifetime: profilesOf(sum.Lifetime), Ready: profilesOf(sum.Ready),
		Inventory: []v1.SummaryInventory{}, Oldest: []v1.SummaryCluster{}, Weeks: []v1.SummaryWeek{}, Failures: []v1.SummaryFailure{}, Teardowns: []v1.SummaryTeardown{}, Unused: []v1.SummaryUnused{}, Leaks: []v1.SummaryLeak{}, Spenders: []v1.UsageLine{}, SavedCents: sum.Saved,
	}
	for _, l := range sum.Inventory {
		out.Inventory = append(out.Inventory, v1.SummaryInventory{Team: l.Team, Profile: l.Profile, Status: v1.Status(l.Status), Clusters: l.Clusters, OldestAt: l.Oldest, HourlyCents: l.HourlyCents})
	}
	for _, c := range sum.Oldest {
		out.Oldest = append(out.Oldest, v1.SummaryCluster{
			ID: c.ID, Name: c.Name, Team: c.Team, Owner: c.Owner, Profile: c.Profile, Status: v1.Status(c.Status), CreatedAt: c.CreatedAt, DestroyAt: c.DestroyAt, HourlyCents: c.HourlyCents,
		})
	}
	for _, l := range sum.Weeks {
		out.Weeks = append(out.Weeks, v1.SummaryWeek{Week: l.Week, Accepted: l.Accepted, Ready: l.Ready, FailedCreates: l.FailedCreates, Destroyed: l.Destroyed, Took: secondsOf(l.Spread)})
	}
	for _, l := range sum.Failures {
		out.Failures = append(out.Failures, v1.SummaryFailure{Kind: l.Kind, Reason: l.Reason, Profile: l.Profile, Attempts: l.Attempts, Clusters: l.Clusters, LastAt: l.LastAt})
	}
	for _, l := range sum.Teardowns {
		out.Teardowns = append(out.Teardowns, v1.SummaryTeardown{Profile: l.Profile, Clusters: l.Clusters, Unaided: l.Unaided, Blocked: l.Blocked, Abandoned: l.Abandoned, Took: secondsOf(l.Spread)})
	}
	for _, l := range sum.Unused {
		out.Unused = append(out.Unused, v1.SummaryUnused{
			Profile: l.Profile, Ended: l.Ended, SleptIdle: l.SleptIdle, SleptOffHours: l.SleptOffHours, SleptAsked: l.SleptAsked, AsleepHours: float32(l.AsleepHours), SavedCents: l.SavedCents,
		})
	}
	for _, l := range sum.Leaks {
		out.Leaks = append(out.Leaks, v1.SummaryLeak{
			Identity: l.Identity, ClusterID: l.Cluster, Cluster: l.Name, Team: l.Team, Class: l.Class, Unpriced: l.Unpriced,
			Why: l.Why, FirstSeenAt: l.FirstSeenAt, LastSeenAt: l.LastSeenAt, ResolvedAt: when(l.ResolvedAt), Cents: l.Cents,
		})
	}
	for _, l := range sum.Spenders {
		out.Spenders = append(out.Spenders, usageLine(l))
	}
	return out
}

func barsOf(bars []statistics.Bar) []v1.SummaryBar {
	out := []v1.SummaryBar{}
	for _, b := range bars {
		out = append(out, v1.SummaryBar{BelowSeconds: int64(b.Below.Seconds()), Clusters: b.Clusters})
	}
	return out
}

func profilesOf(lines []statistics.ProfileSpread) []v1.SummaryProfile {
	out := []v1.SummaryProfile{}
	for _, l := range lines {
		out = append(out, v1.SummaryProfile{Profile: l.Profile, Clusters: l.Clusters, Took: secondsOf(l.Spread)})
	}
	return out
}

func secondsOf(s statistics.Spread) v1.SummarySeconds {
	return v1.SummarySeconds{P50: s.P50, P90: s.P90, P99: s.P99, Longest: s.Longest}
}
