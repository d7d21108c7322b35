package api

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"time"
)

// summaryTable is one table of the summary as CSV.
type summaryTable struct {
	name    string
	columns string // separated by commas
	rows    func(ReportSummary) [][]any
}

const secondsColumns = "p50_seconds,p90_seconds,p99_seconds,longest_seconds"

// summaryTables are the tables in the order of the pages.
var summaryTables = []summaryTable{
	{"inventory", "team,profile,status,clusters,oldest_at,hourly_cents", table(func(s ReportSummary) []SummaryInventory { return s.Inventory }, func(l SummaryInventory) []any {
		return []any{l.Team, l.Profile, l.Status, l.Clusters, l.OldestAt, l.HourlyCents}
	})},
	{"oldest", "id,name,team,owner,profile,status,created_at,destroy_at,hourly_cents", table(func(s ReportSummary) []SummaryCluster { return s.Oldest }, func(c SummaryCluster) []any {
		return []any{c.ID, c.Name, c.Team, c.Owner, c.Profile, c.Status, c.CreatedAt, c.DestroyAt, c.HourlyCents}
	})},
	{"lifetime", "profile,clusters," + secondsColumns, table(func(s ReportSummary) []SummaryProfile { return s.Lifetime }, profileCells)},
	{"ready", "profile,clusters," + secondsColumns, table(func(s ReportSummary) []SummaryProfile { return s.Ready }, profileCells)},
	{"weeks", "week,accepted,ready,failed_creates,destroyed," + secondsColumns, table(func(s ReportSummary) []SummaryWeek { return s.Weeks }, func(l SummaryWeek) []any {
		return append([]any{l.Week.UTC().Format(time.DateOnly), l.Accepted, l.Ready, l.FailedCreates, l.Destroyed}, secondsCells(l.Took)...)
	})},
	{"failures", "kind,reason,profile,attempts,clusters,last_at", table(func(s ReportSummary) []SummaryFailure { return s.Failures }, func(l SummaryFailure) []any {
		return []any{l.Kind, l.Reason, l.Profile, l.Attempts, l.Clusters, l.LastAt}
	})},
	{"teardowns", "profile,clusters,unaided,blocked,abandoned," + secondsColumns, table(func(s ReportSummary) []SummaryTeardown { return s.Teardowns }, func(l SummaryTeardown) []any {
		return append([]any{l.Profile, l.Clusters, l.Unaided, l.Blocked, l.Abandoned}, secondsCells(l.Took)...)
	})},
	{"unused", "profile,ended,slept_idle,slept_off_hours,slept_asked,asleep_hours,saved_cents", table(func(s ReportSummary) []SummaryUnused { return s.Unused }, func(l SummaryUnused) []any {
		return []any{l.Profile, l.Ended, l.SleptIdle, l.SleptOffHours, l.SleptAsked, l.AsleepHours, l.SavedCents}
	})},
	{"leaks", "identity,class,cluster_id,cluster,team,why,first_seen_at,last_seen_at,resolved_at,cents,unpriced", table(func(s ReportSummary) []SummaryLeak { return s.Leaks }, func(l SummaryLeak) []any {
		cents := any("")
		if l.Cents != nil {
			cents = *l.Cents
		}
		return []any{l.Identity, l.Class, l.ClusterID, l.Cluster, l.Team, l.Why, l.FirstSeenAt, l.LastSeenAt, l.ResolvedAt, cents, l.Unpriced}
	})},
	{"spenders", "owner,clusters,ready,cluster_hours,node_hours,cents,saved_cents", table(func(s ReportSummary) []UsageLine { return s.Spenders }, func(l UsageLine) []any {
		return []any{l.Key, l.Clusters, l.Ready, l.ClusterHours, l.NodeHours, l.Cents, l.SavedCents}
	})},
}

func summaryTableNames() (names []string) {
	for _, t := range summaryTables {
		names = append(names, t.name)
	}
	return names
}

// table returns how the lines of one table become rows.
func table[T any](lines func(ReportSummary) []T, cells func(T) []any) func(ReportSummary) [][]any {
	return func(s ReportSummary) (rows [][]any) {
		for _, l := range lines(s) {
			rows = append(rows, cells(l))
		}
		return rows
	}
}

// profileCells are the cells of a line; the line over all profiles has an empty profile.
func profileCells(l SummaryProfile) []any {
	return append([]any{l.Profile, l.Clusters}, secondsCells(l.Took)...)
}

func secondsCells(s SummarySeconds) []any { return []any{s.P50, s.P90, s.P99, s.Longest} }

// summaryCSV writes one table with a line of column names, as RFC 4180 describes CSV.
func summaryCSV(w io.Writer, name string, s ReportSummary) error {
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
				cells[i] = cell(value)
			}
			if err := out.Write(cells); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// cell formats a value. A text that a spreadsheet would take for a formula gets a quote in front, because others wrote it.
// https://owasp.org/www-community/attacks/CSV_Injection
func cell(value any) string {
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
