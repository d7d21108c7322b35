package costs_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/costs"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/internal/cur"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	storecosts "github.com/ocpctl/ocpctl/store/costs"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/pools"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/usage"
)

var (
	auditor = policy.As("saml:gus@acme.example", "gus", policy.Auditor)
	shopper = policy.As("saml:zoe@acme.example", "zoe", policy.Requester, "shop")
	nobody  = policy.Principal{ID: "saml:rob@acme.example"}
)

// office is a service with a clock of its own: the 20th of November 2026, noon.
type office struct {
	*costs.Service
	t     *testing.T
	store *store.Store
	now   time.Time
}

func newOffice(t *testing.T, budgets map[string]string) *office {
	o := &office{t: t, now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	var err error
	o.store, err = store.Open(t.Context(), pgtest.New(t), db.Options{Limits: servicetest.Limits(), Lease: time.Minute, Now: func() time.Time { return o.now }})
	require.NoError(t, err)
	t.Cleanup(o.store.Close)
	files := map[string]string{}
	for team, budget := range budgets {
		files["teams/"+team+".yaml"] = "name: " + team + "\ndisplayName: The " + team + "\nowner: maya\ncostCenters: [sandbox]\nenvironments: [test]\n" + budget + "\n"
	}
	terms := servicetest.Catalogue(t, files)
	o.Service = costs.New(app.Config{Store: o.store, Catalogue: func() catalogue.Catalogue { return terms }, Policy: policy.Settings{Installation: "acme-1"}})
	return o
}

// cluster runs from now on, for so many hours, at a dollar an hour.
func (o *office) cluster(name, team string, hours int) clusters.Row {
	o.t.Helper()
	return o.start(rowOf(name, team, hours))
}

func (o *office) start(row clusters.Row) clusters.Row {
	o.t.Helper()
	row = o.judge(row)
	cluster, facts, err := o.store.Load(o.t.Context(), row.ID)
	require.NoError(o.t, err)
	require.NoError(o.t, o.store.Apply(o.t.Context(), lifecycle.Decide(cluster, facts, servicetest.Limits()), cluster.Version))
	return row
}

func rowOf(name, team string, hours int) clusters.Row {
	row := clusters.Row{Source: "api", CostCenter: "sandbox", Environment: "test", Tags: map[string]string{"Owner": "maya", "ticket": "7"}, Spec: clusters.Spec{InstallConfig: "x", Zones: []string{"us-east-1a"}}}
	row.Name, row.Platform, row.Profile, row.Release, row.Region, row.BaseDomain = name, "aws", "aws-standard", "4.20.3", "us-east-1", "labs.example.com"
	row.Owner, row.Team, row.RequestedBy, row.TTL, row.HourlyCents, row.MaxTries, row.Nodes = "=maya", team, "github:maya", time.Duration(hours)*time.Hour, 100, 1, 6
	return row
}

// judge accepts a request, which may be served from the pools.
func (o *office) judge(row clusters.Row, from ...pools.Candidate) clusters.Row {
	o.t.Helper()
	judged, err := o.store.Judge(o.t.Context(), store.Ask{Scope: usage.Scope{Person: row.RequestedBy, Team: row.Team}, Principal: row.RequestedBy, Source: row.Source, Claims: len(from) > 0},
		func(usage.Usage) (store.Judgement, error) {
			return store.Judgement{Allowed: true, Row: row, MaxTTL: 3 * row.TTL, Verdict: []byte(`{"allowed":true}`), UserTags: map[string]string{"ticket": "7"}, Pools: from}, nil
		})
	require.NoError(o.t, err)
	return judged.Row
}

func (o *office) pass(d time.Duration) { o.now = o.now.Add(d) }

func TestAForecastIsWhatWasSpentAndWhatComesUntilTheMonthsEnd(t *testing.T) {
	o := newOffice(t, map[string]string{"shop": "budget: {monthlyDollars: 200, hard: true}", "vault": "budget: {monthlyDollars: 1000}", "free": ""})
	o.cluster("short", "shop", 20)
	o.cluster("long", "shop", 400) // 16 days, of which less than 11 are left in November
	o.cluster("other", "lab", 5)
	o.pass(10 * time.Hour)
	f, err := o.Forecast(t.Context(), auditor, "team")
	require.NoError(t, err)
	require.Equal(t, []time.Time{time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)}, []time.Time{f.Month, f.End})
	left := int64(10*24+2) * 100 // from the 20th, 22:00, to the month's end
	require.Len(t, f.Lines, 3)
	shop := f.Lines[0]
	require.Equal(t, []any{"shop", 2, int64(2000), 1000 + left, int64(1000 + 39000), 3000 + left}, []any{shop.Key, shop.Clusters, shop.Spent, shop.ToCome, shop.Committed, shop.Month()})
	require.Equal(t, []any{int64(20_000), true, []int{50, 80, 100}}, []any{shop.Budget.MonthlyCents, shop.Budget.Hard, shop.Reached})
	require.Equal(t, []any{"lab", int64(1000), int64(0), int64(0)}, []any{f.Lines[1].Key, f.Lines[1].Spent, f.Lines[1].ToCome, f.Lines[1].Budget.MonthlyCents}, "it is past its end")
	require.Equal(t, []any{"vault", 0, int64(100_000)}, []any{f.Lines[2].Key, f.Lines[2].Clusters, f.Lines[2].Budget.MonthlyCents}, "a budget without clusters")
	require.Equal(t, []int64{3000, 1000 + left}, []int64{f.Total.Spent, f.Total.ToCome})

	mine, err := o.Forecast(t.Context(), shopper, "profile")
	require.NoError(t, err)
	require.Len(t, mine.Lines, 1)
	require.Equal(t, []any{"aws-standard", int64(2000), int64(0)}, []any{mine.Lines[0].Key, mine.Lines[0].Spent, mine.Lines[0].Budget.MonthlyCents})
	_, err = o.Forecast(t.Context(), nobody, "team")
	require.Equal(t, app.Denied, app.KindOf(err))
	_, err = o.Forecast(t.Context(), auditor, "colour")
	require.Equal(t, app.Invalid, app.KindOf(err))
}

