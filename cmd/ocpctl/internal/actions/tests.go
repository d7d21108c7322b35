package actions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/junit"
)

// reportTests sums up test reports and sends the result to the server.
func (s *step) reportTests(ctx context.Context) error {
	cluster, strict := s.needCluster(), s.Bool("fail-on-failure")
	missing := s.OneOf("if-no-files", "error", "warn", "ignore")
	files := s.findReports()
	if err := s.checkInputs(ctx); err != nil {
		return err
	}
	if len(files) == 0 {
		return s.noReport(missing)
	}
	sum, err := readReports(files)
	if err != nil {
		return err
	}
	if sum.Total == 0 && sum.Crashed == 0 {
		return exit.With(exit.Failed, fmt.Errorf("no test was run: %s contain none. Check that the tests were started", strings.Join(files, ", ")))
	}
	s.hideSecrets(&sum)
	stored, err := s.sendReport(ctx, cluster, s.makeReport(sum))
	if err != nil {
		return err
	}
	return s.tellTests(sum, stored, strict)
}

func (s *step) noReport(missing string) error {
	text := "No file matches " + strings.Join(s.Lines("files"), ", ") + ". Check that the tests write JUnit XML, and where"
	switch missing {
	case "warn":
		s.Warning("ocpctl report-tests", text)
	case "ignore":
	default:
		return exit.With(exit.NotFound, errors.New(text))
	}
	return s.Output("conclusion", "")
}

// tellTests tells the runner what the tests say.
func (s *step) tellTests(sum junit.Summary, stored v1.TestReportStored, strict bool) error {
	conclusion := "success"
	if sum.IsRed() {
		conclusion = "failure"
	}
	end := s.Group(countTests(sum))
	for _, f := range sum.Crashes {
		_, _ = fmt.Fprintln(s.log, "crashed: "+humanize.Line(f.Name+": "+f.Message))
	}
	for _, f := range sum.FlakyTests {
		_, _ = fmt.Fprintln(s.log, "flaky: "+testCaption(f.Suite, f.Name)+": "+humanize.Line(f.Message))
	}
	for _, f := range sum.Failures {
		_, _ = fmt.Fprintln(s.log, "failed: "+testCaption(f.Suite, f.Name)+": "+humanize.Line(f.Message))
	}
	for _, t := range sum.Slowest {
		_, _ = fmt.Fprintf(s.log, "slow: %s: %.2f s\n", testCaption(t.Suite, t.Name), t.Seconds)
	}
	end()
	err := errors.Join(s.setOutputs("conclusion", conclusion, "total", fmt.Sprint(sum.Total), "passed", fmt.Sprint(sum.Passed), "failed", fmt.Sprint(sum.Failed),
		"skipped", fmt.Sprint(sum.Skipped), "flaky", fmt.Sprint(sum.Flaky), "crashed", fmt.Sprint(sum.Crashed)), s.Summary(testSummary(sum, stored.URL)))
	if err != nil || !sum.IsRed() {
		return err
	}
	text := failureText(sum)
	if strict {
		return exit.With(exit.Failed, errors.New(text))
	}
	s.Warning("ocpctl report-tests", text)
	return nil
}

// failureText says why the tests did not pass.
func failureText(sum junit.Summary) string {
	if sum.Crashed > 0 {
		return fmt.Sprintf("%s. %s: %s", countTests(sum), sum.Crashes[0].Name, sum.Crashes[0].Message)
	}
	text := fmt.Sprintf("%d of %d tests failed", sum.Failed, sum.Total)
	if len(sum.Failures) == 0 { // those that are kept passed later
		return text
	}
	return fmt.Sprintf("%s, the first of them %s: %s", text, testCaption(sum.Failures[0].Suite, sum.Failures[0].Name), sum.Failures[0].Message)
}

// countTests sums the tests up. Those of a suite that crashed are not said to have passed.
func countTests(sum junit.Summary) string {
	text := fmt.Sprintf("%d passed, %d failed, %d skipped", sum.Passed, sum.Failed, sum.Skipped)
	if sum.Crashed > 0 {
		text = fmt.Sprintf("suites crashed: %d, tests reported: %d, failed: %d", sum.Crashed, sum.Total, sum.Failed)
	}
	if sum.Flaky > 0 {
		text += fmt.Sprintf(", %d flaky", sum.Flaky)
	}
	return text
}

