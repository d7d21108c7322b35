package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/internal/duration"
)

func (a *app) newTestsCommand() *cobra.Command {
	c := fromTable("tests", &cobra.Command{
		Long: `Show the results of the tests that pipelines ran on a cluster and reported with the action report-tests: the newest run with its
failures, then the runs before it. With -o wide it also shows the output of the tests that failed, and the slowest ones.`,
		Example: "  ocpctl tests pr41-shop",
	})
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		return showAnswer(a, func(runs v1.TestRuns) []string {
			return namesOf(runs.Items, func(run v1.TestRun) string { return run.URL })
		},
			func(s *table.Screen, runs v1.TestRuns) { writeTestResults(s, runs.Items) })(api.ListTestReports(ctx, id))
	})
}

func writeTestResults(s *table.Screen, runs []v1.TestRun) {
	if len(runs) == 0 {
		s.Linef("No pipeline has reported tests on it.")
		return
	}
	newest := runs[0]
	fmt.Fprintf(s.Out, "%s  %s\n", s.Painted(humanize.Line(newest.Workflow), table.Bold), s.Painted(testCount(newest), testPaint(newest.Failed+newest.Crashed)))
	f := s.Facts()
	f.Add("run", newest.URL)
	f.Add("commit", newest.Head)
	f.Write()
	if len(newest.Reports) > 1 {
		s.Head("Reports")
		writeTable(s, "", []string{"NAME", "PASSED", "FAILED", "SKIPPED", "TOOK", "REPORTED"}, newest.Reports, func(s *table.Screen, r v1.ReportedTests) []any {
			return []any{r.Name, r.Passed, r.Failed, r.Skipped, formatTook(r.DurationSeconds), duration.Away(r.ReportedAt, s.Now)}
		})
	}
	for _, r := range newest.Reports {
		writeTestFailures(s, r)
	}
	if len(runs) > 1 {
		s.Head("Earlier runs")
		writeTable(s, "", []string{"RUN", "COMMIT", "PASSED", "FAILED", "SKIPPED", "REPORTED"}, runs[1:], func(s *table.Screen, run v1.TestRun) []any {
			return []any{run.URL, shortCommit(run.Head), run.Passed, table.Cell{Text: fmt.Sprint(run.Failed), Paint: testPaint(run.Failed + run.Crashed)}, run.Skipped, duration.Away(newestReport(run), s.Now)}
		})
	}
}

// writeTestFailures shows the failures of a report, and its slowest tests on a wide screen.
func writeTestFailures(s *table.Screen, r v1.ReportedTests) {
	listed := slices.Concat(r.Crashes, r.Failures)
	if len(listed) > 0 {
		s.Head(fmt.Sprintf("Failures of %s", humanize.Line(r.Name)))
	}
	for _, f := range listed {
		s.Linef("  %s", humanize.Line(strings.TrimSuffix(testCaption(f.Suite, f.Name)+": "+f.Message, ": ")))
		if !s.Wide {
			continue
		}
		for line := range strings.Lines(f.Details) {
			s.Linef("    %s", humanize.Line(line))
		}
	}
	if more := r.Failed + r.Crashed - len(listed); more > 0 {
		s.Linef("  and %d more: %s", more, humanize.Line(r.URL))
	}
	if len(r.FlakyTests) > 0 {
		s.Head(fmt.Sprintf("Flaky in %s: failed and then passed", humanize.Line(r.Name)))
	}
	for _, f := range r.FlakyTests {
		s.Linef("  %s", humanize.Line(strings.TrimSuffix(testCaption(f.Suite, f.Name)+": "+f.Message, ": ")))
	}
	if !s.Wide || len(r.Slowest) == 0 {
		return
	}
	s.Head(fmt.Sprintf("Slowest of %s", humanize.Line(r.Name)))
	for _, t := range r.Slowest {
		s.Linef("  %s  %s", formatTook(t.Seconds), humanize.Line(testCaption(t.Suite, t.Name)))
	}
}

// testCount sums the tests of a run up. Those of a suite that crashed are not said to have passed.
func testCount(run v1.TestRun) string {
	var parts []string
	if run.Crashed > 0 {
		parts = append(parts, fmt.Sprintf("suites crashed: %d", run.Crashed))
	}
	switch {
	case run.Failed > 0:
		parts = append(parts, fmt.Sprintf("%d of %d failed", run.Failed, run.Total))
	case run.Crashed > 0:
		parts = append(parts, fmt.Sprintf("%d reported", run.Total))
	default:
		parts = append(parts, fmt.Sprintf("%d passed", run.Passed))
	}
	if run.Flaky > 0 {
		parts = append(parts, fmt.Sprintf("%d flaky", run.Flaky))
	}
	if run.Skipped > 0 {
		parts = append(parts, fmt.Sprintf("%d skipped", run.Skipped))
	}
	return strings.Join(parts, ", ")
}

func testPaint(failed int) table.Paint {
	if failed > 0 {
		return table.Bad
	}
	return table.Good
}

func testCaption(suite, name string) string {
	if suite == "" {
		return name
	}
	return suite + " › " + name
}

func formatTook(seconds float64) string {
	if seconds == 0 {
		return ""
	}
	return duration.Format(time.Duration(seconds * float64(time.Second)))
}

func shortCommit(sha string) string { return sha[:min(len(sha), 7)] }

// newestReport is the time of a run's newest report.
func newestReport(run v1.TestRun) (at time.Time) {
	for _, r := range run.Reports {
		if r.ReportedAt.After(at) {
			at = r.ReportedAt
		}
	}
	return at
}
