package api

import (
	"encoding/csv"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/statistics"
)

func TestTheSummaryIsReportedForOnesOwnTeamsAndTablesAsCSV(t *testing.T) {
	h := newFixture(t)
	shop := h.make(oidc.Requester, "shop")
	h.ready(shop.ClusterID)
	h.make(will, "vault")
	_, err := h.store.Reports.SaveFindings(t.Context(), []lifecycle.FindingKind{lifecycle.Orphan}, []lifecycle.Finding{
		{Kind: lifecycle.Orphan, Cluster: shop.ClusterID, Identity: "=cmd()", Since: now(), Why: `a "volume", left`},
	})
	require.NoError(t, err)
	const path = "/api/v1/reports/summary"
	soon := "to=" + now().Add(24*time.Hour).UTC().Format(time.RFC3339)
	var own, all v1.ReportSummary
	h.get(path, &own)
	require.Equal(t, []any{1, "platform", 1}, []any{len(own.Inventory), own.Inventory[0].Team, own.Inventory[0].Clusters})
	require.Equal(t, []any{1, "shop"}, []any{len(own.Oldest), own.Oldest[0].Name})
	require.Equal(t, 30*24*time.Hour, own.To.Sub(own.From))
	require.NotNil(t, own.Lifetime, "a list, even an empty one")
	h.seenBy(oidc.Auditor, path, &all)
	require.Len(t, all.Inventory, 2)
	require.Len(t, all.Ages, 7)
	require.Zero(t, all.Ages[6].BelowSeconds)
	h.seenBy(oidc.Auditor, path+"?team=security&"+soon, &all)
	require.Equal(t, []any{1, "security"}, []any{len(all.Inventory), all.Inventory[0].Team})

	answer, raw := h.ask(http.MethodGet, path+"?format=csv&table=leaks&from=2020-01-01T00:00:00Z", h.as(oidc.Requester), nil)
	require.Equal(t, http.StatusBadRequest, answer.StatusCode, "more than two years: %s", raw)
	answer, raw = h.ask(http.MethodGet, path+"?format=csv&table=leaks", h.as(oidc.Requester), nil)
	require.Equal(t, http.StatusOK, answer.StatusCode, string(raw))
	require.Equal(t, "text/csv; charset=utf-8", answer.Header.Get("Content-Type"))
	require.Equal(t, `attachment; filename="leaks.csv"`, answer.Header.Get("Content-Disposition"))
	require.Equal(t, []string{"inventory", "oldest", "lifetime", "ready", "weeks", "failures", "teardowns", "unused", "leaks", "spenders"}, summaryTableNames(), "as in the document")
	for _, name := range summaryTableNames() {
		answer, raw := h.ask(http.MethodGet, path+"?format=csv&table="+name, h.as(oidc.Auditor), nil)
		require.Equal(t, http.StatusOK, answer.StatusCode, name)
		lines, err := csv.NewReader(strings.NewReader(string(raw))).ReadAll() // every line has as many cells as the first
		require.NoError(t, err, name)
		require.NotContains(t, lines[0], "", name)
	}
	for query, field := range map[string]string{
		"?format=csv": "table", "?table=leaks": "table", "?format=xml": "format", "?format=csv&table=users": "table", "?tema=platform": "tema", "?from=2999-01-01T00:00:00Z": "from",
	} {
		p := h.refused(http.MethodGet, path+query, h.as(oidc.Auditor), nil, http.StatusBadRequest)
		require.Equal(t, field, p.Errors[0].Field, query)
		require.NotEmpty(t, p.Errors[0].Accepted, query)
	}
	p := h.refused(http.MethodGet, path+"?team=security", h.as(oidc.Requester), nil, http.StatusForbidden)
	require.Equal(t, strings.ReplaceAll(h.refused(http.MethodGet, path+"?team=none", h.as(oidc.Requester), nil, http.StatusForbidden).Detail, "none", "security"), p.Detail,
		"nobody learns which teams exist")
	h.refused(http.MethodGet, path, h.as(toni), nil, http.StatusForbidden)
}

func TestUnusedClustersAreATable(t *testing.T) {
	sum := admin.Summary{}
	sum.Unused = []statistics.Unused{{Ended: 3, SleptIdle: 5, SleptOffHours: 40, SleptAsked: 1, AsleepHours: 310.25, SavedCents: 2310}, {Profile: "aws-standard", Ended: 3}}
	var b strings.Builder
	require.NoError(t, summaryCSV(&b, "unused", summaryOf(sum)))
	require.Equal(t, "profile,ended,slept_idle,slept_off_hours,slept_asked,asleep_hours,saved_cents\r\n,3,5,40,1,310.25,2310\r\naws-standard,3,0,0,0,0,0\r\n", b.String())
}

func TestACellIsNeverAFormula(t *testing.T) {
	for value, want := range map[any]string{
		"=1+1": "'=1+1", "@x": "'@x", "-1": "'-1", "+1": "'+1", "\tx": "'\tx", "a=b": "a=b", "": "", -1: "-1", int64(7): "7", 1.5: "1.5",
		time.Time{}: "", time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC): "2026-11-20T12:00:00Z",
	} {
		require.Equal(t, want, formatCell(value))
	}
	var b strings.Builder
	require.NoError(t, summaryCSV(&b, "leaks", v1.ReportSummary{Leaks: []v1.SummaryLeak{{Identity: "=x", Why: `a "volume", left`}}}))
	require.Equal(t, "identity,class,cluster_id,cluster,team,why,first_seen_at,last_seen_at,resolved_at,cents,unpriced\r\n'=x,,,,,\"a \"\"volume\"\", left\",,,,,0\r\n", b.String())
}
