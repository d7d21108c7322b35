package chatops

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// The limits of what is shown of test results. The names and messages of tests are strangers' words.
const (
	failuresInComment = 10
	slowestShown      = 5
	flakyShown        = 10
	workflowsShown    = 5
	maxTestMessage    = 300 // characters
	maxTestLine       = 200 // characters of a line of a test's output
	maxTestLines      = 60
	roomAtEnd         = 12_000 // bytes that are kept for what follows the failures
)

// TestsCheckName is the name of the check with the test results of a profile's clusters.
func TestsCheckName(profile string) string { return "ocpctl/" + profile + "/tests" }

// TestsCheck renders the check run with the test results on a commit: those of the newest run of each workflow count. runs begins with
// the newest, and is not empty.
func TestsCheck(runs []lifecycle.RunTests) CheckRun {
	newest := lifecycle.NewestOfEach(runs)
	sum, failed := lifecycle.TestReport{}, false
	for _, t := range newest {
		one := t.Sum()
		sum.Total, sum.Failed, sum.Passed, sum.Skipped = sum.Total+one.Total, sum.Failed+one.Failed, sum.Passed+one.Passed, sum.Skipped+one.Skipped
		sum.Flaky, sum.Crashed = sum.Flaky+one.Flaky, sum.Crashed+one.Crashed
		failed = failed || t.Failed()
	}
	out := CheckRun{Title: cut(countTests(sum, "test"), maxTitle), Status: completed, Conclusion: "success"}
	if failed {
		out.Conclusion = "failure"
	}
	if web(runs[0].Run.URL) {
		out.DetailsURL = runs[0].Run.URL
	}
	var b strings.Builder
	for _, t := range newest[:min(len(newest), workflowsShown)] {
		fmt.Fprintf(&b, "### %s\n\n%s\n", runName(t), resultsTable(t.Reports))
		for _, r := range t.Reports {
			writeFailures(&b, r)
		}
		if slow := slowest(t.Reports); slow != "" {
			b.WriteString(slow + "\n\n")
		}
	}
	if hidden := len(newest) - workflowsShown; hidden > 0 {
		fmt.Fprintf(&b, "The results of %s are not shown here, and count.\n\n", counting(hidden, "more workflow"))
	}
	b.WriteString(history(runs, newest))
	out.Summary = fit(b.String())
	return out
}

// testsIn is the part of a cluster's comment about tests: the newest run of each workflow, and the earlier ones in a fold.
func testsIn(runs []lifecycle.RunTests) string {
	if len(runs) == 0 {
		return ""
	}
	newest := lifecycle.NewestOfEach(runs)
	newest = newest[:min(len(newest), workflowsShown)]
	var b strings.Builder
	for _, t := range newest {
		sign := "🟢"
		if t.Failed() {
			sign = "🔴"
		}
		fmt.Fprintf(&b, "**Tests:** %s %s in %s\n\n", sign, countTests(t.Sum(), ""), runName(t))
		if len(t.Reports) > 1 {
			b.WriteString(resultsTable(t.Reports) + "\n")
		}
		writeFirst(&b, t.Reports)
		if slow := slowest(t.Reports); slow != "" {
			b.WriteString(slow + "\n\n")
		}
	}
	return b.String() + history(runs, newest)
}

// CountTests sums numbers of tests up in words.
func CountTests(r lifecycle.TestReport) string { return countTests(r, "") }

// countTests sums numbers of tests up, such as "3 of 240 failed, 12 skipped" or "228 passed, 2 flaky, 12 skipped". what is one of what is
// counted; empty: known from before. The tests of a suite that crashed are not said to have passed, because most of them did not run.
func countTests(r lifecycle.TestReport, what string) string {
	count := func(n int) string {
		if what == "" {
			return fmt.Sprint(n)
		}
		return counting(n, what)
	}
	var parts []string
	if r.Crashed > 0 {
		parts = append(parts, counting(r.Crashed, "suite")+" crashed")
	}
	switch {
	case r.Failed > 0:
		parts = append(parts, fmt.Sprintf("%d of %s failed", r.Failed, count(r.Total)))
	case r.Crashed > 0:
		parts = append(parts, count(r.Total)+" reported")
	default:
		parts = append(parts, count(r.Passed)+" passed")
	}
	if r.Flaky > 0 {
		parts = append(parts, fmt.Sprintf("%d flaky", r.Flaky))
	}
	if r.Skipped > 0 {
		parts = append(parts, fmt.Sprintf("%d skipped", r.Skipped))
	}
	return strings.Join(parts, ", ")
}

// runName links a run, with its newest attempt and its commit.
func runName(t lifecycle.RunTests) string {
	text := linkTo(t.Run)
	if n := t.Sum().Attempt; n > 1 {
		text += fmt.Sprintf(", attempt %d", n)
	}
	if t.Run.Head != "" {
		text += ", at " + Code(ShortSHA(t.Run.Head))
	}
	return text
}

func linkTo(r lifecycle.TestRun) string {
	name := plain(cut(oneLine(cutBytes(r.Workflow, maxRead)), maxCode))
	if name == "" {
		name = "a run"
	}
	if !web(r.URL) {
		return name
	}
	return fmt.Sprintf("[%s](%s)", name, r.URL)
}

