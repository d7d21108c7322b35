package app

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/runs"
	"github.com/ocpctl/ocpctl/store/testreports"
)

// The bounds of a test report. Texts are in characters.
const (
	mostTests    = 1_000_000
	mostSeconds  = 365 * 24 * 60 * 60
	mostFailures = 20
	mostSlowest  = 5

	mostTestsName    = 100
	mostTestSuite    = 200
	mostTestName     = 300
	mostTestMessage  = 500
	mostTestDetails  = 4000
	mostTestsAddress = 1000
)

// TestResults are the results of a test job, as the job reports them.
type TestResults struct {
	lifecycle.TestReport
	Seconds float64 // the sum of the tests' own times
	Head    string  // the tested commit, if the run is not one of that commit; empty: it is
}

// ReportTests stores the results of a test job on a cluster. The run, its attempt and the job are taken from the principal's token. fresh
// is false if the job reported under the name before; then its report is replaced. pipeline is the run of a service account's token.
func (s *Service) ReportTests(ctx context.Context, p policy.Principal, ref string, r TestResults, pipeline policy.PipelineRun, origin Origin) (row clusters.Row, fresh bool, err error) {
	row, origin, err = s.Authorize(ctx, p, ref, policy.ActTests, origin)
	if err != nil {
		return row, false, err
	}
	named, _, wrong := s.checkRun(p, RunRequest{PipelineRun: pipeline}, true)
	if len(wrong) > 0 {
		return row, false, &Error{Kind: Invalid, Message: "Test results are reported by a job of a pipeline, and the request's token is not the token of one.", Fields: wrong}
	}
	if wrong := r.checkResults(); len(wrong) > 0 {
		return row, false, &Error{Kind: Invalid, Message: messages.CannotAccept, Fields: wrong}
	}
	run, err := s.store.Runs.Note(ctx, s.refOf(named))
	if err != nil {
		return row, false, fmt.Errorf("write down the run: %w", err)
	}
	if r.Run.Head, err = s.mayReport(ctx, row, run, named, r.Head); err != nil {
		return row, false, err
	}
	r.Attempt, r.Job, r.Duration = named.Attempt, named.Job, time.Duration(r.Seconds*float64(time.Second))
	fresh, err = s.store.TestReports.Save(ctx, row.ID, run.ID, r.TestReport, s.onGitHub(named), s.StoreOrigin(origin, p))
	switch {
	case errors.Is(err, testreports.ErrTooMany):
		return row, false, Fail(Conflict, fmt.Sprintf("This attempt of the run has reported %d times on the cluster. Let the jobs of a matrix report under one name, or send fewer files.", testreports.MostReports))
	case err != nil:
		return row, false, fmt.Errorf("report tests: %w", err)
	}
	return row, fresh, nil
}

// TestReports returns the test reports about a cluster that the principal may see, the newest run first.
func (s *Service) TestReports(ctx context.Context, p policy.Principal, ref string) (clusters.Row, []lifecycle.RunTests, error) {
	row, err := s.Cluster(ctx, p, ref)
	if err != nil {
		return clusters.Row{}, nil, err
	}
	list, err := s.store.TestReports.Of(ctx, row.ID)
	if err != nil {
		return clusters.Row{}, nil, fmt.Errorf("read the test reports: %w", err)
	}
	return row, list, nil
}

// onGitHub reports whether a run is on the GitHub that the App belongs to.
func (s *Service) onGitHub(r policy.Run) bool {
	return r.Platform == lifecycle.GitHub && r.Repo != "" && s.site != "" && policy.Claims{Issuer: r.Issuer}.GitHub(s.site) == s.site
}

// mayReport returns an error unless the run has to do with the cluster: it asked for the cluster, it is one of the cluster's pull
// request, it takes or took turns on it, or a signal of the cluster started it. head is the tested commit; empty: that of the run.
func (s *Service) mayReport(ctx context.Context, row clusters.Row, run runs.Run, named policy.Run, asked string) (head string, err error) {
	own, same, err := s.sameRepository(ctx, row, named)
	if err != nil {
		return "", err
	}
	if !same {
		return "", Fail(Denied, fmt.Sprintf("%s belongs to %s, and this run is one of %s. Only runs of its own repository can report tests on it.", row.Name, own, named.Repo))
	}
	commits, err := s.store.Runs.SignalledCommits(ctx, row.ID, run.Scope)
	if err != nil {
		return "", fmt.Errorf("read the signals: %w", err)
	}
	switch {
	case asked != "" && !slices.Contains(commits, asked):
		return "", &Error{Kind: Invalid, Message: messages.CannotAccept, Fields: []Field{ProblemOf("head", sayNoSuchCommit(commits))}}
	case asked != "":
		return asked, nil
	case len(commits) > 0 && named.Event == policy.EventDispatch: // such a run is one of the default branch, whatever it tests
		return commits[0], nil
	case len(commits) > 0 && named.Event == policy.EventDeployment, row.Run.ID == run.ID, row.PR != nil && named.Pull == row.PR.Number:
		return "", nil
	}
	uses, err := s.store.Runs.Uses(ctx, row.ID)
	if err != nil {
		return "", fmt.Errorf("read the turns: %w", err)
	}
	if !slices.ContainsFunc(uses, func(u runs.Use) bool { return u.RunID == run.ID && u.GrantedAt != nil }) {
		return "", Fail(Denied, fmt.Sprintf("This run neither asked for %s nor takes turns on it. Ask for a turn first: ocpctl use %s, or wait-cluster with take-turn: true.", row.Name, row.Name))
	}
	return "", nil
}

