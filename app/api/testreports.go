package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// ReportTests implements POST /api/v1/clusters/{id}/test-reports.
func (s *server) ReportTests(w http.ResponseWriter, r *http.Request, id ID) {
	var said TestReport
	if !s.read(w, r, &said, false, maxBody) {
		return
	}
	row, fresh, err := s.App.ReportTests(r.Context(), principal(r), id, said.results(), policy.PipelineRun{Kind: string(said.Run.Kind), Name: said.Run.Name, UID: said.Run.UID}, app.Origin{Source: policy.SourceAPI})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	status := http.StatusOK
	if fresh {
		status = http.StatusCreated
	}
	out := TestReportStored{Conclusion: TestReportStoredConclusionSuccess}
	if said.Failed > 0 || said.Crashed > 0 {
		out.Conclusion = TestReportStoredConclusionFailure
	}
	if s.UI != "" {
		out.URL = strings.TrimRight(s.UI, "/") + "/clusters/" + row.ID + "#tests"
	}
	reply(w, jsonType, status, out)
}

// ListTestReports implements GET /api/v1/clusters/{id}/test-reports.
func (s *server) ListTestReports(w http.ResponseWriter, r *http.Request, id ID) {
	_, list, err := s.App.TestReports(r.Context(), principal(r), id)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	out := TestRuns{Items: []TestRun{}}
	for _, one := range list {
		out.Items = append(out.Items, testRun(one))
	}
	ok(w, out)
}

// results converts a report.
func (t TestReport) results() app.TestResults {
	out := app.TestResults{Seconds: t.DurationSeconds, Head: t.Head, TestReport: lifecycle.TestReport{
		Name: t.Name, Total: t.Total, Passed: t.Passed, Failed: t.Failed, Skipped: t.Skipped, Flaky: t.Flaky, Crashed: t.Crashed, URL: t.URL,
		Failures: failures(t.Failures), Crashes: failures(t.Crashes), FlakyTests: failures(t.FlakyTests),
	}}
	for _, one := range t.Slowest {
		out.Slowest = append(out.Slowest, lifecycle.SlowTest{Suite: one.Suite, Name: one.Name, Seconds: one.Seconds})
	}
	return out
}

func failures(list []TestFailure) (out []lifecycle.TestFailure) {
	for _, f := range list {
		out = append(out, lifecycle.TestFailure{Suite: f.Suite, Name: f.Name, Message: f.Message, Details: f.Details})
	}
	return out
}

func shownFailures(list []lifecycle.TestFailure) (out []TestFailure) {
	for _, f := range list {
		out = append(out, TestFailure{Suite: f.Suite, Name: f.Name, Message: f.Message, Details: f.Details})
	}
	return out
}

// testRun converts the results of a run for the API.
func testRun(t lifecycle.RunTests) TestRun {
	sum := t.Sum()
	out := TestRun{
		RunID: t.Run.ID, Workflow: t.Run.Workflow, URL: t.Run.URL, Head: t.Run.Head, Conclusion: TestRunConclusionSuccess,
		Total: sum.Total, Passed: sum.Passed, Failed: sum.Failed, Skipped: sum.Skipped, Flaky: sum.Flaky, Crashed: sum.Crashed,
	}
	if t.Failed() {
		out.Conclusion = TestRunConclusionFailure
	}
	for _, r := range t.Reports {
		one := ReportedTests{
			Name: r.Name, Attempt: r.Attempt, ReportedAt: r.At, Total: r.Total, Passed: r.Passed, Failed: r.Failed, Skipped: r.Skipped,
			DurationSeconds: float64(r.Duration) / float64(time.Second), URL: r.URL, Flaky: r.Flaky, Crashed: r.Crashed, Failures: shownFailures(r.Failures), Crashes: shownFailures(r.Crashes), FlakyTests: shownFailures(r.FlakyTests),
		}
		for _, slow := range r.Slowest {
			one.Slowest = append(one.Slowest, SlowTest{Suite: slow.Suite, Name: slow.Name, Seconds: slow.Seconds})
		}
		out.Reports = append(out.Reports, one)
	}
	return out
}
