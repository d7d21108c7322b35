package web

import (
	"fmt"
	"io/fs"
	"math/big"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Over random lives, before and after scaling and extending, every place that names a price names the same one to the cent:
// dry run, approval, page, list, comment, status, budget, transfer and report; and it is the exact one.
func TestEveryEntryPointNamesTheSamePrice(t *testing.T) {
	h := newTill(t)
	lives := 0
	rapid.Check(t, func(r *rapid.T) {
		lives++
		l := h.begin(t, r, lives)
		l.agrees(t, "accepted")
		h.pass(time.Duration(rapid.Int64Range(1, int64(3*time.Hour)).Draw(r, "waits")))
		l.agrees(t, "it waits")
		l.moves(t, func(c *lifecycle.Cluster) { c.Status, c.Phase = lifecycle.Creating, lifecycle.Preflight }, l.list)
		h.pass(time.Duration(rapid.Int64Range(1, int64(2*time.Hour)).Draw(r, "installs")))
		l.agrees(t, "it installs")
		l.moves(t, func(c *lifecycle.Cluster) {
			c.Status, c.Phase, c.ReadyAt = lifecycle.Ready, lifecycle.PhaseReady, h.now()
		}, l.list)
		for i := range rapid.IntRange(1, 3).Draw(r, "changes") {
			h.pass(time.Duration(rapid.Int64Range(1, int64(3*time.Hour)).Draw(r, "runs")))
			workers := rapid.IntRange(0, 6).Draw(r, "workers")
			_, _, err := h.service.Scale(t.Context(), l.who, l.id, workers, app.Origin{Source: policy.SourceWeb})
			require.NoError(t, err)
			l.agrees(t, fmt.Sprint("it is asked to scale, ", i))
			h.pass(time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(r, "scales")))
			rate := (10_000*l.list + *l.row(t).WorkerMicros*(workers-3) + 5_000) / 10_000 // each worker at its own price, half up
			l.moves(t, func(c *lifecycle.Cluster) { c.Workers, c.WorkersWanted = &workers, nil }, rate)
			l.agrees(t, fmt.Sprint("it is scaled, ", i))
			require.Equal(t, rate, l.row(t).HourlyCents)
			_, err = h.service.Extend(t.Context(), l.who, l.id, app.Span{For: time.Duration(rapid.IntRange(1, 9).Draw(r, "longer")) * time.Hour}, app.Origin{Source: policy.SourceWeb})
			require.NoError(t, err)
			l.agrees(t, fmt.Sprint("it is extended, ", i))
		}
	})
}

// till is a service on a clock that the test dictates.
type till struct {
	store   *store.Store
	service *app.Service
	at      atomic.Int64 // in microseconds
}

func (h *till) now() time.Time       { return time.UnixMicro(h.at.Load()).UTC() }
func (h *till) pass(d time.Duration) { h.at.Add(d.Microseconds()) }

func newTill(t *testing.T) *till {
	body, err := fs.ReadFile(profiles.EmbeddedFiles(), "profiles/aws-standard.yaml")
	require.NoError(t, err)
	standard := strings.NewReplacer("maxReplicas: 3", "maxReplicas: 6", "us-east-2c]}", "us-east-2c], hourlyCents: 97}",
		"us-west-2c]}", "us-west-2c], hourlyCents: 100000}").Replace(string(body))
	terms := servicetest.Catalogue(t, map[string]string{
		"profiles/aws-standard.yaml": standard,
		"quotas/quotas.yaml":         "quotas:\n  - {name: all, scope: team, live: 100000}\n",
		"teams/platform.yaml":        "name: platform\nowner: maya\ncostCenters: [sandbox]\nenvironments: [test]\n",
		"teams/poor.yaml":            "name: poor\nowner: will\ncostCenters: [sandbox]\nenvironments: [test]\nbudget: {monthlyDollars: 1, hard: true}\n",
	})
	h := &till{}
	h.at.Store(time.Date(2026, 11, 2, 9, 0, 0, 123_456_000, time.UTC).UnixMicro())
	h.store, err = store.Open(t.Context(), pgtest.New(t), db.Options{Limits: servicetest.Limits(), Lease: time.Minute, Installation: "test", Now: h.now})
	require.NoError(t, err)
	t.Cleanup(h.store.Close)
	h.service = app.New(app.Config{
		Store: h.store, Artifacts: servicetest.Shelf{}, Catalogue: func() catalogue.Catalogue { return terms }, GitHub: githubAnswers{}, UI: "http://127.0.0.1:8080",
		Policy: policy.Settings{Installation: "test"}, Installs: app.Installs{PullSecretRef: "file:/run/pull-secret"},
	})
	return h
}

// life is one cluster, and what it cost exactly, by exact arithmetic of the test's own.
type life struct {
	*till
	who   policy.Principal
	id    string
	list  int
	rate  int
	since time.Time
	exact *big.Int // cents an hour x milliseconds
}

