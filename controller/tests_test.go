package controller_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	hub "github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/runs"
)

// ofJob names a run of the stand-in as the token of its first job does.
func (f *front) ofJob(run hub.Run) runs.Ref {
	f.t.Helper()
	claims, err := f.hub.Runs().Claims(run.Jobs[0].ID)
	require.NoError(f.t, err)
	return runs.Ref{
		Platform: lifecycle.GitHub, Issuer: f.hub.URL() + "/_services/token", Scope: claims["repository_id"].(string), Key: claims["run_id"].(string),
		Attempt: run.Attempt, Repo: hub.Repo, Name: run.Workflow, URL: f.hub.URL() + "/acme/shop/actions/runs/" + strconv.FormatInt(run.ID, 10), Event: run.Event,
		Ref: run.Ref, Head: claims["sha"].(string),
	}
}

// started starts a workflow run on the stand-in, of which a token is seen.
func (f *front) started(n hub.NewRun) (hub.Run, runs.Run) {
	f.t.Helper()
	run, err := f.hub.Runs().Start(n)
	require.NoError(f.t, err)
	known, err := f.store.Runs.Note(f.ctx, f.ofJob(run))
	require.NoError(f.t, err)
	return run, known
}

// reports has a run report ten tests.
func (f *front) reports(cluster string, run runs.Run, name string, failed int) {
	f.t.Helper()
	r := lifecycle.TestReport{Name: name, Total: 10, Passed: 10 - failed, Failed: failed, Attempt: 1}
	if failed > 0 {
		r.Failures = []lifecycle.TestFailure{{Name: "TestPay", Message: "declined"}}
	}
	_, err := f.store.TestReports.Save(f.ctx, cluster, run.ID, r, true, clusters.Origin{Actor: "oidc:job"})
	require.NoError(f.t, err)
}

// testChecks are the checks with test results on a commit, as conclusion and title.
func (f *front) testChecks(head string) (out []string) {
	for _, check := range f.hub.ChecksOf(head) {
		if check.Name == "ocpctl/aws-minimal-test/tests" {
			out = append(out, check.Conclusion+": "+check.Title)
		}
	}
	return out
}

func TestTestsAreShownOnThePullRequestsHeadAndInItsComment(t *testing.T) {
	t.Parallel()
	f := newFront(t, documented)
	row := f.asked("shop", 41)
	pr, _ := f.hub.PullRequest(41)
	run, known := f.started(hub.NewRun{Pull: 41})
	require.Equal(t, pr.HeadSHA, run.HeadSHA)
	f.settle()
	f.reports(row.ID, known, "e2e", 1)
	f.settle()
	require.Equal(t, []string{"failure: 1 of 10 tests failed"}, f.testChecks(pr.HeadSHA))
	require.Contains(t, f.hub.Comments(41)[0].Body, "**Tests:** 🔴 1 of 10 failed in [e2e]("+known.URL+"), at `"+pr.HeadSHA[:7]+"`")

	f.reports(row.ID, known, "e2e", 0)
	f.settle()
	require.Equal(t, []string{"success: 10 tests passed"}, f.testChecks(pr.HeadSHA), "it is one check")

	require.NoError(t, f.hub.Push(41, "will"))
	pushed, _ := f.hub.PullRequest(41)
	require.Empty(t, f.testChecks(pushed.HeadSHA), "a new commit waits for its own results")
	_, next := f.started(hub.NewRun{Pull: 41})
	f.reports(row.ID, next, "e2e", 1)
	f.settle()
	require.Equal(t, []string{"failure: 1 of 10 tests failed"}, f.testChecks(pushed.HeadSHA))
	require.Equal(t, []string{"success: 10 tests passed"}, f.testChecks(pr.HeadSHA), "the old one keeps its own")
	require.Contains(t, f.hub.Comments(41)[0].Body, "1 earlier run")
}

func TestManyReportsOfOneCommitAreOneCheckAndFewWrites(t *testing.T) {
	t.Parallel()
	f := newFront(t, documented)
	row := f.acceptAs("shop", func(a *store.Judgement) { a.Row.PR = nil })
	run, known := f.started(hub.NewRun{})
	for i := range 20 {
		f.reports(row.ID, known, fmt.Sprintf("suite %d", i), i%2)
	}
	f.settle()
	require.Equal(t, []string{"failure: 10 of 200 tests failed"}, f.testChecks(run.HeadSHA))
	writes := 0
	for _, call := range f.hub.Calls() {
		if strings.Contains(call.Path, "/check-runs") && call.Method != "GET" {
			writes++
		}
	}
	require.Equal(t, 1, writes, "whatever waits is shown by the first")
	f.keepsThePace()
}

func TestTestsAreShownOnTheTokensCommitIfActionsMayNotBeRead(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	m := hub.Registered()
	m.Permissions["actions"] = ""
	f.hub.SetManifest(m)
	row := f.acceptAs("shop", func(a *store.Judgement) { a.Row.PR = nil })
	run, known := f.started(hub.NewRun{})
	f.reports(row.ID, known, "e2e", 0)
	f.settle()
	require.Equal(t, []string{"success: 10 tests passed"}, f.testChecks(run.HeadSHA))

	pr, _ := f.hub.PullRequest(41)
	_, ofPull := f.started(hub.NewRun{Pull: 41})
	f.reports(row.ID, ofPull, "e2e", 0)
	f.until(f.now().Add(2 * time.Hour))
	require.Empty(t, f.testChecks(pr.HeadSHA), "its token names a commit that only merges")
	var note string
	require.NoError(t, f.store.Pool().QueryRow(f.ctx, `SELECT note FROM effects ORDER BY created_at DESC, id DESC LIMIT 1`).Scan(&note))
	require.Contains(t, note, "given up")
}
