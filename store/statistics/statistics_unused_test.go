package statistics_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pools"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/statistics"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// stopping is a ready cluster that costs 70 cents an hour awake, and 30 asleep with its machines stopped.
func stopping(t testing.TB, s *store.Store, name, profile, set string) clusters.Row {
	t.Helper()
	a := storetest.Sized(name)
	a.Row.Profile = profile
	return makeStopping(t, s, a, set)
}

func makeStopping(t testing.TB, s *store.Store, a store.Judgement, set string) clusters.Row {
	t.Helper()
	a.Row.SleepMode, a.Row.ListAsleep = lifecycle.SleepStopped, new(30)
	row := storetest.Accept(t, s, a)
	storetest.Step(t, s, row.ID)
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-"+row.Name)
	require.NoError(t, err)
	storetest.Ready(t, s, row, open, row.Name+"-abcde")
	_, err = s.Pool().Exec(t.Context(), `UPDATE clusters SET end_ttl = end_max, `+set+` WHERE id = $1`, row.ID)
	require.NoError(t, err)
	storetest.Decides(t, s, row.ID, lifecycle.Hours{})
	return storetest.Load(t, s, row.ID)
}

// One cluster sleeps and ends because nobody uses it, one sleeps outside working hours, and people put one to sleep and end another.
func TestASummarySaysWhatWasSavedOnClustersThatNobodyUsed(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	start := clock.Now()
	idle := stopping(t, s, "idle", "p", "idle_tell = '30m', idle_sleep = '1h', idle_end = '2h'")
	nights := stopping(t, s, "nights", "q", "off_hours = true")
	asked := stopping(t, s, "asked", "q", "use_extends = false")
	ended := stopping(t, s, "ended", "q", "use_extends = false")

	clock.Pass(30 * time.Minute)
	require.True(t, storetest.Decides(t, s, idle.ID, lifecycle.Hours{}).TellIdle)
	clock.Pass(30 * time.Minute)
	require.Equal(t, lifecycle.Sleep, storetest.Decides(t, s, idle.ID, lifecycle.Hours{}).Open)
	storetest.Powers(t, s, idle.ID, lifecycle.Sleep)
	fell := clock.Now()
	require.Equal(t, lifecycle.Sleep, storetest.Decides(t, s, nights.ID, storetest.Night(clock.Now(), 0)).Open)
	storetest.Powers(t, s, nights.ID, lifecycle.Sleep)
	_, err := s.Sleep(t.Context(), idle.ID, store.SleepRequest{}, storetest.Maya(""))
	require.NoError(t, err, "it sleeps already, so this is not counted once more")
	_, err = s.Sleep(t.Context(), asked.ID, store.SleepRequest{Why: "nobody used it"}, storetest.Maya(""))
	require.NoError(t, err)
	require.Equal(t, lifecycle.Sleep, storetest.Step(t, s, asked.ID).Open)
	changed, err := s.Wake(t.Context(), asked.ID, storetest.Maya(""))
	require.NoError(t, err)
	require.NotEmpty(t, changed.Job, "she changed her mind before it slept")
	_, err = s.Destroy(t.Context(), ended.ID, clusters.Origin{Actor: "github:maya", Why: "nobody used it"})
	require.NoError(t, err)
	storetest.Counted(t, s, clock, ended.ID)
	clock.Pass(90 * time.Minute)
	_, err = s.Wake(t.Context(), idle.ID, storetest.Maya(""))
	require.NoError(t, err)
	require.Equal(t, lifecycle.Wake, storetest.Step(t, s, idle.ID).Open)
	slept := clock.Now().Sub(fell)
	storetest.Powers(t, s, idle.ID, lifecycle.Wake)

	until := clock.Now()
	got := summary(t, s, statistics.Filter{From: start, To: until})
	cents := int64(slept.Hours()*40 + .5)
	require.Equal(t, []statistics.Unused{
		{SleptIdle: 1, SleptOffHours: 1, AsleepHours: 2 * slept.Hours(), SavedCents: 2 * cents},
		{Profile: "p", SleptIdle: 1, AsleepHours: slept.Hours(), SavedCents: cents},
		{Profile: "q", SleptOffHours: 1, AsleepHours: slept.Hours(), SavedCents: cents},
	}, got.Unused)
	requireSameSaved(t, s, got, start, until)

	clock.Pass(2 * time.Hour)
	require.True(t, storetest.Decides(t, s, idle.ID, lifecycle.Hours{}).TellIdle)
	clock.Pass(31 * time.Minute)
	require.Equal(t, lifecycle.Absent, storetest.Decides(t, s, idle.ID, lifecycle.Hours{}).Next.Desired)
	require.Zero(t, summary(t, s, statistics.Filter{From: until, To: clock.Now()}).Unused[0].Ended, "something of it is left")
	storetest.Counted(t, s, clock, idle.ID)
	clock.Pass(time.Second)
	later := summary(t, s, statistics.Filter{From: until, To: clock.Now().Add(time.Hour)})
	slept = clock.Now().Sub(until) // nothing is counted ahead
	cents = int64(slept.Hours()*40 + .5)
	require.Equal(t, []statistics.Unused{
		{Ended: 1, AsleepHours: slept.Hours(), SavedCents: cents}, {Profile: "p", Ended: 1}, {Profile: "q", AsleepHours: slept.Hours(), SavedCents: cents},
	}, later.Unused)
	requireSameSaved(t, s, later, until, clock.Now())

	of := summary(t, s, statistics.Filter{From: start, To: clock.Now(), Teams: []string{"others"}})
	require.Empty(t, of.Unused)
}

func TestASummarySaysWhatAClusterSavedThatWaitedInItsPool(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	start := clock.Now()
	a := storetest.Sized("waits")
	a.Row.Pool, a.Row.Pooled, a.Row.PoolDigest, a.Row.Source = "ready", true, "d1", "pool"
	waits := makeStopping(t, s, a, "use_extends = false")
	_, err := s.Sleep(t.Context(), waits.ID, store.SleepRequest{}, storetest.Maya(""))
	require.NoError(t, err)
	require.Equal(t, lifecycle.Sleep, storetest.Step(t, s, waits.ID).Open)
	storetest.Powers(t, s, waits.ID, lifecycle.Sleep)
	clock.Pass(2 * time.Hour)
	g := storetest.Granted("mine")
	g.Row.Team, g.Pools = "shop", []pools.Candidate{{Pool: "ready"}}
	ask := storetest.Requests(g)
	ask.Claims = true
	claimed, err := storetest.Judge(s, ask, g)
	require.NoError(t, err)
	require.Equal(t, waits.ID, claimed.ID)
	clock.Pass(time.Hour)
	got := summary(t, s, statistics.Filter{From: start, To: clock.Now()})
	require.GreaterOrEqual(t, got.Unused[0].SavedCents, int64(2*40))
	requireSameSaved(t, s, got, start, clock.Now())
	of := summary(t, s, statistics.Filter{From: start, To: clock.Now(), Teams: []string{waits.Team}})
	require.Equal(t, int64(2*40), of.Unused[0].SavedCents, "until the claim it saved for the pool's team")
}

// requireSameSaved compares with a report of usage.
func requireSameSaved(t *testing.T, s *store.Store, sum statistics.Summary, from, to time.Time) {
	t.Helper()
	lines, err := s.Reports.UsageReport(t.Context(), reports.ReportFilter{From: from, To: to, By: "profile"})
	require.NoError(t, err)
	var saved int64
	for _, l := range lines {
		saved += l.SavedCents
	}
	require.Equal(t, saved, sum.Unused[0].SavedCents)
}
