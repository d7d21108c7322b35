package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/store/costs"
)

func TestAMonthIsForecastForOnesOwnTeams(t *testing.T) {
	h := fixtureWith(t, teams(t), nil)
	h.make(oidc.Requester, "shop")
	var month v1.Forecast
	h.get("/api/v1/reports/forecast", &month)
	require.Equal(t, []any{"team", 1, "platform", int64(10_000_000)}, []any{month.By, len(month.Items), month.Items[0].Key, month.Items[0].BudgetCents})
	require.Positive(t, month.Items[0].CommittedCents)
	require.Equal(t, month.Items[0].SpentCents+month.Items[0].ToComeCents, month.Total.ForecastCents)
	require.Equal(t, month.Month.AddDate(0, 1, 0), month.End)
	h.seenBy(oidc.Auditor, "/api/v1/reports/forecast?by=repository", &month)
	require.Equal(t, "repository", month.By)
	h.refused(http.MethodGet, "/api/v1/reports/forecast", h.as(toni), nil, http.StatusForbidden)
	h.refused(http.MethodGet, "/api/v1/reports/forecast?by=colour", h.as(oidc.Auditor), nil, http.StatusBadRequest)
}

func TestTheBillIsComparedOnceOneWasRead(t *testing.T) {
	h := newFixture(t)
	p := h.refused(http.MethodGet, "/api/v1/reports/actual", h.as(oidc.Auditor), nil, http.StatusNotFound)
	require.Contains(t, p.Detail, "has not read a billing export")
	row := h.make(oidc.Requester, "shop")
	today := time.Now().UTC().Truncate(24 * time.Hour)
	yesterday := today.AddDate(0, 0, -1)
	month := time.Date(yesterday.Year(), yesterday.Month(), 1, 0, 0, 0, 0, time.UTC)
	_, err := h.store.Pool().Exec(t.Context(), `ALTER TABLE clusters DISABLE TRIGGER USER; UPDATE clusters SET created_at = created_at - interval '3 days'`)
	require.NoError(t, err)
	require.NoError(t, h.store.Costs.SaveBilled(t.Context(), costs.Delivery{Export: "s3://bills/daily", Period: month, ID: "1"}, 3, []costs.Billed{
		{Day: yesterday, ClusterID: row.ClusterID, Nanos: 1_230_000_000}, {Day: yesterday, Nanos: 5_000_000_000}, {Day: today, ClusterID: row.ClusterID, Nanos: 1},
	}))
	from := "?from=" + yesterday.Format(time.RFC3339)
	var bill v1.ActualReport
	h.seenBy(oidc.Auditor, "/api/v1/reports/actual"+from, &bill)
	require.Equal(t, []any{today, int64(123), int64(500), -100.0}, []any{bill.To, bill.Total.ActualCents, bill.UntaggedCents, float64(bill.Items[0].ErrorPercent)})
	h.get("/api/v1/reports/actual"+from, &bill)
	require.Zero(t, bill.UntaggedCents)
	h.refused(http.MethodGet, "/api/v1/reports/actual?from=yesterday", h.as(oidc.Auditor), nil, http.StatusBadRequest)
}

func TestFilesForAccountingAreDownloaded(t *testing.T) {
	h := newFixture(t)
	row := h.make(oidc.Requester, "shop")
	_, err := h.store.Pool().Exec(t.Context(), `INSERT INTO usage_samples VALUES ($1, now() - interval '1 hour', 'CREATING', 0, 75)`, row.ClusterID)
	require.NoError(t, err)
	for path, first := range map[string]string{"/api/v1/reports/chargeback": "from,to,team,", "/api/v1/reports/focus": "AvailabilityZone,BilledCost,"} {
		answer, raw := h.ask(http.MethodGet, path, h.as(oidc.Auditor), nil)
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.Equal(t, "text/csv; charset=utf-8", answer.Header.Get("Content-Type"))
		require.Contains(t, answer.Header.Get("Content-Disposition"), ".csv")
		lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
		require.True(t, strings.HasPrefix(lines[0], first))
		require.LessOrEqual(t, len(lines), 3, "the hour may belong to two days")
		require.Contains(t, lines[1], "shop")
		h.refused(http.MethodGet, path, h.as(toni), nil, http.StatusForbidden)
		h.refused(http.MethodGet, path+"?from=2030-01-01T00:00:00Z", h.as(oidc.Auditor), nil, http.StatusBadRequest)
	}
}
