// Package junit reads test reports in the JUnit XML format, in the dialects of the common test runners, and sums them up. It reads them
// as a stream, because a report can be large, and keeps only what is shown.
//
// It uses encoding/xml. The libraries for the format keep a whole report in memory, about twenty times its size, and refuse the characters
// that tests like to print.
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
	MostFlaky    = 20
	MostSlowest  = 5
	MostText     = 16 << 10 // bytes of one failure's text, so that memory stays bounded
)

// Summary is what all reports together say. A test that was executed several times counts once.
type Summary struct {
	Total, Passed, Failed, Skipped int
	Flaky                          int     `yaml:",omitempty"` // of those that passed: how many failed before
	Crashed                        int     `yaml:",omitempty"` // suites that report failures, or tests, that are not in their report
	Seconds                        float64 // the sum of the tests' own times
	Failures                       []Failure
	Crashes                        []Failure `yaml:",omitempty"` // the suites that crashed
	FlakyTests                     []Failure `yaml:",omitempty"`
	Slowest                        []Slow
}

// IsRed reports whether the tests did not pass.
func (s Summary) IsRed() bool { return s.Failed > 0 || s.Crashed > 0 }

// Failure is a test that failed. Suite may be empty.
type Failure struct {
	Suite, Name, Message, Details string
	key                           uint64
}

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
	flaky   result = "flaky" // it passed after it had failed
)

// test is one execution of a test.
type test struct {
	key              uint64
	suite, name      string
	result           result
	message, details string
	seconds          float64
}

func (t test) asFailure() Failure { return Failure{t.suite, t.name, t.message, t.details, t.key} }

// addTest counts an execution. before is the test's result so far; empty: it was not executed before. It returns its result now.
func (s *Summary) addTest(t test, before result, anyOrder bool) result {
	s.Seconds += t.seconds
	s.noteSlow(t)
	now := combineResults(before, t.result, anyOrder)
	if now == before {
		return now
	}
	switch before {
	case "":
		s.Total++
	case failed:
		s.Failed--
	case skipped:
		s.Skipped--
	case flaky:
		s.Flaky--
		s.Passed--
	default:
		s.Passed--
	}
	why := t.asFailure()
	if before == failed || before == flaky {
		why = takeOut(&s.Failures, &s.FlakyTests, why)
	}
	switch now {
	case failed:
		s.Failed++
		keepFailure(&s.Failures, why, MostFailures)
	case skipped:
		s.Skipped++
	case flaky:
		s.Flaky++
		s.Passed++
		keepFailure(&s.FlakyTests, why, MostFlaky)
	default:
		s.Passed++
	}
	return now
}

// combineResults returns a test's result after another execution. The last one counts, and a test that passes after it failed is flaky. With
// anyOrder it is flaky too if it failed after it had passed.
func combineResults(before, next result, anyOrder bool) result {
	switch {
	case before == "" || next == before:
		return next
	case next == skipped, before == flaky && next == passed, before == failed && next == failed:
		return before
	case before == failed, next == flaky, anyOrder && before != skipped:
		return flaky
	}
	return next
}

// takeOut removes a test from the lists, and returns why it failed first; other is returned if it is in neither.
func takeOut(failures, flaky *[]Failure, other Failure) Failure {
	for _, list := range []*[]Failure{failures, flaky} {
		if i := slices.IndexFunc(*list, func(f Failure) bool { return f.key == other.key }); i >= 0 {
			other = (*list)[i]
			*list = slices.Delete(*list, i, i+1)
		}
	}
	return other
}

func keepFailure(list *[]Failure, f Failure, most int) {
	if len(*list) < most {
		*list = append(*list, f)
	}
}

// noteSlow notes a test's time among the longest.
func (s *Summary) noteSlow(t test) {
	if t.seconds == 0 {
		return
	}
	s.Slowest = append(s.Slowest, Slow{t.suite, t.name, t.seconds})
	slices.SortStableFunc(s.Slowest, func(a, b Slow) int { return cmp.Compare(b.Seconds, a.Seconds) })
	s.Slowest = s.Slowest[:min(len(s.Slowest), MostSlowest)]
}
