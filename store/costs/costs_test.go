package costs_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/costs"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

func chargesOf(t *testing.T, s *store.Store, f costs.Filter) (all []costs.Charge) {
	t.Helper()
	require.NoError(t, s.Costs.Charges(t.Context(), f, func(c costs.Charge) error {
		all = append(all, c)
		return nil
	}))
	return all
}

// Charges are the same intervals as the report's, cut at each midnight.
func TestChargesOfAllDaysAreTheReportsAmount(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	start := clock.Now()
	row := storetest.Accept(t, s, storetest.FromPR(storetest.Sized("shop"), 7))
	storetest.Step(t, s, row.ID)
	storetest.Accept(t, s, storetest.Sized("waits"))
	clock.Pass(49*time.Hour + 20*time.Minute + 7*time.Millisecond)
	charges := chargesOf(t, s, costs.Filter{From: start})
	require.GreaterOrEqual(t, len(charges), 3)
	total := price.Amount(0)
	for i, c := range charges {
		require.Equal(t, c.Day.Truncate(24*time.Hour), c.Day.UTC(), "days begin at midnight, UTC")
		if i > 0 {
			require.Equal(t, charges[i-1].Day.Add(24*time.Hour), c.Day, "no day is left out")
		}
		require.LessOrEqual(t, c.Millis, (24 * time.Hour).Milliseconds())
		total += c.Amount()
	}
	first := charges[0]
	require.Equal(t, []any{row.ID, "shop", "acme/shop", "acme/shop#7", "cc-1", 70, 6}, []any{first.Cluster, first.Name, first.Repository, first.PullRequest, first.CostCenter, first.HourlyCents, first.Machines})
	require.Equal(t, []any{"maya", "7"}, []any{first.Tags["Owner"], first.UserTags["ticket"]})
	report, err := s.Reports.UsageReport(t.Context(), reports.ReportFilter{From: start, By: "pullRequest"})
	require.NoError(t, err)
	require.Equal(t, report[0].Cents, total.Cents())
	require.Equal(t, (49*time.Hour+20*time.Minute+7*time.Millisecond).Milliseconds()*70, int64(total), "to the millisecond")

	require.Len(t, chargesOf(t, s, costs.Filter{From: first.Day, To: first.Day.Add(24 * time.Hour)}), 1)
	require.Empty(t, chargesOf(t, s, costs.Filter{From: start, Teams: []string{"nobody"}}))
	require.ErrorIs(t, s.Costs.Charges(t.Context(), costs.Filter{From: clock.Now(), To: start}, nil), db.ErrConflict)
}

