package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/costs"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// sleepy is a ready cluster that sleeps in that mode, and for that price.
func sleepy(t testing.TB, s *store.Store, mode lifecycle.SleepMode, cents *int) clusters.Row {
	t.Helper()
	a := storetest.Sized("shop")
	a.Row.SleepMode, a.Row.ListAsleep = mode, cents
	row := storetest.Accept(t, s, a)
	storetest.Step(t, s, row.ID)
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	storetest.Ready(t, s, row, open, "demo-abcde")
	return storetest.Load(t, s, row.ID)
}

func TestAClusterIsPutToSleepAndWoken(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := sleepy(t, s, lifecycle.SleepStopped, new(30))
	out, err := s.Sleep(t.Context(), row.ID, store.SleepRequest{}, storetest.Maya(""))
	require.NoError(t, err)
	require.NotEmpty(t, out.Job)
	require.Equal(t, lifecycle.Sleep, storetest.Step(t, s, row.ID).Open)
	row = storetest.Load(t, s, row.ID)
	require.Equal(t, []any{lifecycle.GoingToSleep, lifecycle.Changing}, []any{row.Phase, row.Power}, "the row says so before a runner starts")
	require.Equal(t, 70, row.HourlyCents, "between awake and asleep it costs what it costs awake")
	require.Equal(t, "False", conditionOf(t, s, row.ID, "Ready").Status)
	again, err := s.Sleep(t.Context(), row.ID, store.SleepRequest{}, storetest.Maya(""))
	require.NoError(t, err)
	require.Equal(t, clusters.Outcome{Job: out.Job, Already: true}, again)

	storetest.Powers(t, s, row.ID, lifecycle.Sleep)
	clock.Pass(2 * time.Hour)
	row = storetest.Load(t, s, row.ID)
	require.Equal(t, []any{lifecycle.PhaseAsleep, lifecycle.Asleep, 30}, []any{row.Phase, row.Power, row.HourlyCents})
	require.EqualValues(t, 80, row.Meter.Saved(clock.Now()))
	require.Equal(t, 70, row.Meter.ToCome, "it may be woken at any time")
	storetest.RequireReport(t, s, clock.Now().Add(-2*time.Hour), 2, 0, 60)

	out, err = s.Wake(t.Context(), row.ID, storetest.Maya(""))
	require.NoError(t, err)
	require.NotEmpty(t, out.Job)
	require.Equal(t, lifecycle.Wake, storetest.Step(t, s, row.ID).Open)
	storetest.Powers(t, s, row.ID, lifecycle.Wake)
	row = storetest.Load(t, s, row.ID)
	require.True(t, row.Usable())
	require.Equal(t, 70, row.HourlyCents)
	require.EqualValues(t, 80, row.Meter.Saved(clock.Now().Add(time.Hour)), "nothing more is saved")
	require.Equal(t, "True", conditionOf(t, s, row.ID, "Ready").Status)
	out, err = s.Wake(t.Context(), row.ID, storetest.Maya(""))
	require.NoError(t, err)
	require.Equal(t, clusters.Outcome{Already: true}, out)
}

func TestSleepIsRefused(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	pending := storetest.Accept(t, s, storetest.Granted("pending"))
	_, err := s.Sleep(t.Context(), pending.ID, store.SleepRequest{}, storetest.Maya(""))
	require.ErrorIs(t, err, db.ErrConflict)
	require.ErrorContains(t, err, "the cluster is PENDING")

	row := sleepy(t, s, "", nil)
	_, err = s.Sleep(t.Context(), row.ID, store.SleepRequest{}, storetest.Maya(""))
	require.ErrorIs(t, err, db.ErrConflict)
	require.ErrorContains(t, err, "its profile has no way to sleep")
	_, err = s.Pool().Exec(t.Context(), `UPDATE clusters SET spot = 'workers' WHERE id = $1`, row.ID)
	require.NoError(t, err)
	_, err = s.Sleep(t.Context(), row.ID, store.SleepRequest{}, storetest.Maya(""))
	require.ErrorContains(t, err, "its profile orders spot machines, which AWS ends instead of stopping them")
	storetest.Refuses(t, s, "clusters_sleep_wanted", `UPDATE clusters SET sleep_wanted = true WHERE id = $1`, row.ID)

	_, err = s.Pool().Exec(t.Context(), `UPDATE clusters SET sleep_mode = 'workers' WHERE id = $1`, row.ID)
	require.NoError(t, err)
	_, err = s.Sleep(t.Context(), row.ID, store.SleepRequest{Until: clock.Now()}, storetest.Maya(""))
	require.ErrorContains(t, err, "which is past")
}

