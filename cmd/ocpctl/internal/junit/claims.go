package junit

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// A report says in attributes how many tests ran and failed. A process that dies leaves what it was going to run, and no test case that
// failed: such a suite has crashed.
//
// Writers differ, so a difference alone is no crash. Catch2 and doctest count assertions as tests, pytest counts subtests, Surefire counts
// each try of a flaky test as a test and as a failure, gotestsum counts lines of the compiler as errors of the whole report, and suites in
// suites are counted once or twice. https://github.com/EnricoMi/publish-unit-test-result-action/issues/539

// counts is what was read.
type counts struct {
	cases      int
	executions int // with those that are told of inside a test case
	failures   int // of executions and of suites
	skipped    int
	suites     int
}

func (c counts) countsSince(before counts) counts {
	return counts{c.cases - before.cases, c.executions - before.executions, c.failures - before.failures, c.skipped - before.skipped, c.suites - before.suites}
}

// claims is what a suite says of itself.
type claims struct {
	tests, failures, errors, skipped int
	status                           string
}

func claimsOf(e xml.StartElement) claims {
	number := func(name string) int {
		n, err := strconv.Atoi(attributeOf(e, name))
		if err != nil || n < 0 || n > mostClaimed {
			return 0
		}
		return n
	}
	return claims{number("tests"), number("failures"), number("errors"), number("skipped") + number("disabled"), cmp.Or(attributeOf(e, "status"), attributeOf(e, "result"))}
}

// mostClaimed is the largest number of tests that is believed.
const mostClaimed = 10_000_000

// isCrash reports whether what a suite says of itself cannot be what was read in it. whole: it is the whole report, or has other suites in it.
func (c claims) isCrash(read counts, whole bool) bool {
	missing := c.tests - max(read.cases, read.executions) - max(0, c.skipped-read.skipped)
	claimed := c.failures + c.errors
	switch {
	case read.failures == 0 && statuses[strings.ToLower(c.status)] == failed:
		return true
	case whole:
		return read.failures == 0 && (c.failures > 0 || c.errors > 0 && missing > 0)
	case read.cases == 0 && read.failures == 0 && c.tests > c.skipped:
		return true
	}
	return claimed > read.failures && (read.failures == 0 || missing > 0)
}

// describeCrash says what a crashed suite reports, and what there is.
func (c claims) describeCrash(read counts) string {
	reports, holds := countNoun(c.tests, "test"), countNoun(read.cases, "test")
	if n := c.failures + c.errors; n > 0 {
		reports += " and " + countNoun(n, "failure")
		holds += " and " + countNoun(read.failures, "failure")
	} else if c.status != "" {
		reports += fmt.Sprintf(" and the status %q", c.status)
	}
	return fmt.Sprintf("The suite crashed: it reports %s, but the file holds %s.", reports, holds)
}

func countNoun(n int, what string) string {
	switch n {
	case 0:
		return "no " + what
	case 1:
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// compareClaims notes a crash unless what the suite says of itself fits what was read in it.
func (r *reader) compareClaims(start xml.StartElement, suite string, before counts) {
	c, read := claimsOf(start), r.read.countsSince(before)
	whole := start.Name.Local == "testsuites" && read.suites > 0 || read.suites > 1
	if !c.isCrash(read, whole) {
		return
	}
	r.sum.Crashed++
	keepFailure(&r.sum.Crashes, Failure{Suite: suite, Name: cmp.Or(suite, "the suite"), Message: c.describeCrash(read)}, MostFailures)
	r.read.failures += max(1, c.failures+c.errors-read.failures) // the suites around it need not say so again
	r.read.cases += max(0, c.tests-read.cases)
}

// statuses are the states of test cases and suites, as their writers spell them.
var statuses = map[string]result{
	"failed": failed, "failure": failed, "fail": failed, "error": failed, "errored": failed, "broken": failed, "crashed": failed, "aborted": failed, "panicked": failed,
	"interrupted": failed, "timedout": failed, "timeout": failed, "undefined": failed,
	"skipped": skipped, "skip": skipped, "disabled": skipped, "notrun": skipped, "ignored": skipped, "pending": skipped, "todo": skipped, "untested": skipped, "notexecuted": skipped,
	"suppressed": skipped,
}