func TestADeliveryReplacesTheBillOfItsPeriod(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Sized("shop"))
	month := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	day := func(n int) time.Time { return month.AddDate(0, 0, n-1) }
	billed := func(on int, id string, nanos int64) costs.Billed {
		return costs.Billed{Day: day(on), ClusterID: id, Nanos: nanos}
	}
	of := costs.Delivery{Export: "s3://bills/ocpctl/daily", Period: month, ID: "first"}
	save := func(d costs.Delivery, lines ...costs.Billed) {
		require.NoError(t, s.Costs.SaveBilled(t.Context(), d, len(lines), lines))
	}
	save(of, billed(1, row.ID, 999))
	second := []costs.Billed{billed(1, row.ID, 700), billed(2, row.ID, 300), billed(2, "clu_OTHER", 50), billed(2, "", 10_000), billed(3, row.ID, -20)}
	of.ID = "second"
	save(of, second...)
	save(of, second...) // a crash after the transaction repeats it
	december := costs.Delivery{Export: of.Export, Period: month.AddDate(0, 1, 0), ID: "x"}
	save(december, costs.Billed{Day: month.AddDate(0, 1, 0), ClusterID: row.ID, Nanos: 1})

	bill, err := s.Costs.Bill(t.Context(), costs.Filter{From: day(1), To: day(4)})
	require.NoError(t, err)
	require.Equal(t, costs.Bill{Known: 980, Unknown: 50, Untagged: 10_000, Since: month, Through: month.AddDate(0, 1, 0)}, bill)
	bill, err = s.Costs.Bill(t.Context(), costs.Filter{From: day(2), To: day(3), Teams: []string{row.Team}})
	require.NoError(t, err)
	require.Equal(t, costs.Bill{Known: 300, Since: month, Through: month.AddDate(0, 1, 0)}, bill)
	bill, err = s.Costs.Bill(t.Context(), costs.Filter{From: day(2), To: day(3), Teams: []string{}})
	require.NoError(t, err)
	require.Zero(t, bill.Known)
	lines, err := s.Reports.UsageReport(t.Context(), reports.ReportFilter{From: day(1), To: day(3), By: "cluster"})
	require.NoError(t, err)
	require.Empty(t, lines, "it did not exist yet on the days of this bill")
	save(costs.Delivery{Export: of.Export, Period: month, ID: "third"}, costs.Billed{Day: clock.Now().Truncate(24 * time.Hour), ClusterID: row.ID, Nanos: 7_000_000})
	clock.Pass(time.Hour)
	lines, err = s.Reports.UsageReport(t.Context(), reports.ReportFilter{From: clock.Now().Truncate(24 * time.Hour), By: "cluster"})
	require.NoError(t, err)
	require.Equal(t, []any{row.ID, int64(7_000_000), 1}, []any{lines[0].Key, lines[0].ActualNanos, lines[0].Billed})
	known, err := s.Costs.Deliveries(t.Context(), of.Export)
	require.NoError(t, err)
	require.Len(t, known, 2)
	require.Equal(t, []any{"third", month}, []any{known[0].ID, known[0].Period.UTC()})
}

func TestABudgetThatIsReachedByTimeAloneIsAnnouncedOnceAMonth(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	reached := []usage.Threshold{{Team: "platform", Percent: 50, Cents: 500, Budget: 1000}}
	for range 2 {
		require.NoError(t, s.Costs.AnnounceBudgets(t.Context(), reached))
	}
	require.Equal(t, []string{"budget:2026-11:platform:50"}, storetest.Announced(t, s))
}

func TestABillWhoseExportWasRenamedCountsOnce(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Sized("shop"))
	today := clock.Now().Truncate(24 * time.Hour)
	month := today.AddDate(0, 0, 1-today.Day())
	for _, export := range []string{"s3://bills/ocpctl/daily", "s3://bills/ocpctl/daily-2", "s3://bills/ocpctl/daily"} {
		d := costs.Delivery{Export: export, Period: month, ID: "the same"}
		require.NoError(t, s.Costs.SaveBilled(t.Context(), d, 1, []costs.Billed{{Day: today, ClusterID: row.ID, Nanos: 700}}))
		bill, err := s.Costs.Bill(t.Context(), costs.Filter{From: today, To: today.AddDate(0, 0, 1)})
		require.NoError(t, err)
		require.Equal(t, int64(700), bill.Known, export)
	}
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM cost_exports`))
}

func TestABillIsUnbrokenSinceTheLastGap(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	month := func(n time.Month) time.Time { return time.Date(2026, n, 1, 0, 0, 0, 0, time.UTC) }
	since := func() time.Time {
		bill, err := s.Costs.Bill(t.Context(), costs.Filter{From: month(1), To: month(12)})
		require.NoError(t, err)
		return bill.Since
	}
	require.True(t, since().IsZero(), "no export was read")
	for _, c := range []struct{ read, since time.Month }{{11, 11}, {9, 11}, {8, 11}, {10, 8}, {12, 8}} {
		d := costs.Delivery{Export: "s3://bills/ocpctl/daily", Period: month(c.read), ID: "x"}
		require.NoError(t, s.Costs.SaveBilled(t.Context(), d, 0, nil))
		require.Equal(t, month(c.since), since(), "after %s was read", c.read)
	}
}