// On the first of the month nobody has asked for anything yet, and what is promised counts toward the new budget.
func TestABudgetIsAnnouncedThatTheNewMonthBeginsWith(t *testing.T) {
	o := newOffice(t, map[string]string{"shop": "budget: {monthlyDollars: 200}"})
	o.cluster("long", "shop", 400)
	announced := func() (causes []string) {
		rows, err := o.store.Pool().Query(t.Context(), `SELECT cause FROM announcements ORDER BY id`)
		require.NoError(t, err)
		for rows.Next() {
			var cause string
			require.NoError(t, rows.Scan(&cause))
			causes = append(causes, cause)
		}
		require.NoError(t, rows.Err())
		return causes
	}
	o.now = time.Date(2026, 12, 1, 0, 1, 0, 0, time.UTC) // 148 hours are left, and a minute is spent
	require.NoError(t, o.AnnounceBudgets(t.Context()))
	require.NoError(t, o.AnnounceBudgets(t.Context()))
	require.Equal(t, []string{"budget:2026-12:shop:50"}, announced())
}

func TestAChargebackFileHasALineForEachCluster(t *testing.T) {
	o := newOffice(t, map[string]string{"shop": ""})
	first := o.cluster("first", "shop", 400)
	o.cluster("second", "lab", 400)
	o.pass(36 * time.Hour)
	require.NoError(t, o.ReadBill(t.Context(), bill{cluster: first.ID}))
	var out bytes.Buffer
	require.NoError(t, o.Chargeback(t.Context(), auditor, reports.ReportFilter{}, &out))
	lines, err := csv.NewReader(&out).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 3)
	require.Equal(t, []string{"from", "to", "team", "cost_center", "owner"}, lines[0][:5])
	require.Equal(t, []string{"2026-11-01T00:00:00Z", "2026-11-22T00:00:00Z", "shop", "sandbox", "'=maya"}, lines[1][:5], "no spreadsheet runs an owner")
	require.Equal(t, []string{"aws-standard", "aws", "us-east-1", first.ID, "first", "36.0000", "216.0000", "36.00", "0.00", "30.50"}, lines[1][9:])
	require.Equal(t, []string{"second", "36.0000", "216.0000", "36.00", "0.00", ""}, lines[2][13:], "nothing was billed for it")

	last := func(from, to time.Time) string {
		var out bytes.Buffer
		require.NoError(t, o.Chargeback(t.Context(), shopper, reports.ReportFilter{From: from, To: to}, &out))
		lines, err := csv.NewReader(&out).ReadAll()
		require.NoError(t, err)
		return lines[1][len(lines[1])-1]
	}
	day := func(d int) time.Time { return time.Date(2026, 11, d, 0, 0, 0, 0, time.UTC) }
	o.pass(36 * time.Hour)
	require.Equal(t, "20.00", last(day(21), day(22)))
	require.Empty(t, last(day(21), day(23)), "the bill's last day is still growing")
	require.Empty(t, last(day(21).Add(time.Hour), day(22)), "an hour is missing from the estimate, and not from the bill")
	require.Empty(t, last(day(21), day(22).Add(-time.Hour)))
	o.pass(-36 * time.Hour)

	out.Reset()
	require.NoError(t, o.Chargeback(t.Context(), shopper, reports.ReportFilter{From: o.now.Add(-time.Hour)}, &out))
	require.Equal(t, 2, strings.Count(out.String(), "\n"))
	require.Contains(t, out.String(), ",1.0000,6.0000,1.00,")
	require.Equal(t, app.Denied, app.KindOf(o.Chargeback(t.Context(), nobody, reports.ReportFilter{}, &out)))
	require.Equal(t, app.Invalid, app.KindOf(o.Chargeback(t.Context(), auditor, reports.ReportFilter{From: o.now.Add(time.Hour)}, &out)))
}

