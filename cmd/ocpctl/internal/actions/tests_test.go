package actions_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
)

// received is a report as the API defines it.
type received struct {
	Name                           string
	Total, Passed, Failed, Skipped int
	Flaky, Crashed                 int `json:",omitempty"`
	DurationSeconds                float64
	Failures                       []struct{ Suite, Name, Message, Details string }
	FlakyTests, Crashes            []struct{ Suite, Name, Message, Details string } `json:",omitempty"`
	Slowest                        []struct {
		Suite, Name string
		Seconds     float64
	}
	URL string
}

// keepsReports has the server keep test reports.
func (j *job) keepsReports() *[]received {
	kept := &[]received{}
	j.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/clusters/shop/test-reports") {
			return false
		}
		require.Regexp(j, "^Bearer ey", r.Header.Get("Authorization"))
		body := http.MaxBytesReader(w, r.Body, 64<<10)
		decoder := json.NewDecoder(body)
		decoder.DisallowUnknownFields()
		var one received
		require.NoError(j, decoder.Decode(&one))
		*kept = append(*kept, one)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]string{"conclusion": "success", "url": j.url + "/clusters/shop"})
		return true
	}
	return kept
}

func write(t *testing.T, path, text string) string {
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestTestResultsReachTheServer(t *testing.T) {
	j := newJob(t)
	kept := j.keepsReports()
	samples, err := filepath.Abs("../junit/testdata")
	require.NoError(t, err)
	t.Chdir(samples)
	require.Zero(t, j.step("report-tests", "cluster", "shop", "files", "go-junit-report.xml\n**/pytest*.xml\n./surefire.xml, surefire.xml", "name", "end to end"), j.logged())
	require.EqualValues(t, exit.Failed, j.step("report-tests", "cluster", "shop", "files", "jest*.xml", "fail-on-failure", "true"))
	require.EqualValues(t, exit.Failed, j.step("report-tests", "cluster", "shop", "files", "writers/karma-disconnected.xml", "fail-on-failure", "true"))
	require.Zero(t, j.step("report-tests", "cluster", "shop", "files", "writers/gotestsum.xml", "fail-on-failure", "true"))
	require.Len(t, *kept, 4)
	raw, err := json.MarshalIndent(*kept, "", " ")
	require.NoError(t, err)
	j.story.Write(raw)
	t.Chdir(samples + "/../../actions")
	j.golden("tests.txt")
}

func TestAReportThatSaysNothingFailsTheStep(t *testing.T) {
	j := newJob(t)
	kept := j.keepsReports()
	dir := t.TempDir()
	t.Chdir(dir)
	for _, c := range []struct {
		code   exit.Code
		says   string
		inputs []string
	}{
		{exit.NotFound, "::error title=ocpctl report-tests::No file matches **/x.xml, y.xml. Check that the tests write JUnit XML, and where.", []string{"files", "**/x.xml\ny.xml"}},
		{exit.OK, "::warning title=ocpctl report-tests::No file matches nothing/**/x.xml.", []string{"files", "nothing/**/x.xml", "if-no-files", "warn"}},
		{exit.OK, "", []string{"files", "x.xml", "if-no-files", "ignore"}},
		{exit.Usage, "files: Required.", []string{"files", " "}},
		{exit.Usage, `files: "[" is not a pattern: syntax error in pattern.`, []string{"files", "["}},
		{exit.Usage, `files: "**/**/x" is not a pattern: it may contain ** once.`, []string{"files", "**/**/x"}},
		{exit.Failed, "no test was run: empty.xml contain none.", []string{"files", write(t, "empty.xml", "<testsuites/>")}},
		{exit.Usage, "broken.xml cannot be read as a JUnit report: XML syntax error", []string{"files", write(t, "broken.xml", "<testsuite><testcase>")}},
		{exit.Usage, "page.xml cannot be read as a JUnit report: it is not a JUnit report: it begins with <html>", []string{"files", write(t, "page.xml", "<html/>")}},
		{exit.Usage, "the test reports are larger than 50 MiB together.", []string{"files", write(t, "a/large.xml", "<testsuite><!--"+strings.Repeat(" ", 50<<20)+"--></testsuite>")}},
	} {
		require.EqualValues(t, c.code, j.step("report-tests", append(c.inputs, "cluster", "shop")...), j.logged())
		require.Contains(t, j.logged(), c.says)
	}
	require.Empty(t, *kept)
}

func TestAReportIsBoundedAndKeepsNoSecret(t *testing.T) {
	j := newJob(t)
	kept := j.keepsReports()
	dir := t.TempDir()
	t.Chdir(dir)
	j.env["KUBECONFIG"] = write(t, filepath.Join(dir, "kubeconfig"), servicetest.Kubeconfig("https://api.example.com:6443")) + string(filepath.ListSeparator) + "/nowhere"
	var b strings.Builder
	b.WriteString("<testsuite>")
	for i := range 40 {
		b.WriteString(`<testcase classname="` + strings.Repeat("s", 500) + fmt.Sprintf(`" name="%d `, i) + strings.Repeat("ü", 500) + `" time="1"><failure message="` + servicetest.ClientKey + " " +
			strings.Repeat("m", 1000) + `">::error::x ` + requestToken + "\n" + strings.Repeat("größe\n", 2000) + `</failure></testcase>`)
	}
	b.WriteString("</testsuite>")
	write(t, "junit.xml", b.String())
	require.Zero(t, j.step("report-tests", "cluster", "shop", "files", "junit.xml"), j.logged())
	require.Len(t, *kept, 1)
	report := (*kept)[0]
	require.Equal(t, 40, report.Failed)
	require.Equal(t, "e2e", report.Name)
	require.Len(t, report.Failures, 20)
	require.Len(t, report.Slowest, 5)
	for _, f := range report.Failures {
		require.LessOrEqual(t, len([]rune(f.Suite)), 200)
		require.LessOrEqual(t, len([]rune(f.Name)), 300)
		require.LessOrEqual(t, len([]rune(f.Message)), 500)
		require.True(t, strings.HasPrefix(f.Message, "*** m"))
		require.True(t, strings.HasPrefix(f.Details, "::error::x ***\ng"), f.Details)
	}
	require.Contains(t, j.summary, "20 more failed.")
}

func TestAServerThatKeepsNoTestResultsIsNamed(t *testing.T) {
	j := newJob(t)
	require.Zero(t, j.step("create-cluster", "profile", "aws-minimal-test", "name", "shop", "wait", "false"), j.logged())
	j.before = func(w http.ResponseWriter, r *http.Request) bool {
		r.URL.Path = strings.Replace(r.URL.Path, "/test-reports", "/unknown/test-reports", 1) // as on a server from before there were any
		return false
	}
	file := write(t, filepath.Join(t.TempDir(), "junit.xml"), "<testsuite><testcase/></testsuite>")
	require.EqualValues(t, exit.NotFound, j.step("report-tests", "files", file))
	require.Contains(t, j.logged(), "is of a release that keeps no test results. Ask its administrators to update it.")
}
