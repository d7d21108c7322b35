package web

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/costs"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/scans"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestTheNavigationShowsWhatOneMaySee(t *testing.T) {
	names := func(p policy.Principal) (out []string) {
		for _, w := range navigation(p, "/audit", nil) {
			out = append(out, w.Label)
		}
		return out
	}
	require.Equal(t, []string{"Start", "Clusters", "Profiles", "Pools", "New cluster", "Approvals", "Usage", "Reports", "Limits", "Policy"}, names(policy.As("x", "X", policy.Requester, "platform")))
	require.Equal(t, []string{"Start", "Clusters", "Profiles", "Pools", "Approvals", "Usage", "Reports", "Limits", "Policy", "Findings", "Orphans", "Deliveries", "Audit"}, names(policy.As("x", "X", policy.Auditor)))
	require.Len(t, names(policy.As("x", "X", policy.PlatformAdmin)), 15)
	require.Empty(t, names(policy.Principal{ID: "x"}))
	require.True(t, navigation(policy.As("x", "X", policy.Auditor), "/approvals/apr_1", nil)[4].Here, "a page below it too")
	require.Equal(t, badge{3, "open"}, navigation(policy.As("x", "X", policy.Auditor), "/", map[string]badge{"/findings": {3, "open"}})[9].Badge)
}

func TestOnesOwnPageShowsSeatsAndAccounts(t *testing.T) {
	h := newFixture(t)
	_, page, _ := h.as("zoe").get("/me")
	for _, want := range []string{"<td>requester</td><td>payments</td>", "<td>requester</td><td>platform</td>", h.id("zoe"), "Signed in until", "break-glass, create", "/ocp link"} {
		require.Contains(t, page, want)
	}
	_, page, _ = h.as("will").get("/me")
	require.Contains(t, page, "<td>platform admin</td><td>every team</td>")
	_, page, _ = h.as("nora").get("/me")
	require.Contains(t, page, "signed in, but without a role")
	require.NotContains(t, page, `href="/approvals"`)
}

func TestLimitsShowWhatIsUsedOfThem(t *testing.T) {
	h := newFixture(t)
	h.sql(`INSERT INTO rooms VALUES ($1, 'us-east-1', 'aws-standard', 'aws', '[{"service":"vpc","code":"L-1","name":"VPCs per region","limit":5,"used":2,"need":1}]', now())`, "123456789012")
	h.make("maya", "shop", "platform", 24)
	_, page, _ := h.as("maya").get("/limits")
	for _, want := range []string{
		`<meter min="0" max="4" high="3" value="1">1 of 4</meter>`, "clusters being created", "72 of 3000", "<td>you</td>", "VPCs per region: 1 needed, 3 of 5 free", "<td>team platform</td>",
		"$1,000.00", "requests are refused", "AWS minimal test", "requests wait in the queue", servicetest.IBMOff, `href="/new?profile=aws-standard"`,
	} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, "team payments")
	_, page, _ = h.as("ada").get("/limits")
	require.NotContains(t, page, "/new?profile", "an auditor creates nothing")
}

func TestLimitsShowAccountsAndTheirProof(t *testing.T) {
	own := profiles.Account{Name: "own", Platform: "aws", Number: "111111111111", Teams: []string{"platform"}, Cap: 3}
	h := newFixtureWith(t, func(h *fixture) {
		h.clouds = []profiles.Account{own, {Name: "theirs", Platform: "aws", Number: "222222222222", Teams: []string{"payments"}}}
	})
	storetest.Prove(t, h.store, "aws", own.Number, own.Version(), scans.ResultRow{Outcome: lifecycle.Failure, Proof: contract.ProofRefused, Message: "there is <no> zone", Next: "ask the DNS administrator"})
	_, page, _ := h.as("maya").get("/limits")
	for _, want := range []string{"<code>own</code>", "0 of 3", ">unproven</span>", "Not proven: there is &lt;no&gt; zone.", "Ask the DNS administrator.", `action="/accounts/own/prove"`} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, "theirs")
	_, page, _ = h.as("maya").post("/accounts/theirs/prove", nil)
	require.NotContains(t, page, "222222222222")
	require.Contains(t, page, "The account theirs does not exist")
	_, page, _ = h.as("maya").post("/accounts/own/prove", nil)
	require.Contains(t, says(page), "A runner is checking")
	_, page, _ = h.as("maya").get("/limits")
	require.Contains(t, page, "disabled>Checking…</button>")
	storetest.Prove(t, h.store, "aws", own.Number, own.Version(), scans.ResultRow{Outcome: lifecycle.Succeeded, Proof: contract.ProofProven})
	_, page, _ = h.as("maya").get("/limits")
	require.Contains(t, page, "Proven <time datetime=")
	require.Contains(t, page, ">open</span>")
	storetest.Prove(t, h.store, "aws", own.Number, own.Version(), scans.ResultRow{Outcome: lifecycle.Lost, Message: "its runner was lost", Next: "look at its log"})
	_, page, _ = h.as("maya").get("/limits")
	require.Contains(t, page, "</time>. Last check: its runner was lost. Look at its log.", "what was not found out is told")
	require.Contains(t, page, ">Check again</button>")
}

