package lifecycle

import (
	"cmp"
	"slices"
	"time"
)

// TestReport is the results of one test job on a cluster.
type TestReport struct {
	Name                           string // what was tested
	Total, Passed, Failed, Skipped int
	Flaky                          int           // of those that passed: how many had failed before
	Crashed                        int           // suites that report failures, or tests, that are not in their report
	Duration                       time.Duration // the sum of the tests' own times; 0: not given
	Failures                       []TestFailure // the first ones
	Crashes                        []TestFailure // the suites that crashed, the first ones
	FlakyTests                     []TestFailure // the first ones, each with why it failed
	Slowest                        []SlowTest    // slowest first
	URL                            string        // where the whole report is; empty: nowhere

	Run     TestRun
	Attempt int    // of the run
	Job     string // of the run; empty: unknown
	At      time.Time
}

// IsRed reports whether the tests did not pass: one failed, or a suite crashed.
func (r TestReport) IsRed() bool { return r.Failed > 0 || r.Crashed > 0 }

// TestFailure is a test that failed.
type TestFailure struct {
	Suite   string `json:"suite,omitempty"`
	Name    string `json:"name"`
	Message string `json:"message"`
	Details string `json:"details,omitempty"`
}

// SlowTest is a test that took long.
type SlowTest struct {
	Suite   string  `json:"suite,omitempty"`
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// TestRun is the pipeline run that reported tests.
type TestRun struct {
	ID       string
	Workflow string // or the PipelineRun's name
	Event    string // what triggered it
	URL      string // empty: it has no page
	Head     string // SHA of the commit that it is shown at; empty: not known yet
	Since    time.Time
}

// RunTests are the reports of one run that count.
type RunTests struct {
	Run     TestRun
	Reports []TestReport // by name and job; not empty
}

// Failed reports whether a test failed, or a suite crashed.
func (t RunTests) Failed() bool {
	return slices.ContainsFunc(t.Reports, TestReport.IsRed)
}

// Sum returns the numbers of all reports together, the newest attempt and the time of the newest report.
func (t RunTests) Sum() TestReport {
	sum := TestReport{Run: t.Run}
	for _, r := range t.Reports {
		sum.Total, sum.Passed, sum.Failed, sum.Skipped = sum.Total+r.Total, sum.Passed+r.Passed, sum.Failed+r.Failed, sum.Skipped+r.Skipped
		sum.Flaky, sum.Crashed = sum.Flaky+r.Flaky, sum.Crashed+r.Crashed
		sum.Duration += r.Duration
		if sum.Attempt = max(sum.Attempt, r.Attempt); r.At.After(sum.At) {
			sum.At = r.At
		}
	}
	return sum
}

// TestsByRun groups reports by their runs, the newest run first, and leaves out what later attempts of a run replaced.
//
// A report replaces those of the same name in older attempts. If several jobs of an attempt reported under one name, each report makes up
// for one failure in the attempts before it: so the failure of a job that was not run again still counts.
func TestsByRun(reports []TestReport) []RunTests {
	of := map[string][]TestReport{}
	for _, r := range reports {
		of[r.Run.ID] = append(of[r.Run.ID], r)
	}
	out := make([]RunTests, 0, len(of))
	for _, all := range of {
		out = append(out, RunTests{Run: all[0].Run, Reports: counting(all)})
	}
	slices.SortFunc(out, func(a, b RunTests) int {
		return cmp.Or(b.Run.Since.Compare(a.Run.Since), cmp.Compare(b.Run.ID, a.Run.ID))
	})
	return out
}

// counting returns the reports of one run that count.
func counting(all []TestReport) []TestReport {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b TestReport) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(b.Attempt, a.Attempt), cmp.Compare(a.Job, b.Job))
	})
	var out []TestReport
	newest, now, before := 0, 0, 0 // attempt of the name; reports of this attempt; failures that those of newer attempts can still make up for
	for i, r := range all {
		switch {
		case i == 0 || all[i-1].Name != r.Name:
			newest, now, before = r.Attempt, 0, 0
		case all[i-1].Attempt != r.Attempt:
			now, before = 0, before+now
		}
		now++
		switch {
		case r.Attempt == newest, r.IsRed() && before == 0:
			out = append(out, r)
		case r.IsRed():
			before--
		}
	}
	return out
}

// NewestOfEach returns the newest run of each workflow and event. runs begins with the newest.
func NewestOfEach(runs []RunTests) []RunTests {
	type kind struct{ workflow, event string }
	seen := map[kind]bool{}
	var out []RunTests
	for _, t := range runs {
		k := kind{t.Run.Workflow, t.Run.Event}
		if !seen[k] {
			out = append(out, t)
		}
		seen[k] = true
	}
	return out
}
