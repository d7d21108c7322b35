// Package junit reads test reports in the JUnit XML format, in the dialects of the common test runners, and sums them up. It reads them
// as a stream, because a report can be large, and keeps only what is shown.
//
// The format has no specification. What is accepted follows https://github.com/testmoapp/junitxml and the reports in testdata.
package junit

import (
	"cmp"
	"slices"
)

// How much of the reports is kept.
const (
	MostFailures = 20
	MostSlowest  = 5
	MostText     = 16 << 10 // bytes of one failure's text, so that memory stays bounded
)

// Summary is what all reports together say.
type Summary struct {
	Total, Passed, Failed, Skipped int
	Seconds                        float64 // the sum of the tests' own times
	Failures                       []Failure
	Slowest                        []Slow
}

// Failure is a test that failed. Suite may be empty.
type Failure struct{ Suite, Name, Message, Details string }

// Slow is a test and how long it took.
type Slow struct {
	Suite, Name string
	Seconds     float64
}

// result is how a test ended.
type result string

const (
	passed  result = "passed"
	failed  result = "failed"
	skipped result = "skipped"
)

// test is one test case of a report.
type test struct {
	suite, name      string
	result           result
	message, details string
	seconds          float64
}

// add counts a test.
func (s *Summary) add(t test) {
	s.Total++
	s.Seconds += t.seconds
	switch t.result {
	case failed:
		s.Failed++
		if len(s.Failures) < MostFailures {
			s.Failures = append(s.Failures, Failure{t.suite, t.name, t.message, t.details})
		}
	case skipped:
		s.Skipped++
	default:
		s.Passed++
	}
	if t.seconds == 0 {
		return
	}
	s.Slowest = append(s.Slowest, Slow{t.suite, t.name, t.seconds})
	slices.SortStableFunc(s.Slowest, func(a, b Slow) int { return cmp.Compare(b.Seconds, a.Seconds) })
	s.Slowest = s.Slowest[:min(len(s.Slowest), MostSlowest)]
}