func TestAFocusFileIsWhatTheReportCounts(t *testing.T) {
	o := newOffice(t, map[string]string{"shop": ""})
	row := o.cluster("first", "shop", 400)
	o.pass(36 * time.Hour)
	var out bytes.Buffer
	require.NoError(t, o.Focus(t.Context(), auditor, reports.ReportFilter{}, &out))
	lines, err := csv.NewReader(&out).ReadAll()
	require.NoError(t, err)
	at := map[string]int{}
	for i, name := range lines[0] {
		at[name] = i
	}
	require.Len(t, lines, 3, "two days")
	get := func(line int, names ...string) (values []string) {
		for _, name := range names {
			values = append(values, lines[line][at[name]])
		}
		return values
	}
	require.Equal(t, []string{"2026-11-20T00:00:00Z", "12", "12", "1"}, get(1, "ChargePeriodStart", "PricingQuantity", "BilledCost", "ListUnitPrice"))
	require.Equal(t, []string{"2026-11-21T00:00:00Z", "24", "24"}, get(2, "ChargePeriodStart", "PricingQuantity", "BilledCost"))
	require.Equal(t, []string{"acme-1", "shop", "The shop", row.ID, "US East (N. Virginia)", "'=maya"}, get(1, "BillingAccountId", "SubAccountId", "SubAccountName", "ResourceId", "RegionName", "x_Owner"))
	require.JSONEq(t, `{"ticket": "7", "ocpctl:Owner": "maya"}`, get(1, "Tags")[0])
	require.Equal(t, app.Denied, app.KindOf(o.Focus(t.Context(), nobody, reports.ReportFilter{}, &out)))
	require.Equal(t, app.Invalid, app.KindOf(o.Focus(t.Context(), auditor, reports.ReportFilter{From: o.now}, &out)))
}

// bill is an export of November, in the form that package cur reads.
type bill struct {
	cluster string
	id      string
	err     error
	reads   *int
}

func (b bill) String() string { return "s3://bills/daily" }

func (b bill) Deliveries(context.Context) ([]cur.Delivery, error) {
	return []cur.Delivery{{Period: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), ID: "d" + b.id}}, nil
}

// Read bills 10.5 and 20 dollars for the cluster on the 20th and the 21st, something for others on the 21st, and a part of the 22nd.
func (b bill) Read(context.Context, cur.Delivery) (cur.Bill, error) {
	if b.reads != nil {
		*b.reads++
	}
	if b.err != nil {
		return cur.Bill{}, b.err
	}
	on := func(day int, id string, cents int64) cur.Billed {
		return cur.Billed{Day: time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC), ClusterID: id, Nanos: cents * 10_000_000}
	}
	return cur.Bill{Lines: 99, Billed: []cur.Billed{
		on(20, b.cluster, 1050), on(21, b.cluster, 2000), on(21, "clu_GONE", 300), on(21, "", 10_000), on(22, b.cluster, 500),
	}}, nil
}

