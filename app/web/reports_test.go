package web

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/statistics"
)

func TestReportsAreShownOfOnesOwnTeams(t *testing.T) {
	h := newFixture(t)
	row := h.shown("shop")
	h.make("rob", "vault", "payments", 4)
	_, page, _ := h.as("maya").get("/reports")
	for _, want := range []string{
		"<dt>Clusters now</dt><dd>1</dd>", `<svg class="plot"`, "Clusters by week", `<a href="/clusters/` + row.ID + `">shop</a>`, "No attempt failed.", "No leaks are known.",
		`<a href="/reports" aria-current="page">Reports</a>`, `aria-current="page">30 days</a>`,
	} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, "vault", "another team's is none of hers")
	_, page, _ = h.as("ada").get("/reports?team=payments")
	require.Contains(t, page, ">vault</a>")
	require.NotContains(t, page, ">shop</a>")
	for path, want := range map[string]string{
		"/reports?from=yesterday":                     "“yesterday” is not a date",
		"/reports?from=2001-01-01":                    "at most two years before it",
		"/reports?from=" + noon.Format(day) + "&to=x": "“x” is not a date",
	} {
		code, page, _ := h.as("ada").get(path)
		require.Equal(t, http.StatusBadRequest, code, path)
		require.Contains(t, page, want, path)
		require.NotContains(t, page, "<svg", path)
	}
	code, page, _ := h.as("maya").get("/reports?team=payments")
	require.Equal(t, http.StatusForbidden, code)
	require.Contains(t, page, "does not exist, or you may not read its report")
}

// history is a summary in which everything happened.
func history() admin.Summary {
	s := admin.Summary{From: noon.AddDate(0, 0, -90), To: noon, Saved: 2310, Spenders: []reports.ReportLine{{Key: "maya", Clusters: 12, ClusterHours: 240.5, Cents: 18040, SavedCents: 2310}, {Key: "zoe", Clusters: 4, ClusterHours: 60, Cents: 4100}}}
	s.At = noon
	solved, cents := noon.Add(-20*time.Hour), int64(240)
	all := statistics.Spread{P50: 2460, P90: 2880, P99: 3900, Longest: 4000}
	s.Inventory = []statistics.InventoryLine{{Team: "platform", Profile: "aws-standard", Status: "READY", Clusters: 3, Oldest: noon.Add(-50 * time.Hour), HourlyCents: 360}, {Team: "payments", Profile: "aws-minimal-test", Status: "CREATING", Clusters: 1, Oldest: noon.Add(-20 * time.Minute), HourlyCents: 70}}
	s.Oldest = []statistics.OldCluster{{ID: "clu_1", Name: "team-a-smoke-01", Team: "platform", Owner: "maya", Profile: "aws-standard", Status: "READY", CreatedAt: noon.Add(-50 * time.Hour), DestroyAt: noon.Add(5 * time.Hour), HourlyCents: 120}}
	s.Ready = []statistics.ProfileSpread{{Clusters: 61, Spread: all}, {Profile: "aws-standard", Clusters: 61, Spread: all}}
	s.Lifetime = []statistics.ProfileSpread{{Clusters: 57, Spread: statistics.Spread{P50: 14400, P90: 90000, P99: 260000, Longest: 300000}}}
	s.Failures = []statistics.Failure{{Kind: "create", Reason: "VPCLimitExceeded", Profile: "aws-standard", Attempts: 7, Clusters: 5, LastAt: noon.Add(-3 * time.Hour)}, {Kind: "destroy", Reason: "lost", Profile: "aws-standard", Attempts: 2, Clusters: 2, LastAt: noon.Add(-30 * time.Hour)}}
	s.Teardowns = []statistics.Teardown{{Clusters: 1000, Unaided: 999, Blocked: 1, Spread: statistics.Spread{P50: 640, P90: 1200, P99: 3000, Longest: 9000}}}
	s.Unused = []statistics.Unused{{Ended: 3, SleptIdle: 5, SleptOffHours: 40, SleptAsked: 1, AsleepHours: 310.25, SavedCents: 2310}, {Profile: "aws-standard", Ended: 3, SleptIdle: 5, SleptOffHours: 40, SleptAsked: 1, AsleepHours: 310.25, SavedCents: 2310}}
	s.Leaks = []statistics.Leak{{Identity: "shop-abcde", Cluster: "clu_2", Name: "shop", Team: "platform", Why: "a volume is left", FirstSeenAt: noon.Add(-30 * time.Hour), ResolvedAt: &solved, Cents: &cents}, {Identity: "<old>-fghij", Why: "nobody's", FirstSeenAt: noon.Add(-90 * time.Hour)}}
	for i := range 13 {
		w := statistics.Week{Week: time.Date(2024, 12, 2, 0, 0, 0, 0, time.UTC).AddDate(0, 0, 7*i), Accepted: 4 + i%5, Ready: 4 + i%4, FailedCreates: i % 3, Destroyed: 3 + i%5, Spread: statistics.Spread{P50: 2400 + int64(i*20), P90: 2800 + int64(i%4*100), P99: 3300 + int64(i%5*150), Longest: 4000}}
		if i == 4 {
			w = statistics.Week{Week: w.Week}
		}
		s.Weeks = append(s.Weeks, w)
	}
	for i, n := range []int{2, 20, 17, 9, 6, 3, 0} {
		bar := statistics.Bar{Clusters: n}
		if i < len(statistics.Bounds) {
			bar.Below = statistics.Bounds[i]
		}
		s.Lifetimes, s.Ages = append(s.Lifetimes, bar), append(s.Ages, statistics.Bar{Below: bar.Below, Clusters: n / 4})
	}
	return s
}

func TestAReportShowsWhatHappened(t *testing.T) {
	var v reportsView
	v.addSummary(history())
	html := page(t, "reports", v)
	for _, want := range []string{
		"<dt>Their cost per hour</dt><dd>$4.30</dd>", "<dd>41 min</dd>", "<dd>99 % <small>of 1000</small></dd>", // 99.9 %
		`<meter min="0" max="7" value="7">7</meter>`, "VPCLimitExceeded", `<a href="/runbooks/failed-create">`,
		`<th scope="row">aws-standard</th><td class="num">3</td><td class="num">5</td><td class="num">40</td><td class="num">1</td><td class="num">310.2</td><td class="num">$23.10</td>`,
		"<td class=\"num\">$2.40</td>", "<td class=\"num\">not known</td>", "<dt>Saved by sleeping</dt><dd>$23.10</dd>", "<td class=\"num\">$23.10</td>", "&lt;old&gt;-fghij",
		"<title>30 Dec, accepted: 0</title>", "30 Dec: median none, 90 % none, 99 % none", "<title>&lt; 4 h, clusters: 20</title>", "<figcaption>Time until ready, by week</figcaption>", "$180.40",
	} {
		require.Contains(t, html, want)
	}
	require.NotContains(t, html, "style=", "the pages' policy for content allows no style in the page")
}

func TestTheTimesUntilReadyHaveAUnitThatFits(t *testing.T) {
	for p99, want := range map[int64]string{8: ">s</text>", 3300: ">min</text>", 6 * 3600: ">h</text>"} {
		svg := readyPlot([]statistics.Week{{Week: noon, Ready: 1, Spread: statistics.Spread{P50: 4, P90: p99, P99: p99, Longest: p99}}}).SVG
		require.Contains(t, string(svg), want)
	}
}
