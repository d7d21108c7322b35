package junit_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/junit"
)

// totals are what a report says: passed (of them flaky), failed, skipped tests, and crashed suites.
type totals struct{ passed, flaky, failed, skipped, crashed int }

// writers are the reports in testdata/writers, which were written after each writer's documentation.
var writers = map[string]totals{
	"bats":                  {passed: 1, failed: 1, skipped: 1},
	"behave":                {passed: 1, failed: 2, skipped: 1},
	"boost-test":            {passed: 1, failed: 1},
	"cargo-nextest":         {passed: 2, flaky: 1, failed: 2},
	"catch2":                {passed: 1, failed: 1}, // it counts assertions
	"ctest":                 {passed: 1, failed: 1, skipped: 2},
	"cucumber":              {passed: 1, failed: 1, skipped: 1},
	"cypress":               {passed: 1, failed: 1}, // of five tests, a hook kept three from running
	"detox-allure":          {passed: 1, failed: 1}, // a status, and no element
	"doctest":               {passed: 2},            // it counts assertions
	"ginkgo":                {passed: 1, failed: 1, skipped: 2},
	"ginkgo-interrupted":    {passed: 1, failed: 1, skipped: 1},
	"go-junit-report-panic": {passed: 1, failed: 1},
	"googletest":            {passed: 1, failed: 1, skipped: 2},
	"gotestsum":             {passed: 2, flaky: 1},
	"gotestsum-warnings":    {passed: 1}, // it counts the linker's warnings as errors
	"gradle":                {passed: 1, failed: 1, skipped: 1},
	"gradle-retry":          {passed: 2, flaky: 1},
	"karma":                 {passed: 1, failed: 1, skipped: 1},
	"karma-disconnected":    {passed: 1, crashed: 1},
	"minitest":              {passed: 1, failed: 2},
	"mocha":                 {passed: 1, failed: 1, skipped: 1},
	"nunit":                 {passed: 1, failed: 1, skipped: 1},
	"openshift-tests":       {passed: 3, flaky: 2, skipped: 1},
	"phpunit":               {passed: 1, failed: 2, skipped: 1},
	"playwright":            {passed: 2, flaky: 1, failed: 1, skipped: 1},
	"pytest-subtests":       {passed: 1}, // it counts subtests
	"pytest-teardown":       {passed: 1, failed: 1},
	"robot":                 {passed: 1, failed: 1, skipped: 1},
	"rspec":                 {passed: 1, failed: 1, skipped: 1},
	"sbt-xml11":             {passed: 1, failed: 1},
	"scalatest":             {passed: 1, failed: 1, skipped: 1},
	"sonobuoy":              {passed: 2, skipped: 1},
	"surefire-flaky":        {passed: 2, flaky: 1, failed: 1},
	"testng":                {passed: 1, failed: 2},
	"trx2junit":             {passed: 1, failed: 1},
	"vitest":                {passed: 2, failed: 1, skipped: 1}, // two tests have one name
	"xcpretty":              {passed: 1, failed: 1},             // a time since 1970
	"xunit-net":             {passed: 1, failed: 1, skipped: 1},
}

func TestTheReportsOfRealWritersSayWhatTheyMean(t *testing.T) {
	files, err := filepath.Glob("testdata/writers/*.xml")
	require.NoError(t, err)
	require.Len(t, files, len(writers))
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".xml")
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(path)
			require.NoError(t, err)
			var s junit.Summary
			require.NoError(t, s.Read(bytes.NewReader(raw)))
			require.Equal(t, writers[name], totals{s.Passed, s.Flaky, s.Failed, s.Skipped, s.Crashed}, "%+v", s)
			require.Equal(t, s.Total, s.Passed+s.Failed+s.Skipped)
			require.Len(t, s.Failures, s.Failed)
			require.Len(t, s.FlakyTests, s.Flaky)
			require.Len(t, s.Crashes, s.Crashed)
			require.Equal(t, s.Failed+s.Crashed > 0, s.IsRed())
			require.Less(t, s.Seconds, 3600.0)
			for _, f := range append(s.Failures, s.FlakyTests...) {
				require.NotEmpty(t, f.Name)
				require.NotEmpty(t, f.Message)
			}
		})
	}
}

func TestASuiteThatSaysMoreThanItHoldsHasCrashed(t *testing.T) {
	for report, want := range map[string]string{
		`<testsuite name="s" tests="92" errors="1"><testcase name="a"/></testsuite>`:                                                        "The suite crashed: it reports 92 tests and 1 failure, but the file holds 1 test and no failure.",
		`<testsuite name="s" tests="92" failures="3"/>`:                                                                                     "it reports 92 tests and 3 failures, but the file holds no test and no failure.",
		`<testsuite name="s" tests="92"></testsuite>`:                                                                                       "it reports 92 tests, but the file holds no test.",
		`<testsuite name="s" tests="1" errors="1"><testcase name="a"/></testsuite>`:                                                         "it reports 1 test and 1 failure, but the file holds 1 test and no failure.",
		`<testsuite name="s" status="failed"><testcase name="a"/></testsuite>`:                                                              `it reports no test and the status "failed", but the file holds 1 test.`,
		`<testsuites name="s" tests="92" errors="1"><testsuite name="t" tests="1"><testcase name="a"/></testsuite></testsuites>`:            "it reports 92 tests and 1 failure, but the file holds 1 test and no failure.",
		`<testsuite name="s" tests="9" failures="2"><testcase name="a"/><testcase name="b"><failure/></testcase></testsuite>`:               "it reports 9 tests and 2 failures, but the file holds 2 tests and 1 failure.",
		`<testsuites><testsuite name="s" tests="9" errors="1"><testcase name="a"/></testsuite><testsuite name="t" tests="0"/></testsuites>`: "it reports 9 tests and 1 failure, but the file holds 1 test and no failure.",
	} {
		var s junit.Summary
		require.NoError(t, s.Read(strings.NewReader(report)), report)
		require.Equal(t, 1, s.Crashed, report)
		require.True(t, s.IsRed())
		require.Contains(t, s.Crashes[0].Message, want)
	}
}

