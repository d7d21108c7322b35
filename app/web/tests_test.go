package web

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func TestAClustersPageShowsItsTests(t *testing.T) {
	v := detailOf(details(func(*clusters.Row) {}))
	require.NotContains(t, page(t, "detail", v), "Tests</h2>")
	run := lifecycle.TestRun{ID: "run_2", Workflow: "e2e", URL: "https://github.com/acme/shop/actions/runs/7002", Head: "6dcb09b5b57875f334f61aebed695e2e4193db5e", Since: time.Unix(2, 0)}
	v.Tests = lifecycle.TestsByRun([]lifecycle.TestReport{
		{Name: "e2e", Total: 240, Passed: 227, Failed: 1, Skipped: 12, Duration: 12 * time.Minute, Run: run, Attempt: 2, URL: "https://evil.example/report", Failures: []lifecycle.TestFailure{
			{Suite: "shop", Name: "Test<script>", Message: "declined", Details: "</pre><script>alert(1)</script>"}},
			Slowest: []lifecycle.SlowTest{{Name: "TestCheckout", Seconds: 93.42}}},
		{Name: "e2e", Total: 3, Passed: 3, Run: lifecycle.TestRun{ID: "run_1", Workflow: "e2e"}, Attempt: 1},
		{Name: "karma", Total: 1, Passed: 1, Crashed: 1, Flaky: 1, Run: lifecycle.TestRun{ID: "run_0", Workflow: "ui"}, Attempt: 1,
			Crashes: []lifecycle.TestFailure{{Name: "Chrome", Message: "it reports 92 tests"}}, FlakyTests: []lifecycle.TestFailure{{Name: "TestShip"}}},
	})
	html := page(t, "detail", v)
	for _, want := range []string{
		"1 of 240 failed, 12 skipped", `<a href="https://github.com/acme/shop/actions/runs/7002" rel="noreferrer">e2e</a>`, "attempt 2", "<code>Test&lt;script&gt;</code>", "declined",
		"&lt;/pre&gt;&lt;script&gt;alert(1)", "<code>TestCheckout</code> 93.4 s", "Earlier runs", "3 passed", "12 min", "1 suite crashed, 1 reported, 1 flaky", "<code>Chrome</code></strong>: it reports 92 tests", "failed and then passed: <code>TestShip</code>",
	} {
		require.Contains(t, html, want)
	}
	require.NotContains(t, html, `href="https://evil.example`)
	require.Equal(t, strings.Count(html, "<details"), strings.Count(html, "</details>"))
}

func TestAClustersPageShowsWhatAPipelineWasTold(t *testing.T) {
	require.NotContains(t, page(t, "detail", detailOf(details(func(*clusters.Row) {}))), "<dt>Signal</dt>")
	html := page(t, "detail", detailOf(details(func(r *clusters.Row) {
		r.Signal = lifecycle.Signal{Kind: lifecycle.SignalDeployment, Told: lifecycle.SignalReady}
		r.ReadyAt = time.Unix(7200, 0)
		r.FreeSince = r.ReadyAt.Add(-34 * time.Minute)
	})))
	require.Contains(t, html, "<dt>Signal</dt><dd>A deployment told its pipeline that it is ready.</dd>")
	require.Contains(t, html, "<dt>Saved</dt><dd>No runner waited for it: 34 min saved.</dd>")
	html = page(t, "detail", detailOf(details(func(r *clusters.Row) {
		r.Signal = lifecycle.Signal{Kind: lifecycle.SignalDispatch, Problem: "GitHub refuses it: <403>."}
	})))
	require.Contains(t, html, "<dt>Signal</dt><dd>Its pipeline cannot be told when it is ready. GitHub refuses it: &lt;403&gt;.</dd>")
}
