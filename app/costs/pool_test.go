package costs_test

import (
	"bytes"
	"encoding/csv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/costs"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pools"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// pooled is a cluster of team infra that waits in its pool from now on.
func (o *office) pooled() clusters.Row {
	o.t.Helper()
	row := rowOf("ready-1", "infra", 400)
	row.Owner, row.RequestedBy, row.Source, row.Pool, row.Pooled, row.PoolDigest = "platform", "pool:ready", "pool", "ready", true, "d1"
	row = o.judge(row)
	storetest.Step(o.t, o.store, row.ID)
	open, err := o.store.Attempts.OpenAttempt(o.t.Context(), row.ID)
	require.NoError(o.t, err)
	_, err = o.store.Attempts.Claim(o.t.Context(), open.Attempt, open.Token, "pod-1")
	require.NoError(o.t, err)
	storetest.Ready(o.t, o.store, row, open, "ready-1-abcde")
	return row
}

// claim gives the waiting cluster to team shop.
func (o *office) claim(row clusters.Row) {
	o.t.Helper()
	require.Equal(o.t, row.ID, o.judge(rowOf("mine", "shop", 400), pools.Candidate{Pool: "ready"}).ID)
}

func dayOf(day int) time.Time { return time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC) }

func TestAChargebackFileChargesAPoolForWhatWaited(t *testing.T) {
	o := newOffice(t, nil)
	row := o.pooled()
	o.pass(22 * time.Hour) // to the 21st, 10:00
	o.claim(row)
	o.pass(24 * time.Hour)
	require.NoError(t, o.ReadBill(t.Context(), bill{cluster: row.ID}))
	of := reports.ReportFilter{By: "team", From: dayOf(20), To: dayOf(22)}
	var out bytes.Buffer
	require.NoError(t, o.Chargeback(t.Context(), auditor, of, &out))
	lines, err := csv.NewReader(&out).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 3)
	charged := func(line []string) []string {
		return []string{line[2], line[4], line[12], line[14], line[16], line[18]}
	}
	require.Equal(t, []string{"infra", "platform", row.ID, "22.0000", "22.00", "10.50"}, charged(lines[1]))
	require.Equal(t, []string{"shop", "'=maya", row.ID, "14.0000", "14.00", "20.00"}, charged(lines[2]), "a bill knows only days: the day of the claim is the claimant's")

	_, used, err := o.Usage(t.Context(), auditor, of)
	require.NoError(t, err)
	require.Equal(t, []any{"infra", int64(2200), int64(10_500_000_000)}, []any{used[0].Key, used[0].Cents, used[0].ActualNanos})
	require.Equal(t, []any{"shop", int64(1400), int64(20_000_000_000)}, []any{used[1].Key, used[1].Cents, used[1].ActualNanos})
	of.By = "cluster"
	_, used, err = o.Usage(t.Context(), auditor, of)
	require.NoError(t, err)
	require.Equal(t, []reports.ReportLine{{Key: row.ID, Name: "ready-1", Clusters: 1, Ready: 1, ClusterHours: 36, NodeHours: 216, Cents: 3600, ActualNanos: 30_500_000_000, Billed: 1}}, used)
}

func TestAClaimLeavesThePoolWhatWasBilledBefore(t *testing.T) {
	o := newOffice(t, nil)
	row := o.pooled()
	o.pass(48 * time.Hour)
	require.NoError(t, o.ReadBill(t.Context(), bill{cluster: row.ID}))
	of := reports.ReportFilter{By: "team", From: dayOf(20), To: dayOf(22)}
	before, err := o.Actual(t.Context(), auditor, of)
	require.NoError(t, err)
	require.Equal(t, []any{[]costs.ActualLine{{"infra", 1, 1, 3600, 3050}}, int64(0)}, []any{before.Lines, before.Late})
	o.claim(row)
	o.pass(time.Hour)
	after, err := o.Actual(t.Context(), auditor, of)
	require.NoError(t, err)
	require.Equal(t, before, after)
	mine, err := o.Actual(t.Context(), shopper, of)
	require.NoError(t, err)
	require.Equal(t, []any{0, int64(0)}, []any{len(mine.Lines), mine.Late}, "nothing of it is the claimant's")
}