// A wake that comes while the cluster goes to sleep ends the job to sleep, and a sleep that comes while it wakes ends the other.
func TestTheNewestRequestEndsTheOppositeJob(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := sleepy(t, s, lifecycle.SleepWorkers, nil)
	_, err := s.Wake(t.Context(), row.ID, storetest.Maya(""))
	require.NoError(t, err)
	asked, err := s.Sleep(t.Context(), row.ID, store.SleepRequest{Why: "nobody used it for 2 h"}, storetest.Maya(""))
	require.NoError(t, err)
	open := storetest.Claims(t, s, row.ID, lifecycle.Sleep)
	require.Equal(t, "it goes to sleep (nobody used it for 2 h)", storetest.Load(t, s, row.ID).Why.String())
	_, err = s.Wake(t.Context(), row.ID, storetest.Maya(""))
	require.NoError(t, err)
	require.Equal(t, "FAILED: it is to be awake: saml:maya@acme.example asked for it", storetest.Text(t, s, `SELECT status || ': ' || error_message FROM jobs WHERE id = $1`, asked.Job))
	require.True(t, storetest.Step(t, s, row.ID).StopNow, "its runner is told to stop")
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Stopped})
	require.NoError(t, err)
	require.Equal(t, lifecycle.Wake, storetest.Step(t, s, row.ID).Open, "what was begun is taken back")
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM jobs WHERE cluster_id = $1 AND job_type IN ('SLEEP', 'WAKE') AND ended_at IS NULL`, row.ID))
}

func TestAClusterWithoutWorkersCostsItsControlPlane(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := sleepy(t, s, lifecycle.SleepWorkers, nil)
	until := clock.Now().Add(time.Hour)
	_, err := s.Sleep(t.Context(), row.ID, store.SleepRequest{Until: until}, storetest.Maya(""))
	require.NoError(t, err)
	storetest.Step(t, s, row.ID)
	storetest.Powers(t, s, row.ID, lifecycle.Sleep)
	row = storetest.Load(t, s, row.ID)
	require.Equal(t, 35, row.HourlyCents, "three of six machines")
	require.Nil(t, row.Workers, "it wakes with what it had")
	clock.Pass(time.Hour)
	storetest.RequireReport(t, s, clock.Now().Add(-time.Hour), 1, 3, 35)
	require.Equal(t, lifecycle.Wake, storetest.Step(t, s, row.ID).Open, "it wakes by itself")
	require.Zero(t, storetest.Load(t, s, row.ID).SleepUntil)
}

func TestAClusterThatSleepsIsDestroyed(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := sleepy(t, s, lifecycle.SleepStopped, new(30))
	_, err := s.Sleep(t.Context(), row.ID, store.SleepRequest{}, storetest.Maya(""))
	require.NoError(t, err)
	storetest.Step(t, s, row.ID)
	storetest.Powers(t, s, row.ID, lifecycle.Sleep)
	_, err = s.Destroy(t.Context(), row.ID, storetest.Maya(""))
	require.NoError(t, err)
	require.Equal(t, lifecycle.Destroy, storetest.Step(t, s, row.ID).Open)
	require.Equal(t, 30, storetest.Load(t, s, row.ID).HourlyCents)
	_, err = s.Wake(t.Context(), row.ID, storetest.Maya(""))
	require.ErrorIs(t, err, db.ErrConflict)
}

// Whatever becomes of a cluster: what reports say that it cost and that sleeping saved is what it would have cost awake, to the millisecond, in
// every report alike.
func TestReportsOfSpentAndSavedAreWhatItWouldHaveCostAwake(t *testing.T) {
	t.Parallel()
	for mode, cents := range map[lifecycle.SleepMode]int{lifecycle.SleepWorkers: 33, lifecycle.SleepStopped: 21} {
		s, clock := storetest.Open(t)
		id := sleepy(t, s, mode, &cents).ID
		rapid.Check(t, func(rt *rapid.T) { addsUp(rt, s, clock, id) })
	}
}

func addsUp(rt *rapid.T, s *store.Store, clock *storetest.Clock, id string) {
	ctx := context.Background()
	from := clock.Now()
	awake := price.Amount(0)
	for range rapid.IntRange(1, 5).Draw(rt, "moves") {
		c, _, err := s.Load(ctx, id)
		require.NoError(rt, err)
		d := lifecycle.Decision{Next: c}
		d.Next.Power = rapid.SampledFrom([]lifecycle.Power{lifecycle.Awake, lifecycle.Changing, lifecycle.Asleep}).Draw(rt, "power")
		d.Next.Workers = new(rapid.IntRange(0, 6).Draw(rt, "workers"))
		require.NoError(rt, s.Apply(ctx, d, c.Version))
		at := clock.Now()
		clock.Pass(time.Duration(rapid.Int64Range(1, 40*3600*1000).Draw(rt, "milliseconds")) * time.Millisecond)
		awake += price.Between(price.Hourly(70, 6, 3, *d.Next.Workers), at, clock.Now())
	}
	all, err := s.Reports.UsageReport(ctx, reports.ReportFilter{From: from, By: "cluster"})
	require.NoError(rt, err)
	require.Len(rt, all, 1)
	line := all[0]
	require.InDelta(rt, awake.Cents(), line.Cents+line.SavedCents, 1, "each is rounded once")
	var spent, saved price.Amount
	nodes := 0.0
	require.NoError(rt, s.Costs.Charges(ctx, costs.Filter{From: from}, func(c costs.Charge) error {
		spent, saved = spent+c.Amount(), saved+c.Saved()
		nodes += float64(c.Machines) * float64(c.Millis) / float64(price.PerHour)
		require.False(rt, c.Stopped && c.Machines > 0)
		return nil
	}))
	require.Equal(rt, awake, spent+saved)
	require.Equal(rt, []int64{line.Cents, line.SavedCents}, []int64{spent.Cents(), saved.Cents()})
	require.InDelta(rt, line.NodeHours, nodes, 0.001)
}
