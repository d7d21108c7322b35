package costs_test

import (
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