func TestLimitsShowWhatACohortLends(t *testing.T) {
	h := newFixtureWith(t, func(h *fixture) { h.cohort = "both" })
	for i := range 5 {
		h.accept(fmt.Sprintf("shop-%d", i), "platform") // whatever the limits
	}
	_, page, _ := h.as("maya").get("/limits")
	require.Contains(t, page, `<th scope="col">Cohort</th><th scope="col" class="num">Guaranteed</th><th scope="col" class="num">Borrowed</th><th scope="col" class="num">Lent</th>`)
	require.Contains(t, page, `<td>both</td><td class="num">4</td><td class="num">1</td><td class="num">0</td><td><code>team</code></td></tr>`)
	_, page, _ = h.as("maya").get("/policy")
	require.Contains(t, page, ", cohort both")
}

func TestUsageIsReportedByGroupWithBars(t *testing.T) {
	h := newFixture(t)
	row := h.shown("shop")
	h.sql(`UPDATE usage_samples SET sample_time = sample_time - interval '3 hours' WHERE cluster_id = $1`, row.ID)
	h.sql(`INSERT INTO usage_samples (cluster_id, sample_time, state, worker_replicas, estimated_hourly_cost) VALUES ($1, now() - interval '2 hours', 'READY', 0, 60)`, row.ID)
	_, page, _ := h.as("maya").get("/usage")
	require.Contains(t, page, `<th scope="row">platform</th>`)
	require.Regexp(t, `<meter min="0" max="\d+" value="\d+">\$`, page)
	require.Contains(t, page, "An estimate by list prices, not an invoice.")
	_, page, _ = h.as("rob").get("/usage")
	require.Contains(t, page, "No usage", "another team's is none of his")
	_, page, _ = h.as("ada").get("/usage?by=profile")
	require.Contains(t, page, `<th scope="row">aws-minimal-test</th>`)
	require.Contains(t, page, `aria-current="page">profile</a>`)

	for _, file := range []string{"chargeback.csv", "focus.csv"} {
		status, body, _ := h.as("maya").get("/usage/" + file + "?from=" + time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly))
		require.Equal(t, http.StatusOK, status)
		require.Contains(t, body, row.ID)
		status, _, _ = h.as("nora").get("/usage/" + file)
		require.Equal(t, http.StatusForbidden, status)
		status, body, _ = h.as("ada").get("/usage/" + file + "?from=yesterday")
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, body, "is not a date")
	}
	for at, want := range map[string]string{
		"/usage?from=yesterday": "“yesterday” is not a date. Accepted: a date such as 2025-03-31.",
		"/usage?by=colour":      "team, owner, costCenter, repository, profile, environment, pullRequest, run, cluster or tag:&lt;key&gt;",
	} {
		status, page, _ := h.as("ada").get(at)
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, page, want)
	}
}

func TestTheTrailIsReadByWhatOneLooksForPageByPageAndVerified(t *testing.T) {
	h := newFixture(t)
	for _, name := range []string{"shop", "load"} {
		made := h.make("maya", name, "platform", 2)
		_, err := h.service.Hold(t.Context(), h.principal("maya"), made.Row.ID, app.Span{For: time.Hour}, app.Origin{Why: "hold of " + name, Source: policy.SourceWeb})
		require.NoError(t, err)
	}
	b := h.as("ada")
	_, page, _ := b.get("/audit")
	for _, want := range []string{"The newest is line 4", "hold of shop", "<td>hold_set</td>", `title="` + h.id("maya") + `">maya`, "all details"} {
		require.Contains(t, page, want)
	}
	_, page, _ = b.get("/audit?action=accepted&actor=" + url.QueryEscape(h.id("maya")))
	require.NotContains(t, page, "hold of shop")
	require.Contains(t, page, `value="accepted"`)
	_, page, _ = b.get("/audit?cursor=3")
	require.NotContains(t, page, "hold of load")
	_, page, _ = b.get("/audit?actor=nobody")
	require.Contains(t, page, "No lines match.")
	_, page, _ = b.get("/audit?cursor=x")
	require.Contains(t, page, "hold of load", "what is no page is the first")
	status, page, _ := b.get("/audit?from=soon")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, page, `id="w-from">“soon” is not a date.`)

	_, page, _ = b.post("/audit/verify", nil)
	require.Contains(t, says(page), "All 4 lines are as they were written")
}