func resultsTable(reports []lifecycle.TestReport) string {
	var b strings.Builder
	b.WriteString("| tests | passed | failed | skipped | took |\n|---|---|---|---|---|\n")
	for _, r := range reports {
		name := Code(r.Name)
		if beside(r.URL, r.Run.URL) {
			name = fmt.Sprintf("[%s](%s)", name, r.URL)
		} else if r.URL != "" {
			name += " (" + Code(r.URL) + ")"
		}
		took := ""
		if r.Duration > 0 {
			took = duration.Format(r.Duration)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %s |\n", cell(name), r.Passed, r.Failed, r.Skipped, took)
	}
	return b.String()
}

// beside reports whether an address that a run named is on the site of the run's own page. Any other is shown and not linked.
func beside(address, page string) bool {
	a, err := url.Parse(address)
	p, wrong := url.Parse(page)
	return err == nil && wrong == nil && web(address) && web(page) && a.Scheme == p.Scheme && a.Host == p.Host && !strings.ContainsAny(address, "()[]")
}

// testName is a test as code, with its suite.
func testName(suite, name string) string {
	if suite == "" || suite == name {
		return Code(name)
	}
	return Code(name) + " in " + Code(suite)
}

// writeFirst lists the first failures of some reports.
func writeFirst(b *strings.Builder, reports []lifecycle.TestReport) {
	shown, all := 0, 0
	for _, r := range reports {
		all += r.Failed + r.Crashed
		for _, f := range slices.Concat(r.Crashes, r.Failures) {
			if shown == failuresInComment {
				break
			}
			shown++
			b.WriteString("- " + testName(f.Suite, f.Name) + messageOf(f) + "\n")
		}
	}
	if shown > 0 && all > shown {
		fmt.Fprintf(b, "- and %d more\n", all-shown)
	}
	if shown > 0 {
		b.WriteString("\n")
	}
	for _, r := range reports {
		writeFlaky(b, r)
	}
}

// writeFlaky names the tests that passed after they had failed.
func writeFlaky(b *strings.Builder, r lifecycle.TestReport) {
	if len(r.FlakyTests) == 0 {
		return
	}
	var names []string
	for _, f := range r.FlakyTests[:min(len(r.FlakyTests), flakyShown)] {
		names = append(names, testName(f.Suite, f.Name))
	}
	text := strings.Join(names, ", ")
	if more := r.Flaky - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	fmt.Fprintf(b, "**Flaky**, failed and then passed: %s\n\n", text)
}

// messageOf is a failure's message, to stand after its name.
func messageOf(f lifecycle.TestFailure) string {
	if message := plain(cut(oneLine(cutBytes(f.Message, maxRead)), maxTestMessage)); message != "" {
		return ": " + message
	}
	return ""
}

// writeFailures lists the failures of a report with the end of their output, as far as there is room.
func writeFailures(b *strings.Builder, r lifecycle.TestReport) {
	listed := slices.Concat(r.Crashes, r.Failures)
	for _, f := range listed {
		b.WriteString("- " + testName(f.Suite, f.Name) + messageOf(f) + "\n")
		output := outputOf(f.Details)
		if output != "" && b.Len()+len(output) < maxBody-roomAtEnd {
			b.WriteString("\n" + output + "\n")
		}
	}
	if more := r.Failed + r.Crashed - len(listed); more > 0 && len(listed) > 0 {
		fmt.Fprintf(b, "- and %d more\n", more)
	}
	if len(listed) > 0 {
		b.WriteString("\n")
	}
	writeFlaky(b, r)
}

// outputOf shows the end of a test's output.
func outputOf(details string) string {
	var lines []string
	for line := range strings.Lines(cutBytes(details, maxRead)) {
		lines = append(lines, cut(logLine(line), maxTestLine)+"\n")
	}
	if len(lines) == 0 {
		return ""
	}
	return fenceLines(lines[max(0, len(lines)-maxTestLines):])
}

// slowest lists the slowest tests of all reports.
func slowest(reports []lifecycle.TestReport) string {
	var all []lifecycle.SlowTest
	for _, r := range reports {
		all = append(all, r.Slowest...)
	}
	slices.SortStableFunc(all, func(a, b lifecycle.SlowTest) int { return cmp.Compare(b.Seconds, a.Seconds) })
	var parts []string
	for _, t := range all[:min(len(all), slowestShown)] {
		parts = append(parts, fmt.Sprintf("%s %.1f s", testName(t.Suite, t.Name), t.Seconds))
	}
	if len(parts) == 0 {
		return ""
	}
	return "**Slowest:** " + strings.Join(parts, ", ")
}

// history lists the runs that are not shown, in a fold.
func history(runs, shown []lifecycle.RunTests) string {
	there := map[string]bool{}
	for _, t := range shown {
		there[t.Run.ID] = true
	}
	var b strings.Builder
	n := 0
	for _, t := range runs {
		if there[t.Run.ID] {
			continue
		}
		n++
		sum := t.Sum()
		commit := ""
		if t.Run.Head != "" {
			commit = cell(Code(ShortSHA(t.Run.Head)))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %d |\n", cell(linkTo(t.Run)), commit, moment(sum.At, 0), sum.Passed, sum.Failed, sum.Skipped)
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("<details>\n<summary>%s</summary>\n\n| run | commit | at | passed | failed | skipped |\n|---|---|---|---|---|---|\n%s\n</details>\n", counting(n, "earlier run"), b.String())
}

// counting is a number of things.
func counting(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
