package actions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/junit"
)

// reportTests sums up test reports and sends the result to the server.
func (s *step) reportTests(ctx context.Context) error {
	cluster, strict := s.needCluster(), s.Bool("fail-on-failure")
	missing := s.OneOf("if-no-files", "error", "warn", "ignore")
	files := s.reports()
	if err := s.check(ctx); err != nil {
		return err
	}
	if len(files) == 0 {
		return s.noReport(missing)
	}
	sum, err := readReports(files)
	if err != nil {
		return err
	}
	if sum.Total == 0 {
		return exit.With(exit.Failed, fmt.Errorf("no test was run: %s contain none. Check that the tests were started", strings.Join(files, ", ")))
	}
	s.hide(&sum)
	stored, err := s.send(ctx, cluster, s.report(sum))
	if err != nil {
		return err
	}
	return s.tellTests(sum, stored, strict)
}

func (s *step) noReport(missing string) error {
	text := "No file matches " + strings.Join(s.Lines("files"), ", ") + ". Check that the tests write JUnit XML, and where"
	switch missing {
	case "warn":
		s.Warning("ocpctl report-tests", text)
	case "ignore":
	default:
		return exit.With(exit.NotFound, errors.New(text))
	}
	return s.Output("conclusion", "")
}

// tellTests tells the runner what the tests say.
func (s *step) tellTests(sum junit.Summary, stored storedReport, strict bool) error {
	conclusion := "success"
	if sum.Failed > 0 {
		conclusion = "failure"
	}
	end := s.Group(fmt.Sprintf("%d passed, %d failed, %d skipped", sum.Passed, sum.Failed, sum.Skipped))
	for _, f := range sum.Failures {
		_, _ = fmt.Fprintln(s.log, "failed: "+caption(f.Suite, f.Name)+": "+humanize.Line(f.Message))
	}
	for _, t := range sum.Slowest {
		_, _ = fmt.Fprintf(s.log, "slow: %s: %.2f s\n", caption(t.Suite, t.Name), t.Seconds)
	}
	end()
	err := errors.Join(s.outputs("conclusion", conclusion, "total", fmt.Sprint(sum.Total), "passed", fmt.Sprint(sum.Passed), "failed", fmt.Sprint(sum.Failed),
		"skipped", fmt.Sprint(sum.Skipped)), s.Summary(testSummary(sum, stored.URL)))
	if err != nil || sum.Failed == 0 {
		return err
	}
	text := fmt.Sprintf("%d of %d tests failed, the first of them %s: %s", sum.Failed, sum.Total, caption(sum.Failures[0].Suite, sum.Failures[0].Name), sum.Failures[0].Message)
	if strict {
		return exit.With(exit.Failed, errors.New(text))
	}
	s.Warning("ocpctl report-tests", text)
	return nil
}

func caption(suite, name string) string {
	if suite == "" || suite == name {
		return name
	}
	return suite + " › " + name
}

// storedReport is the server's answer.
type storedReport struct {
	Conclusion string `json:"conclusion"`
	URL        string `json:"url"`
}

// send posts the report. The server knows the run and the job by their token.
func (s *step) send(ctx context.Context, cluster string, report testReport) (storedReport, error) {
	body, err := report.fitted()
	if err != nil {
		return storedReport{}, err
	}
	api, err := s.API()
	if err != nil {
		return storedReport{}, err
	}
	address := api.Context.Server + "/api/v1/clusters/" + url.PathEscape(cluster) + "/test-reports"
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return storedReport{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := connect.Read[storedReport](api.Client.Client.Do(r))
	if connect.Is(err, http.StatusNotFound) && strings.Contains(err.Error(), "/test-reports does not exist") {
		err = exit.With(exit.NotFound, fmt.Errorf("the server at %s is of a release that keeps no test results. Ask its administrators to update it", api.Context.Server))
	}
	return answer.Value, err
}

// testReport is what the server gets.
type testReport struct {
	Name            string        `json:"name"`
	Total           int           `json:"total"`
	Passed          int           `json:"passed"`
	Failed          int           `json:"failed"`
	Skipped         int           `json:"skipped"`
	DurationSeconds float64       `json:"durationSeconds"`
	Failures        []testFailure `json:"failures,omitempty"`
	Slowest         []slowTest    `json:"slowest,omitempty"`
	URL             string        `json:"url,omitempty"`
}

type testFailure struct {
	Suite   string `json:"suite,omitempty"`
	Name    string `json:"name"`
	Message string `json:"message"`
	Details string `json:"details,omitempty"`
}

type slowTest struct {
	Suite   string  `json:"suite,omitempty"`
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// The API's limits, in characters, and for the whole body in bytes, somewhat below the server's 64 KiB.
const (
	mostSuite   = 200
	mostTest    = 300
	mostMessage = 500
	mostDetails = 4000
	mostBody    = 60 << 10
)

// report returns what the server gets of a summary.
func (s *step) report(sum junit.Summary) testReport {
	name := s.Text("name")
	if name == "" {
		name = s.Env("GITHUB_JOB")
	}
	r := testReport{
		Name: short(name, mostSlot), Total: sum.Total, Passed: sum.Passed, Failed: sum.Failed, Skipped: sum.Skipped, DurationSeconds: sum.Seconds, URL: s.Text("url"),
	}
	for _, f := range sum.Failures {
		r.Failures = append(r.Failures, testFailure{
			Suite: short(f.Suite, mostSuite), Name: short(f.Name, mostTest), Message: short(f.Message, mostMessage),
			Details: short(f.Details, mostDetails),
		})
	}
	for _, t := range sum.Slowest {
		r.Slowest = append(r.Slowest, slowTest{Suite: short(t.Suite, mostSuite), Name: short(t.Name, mostTest), Seconds: t.Seconds})
	}
	return r
}

// short cuts a text to a number of characters.
func short(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// fitted returns the report as JSON that the server accepts: details become shorter, and then failures fewer, until it fits.
func (r testReport) fitted() ([]byte, error) {
	for most := mostDetails; ; most /= 2 {
		body, err := json.Marshal(r)
		if err != nil || len(body) <= mostBody {
			return body, err
		}
		if most < 100 {
			r.Failures = r.Failures[:len(r.Failures)-1]
			continue
		}
		for i := range r.Failures {
			r.Failures[i].Details = short(r.Failures[i].Details, most/2)
		}
	}
}
