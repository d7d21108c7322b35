package messages

import "fmt"

// NeedsRunTokenForTests tells somebody who reports tests that only runs do.
const NeedsRunTokenForTests = "Test results are reported by a job of a pipeline, and the request's token is not the token of one."

// ForeignTests refuses the report of a run of another repository.
func ForeignTests(cluster, own, theirs string) string {
	return fmt.Sprintf("%s belongs to %s, and this run is one of %s. Only runs of its own repository report tests on it.", cluster, own, theirs)
}

// NotUsingCluster refuses the report of a run that does not use the cluster.
func NotUsingCluster(cluster string) string {
	return fmt.Sprintf("This run neither asked for %s nor takes turns on it. Ask for a turn first: ocpctl use %s, or wait-cluster with take-turn: true.", cluster, cluster)
}

// TooManyTestReports refuses one more report.
func TooManyTestReports(most int) string {
	return fmt.Sprintf("This attempt of the run has reported %d times on the cluster. Let the jobs of a matrix report under one name, or send fewer files.", most)
}

// TestsDoNotAddUp is the problem with numbers of tests that contradict each other.
func TestsDoNotAddUp(total, sum int) Problem {
	return Problem{fmt.Sprintf("There are %d tests, but passed, failed and skipped are %d together.", total, sum), []string{fmt.Sprint(sum)}}
}

// MoreListed is the problem with a list of tests or suites that is longer than their number.
func MoreListed(listed, of int) Problem {
	return Problem{fmt.Sprintf("%d are listed, but the report counts %d.", listed, of), []string{"at most as many as it counts"}}
}

// MoreFlakyThanPassed is the problem with a number of flaky tests, each of which passed in the end.
func MoreFlakyThanPassed(flaky, passed int) Problem {
	return Problem{fmt.Sprintf("%d tests are flaky, but only %d passed; a flaky test is one of those that passed.", flaky, passed), []string{"at most as many as passed"}}
}

// NotATestCount is the problem with a number of tests.
func NotATestCount(least, most int) Problem {
	return Problem{"The number is out of range.", []string{fmt.Sprintf("%d to %d", least, most)}}
}

// NotSeconds is the problem with a duration in seconds.
func NotSeconds(most int) Problem {
	return Problem{"It is not a possible duration.", []string{fmt.Sprintf("0 to %d seconds", most)}}
}

// TooManyOf is the problem with a list that is too long.
func TooManyOf(n, most int) Problem {
	return Problem{fmt.Sprintf("The list has %d entries.", n), []string{fmt.Sprintf("at most %d", most)}}
}

// EmptyName is the problem with a missing name.
var EmptyName = Problem{"It is empty.", []string{"a name"}}

// NotAReportAddress is the problem with the address of a whole report.
var NotAReportAddress = Problem{"It is not an https address that can be shown.", []string{"https://host/path, without a user name and password", "nothing: then the run's page is linked"}}

// NoSuchCommit is the problem with a commit for which no pipeline asked for the cluster.
func NoSuchCommit(known []string) Problem {
	p := Problem{"No pipeline asked for this cluster for that commit.", known}
	if len(known) == 0 {
		p.Accept = []string{"nothing: the run's own commit is used"}
	}
	return p
}

// TooManyCharacters is the problem with a text of too many characters.
func TooManyCharacters(size, most int) Problem {
	return Problem{fmt.Sprintf("The text has %d characters.", size), []string{fmt.Sprintf("at most %d characters", most)}}
}