func TestOlderIsTheSameChoiceFurtherOn(t *testing.T) {
	require.Empty(t, nextPageURL("/audit", url.Values{}, ""))
	require.Equal(t, "/audit?actor=a%26b&cursor=7", nextPageURL("/audit", url.Values{"actor": {"a&b"}}, "7"))
}

func TestFindingsShowTheirEvidence(t *testing.T) {
	h := newFixture(t)
	row := h.shown("shop")
	_, err := h.store.Reports.SaveFindings(t.Context(), []lifecycle.FindingKind{lifecycle.Blocked, lifecycle.Orphan}, []lifecycle.Finding{
		{Kind: lifecycle.Blocked, Cluster: row.ID, Since: time.Now(), Why: "its teardown waits for a person", Evidence: []string{"vpc vpc-1"}},
		{Kind: lifecycle.Orphan, Identity: "shop-x7k2p", Since: time.Now(), Why: "nobody answers for it"},
	})
	require.NoError(t, err)
	_, page, _ := h.as("ada").get("/findings")
	for _, want := range []string{"its teardown waits for a person", "vpc vpc-1", `href="/clusters/` + row.ID, "shop-x7k2p", "last seen"} {
		require.Contains(t, page, want)
	}
	_, err = h.store.Reports.SaveFindings(t.Context(), []lifecycle.FindingKind{lifecycle.Blocked, lifecycle.Orphan}, nil)
	require.NoError(t, err)
	_, page, _ = h.as("ada").get("/findings")
	require.Contains(t, page, "No findings")
	_, page, _ = h.as("ada").get("/findings?show=all")
	require.Contains(t, page, "blocked, resolved")
}

func TestADeliveryIsReadAndWorkedAgain(t *testing.T) {
	h := newFixture(t)
	h.sql(`INSERT INTO deliveries (source, delivery_id, event, topic, body, received_at, state, note, finished_at) VALUES
		('github', 'd-1', 'pull_request', 'acme/shop#41', '{"action":"labeled"}', now(), 'done', 'accepted aws-minimal-test', now()),
		('slack', 'd-2', 'command', '', 'no <b>JSON</b>', now(), 'failed', 'no such command', now())`)
	_, page, _ := h.as("ada").get("/deliveries")
	require.Contains(t, page, "accepted aws-minimal-test")
	require.Contains(t, page, "no such command")
	_, page, _ = h.as("ada").get("/deliveries?state=failed")
	require.NotContains(t, page, "accepted aws-minimal-test")
	_, page, _ = h.as("ada").get("/deliveries?topic=acme/shop%2341")
	require.NotContains(t, page, "no such command")

	_, page, _ = h.as("ada").get("/deliveries/1")
	require.Contains(t, page, "{\n  &#34;action&#34;: &#34;labeled&#34;\n}")
	require.Contains(t, page, "Platform admins can have it processed again.")
	will := h.as("will")
	_, page, _ = will.get("/deliveries/2")
	require.Contains(t, page, "no &lt;b&gt;JSON&lt;/b&gt;")
	_, page, _ = will.post("/deliveries/1/replay", nil)
	require.Contains(t, says(page), "Add a reason")
	_, page, answer := will.post("/deliveries/1/replay", url.Values{"reason": {"the label was lost"}})
	require.Equal(t, "/deliveries/1", answer.Request.URL.Path)
	require.Contains(t, says(page), "It is being processed again")
	require.Contains(t, page, "You can have it processed now")
	require.Contains(t, page, `action="/deliveries/1/replay"`, "at any time")
	status, page, _ := will.get("/deliveries/none")
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, page, "The delivery none does not exist or was deleted.")
}

func TestABodyIsReadableWhateverItIs(t *testing.T) {
	require.Equal(t, "{\n  \"a\": 1\n}", formatBody([]byte(`{"a":1}`)))
	require.Equal(t, "payload=%7B", formatBody([]byte("payload=%7B")))
}