// begin asks for a cluster, after the start of every month so that a life stays within one.
func (h *till) begin(t *testing.T, r *rapid.T, n int) *life {
	h.at.Store(time.Date(2026, 11, 2, 9, 0, 0, 123_456_000, time.UTC).UnixMicro() + rapid.Int64Range(0, 7_200_000_000).Draw(r, "asks"))
	region := rapid.SampledFrom([]string{"us-east-1", "us-east-2", "us-west-2"}).Draw(r, "region")
	hours := rapid.IntRange(24, 72).Draw(r, "hours")
	l := &life{till: h, list: map[string]int{"us-east-1": 148, "us-east-2": 97, "us-west-2": 100_000}[region], exact: new(big.Int)}
	l.who = policy.As(fmt.Sprintf("saml:p%d@acme.example", n), fmt.Sprintf("p%d", n), policy.Requester, "platform", "poor")
	asked := app.CreateRequest{
		Source: policy.SourceAPI, Name: fmt.Sprintf("shop-%d", n), Profile: "aws-standard", Region: region, Team: "platform", Owner: l.who.Name, TTL: time.Duration(hours) * time.Hour,
	}
	verdict, err := h.service.DryRun(t.Context(), l.who, asked)
	require.NoError(t, err)
	require.True(t, verdict.Allowed, "%v", verdict.Refusals())
	created, err := h.service.Create(t.Context(), l.who, asked)
	require.NoError(t, err)
	l.id = created.Row.ID
	row := l.row(t)
	require.Equal(t, verdict.Grant.PriceCents, int64(l.list*hours))
	require.Equal(t, verdict.Grant.PriceCents, row.Meter.Total(row.AcceptedAt, row.DestroyAt))
	require.Equal(t, verdict.Grant.HourlyCents, row.HourlyCents)
	view := approvalView{Approval: app.Approval{Approval: clusters.Approval{Kind: clusters.ApproveCreate}}}
	view.addCluster(row, "")
	text := fmt.Sprintf("about %s an hour, %s until its planned end, by list prices", price.Dollars(int64(l.list)), price.Dollars(verdict.Grant.PriceCents))
	require.Equal(t, text, view.Cost)
	require.Equal(t, text, verdictView{Verdict: verdict.Verdict}.Price())
	return l
}

func (l *life) row(t *testing.T) clusters.Row {
	row, err := l.store.Cluster(t.Context(), l.id)
	require.NoError(t, err)
	return row
}

// moves brings the cluster on as the controller does; from then on an hour costs rate.
func (l *life) moves(t *testing.T, change func(*lifecycle.Cluster), rate int) {
	c, _, err := l.store.Load(t.Context(), l.id)
	require.NoError(t, err)
	version := c.Version
	change(&c)
	require.NoError(t, l.store.Apply(t.Context(), lifecycle.Decision{Next: c}, version))
	l.exact.Add(l.exact, l.running())
	l.since, l.rate = l.now(), rate
}

func (l *life) running() *big.Int {
	if l.since.IsZero() {
		return new(big.Int)
	}
	return new(big.Int).Mul(big.NewInt(int64(l.rate)), big.NewInt(l.now().UnixMilli()-l.since.UnixMilli()))
}

// agrees asks every entry point for the price.
func (l *life) agrees(t *testing.T, when string) {
	row, now := l.row(t), l.now()
	exact := new(big.Int).Add(l.exact, l.running())
	spent := new(big.Int).Div(exact.Add(exact, big.NewInt(1_800_000)), big.NewInt(3_600_000)).Int64()
	left, total := row.Meter.Left(now, row.DestroyAt), row.Meter.Total(now, row.DestroyAt)
	require.Equal(t, spent, row.Meter.Spent(now), when)

	page := describeCost(row, now)
	require.Equal(t, fmt.Sprintf("about %s so far, %s until its planned end", price.Dollars(spent), price.Dollars(total)), page, when)
	if row.Status != lifecycle.Pending {
		card := row.Card
		require.Contains(t, chatops.StatusReply("maya", []lifecycle.Card{card}, chatops.Links{}, now), "About "+price.Dollars(spent)+" so far.", when)
		card.UpdatedAt = now
		require.Contains(t, chatops.Comment(card, chatops.Detail{}, chatops.Links{}), "about "+price.Dollars(total)+" if it runs until its end", when)
		require.Contains(t, chatops.Comment(card, chatops.Detail{}, chatops.Links{}), "about "+price.Dollars(int64(row.HourlyCents))+" an hour", when)
	}
	used, err := l.store.Usage(t.Context(), usage.Scope{Person: l.who.ID})
	require.NoError(t, err)
	require.Equal(t, []int64{spent, left}, []int64{used.Person.SpentCents, used.Person.CommittedCents}, when)
	lines, err := l.store.Reports.UsageReport(t.Context(), reports.ReportFilter{From: now.Add(-20 * 24 * time.Hour), To: now.Add(time.Millisecond), By: "owner"})
	require.NoError(t, err)
	for _, line := range lines {
		if line.Key == l.who.Name {
			require.Equal(t, spent, line.Cents, when)
		}
	}
	_, err = l.service.Transfer(t.Context(), l.who, l.id, "poor", l.who.Name, app.Origin{Source: policy.SourceWeb})
	require.ErrorContains(t, err, "with "+price.Dollars(spent+left)+" for this one", when) // what it spent this month moves with it
}
