package api

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
)

// reporting are the results of a job.
func reporting(name string, failed int) map[string]any {
	out := map[string]any{"name": name, "total": 10, "passed": 10 - failed, "failed": failed, "skipped": 0, "durationSeconds": 1.5}
	if failed > 0 {
		out["failures"] = []any{map[string]any{"suite": "shop", "name": "TestPay", "message": "declined"}}
	}
	return out
}

func TestARunReportsTestsOnItsCluster(t *testing.T) {
	h := fixtureWith(t, withWorkflows(t), nil)
	var made v1.Accepted
	h.create(h.job(), "shop", nil, http.StatusAccepted, &made)
	reports := "/api/v1/clusters/shop/test-reports"
	var stored v1.TestReportStored
	h.does(http.MethodPost, reports, h.job(), reporting("e2e", 1), http.StatusCreated, &stored)
	require.Equal(t, v1.TestReportStored{Conclusion: v1.TestReportStoredConclusionFailure, URL: "http://ocpctl.test/clusters/" + made.ClusterID + "#tests"}, stored)
	h.does(http.MethodPost, reports, h.job(), reporting("e2e", 0), http.StatusOK, &stored)
	require.Equal(t, v1.TestReportStoredConclusionSuccess, stored.Conclusion)
	h.does(http.MethodPost, reports, h.job("run_attempt", "2", "check_run_id", "9002"), reporting("e2e", 1), http.StatusCreated, nil)
	var list v1.TestRuns
	h.does(http.MethodGet, reports, h.job(), nil, http.StatusOK, &list)
	require.Len(t, list.Items, 1)
	run := list.Items[0]
	require.Equal(t, []any{made.Run.ID, "e2e", v1.TestRunConclusionFailure, 10, 9, 1}, []any{run.RunID, run.Workflow, run.Conclusion, run.Total, run.Passed, run.Failed})
	require.Equal(t, []v1.TestFailure{{Suite: "shop", Name: "TestPay", Message: "declined"}}, run.Reports[0].Failures)
	require.Equal(t, []any{2, 1.5}, []any{run.Reports[0].Attempt, run.Reports[0].DurationSeconds})
}

func TestASuiteThatCrashedBeforeItsFirstTestIsAFailure(t *testing.T) {
	h := fixtureWith(t, withWorkflows(t), nil)
	h.create(h.job(), "shop", nil, http.StatusAccepted, nil)
	reports := "/api/v1/clusters/shop/test-reports"
	var stored v1.TestReportStored
	crash := map[string]any{"name": "Chrome", "message": "It reports 92 tests."}
	body := map[string]any{"name": "karma", "total": 0, "passed": 0, "failed": 0, "skipped": 0, "crashed": 1, "crashes": []any{crash}}
	h.does(http.MethodPost, reports, h.job(), body, http.StatusCreated, &stored)
	require.Equal(t, v1.TestReportStoredConclusionFailure, stored.Conclusion)
	flaky := reporting("e2e", 0)
	flaky["flaky"], flaky["flakyTests"] = 1, []any{map[string]any{"name": "TestPay", "message": "declined once"}}
	h.does(http.MethodPost, reports, h.job(), flaky, http.StatusCreated, &stored)
	require.Equal(t, v1.TestReportStoredConclusionSuccess, stored.Conclusion)
	var list v1.TestRuns
	h.does(http.MethodGet, reports, h.job(), nil, http.StatusOK, &list)
	run := list.Items[0]
	require.Equal(t, []any{v1.TestRunConclusionFailure, 1, 1}, []any{run.Conclusion, run.Flaky, run.Crashed})
	require.Equal(t, []v1.TestFailure{{Name: "TestPay", Message: "declined once"}}, run.Reports[0].FlakyTests)
	require.Equal(t, []v1.TestFailure{{Name: "Chrome", Message: "It reports 92 tests."}}, run.Reports[1].Crashes)
}