func TestWhatASuiteSaysOfItselfIsNoCrashWhereItFits(t *testing.T) {
	for why, report := range map[string]string{
		"skipped tests are counted and left out": `<testsuite tests="9" skipped="8"><testcase name="a"/></testsuite>`,
		"all were skipped":                       `<testsuite tests="9" skipped="9"/>`,
		"suites in suites are counted twice":     `<testsuites tests="4" failures="2"><testsuite tests="2" failures="1"><testsuite tests="1" failures="1"><testcase name="a"><failure/></testcase></testsuite></testsuite></testsuites>`,
		"a suite that failed itself":             `<testsuite tests="1" errors="1"><error message="no fixture"/></testsuite>`,
		"nonsense":                               `<testsuite tests="many" failures="" errors="-1"><testcase name="a"/></testsuite>`,
		"two reasons of one test":                `<testsuite tests="1" failures="2"><testcase name="a"><failure/><failure/></testcase></testsuite>`,
		"nothing":                                `<testsuite><testcase name="a"/></testsuite>`,
		"fewer than there are":                   `<testsuite tests="1"><testcase name="a"/><testcase name="b"/></testsuite>`,
	} {
		var s junit.Summary
		require.NoError(t, s.Read(strings.NewReader(report)), why)
		require.Zero(t, s.Crashed, why)
	}
}

func TestSeveralExecutionsOfATestAreOneTest(t *testing.T) {
	const pass, fail, skip = `<testcase name="a"/>`, `<testcase name="a"><failure message="once"/></testcase>`, `<testcase name="a"><skipped/></testcase>`
	for cases, want := range map[string]totals{
		pass + pass:               {passed: 1},
		fail + pass:               {passed: 1, flaky: 1},
		fail + fail:               {failed: 1},
		fail + fail + pass:        {passed: 1, flaky: 1},
		pass + fail:               {failed: 1},
		pass + fail + pass:        {passed: 1, flaky: 1},
		fail + pass + fail:        {failed: 1},
		fail + pass + fail + pass: {passed: 1, flaky: 1},
		fail + skip:               {failed: 1},
		skip + pass:               {passed: 1},
		pass + skip:               {passed: 1},
		fail + pass + skip + pass: {passed: 1, flaky: 1},
		fail + `<testcase name="a" classname="other"/>`:                  {passed: 1, failed: 1},
		fail + `<testcase name="a" file="a.js" line="9"/>`:               {passed: 1, failed: 1},
		`<testcase name="a"><rerunFailure/></testcase>`:                  {passed: 1},
		`<testcase name="a"><flakyError message="x"/></testcase>` + pass: {passed: 1, flaky: 1},
		`<testcase><failure/></testcase><testcase><failure/></testcase>`: {failed: 2},
		`<testcase name="a"><failure/><rerunError/></testcase>`:          {failed: 1},
	} {
		var s junit.Summary
		require.NoError(t, s.Read(strings.NewReader(`<testsuite name="s">`+cases+`</testsuite>`)), cases)
		require.Equal(t, want, totals{s.Passed, s.Flaky, s.Failed, s.Skipped, s.Crashed}, cases)
		require.Equal(t, s.Passed+s.Failed+s.Skipped, s.Total)
		require.Len(t, s.Failures, s.Failed, cases)
		require.Len(t, s.FlakyTests, s.Flaky, cases)
	}
	var s junit.Summary
	for range 2 { // one name in two files: the jobs of a matrix, say
		require.NoError(t, s.Read(strings.NewReader(`<testsuite name="s">`+fail+`</testsuite>`)))
		require.NoError(t, s.Read(strings.NewReader(`<testsuite name="s">`+pass+`</testsuite>`)))
	}
	require.Equal(t, totals{passed: 2, failed: 2}, totals{s.Passed, s.Flaky, s.Failed, s.Skipped, s.Crashed})
}

func TestATimeIsReadInAnyNotationAndNeverLosesAResult(t *testing.T) {
	for text, want := range map[string]float64{
		"1.5": 1.5, "1,5": 1.5, "0,412": 0.412, "1,234.5": 1234.5, "1.234,5": 1234.5, "1 234,5": 1234.5, "1'234.5": 1234.5, "1,234,567": 1234567, "00:01:02.5": 62.5, "2s": 2, "1e1": 10,
		"": 0, "NaN": 0, "Infinity": 0, "-1": 0, "soon": 0, "1769860800": 0, "1e300": 0, "0x1p-2": 0.25, "99999:00:00": 0,
	} {
		var s junit.Summary
		require.NoError(t, s.Read(strings.NewReader(fmt.Sprintf(`<testsuite><testcase name="a" time=%q/></testsuite>`, text))), text)
		require.Equal(t, 1, s.Passed, text)
		require.InDelta(t, want, s.Seconds, 1e-9, text)
	}
}