func testCaption(suite, name string) string {
	if suite == "" || suite == name {
		return name
	}
	return suite + " › " + name
}

// sendReport posts the report. The server knows the run and the job by their token.
func (s *step) sendReport(ctx context.Context, cluster string, report v1.TestReport) (v1.TestReportStored, error) {
	api, err := s.API()
	if err != nil {
		return v1.TestReportStored{}, err
	}
	report, err = fitReport(report)
	if err != nil {
		return v1.TestReportStored{}, err
	}
	answer, err := connect.Read[v1.TestReportStored](api.ReportTests(ctx, cluster, report))
	if connect.Is(err, http.StatusNotFound) && strings.Contains(err.Error(), "/test-reports does not exist") {
		err = exit.With(exit.NotFound, fmt.Errorf("the server at %s is of a release that keeps no test results. Ask its administrators to update it", api.Context.Server))
	}
	return answer.Value, err
}

// The API's limits, in characters, and for the whole body in bytes, somewhat below the server's 64 KiB.
const (
	mostSuite   = 200
	mostTest    = 300
	mostMessage = 500
	mostDetails = 4000
	mostBody    = 60 << 10

	mostFlakyDetails = 400                // why a test failed that passed then; this is our limit
	mostSeconds      = 365 * 24 * 60 * 60 // of all tests together
)

// makeReport returns what the server gets of a summary.
func (s *step) makeReport(sum junit.Summary) v1.TestReport {
	name := s.Text("name")
	if name == "" {
		name = s.Env("GITHUB_JOB")
	}
	r := v1.TestReport{
		Name: shortenText(name, mostSlot), Total: sum.Total, Passed: sum.Passed, Failed: sum.Failed, Skipped: sum.Skipped, Flaky: sum.Flaky, Crashed: sum.Crashed, DurationSeconds: min(sum.Seconds, mostSeconds), URL: s.Text("url"),
		Failures: shortenFailures(sum.Failures, mostDetails), Crashes: shortenFailures(sum.Crashes, mostDetails), FlakyTests: shortenFailures(sum.FlakyTests, mostFlakyDetails),
	}
	for _, t := range sum.Slowest {
		r.Slowest = append(r.Slowest, v1.SlowTest{Suite: shortenText(t.Suite, mostSuite), Name: shortenText(t.Name, mostTest), Seconds: t.Seconds})
	}
	return r
}

// shortenFailures returns failures with texts that the server accepts.
func shortenFailures(list []junit.Failure, details int) (out []v1.TestFailure) {
	for _, f := range list {
		out = append(out, v1.TestFailure{Suite: shortenText(f.Suite, mostSuite), Name: shortenText(f.Name, mostTest), Message: shortenText(f.Message, mostMessage), Details: shortenText(f.Details, details)})
	}
	return out
}

// shortenText cuts a text to a number of characters.
func shortenText(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// fitReport returns a report that the server accepts: details become shorter, and then failures fewer, until it fits.
func fitReport(r v1.TestReport) (v1.TestReport, error) {
	for most := mostDetails; ; most /= 2 {
		body, err := json.Marshal(r)
		if err != nil || len(body) <= mostBody {
			return r, err
		}
		if most < 100 {
			if longest := longestOf(&r.FlakyTests, &r.Failures, &r.Crashes); len(*longest) > 0 {
				*longest = (*longest)[:len(*longest)-1]
			}
			continue
		}
		for i := range r.Failures {
			r.Failures[i].Details = shortenText(r.Failures[i].Details, most/2)
		}
	}
}

// longestOf returns the longest of some lists.
func longestOf(lists ...*[]v1.TestFailure) *[]v1.TestFailure {
	return slices.MaxFunc(lists, func(a, b *[]v1.TestFailure) int { return cmp.Compare(len(*a), len(*b)) })
}
