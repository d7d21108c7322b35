package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// ReportTests implements POST /api/v1/clusters/{id}/test-reports.
func (s *server) ReportTests(w http.ResponseWriter, r *http.Request, id string) {
	var said v1.TestReport
	if !s.readDocument(w, r, &said, false, maxBody) {
		return
	}
	row, fresh, err := s.App.ReportTests(r.Context(), principal(r), id, testResults(said), policy.PipelineRun{Kind: string(said.Run.Kind), Name: said.Run.Name, UID: said.Run.UID}, app.Origin{Source: policy.SourceAPI})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	status := http.StatusOK
	if fresh {
		status = http.StatusCreated
	}
	out := v1.TestReportStored{Conclusion: v1.TestReportStoredConclusionSuccess}
	if said.Failed > 0 || said.Crashed > 0 {
		out.Conclusion = v1.TestReportStoredConclusionFailure
	}
	if s.UI != "" {
		out.URL = strings.TrimRight(s.UI, "/") + "/clusters/" + row.ID + "#tests"
	}
	writeReply(w, jsonType, status, out)
}

// ListTestReports implements GET /api/v1/clusters/{id}/test-reports.
func (s *server) ListTestReports(w http.ResponseWriter, r *http.Request, id string) {
	_, list, err := s.App.TestReports(r.Context(), principal(r), id)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := v1.TestRuns{Items: []v1.TestRun{}}
	for _, one := range list {
		out.Items = append(out.Items, testRun(one))
	}
	writeOK(w, out)
}

// testResults converts a report.
func testResults(t v1.TestReport) app.TestResults {
	out := app.TestResults{Seconds: t.DurationSeconds, Head: t.Head, TestReport: lifecycle.TestReport{
		Name: t.Name, Total: t.Total, Passed: t.Passed, Failed: t.Failed, Skipped: t.Skipped, Flaky: t.Flaky, Crashed: t.Crashed, URL: t.URL,
		Failures: toFailures(t.Failures), Crashes: toFailures(t.Crashes), FlakyTests: toFailures(t.FlakyTests),
	}}
	for _, one := range t.Slowest {
		out.Slowest = append(out.Slowest, lifecycle.SlowTest{Suite: one.Suite, Name: one.Name, Seconds: one.Seconds})
	}
	return out
}

func toFailures(list []v1.TestFailure) (out []lifecycle.TestFailure) {
	for _, f := range list {
		out = append(out, lifecycle.TestFailure{Suite: f.Suite, Name: f.Name, Message: f.Message, Details: f.Details})
	}
	return out
}

func toAPIFailures(list []lifecycle.TestFailure) (out []v1.TestFailure) {
	for _, f := range list {
		out = append(out, v1.TestFailure{Suite: f.Suite, Name: f.Name, Message: f.Message, Details: f.Details})
	}
	return out
}

// testRun converts the results of a run for the API.
func testRun(t lifecycle.RunTests) v1.TestRun {
	sum := t.Sum()
	out := v1.TestRun{
		RunID: t.Run.ID, Workflow: t.Run.Workflow, URL: t.Run.URL, Head: t.Run.Head, Conclusion: v1.TestRunConclusionSuccess,
		Total: sum.Total, Passed: sum.Passed, Failed: sum.Failed, Skipped: sum.Skipped, Flaky: sum.Flaky, Crashed: sum.Crashed,
	}
	if t.Failed() {
		out.Conclusion = v1.TestRunConclusionFailure
	}
	for _, r := range t.Reports {
		one := v1.ReportedTests{
			Name: r.Name, Attempt: r.Attempt, ReportedAt: r.At, Total: r.Total, Passed: r.Passed, Failed: r.Failed, Skipped: r.Skipped,
			DurationSeconds: float64(r.Duration) / float64(time.Second), URL: r.URL, Flaky: r.Flaky, Crashed: r.Crashed, Failures: toAPIFailures(r.Failures), Crashes: toAPIFailures(r.Crashes), FlakyTests: toAPIFailures(r.FlakyTests),
		}
		for _, slow := range r.Slowest {
			one.Slowest = append(one.Slowest, v1.SlowTest{Suite: slow.Suite, Name: slow.Name, Seconds: slow.Seconds})
		}
		out.Reports = append(out.Reports, one)
	}
	return out
}
