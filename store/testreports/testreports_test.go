package testreports_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/runs"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/testreports"
)

// testsOf are the results of a job of attempt 1: ten tests.
func testsOf(name, job string, failed int) lifecycle.TestReport {
	r := lifecycle.TestReport{
		Name: name, Total: 10, Passed: 10 - failed, Failed: failed, Duration: 90 * time.Second, Attempt: 1, Job: job, URL: "https://github.com/acme/shop/actions/runs/7001",
		Slowest: []lifecycle.SlowTest{{Name: "TestCart", Seconds: 12.5}},
	}
	for i := range failed {
		r.Failures = append(r.Failures, lifecycle.TestFailure{Suite: "shop", Name: fmt.Sprintf("TestPay%d", i), Message: "declined", Details: "at pay.go:7"})
	}
	return r
}

func writtenDown(t testing.TB, s *store.Store, ref runs.Ref) runs.Run {
	t.Helper()
	run, err := s.Runs.Note(t.Context(), ref)
	require.NoError(t, err)
	return run
}

func reportTests(t testing.TB, s *store.Store, cluster string, run runs.Run, r lifecycle.TestReport) (fresh bool) {
	t.Helper()
	fresh, err := s.TestReports.Save(t.Context(), cluster, run.ID, r, true, clusters.Origin{Actor: "oidc:job", Source: "api"})
	require.NoError(t, err)
	return fresh
}

func TestFlakyTestsAndCrashesAreKept(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("shop"), 41))
	run := writtenDown(t, s, storetest.RunRef(1))
	r := testsOf("e2e", "9001", 0)
	r.Flaky, r.FlakyTests = 2, []lifecycle.TestFailure{{Suite: "shop", Name: "TestPay", Message: "declined once"}}
	reportTests(t, s, row.ID, run, r)
	crashed := lifecycle.TestReport{Name: "karma", Attempt: 1, Job: "9002", Crashed: 1, Crashes: []lifecycle.TestFailure{{Name: "Chrome", Message: "it reports 92 tests"}}}
	reportTests(t, s, row.ID, run, crashed)
	got, err := s.TestReports.Of(t.Context(), row.ID)
	require.NoError(t, err)
	require.True(t, got[0].Failed())
	require.Equal(t, [2]int{2, 1}, [2]int{got[0].Sum().Flaky, got[0].Sum().Crashed})
	require.Equal(t, r.FlakyTests, got[0].Reports[0].FlakyTests)
	require.Equal(t, crashed.Crashes, got[0].Reports[1].Crashes)
	require.True(t, reportTests(t, s, row.ID, run, testsOf("karma", "9003", 0)))
	require.False(t, reportTests(t, s, row.ID, run, testsOf("karma", "9002", 0)), "what was replaced is no crash any more")
	got, err = s.TestReports.Of(t.Context(), row.ID)
	require.NoError(t, err)
	require.False(t, got[0].Failed())
}

func TestAReportReplacesThatOfTheSameJobAndName(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("shop"), 41))
	run := writtenDown(t, s, storetest.RunRef(1))
	require.Equal(t, run.ID, writtenDown(t, s, storetest.RunRef(2)).ID, "it is the same run")

	require.True(t, reportTests(t, s, row.ID, run, testsOf("e2e", "9001", 2)))
	clock.Pass(time.Second)
	require.True(t, reportTests(t, s, row.ID, run, testsOf("e2e", "9002", 0)), "another job")
	require.False(t, reportTests(t, s, row.ID, run, testsOf("e2e", "9001", 0)))
	got, err := s.TestReports.Of(t.Context(), row.ID)
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.False(t, got[0].Failed())
	want := testsOf("e2e", "9001", 0)
	want.Failures, want.FlakyTests, want.Crashes, want.At = []lifecycle.TestFailure{}, []lifecycle.TestFailure{}, []lifecycle.TestFailure{}, clock.Now()
	want.Run = lifecycle.TestRun{ID: run.ID, Workflow: "e2e", Event: "push", URL: run.URL, Since: run.CreatedAt.UTC()}
	require.Equal(t, want, got[0].Reports[0])

	seen, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, row.Version+3, seen.Version, "the comment shows each")
	require.Equal(t, 3, storetest.Count(t, s, `SELECT count(*) FROM effects WHERE kind = 'test_check' AND done_at IS NULL`))
	require.Equal(t, "e2e: 2 of 10 failed", storetest.Text(t, s, `SELECT metadata ->> 'why' FROM audit_events WHERE action = 'tests_reported' ORDER BY seq LIMIT 1`))

	other := storetest.Accept(t, s, storetest.Granted("other"))
	reportTests(t, s, other.ID, run, testsOf("e2e", "9001", 0))
	seen, err = s.Cluster(t.Context(), other.ID)
	require.NoError(t, err)
	require.Equal(t, other.Version, seen.Version, "nothing shows it")
}

