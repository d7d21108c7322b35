package api

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app/api/v1"
)

// summaryTable is one table of the summary as CSV.
type summaryTable struct {
	name    string
	columns string // separated by commas
	rows    func(v1.ReportSummary) [][]any
}

const secondsColumns = "p50_seconds,p90_seconds,p99_seconds,longest_seconds"

// summaryTables are the tables in the order of the pages.
var summaryTables = []summaryTable{
	{"inventory", "team,profile,status,clusters,oldest_at,hourly_cents", tableOf(func(s v1.ReportSummary) []v1.SummaryInventory { return s.Inventory }, func(l v1.SummaryInventory) []any {
		return []any{l.Team, l.Profile, l.Status, l.Clusters, l.OldestAt, l.HourlyCents}
	})},
	{"oldest", "id,name,team,owner,profile,status,created_at,destroy_at,hourly_cents", tableOf(func(s v1.ReportSummary) []v1.SummaryCluster { return s.Oldest }, func(c v1.SummaryCluster) []any {
		return []any{c.ID, c.Name, c.Team, c.Owner, c.Profile, c.Status, c.CreatedAt, c.DestroyAt, c.HourlyCents}
	})},
	{"lifetime", "profile,clusters," + secondsColumns, tableOf(func(s v1.ReportSummary) []v1.SummaryProfile { return s.Lifetime }, profileCells)},
	{"ready", "profile,clusters," + secondsColumns, tableOf(func(s v1.ReportSummary) []v1.SummaryProfile { return s.Ready }, profileCells)},
	{"weeks", "week,accepted,ready,failed_creates,destroyed," + secondsColumns, tableOf(func(s v1.ReportSummary) []v1.SummaryWeek { return s.Weeks }, func(l v1.SummaryWeek) []any {
		return append([]any{l.Week.UTC().Format(time.DateOnly), l.Accepted, l.Ready, l.FailedCreates, l.Destroyed}, secondsCells(l.Took)...)
	})},
	{"failures", "kind,reason,profile,attempts,clusters,last_at", tableOf(func(s v1.ReportSummary) []v1.SummaryFailure { return s.Failures }, func(l v1.SummaryFailure) []any {
		return []any{l.Kind, l.Reason, l.Profile, l.Attempts, l.Clusters, l.LastAt}
	})},
	{"teardowns", "profile,clusters,unaided,blocked,abandoned," + secondsColumns, tableOf(func(s v1.ReportSummary) []v1.SummaryTeardown { return s.Teardowns }, func(l v1.SummaryTeardown) []any {
		return append([]any{l.Profile, l.Clusters, l.Unaided, l.Blocked, l.Abandoned}, secondsCells(l.Took)...)
	})},
	{"unused", "profile,ended,slept_idle,slept_off_hours,slept_asked,asleep_hours,saved_cents", tableOf(func(s v1.ReportSummary) []v1.SummaryUnused { return s.Unused }, func(l v1.SummaryUnused) []any {
		return []any{l.Profile, l.Ended, l.SleptIdle, l.SleptOffHours, l.SleptAsked, l.AsleepHours, l.SavedCents}
	})},
	{"leaks", "identity,class,cluster_id,cluster,team,why,first_seen_at,last_seen_at,resolved_at,cents,unpriced", tableOf(func(s v1.ReportSummary) []v1.SummaryLeak { return s.Leaks }, func(l v1.SummaryLeak) []any {
		cents := any("")
		if l.Cents != nil {
			cents = *l.Cents
		}
		return []any{l.Identity, l.Class, l.ClusterID, l.Cluster, l.Team, l.Why, l.FirstSeenAt, l.LastSeenAt, l.ResolvedAt, cents, l.Unpriced}
	})},
	{"spenders", "owner,clusters,ready,cluster_hours,node_hours,cents,saved_cents", tableOf(func(s v1.ReportSummary) []v1.UsageLine { return s.Spenders }, func(l v1.UsageLine) []any {
		return []any{l.Key, l.Clusters, l.Ready, l.ClusterHours, l.NodeHours, l.Cents, l.SavedCents}
	})},
}

func summaryTableNames() (names []string) {
	for _, t := range summaryTables {
		names = append(names, t.name)
	}
	return names
}

// tableOf returns how the lines of one table become rows.
func tableOf[T any](lines func(v1.ReportSummary) []T, cells func(T) []any) func(v1.ReportSummary) [][]any {
	return func(s v1.ReportSummary) (rows [][]any) {
		for _, l := range lines(s) {
			rows = append(rows, cells(l))
		}
		return rows
	}
}

// profileCells are the cells of a line; the line over all profiles has an empty profile.
func profileCells(l v1.SummaryProfile) []any {
	return append([]any{l.Profile, l.Clusters}, secondsCells(l.Took)...)
}

func secondsCells(s v1.SummarySeconds) []any { return []any{s.P50, s.P90, s.P99, s.Longest} }

// summaryCSV writes one table with a line of column names, as RFC 4180 describes CSV.
func summaryCSV(w io.Writer, name string, s v1.ReportSummary) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	for _, t := range summaryTables {
		if t.name != name {
			continue
		}
		if err := out.Write(strings.Split(t.columns, ",")); err != nil {
			return err
		}
		for _, row := range t.rows(s) {
			cells := make([]string, len(row))
			for i, value := range row {
				cells[i] = formatCell(value)
			}
			if err := out.Write(cells); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// formatCell formats a value. A text that a spreadsheet would take for a formula gets a quote in front, because others wrote it.
// https://owasp.org/www-community/attacks/CSV_Injection
func formatCell(value any) string {
	switch v := value.(type) {
	case time.Time:
		if v.IsZero() {
			return ""
		}
		return v.UTC().Format(time.RFC3339)
	case string:
		if v != "" && strings.ContainsRune("=+-@\t\r", rune(v[0])) {
			return "'" + v
		}
		return v
	}
	return fmt.Sprint(value)
}