func TestTheEstimateIsComparedWithTheBill(t *testing.T) {
	o := newOffice(t, map[string]string{"shop": ""})
	_, err := o.Actual(t.Context(), auditor, reports.ReportFilter{By: "team"})
	require.Equal(t, app.NotFound, app.KindOf(err))
	require.ErrorContains(t, err, "has not read a billing export")

	row := o.cluster("first", "shop", 400)
	o.cluster("second", "lab", 400)
	o.pass(60 * time.Hour) // to the 23rd; the bill's last day is the 22nd
	reads := 0
	require.NoError(t, o.ReadBill(t.Context(), bill{cluster: row.ID, reads: &reads}))
	require.NoError(t, o.ReadBill(t.Context(), bill{cluster: row.ID, reads: &reads}))
	require.Equal(t, 1, reads, "the same delivery is read once")

	got, err := o.Actual(t.Context(), auditor, reports.ReportFilter{By: "team"})
	require.NoError(t, err)
	require.Equal(t, time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), got.To)
	require.Equal(t, []costs.ActualLine{{"lab", 1, 0, 3600, 0}, {"shop", 1, 1, 3600, 3050}}, got.Lines)
	require.Equal(t, costs.ActualLine{Clusters: 2, Billed: 1, Estimate: 7200, Actual: 3050}, got.Total)
	require.Equal(t, []int64{0, 300, 10_000}, []int64{got.Late, got.Unknown, got.Untagged})
	percent, known := got.Lines[1].Error()
	require.Equal(t, []any{18.0, true}, []any{percent, known})
	_, known = got.Lines[0].Error()
	require.False(t, known, "nothing was billed")

	mine, err := o.Actual(t.Context(), shopper, reports.ReportFilter{By: "cluster"})
	require.NoError(t, err)
	require.Equal(t, []any{1, row.ID, int64(0), int64(0)}, []any{len(mine.Lines), mine.Lines[0].Key, mine.Unknown, mine.Untagged})
	today, err := o.Actual(t.Context(), auditor, reports.ReportFilter{By: "team", From: o.now.Add(-time.Hour)})
	require.NoError(t, err)
	require.Empty(t, today.Lines, "the bill does not tell of it yet")
}

func TestNothingIsComparedWithMonthsBeforeTheBill(t *testing.T) {
	o := newOffice(t, nil)
	o.now = dayOf(1).AddDate(0, 0, -10)
	row := o.cluster("first", "shop", 800)
	o.now = dayOf(23)
	require.NoError(t, o.ReadBill(t.Context(), bill{cluster: row.ID}))
	october := reports.ReportFilter{By: "team", From: dayOf(1).AddDate(0, -1, 0)}
	got, err := o.Actual(t.Context(), auditor, october)
	require.NoError(t, err)
	require.Equal(t, []any{dayOf(1), dayOf(22), []costs.ActualLine{{"shop", 1, 1, 21 * 2400, 3050}}}, []any{got.From, got.To, got.Lines})
	var out bytes.Buffer
	october.To = dayOf(22)
	require.NoError(t, o.Chargeback(t.Context(), auditor, october, &out))
	require.Contains(t, out.String(), ",744.00,0.00,\n", "what October's days were billed is not known")
	october.To = dayOf(1)
	got, err = o.Actual(t.Context(), auditor, october)
	require.NoError(t, err)
	require.Empty(t, got.Lines)
}

func TestOnlyClustersOfTheBillsCloudAreComparedWithIt(t *testing.T) {
	o := newOffice(t, nil)
	row := o.cluster("first", "shop", 400)
	other := rowOf("other", "shop", 400)
	other.Platform = "ibmcloud"
	o.start(other)
	o.pass(48 * time.Hour)
	billed := []storecosts.Billed{{Day: dayOf(20), ClusterID: row.ID, Nanos: 12_000_000_000}, {Day: dayOf(21), ClusterID: row.ID, Nanos: 24_000_000_000}, {Day: dayOf(22)}}
	require.NoError(t, o.store.Costs.SaveBilled(t.Context(), storecosts.Delivery{Export: "s3://bills/daily", Period: dayOf(1), ID: "d"}, 3, billed))
	got, err := o.Actual(t.Context(), auditor, reports.ReportFilter{By: "team"})
	require.NoError(t, err)
	require.Equal(t, costs.ActualLine{Clusters: 1, Billed: 1, Estimate: 3600, Actual: 3600}, got.Total)
}

func TestABillThatCannotBeReadLeavesTheOneBefore(t *testing.T) {
	o := newOffice(t, map[string]string{"shop": ""})
	row := o.cluster("first", "shop", 400)
	o.pass(60 * time.Hour)
	require.NoError(t, o.ReadBill(t.Context(), bill{cluster: row.ID}))
	broken := errors.New("connection reset")
	require.ErrorIs(t, o.ReadBill(t.Context(), bill{id: "2", err: broken}), broken)
	require.NoError(t, o.ReadBill(t.Context(), bill{id: "2", err: cur.ErrWrittenAgain}), "the next look reads it")
	got, err := o.Actual(t.Context(), auditor, reports.ReportFilter{By: "team"})
	require.NoError(t, err)
	require.Equal(t, int64(3050), got.Total.Actual)
	require.NoError(t, o.ReadBill(t.Context(), bill{cluster: "clu_OTHER", id: "2"}))
	got, err = o.Actual(t.Context(), auditor, reports.ReportFilter{By: "team"})
	require.NoError(t, err)
	require.Equal(t, int64(0), got.Total.Actual, "a delivery replaces the one before")
}