func TestAnAttemptReportsSoAndSoOften(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	run := writtenDown(t, s, storetest.RunRef(1))
	for i := range testreports.MostReports {
		reportTests(t, s, row.ID, run, testsOf(fmt.Sprint("suite ", i), "", 0))
	}
	require.False(t, reportTests(t, s, row.ID, run, testsOf("suite 7", "", 1)), "one of them again")
	_, err := s.TestReports.Save(t.Context(), row.ID, run.ID, testsOf("one more", "", 0), true, clusters.Origin{Actor: "oidc:job"})
	require.ErrorIs(t, err, testreports.ErrTooMany)
}

func TestTheHistoryIsThatOfThePullRequestAndProfile(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	old := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("shop"), 41))
	for i := range 12 {
		clock.Pass(time.Minute)
		reportTests(t, s, old.ID, writtenDown(t, s, storetest.Another(fmt.Sprint(7100+i))), testsOf("e2e", "", i%2))
	}
	_, err := s.Destroy(t.Context(), old.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	next := storetest.FromPR(storetest.Granted("shop-2"), 41)
	next.Row.Generation = 2
	row := storetest.Accept(t, s, next)
	clock.Pass(time.Minute)
	reportTests(t, s, row.ID, writtenDown(t, s, storetest.Another("7200")), testsOf("e2e", "", 0))
	got, err := s.TestReports.Of(t.Context(), row.ID)
	require.NoError(t, err)
	require.Len(t, got, 10, "of the newest runs")
	require.Equal(t, []string{"https://github.com/acme/shop/actions/runs/7200", "https://github.com/acme/shop/actions/runs/7111"}, []string{got[0].Run.URL, got[1].Run.URL})
	foreign := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("foreign"), 42))
	got, err = s.TestReports.Of(t.Context(), foreign.ID)
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestTheReportsOnACommitAreShownTogether(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, second := storetest.Accept(t, s, storetest.Granted("shop")), storetest.Accept(t, s, storetest.Granted("shop-2"))
	one, two, elsewhere := writtenDown(t, s, storetest.RunRef(1)), writtenDown(t, s, storetest.Another("7002")), writtenDown(t, s, storetest.Another("7003"))
	reportTests(t, s, row.ID, one, testsOf("e2e", "9001", 0))
	id := storetest.Text(t, s, `SELECT id FROM test_reports`)
	target, err := s.TestReports.Target(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, testreports.Target{
		RunID: one.ID, RunKey: "7001", Repo: "acme/shop", Profile: "aws-minimal-test", Workflow: "e2e", Event: "push", Cluster: "shop", ClusterID: row.ID,
	}, target, "at which commit GitHub shows the run is not known yet")
	for run, sha := range map[string]string{one.ID: "abc", two.ID: "abc", elsewhere.ID: "def"} {
		require.NoError(t, s.Runs.ShownAt(t.Context(), run, sha))
	}
	reportTests(t, s, second.ID, two, testsOf("e2e", "9001", 1))
	reportTests(t, s, second.ID, elsewhere, testsOf("e2e", "9001", 0))
	target, err = s.TestReports.Target(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "abc", target.Head)
	waiting, err := s.TestReports.Waiting(t.Context(), target)
	require.NoError(t, err)
	require.Len(t, waiting, 2)
	got, err := s.TestReports.OnCommit(t.Context(), target)
	require.NoError(t, err)
	require.Len(t, got, 2)
	_, err = s.TestReports.Target(t.Context(), "tst_none")
	require.ErrorIs(t, err, db.ErrNotFound)
}

func TestReportsOnAClusterThatIsGoneArePruned(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	reportTests(t, s, row.ID, writtenDown(t, s, storetest.RunRef(1)), testsOf("e2e", "", 0))
	const keep = 30 * 24 * time.Hour
	left := func() int {
		_, err := s.Prune(t.Context(), keep)
		require.NoError(t, err)
		return storetest.Count(t, s, `SELECT count(*) FROM test_reports`)
	}
	clock.Pass(2 * keep)
	require.Equal(t, 1, left(), "the cluster is there")
	_, err := s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	for range 3 {
		storetest.Step(t, s, row.ID)
	}
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM clusters WHERE destroyed_at IS NOT NULL`))
	require.Equal(t, 1, left())
	clock.Pass(keep + time.Minute)
	require.Zero(t, left())
}