func TestOnlyARunThatUsesTheClusterReportsTests(t *testing.T) {
	h := fixtureWith(t, withWorkflows(t), nil)
	h.create(h.job(), "shop", nil, http.StatusAccepted, nil)
	reports := "/api/v1/clusters/shop/test-reports"
	p := h.refused(http.MethodPost, reports, h.job("run_id", "7002"), reporting("e2e", 0), http.StatusForbidden)
	require.Contains(t, p.Detail, "shop belongs neither to this run nor to its pull request, so")
	p = h.refused(http.MethodPost, reports, h.job("run_id", "7002", "repository", "acme/api", "repository_id", "1002"), reporting("e2e", 0), http.StatusForbidden)
	require.Contains(t, p.Detail, "shop belongs neither to this run nor to its pull request, so")
	h.refused(http.MethodPost, reports, h.job("repository_id", "1002"), reporting("e2e", 0), http.StatusForbidden) // another repository has the name by now
	p = h.refused(http.MethodPost, reports, h.as(oidc.Requester), reporting("e2e", 0), http.StatusUnprocessableEntity)
	require.Contains(t, p.Detail, "reported by a job of a pipeline")

	h.create(h.as(oidc.Requester), "standing", nil, http.StatusAccepted, nil)
	uses, reports := "/api/v1/clusters/standing/uses", "/api/v1/clusters/standing/test-reports"
	h.refused(http.MethodPost, reports, h.job(), reporting("e2e", 0), http.StatusForbidden)
	h.does(http.MethodPost, "/api/v1/clusters/standing/shares", h.as(oidc.Requester), v1.ShareRequest{Kind: "principal", With: h.id(oidc.GitHubActions), Access: "use"}, http.StatusOK, nil)
	require.Contains(t, h.refused(http.MethodPost, reports, h.job(), reporting("e2e", 0), http.StatusForbidden).Detail, "neither asked for standing nor takes turns on it")
	var turn v1.Use
	h.does(http.MethodPost, uses, h.job(), nil, http.StatusCreated, &turn)
	h.does(http.MethodPost, reports, h.job(), reporting("e2e", 0), http.StatusCreated, nil)
	h.does(http.MethodPost, uses, h.job("run_id", "7002"), nil, http.StatusCreated, nil)
	h.refused(http.MethodPost, reports, h.job("run_id", "7002"), reporting("e2e", 0), http.StatusForbidden) // it only waits for its turn
	h.does(http.MethodDelete, uses+"/"+turn.ID, h.job(), nil, http.StatusOK, nil)
	h.does(http.MethodPost, reports, h.job(), reporting("e2e", 0), http.StatusOK, nil)
}

func TestATestReportIsCheckedFieldByField(t *testing.T) {
	h := fixtureWith(t, withWorkflows(t), nil)
	h.create(h.job(), "shop", nil, http.StatusAccepted, nil)
	long := strings.Repeat("é", 301)
	for _, c := range []struct {
		change map[string]any
		fields []string
	}{
		{map[string]any{"name": " "}, []string{"name"}},
		{map[string]any{"name": long}, []string{"name"}},
		{map[string]any{"total": 0, "passed": 0}, []string{"total"}},
		{map[string]any{"total": 11}, []string{"total"}},
		{map[string]any{"passed": -1}, []string{"passed"}},
		{map[string]any{"skipped": 1_000_001}, []string{"skipped"}},
		{map[string]any{"durationSeconds": -1}, []string{"durationSeconds"}},
		{map[string]any{"durationSeconds": "1"}, []string{"durationSeconds"}},
		{map[string]any{"failures": []any{map[string]any{"name": "TestPay", "message": ""}}}, []string{"failures"}},
		{map[string]any{"failures": []any{map[string]any{"name": "TestPay", "massage": ""}}}, []string{"failures"}},
		{map[string]any{"passed": 9, "failed": 1, "failures": []any{map[string]any{"name": "", "message": long + long}}}, []string{"failures[0].name", "failures[0].message"}},
		{map[string]any{"slowest": []any{map[string]any{"name": long, "seconds": -1}}}, []string{"slowest[0].name", "slowest[0].seconds"}},
		{map[string]any{"flaky": 11}, []string{"flaky"}},
		{map[string]any{"crashed": -1}, []string{"crashed"}},
		{map[string]any{"crashes": []any{map[string]any{"name": "Chrome", "message": ""}}}, []string{"crashes"}},
		{map[string]any{"flaky": 1, "flakyTests": []any{map[string]any{"name": "", "message": ""}}}, []string{"flakyTests[0].name"}},
		{map[string]any{"url": "http://reports.example.com"}, []string{"url"}},
		{map[string]any{"url": "https://maya:secret@reports.example.com"}, []string{"url"}},
		{map[string]any{"head": "abc"}, []string{"head"}},
		{map[string]any{"more": 1}, []string{"more"}},
	} {
		body := reporting("e2e", 0)
		maps.Copy(body, c.change)
		p := h.refused(http.MethodPost, "/api/v1/clusters/shop/test-reports", h.job(), body, http.StatusUnprocessableEntity)
		var fields []string
		for _, e := range p.Errors {
			fields = append(fields, e.Field)
			require.NotEmpty(t, e.Accepted, "%v: %s", c.change, e.Field)
		}
		require.Equal(t, c.fields, fields, "%v", c.change)
	}
}
