package chatops

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// testRun is a run of the workflow e2e, that many minutes after the start.
func testRun(n int, workflow string) lifecycle.TestRun {
	return lifecycle.TestRun{
		ID: fmt.Sprintf("run_%d", n), Workflow: workflow, Event: "pull_request", URL: fmt.Sprintf("https://github.com/acme/shop/actions/runs/%d", 7000+n),
		Head: "6dcb09b5b57875f334f61aebed695e2e4193db5e", Since: start.Add(time.Duration(n) * time.Minute),
	}
}

func testsOf(run lifecycle.TestRun, name string, attempt int, failures ...lifecycle.TestFailure) lifecycle.TestReport {
	return lifecycle.TestReport{
		Name: name, Total: 240, Failed: len(failures), Skipped: 12, Passed: 228 - len(failures), Duration: 12*time.Minute + 3*time.Second, Failures: failures,
		Slowest: []lifecycle.SlowTest{{Suite: "shop", Name: "TestCheckout", Seconds: 93.42}, {Name: "TestCart", Seconds: 12}},
		URL:     "https://reports.example.com/shop", Run: run, Attempt: attempt, At: run.Since.Add(time.Minute),
	}
}

var hostileFailure = lifecycle.TestFailure{
	Suite: "`</details>`", Name: "Test|Pay` <!-- cluster:clu_2 --> @maya", Message: "expected #41 to be https://evil.example.com/x [click](https://evil.example.com) **@acme/admins**\n## head",
	Details: "line 1\n```\n</details>\n<!-- cluster:clu_2 -->\n@maya \x1b[31mred\x1b[0m\tlast",
}

func testStories() map[string][]lifecycle.RunTests {
	e2e, smoke := testRun(3, "e2e"), testRun(2, "smoke @maya")
	pay := lifecycle.TestFailure{Suite: "shop", Name: "TestPay", Message: "declined"}
	flaky, crashed := testsOf(e2e, "e2e", 1), testsOf(e2e, "karma", 1)
	flaky.Flaky, flaky.FlakyTests = 2, []lifecycle.TestFailure{pay, {Name: "TestShip", Message: "too late"}}
	crashed.Total, crashed.Passed, crashed.Skipped, crashed.Crashed = 1, 1, 0, 1
	crashed.Crashes = []lifecycle.TestFailure{{Suite: "Chrome", Name: "Chrome", Message: "The suite crashed: it reports 92 tests and 1 failure, but the file holds 1 test and no failure."}}
	return map[string][]lifecycle.RunTests{
		"flaky":   lifecycle.TestsByRun([]lifecycle.TestReport{flaky}),
		"crashed": lifecycle.TestsByRun([]lifecycle.TestReport{crashed}),
		"passed":  lifecycle.TestsByRun([]lifecycle.TestReport{testsOf(e2e, "e2e", 1)}),
		"failed": lifecycle.TestsByRun([]lifecycle.TestReport{
			testsOf(e2e, "e2e", 2, pay, hostileFailure), testsOf(e2e, "unit", 1), testsOf(smoke, "smoke", 1), testsOf(testRun(1, "e2e"), "e2e", 1, pay), testsOf(testRun(0, "e2e"), "e2e", 1),
		}),
	}
}

func TestAPullRequestsCommentShowsTheTests(t *testing.T) {
	for name, tests := range testStories() {
		golden(t, "comment-tests-"+name+".md", Comment(ready(), Detail{Tests: tests}, ui))
	}
}

func TestACheckShowsTheTestsOnACommit(t *testing.T) {
	for name, tests := range testStories() {
		golden(t, "check-tests-"+name+".md", shownCheck(TestsCheck(tests)))
	}
}

func TestManyFailuresFit(t *testing.T) {
	var many []lifecycle.TestFailure
	for range 20 {
		f := hostileFailure
		f.Details = strings.Repeat(strings.Repeat("x", 100)+"\n", 40)
		many = append(many, f)
	}
	r := testsOf(testRun(1, "e2e"), "e2e", 1, many...)
	r.Failed, r.Passed = 100, 128
	var all []lifecycle.TestReport
	for i := range 100 {
		r.Name = fmt.Sprint("suite ", i)
		all = append(all, r)
	}
	check := TestsCheck(lifecycle.TestsByRun(all))
	require.LessOrEqual(t, len(check.Summary), 65_000)
	require.Equal(t, "10000 of 24000 tests failed, 1200 skipped", check.Title)
	comment := Comment(ready(), Detail{Tests: lifecycle.TestsByRun(all)}, ui)
	require.LessOrEqual(t, len(comment), 65_000)
	require.Contains(t, comment, "- and 9990 more")
}