func TestTheUsagePageShowsTheMonthAgainstBudgetsAndTheBill(t *testing.T) {
	v := usageView{By: "team", From: "2025-03-01"}
	v.Month = &costs.Forecast{
		By: "team", Month: noon, End: noon.AddDate(0, 1, 0), Total: costs.ForecastLine{Spent: 30_000, ToCome: 12_345},
		Lines: []costs.ForecastLine{
			{Key: "platform", Spent: 20_000, ToCome: 12_345, Committed: 22_345, Budget: profiles.Budget{MonthlyCents: 40_000, WarnPercent: 80, Hard: true}, Reached: []int{50, 80, 100}},
			{Key: "lab", ToCome: 1}, {Key: "over", Spent: 10_000},
		},
	}
	v.Bill = &costs.Actual{From: noon, To: noon, Lines: []costs.ActualLine{{Key: "platform", Clusters: 3, Billed: 2, Estimate: 10_000, Actual: 8_000}, {Key: "lab", Clusters: 1, Estimate: 5}}, Untagged: 700}
	v.addLines([]reports.ReportLine{{Key: "platform", Cents: 1}})
	html := page(t, "usage", v)
	for _, want := range []string{
		`<dd>$300.00</dd>`, `<strong>$423.45</strong>`, `<meter min="0" max="40000" high="32000" value="32345">$323.45 of $400.00</meter>`, "100 % reached <small>hard</small>",
		"&#43;25.0 %", "not billed", "2 of 3", "Billed without a cluster's tag: $7.00", `href="/usage/focus.csv?from=2025-03-01"`, `<th scope="row">lab</th><td class="num">$0.00</td>`,
	} {
		require.Contains(t, html, want)
	}
	require.NotContains(t, html, `<th scope="row">over</th>`, "nothing more comes of it, and it has no budget")
}

func TestAGroupWithoutANameIsShown(t *testing.T) {
	v := usageView{By: "tag:Purpose"}
	v.addLines([]reports.ReportLine{{Key: "", Clusters: 1, ClusterHours: 1.25, NodeHours: 3.75, Cents: 94, SavedCents: 12}, {Key: "x", Cents: 6}})
	require.Equal(t, int64(100), v.Total.Cents)
	html := page(t, "usage", v)
	require.Contains(t, html, `<th scope="row">none</th><td class="num">$0.94</td>`)
	require.Contains(t, html, `max="94" value="6"`)
	require.Contains(t, html, `<td></td><td class="num">$0.12</td>`, "the total of what sleeping saved")
}

func TestOrphansShowWhomToAskAndWhatTheyCost(t *testing.T) {
	h := newFixture(t)
	row := h.shown("shop")
	of := lifecycle.KnownCluster{Name: "shop", Owner: "maya", Team: "platform"}
	of.ID = row.ID
	leak := lifecycle.Group{Installation: "test", Cluster: row.ID, Identity: "shop-abcde", Regions: []string{"us-east-1"}, Resources: []string{"vpc-1"}, Sights: 1, Fresh: true, HourlyCents: new(19.2)}
	stray := lifecycle.Group{Place: "vpc-9", Name: "<b>", Owner: "<i>rob</i>", Regions: []string{}, Resources: []string{"vpc-9"}, Sights: 1, Fresh: true, Unpriced: 1}
	for range 2 {
		scan, _, err := h.store.Scans.Open(t.Context(), scans.Wanted{Platform: "aws", Account: "123456789012"}, clusters.Origin{Actor: "saml:ada"})
		require.NoError(t, err)
		require.NoError(t, h.store.Scans.Close(t.Context(), scan.ID, 1, scans.ResultRow{Outcome: lifecycle.Succeeded}))
		_, err = h.store.Scans.KeepOrphans(t.Context(), scan.ID, []lifecycle.Judged{{Group: leak, Class: lifecycle.ClassReleased, Of: &of, Why: "it still exists"},
			{Group: stray, Class: lifecycle.ClassOwned, Why: "the Owner tag says somebody"}}, lifecycle.FindingLimits{MinSights: 2})
		require.NoError(t, err)
	}
	_, page, _ := h.as("ada").get("/admin/orphans")
	for _, want := range []string{"released, reported", "shop-abcde", "It still exists.", "maya of platform", "$0.19/h", `href="/clusters/` + row.ID, "<code>vpc-1</code>", "&lt;i&gt;rob&lt;/i&gt;", "unknown, so far unknown",
		"account 123456789012", "approve their removal"} {
		require.Contains(t, page, want)
	}
	_, page, _ = h.as("ada").get("/admin/orphans?class=owned")
	require.NotContains(t, page, "shop-abcde")
	_, page, _ = h.as("ada").get("/admin/orphans?format=csv")
	require.Contains(t, page, "released,reported,123456789012")
	require.NotContains(t, page, "Scan the accounts now")
	_, page, _ = h.as("will").get("/admin/orphans")
	require.Contains(t, page, "Scan the accounts now")
	_, page, _ = h.as("will").post("/admin/scans", url.Values{"reason": {"x"}})
	require.Contains(t, says(page), "No account is configured")
}