// sameRepository reports whether a run is one of the cluster's repository, own, by the repository's number and the issuer of its tokens. A
// name can be another repository's, on another GitHub or after a renaming. A cluster of no repository takes any run.
func (s *Service) sameRepository(ctx context.Context, row clusters.Row, named policy.Run) (own string, same bool, err error) {
	of, err := s.store.Runs.RepositoryOf(ctx, row.ID, row.Run.ID)
	switch {
	case err != nil:
		return "", false, fmt.Errorf("read the repository of %s: %w", row.Name, err)
	case row.PR != nil && of.RepoID == 0: // of before repositories had numbers
		return row.PR.Repo, s.onGitHub(named) && strings.EqualFold(row.PR.Repo, named.Repo), nil
	case row.PR != nil:
		return row.PR.Repo, s.onGitHub(named) && named.Scope == strconv.FormatInt(of.RepoID, 10), nil
	case row.Run.Repo == "":
		return "", true, nil
	}
	return row.Run.Repo, of.Issuer == named.Issuer && of.Scope == named.Scope, nil
}

// checkResults returns what is wrong with the results, field by field.
func (r TestResults) checkResults() []Field {
	var wrong []Field
	refuse := func(name string, p messages.Problem) { wrong = append(wrong, ProblemOf(name, p)) }
	text := func(name, value string, most int, required bool) {
		switch {
		case required && strings.TrimSpace(value) == "":
			refuse(name, messages.Problem{"It is empty.", []string{"a name"}})
		case utf8.RuneCountInString(value) > most:
			refuse(name, messages.Problem{fmt.Sprintf("The text has %d characters.", utf8.RuneCountInString(value)), []string{fmt.Sprintf("at most %d characters", most)}})
		}
	}
	text("name", r.Name, mostTestsName, true)
	numbers := len(wrong)
	least := 1
	if r.Crashed > 0 { // before its first test
		least = 0
	}
	for _, n := range []struct {
		name     string
		n, least int
	}{{"total", r.Total, least}, {"passed", r.Passed, 0}, {"failed", r.Failed, 0}, {"skipped", r.Skipped, 0}, {"flaky", r.Flaky, 0}, {"crashed", r.Crashed, 0}} {
		if n.n < n.least || n.n > mostTests {
			refuse(n.name, messages.Problem{"The number is out of range.", []string{fmt.Sprintf("%d to %d", n.least, mostTests)}})
		}
	}
	if sum := r.Passed + r.Failed + r.Skipped; len(wrong) == numbers && r.Total != sum {
		refuse("total", messages.Problem{fmt.Sprintf("There are %d tests, but passed, failed and skipped are %d together.", r.Total, sum), []string{fmt.Sprint(sum)}})
	}
	if len(wrong) == numbers && r.Flaky > r.Passed {
		refuse("flaky", messages.Problem{fmt.Sprintf("%d tests are flaky, but only %d passed; a flaky test is one of those that passed.", r.Flaky, r.Passed), []string{"at most as many as passed"}})
	}
	if !isPossibleDuration(r.Seconds) {
		refuse("durationSeconds", messages.NotSeconds(mostSeconds))
	}
	lists := []struct {
		name string
		list []lifecycle.TestFailure
		of   int
	}{{"failures", r.Failures, r.Failed}, {"crashes", r.Crashes, r.Crashed}, {"flakyTests", r.FlakyTests, r.Flaky}}
	for _, l := range lists {
		if n := len(l.list); n > mostFailures {
			refuse(l.name, messages.TooManyOf(n, mostFailures))
		} else if n > max(l.of, 0) {
			refuse(l.name, messages.Problem{fmt.Sprintf("%d are listed, but the report counts %d.", n, l.of), []string{"at most as many as it counts"}})
		}
	}
	if n := len(r.Slowest); n > mostSlowest {
		refuse("slowest", messages.TooManyOf(n, mostSlowest))
	}
	if !isLinkable(r.URL) {
		refuse("url", messages.Problem{"It is not an https address that can be shown.", []string{"https://host/path, without a user name and password", "nothing: then the run's page is linked"}})
	}
	for _, l := range lists {
		for i, f := range l.list[:min(len(l.list), mostFailures)] {
			at := fmt.Sprintf("%s[%d].", l.name, i)
			text(at+"suite", f.Suite, mostTestSuite, false)
			text(at+"name", f.Name, mostTestName, true)
			text(at+"message", f.Message, mostTestMessage, false)
			text(at+"details", f.Details, mostTestDetails, false)
		}
	}
	for i, t := range r.Slowest[:min(len(r.Slowest), mostSlowest)] {
		at := fmt.Sprintf("slowest[%d].", i)
		text(at+"suite", t.Suite, mostTestSuite, false)
		text(at+"name", t.Name, mostTestName, true)
		if !isPossibleDuration(t.Seconds) {
			refuse(at+"seconds", messages.NotSeconds(mostSeconds))
		}
	}
	return limitFields(wrong, mostProblems)
}

// isPossibleDuration reports whether a number of seconds can be how long tests took.
func isPossibleDuration(n float64) bool { return n >= 0 && n <= mostSeconds && !math.IsNaN(n) }

// isLinkable reports whether the address of a report is one that can be shown, or empty.
func isLinkable(address string) bool {
	if address == "" {
		return true
	}
	u, err := url.Parse(address)
	return err == nil && len(address) <= mostTestsAddress && u.Scheme == "https" && u.Host != "" && u.User == nil && !strings.ContainsAny(address, "<>\"'` \t\r\n|\\")
}

// sayNoSuchCommit is the problem with a commit for which no pipeline asked for the cluster.
func sayNoSuchCommit(known []string) messages.Problem {
	p := messages.Problem{"No pipeline asked for this cluster for that commit.", known}
	if len(known) == 0 {
		p.Accept = []string{"nothing: the run's own commit is used"}
	}
	return p
}
