package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/measures"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// resting is a ready cluster that sleeps outside working hours.
func resting(t testing.TB, s *store.Store) clusters.Row {
	t.Helper()
	row := sleepy(t, s, lifecycle.SleepStopped, new(30))
	_, err := s.Pool().Exec(t.Context(), `UPDATE clusters SET off_hours = true WHERE id = $1`, row.ID)
	require.NoError(t, err)
	return storetest.Load(t, s, row.ID)
}

func TestAScheduleWarnsPutsToSleepAndWakes(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := resting(t, s)
	clock.Pass(2 * time.Hour)
	closes := clock.Now().Add(20 * time.Minute)
	storetest.Decides(t, s, row.ID, storetest.Night(clock.Now(), 20*time.Minute))
	require.Equal(t, closes.UTC(), storetest.Load(t, s, row.ID).RestWarned.UTC())
	require.Equal(t, closes.UTC(), storetest.Load(t, s, row.ID).FallsAsleepAt().UTC())
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM announcements WHERE cluster_id = $1 AND event = 'resting'`, row.ID))
	storetest.Decides(t, s, row.ID, storetest.Night(clock.Now(), 20*time.Minute))
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM announcements WHERE cluster_id = $1 AND event = 'resting'`, row.ID), "once")

	clock.Pass(20 * time.Minute)
	hours := storetest.Night(clock.Now(), 0)
	require.Equal(t, lifecycle.Sleep, storetest.Decides(t, s, row.ID, hours).Open)
	levels, err := s.Measures.Levels(t.Context())
	require.NoError(t, err)
	require.Contains(t, levels, measures.Level{Metric: "ocpctl_attempts_open", Labels: []string{"sleep", "unclaimed"}, Value: 1})
	storetest.Powers(t, s, row.ID, lifecycle.Sleep)
	row = storetest.Load(t, s, row.ID)
	require.Equal(t, []any{lifecycle.PhaseAsleep, lifecycle.ByHours, hours.Opens.Add(-15 * time.Minute).UTC()}, []any{row.Phase, row.PowerBy, row.SleepUntil.UTC()})
	require.Equal(t, "SUCCEEDED", storetest.Text(t, s, `SELECT status FROM jobs WHERE cluster_id = $1 AND job_type = 'OFFHOURS_SCALE_DOWN'`, row.ID))

	require.NoError(t, s.Active(t.Context(), row.ID, "a push to its pull request"))
	require.Equal(t, lifecycle.Wake, storetest.Decides(t, s, row.ID, hours).Open)
	storetest.Powers(t, s, row.ID, lifecycle.Wake)
	require.True(t, storetest.Load(t, s, row.ID).Usable())
	require.Equal(t, "SUCCEEDED", storetest.Text(t, s, `SELECT status FROM jobs WHERE cluster_id = $1 AND job_type = 'OFFHOURS_SCALE_UP'`, row.ID))
	version := storetest.Load(t, s, row.ID).Version
	require.NoError(t, s.Active(t.Context(), row.ID, "a push to its pull request"))
	require.Equal(t, version, storetest.Load(t, s, row.ID).Version, "what uses it often makes no version each time")
}

func TestAClusterIsKeptAwakeTonight(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := sleepy(t, s, lifecycle.SleepStopped, nil)
	_, err := s.KeepAwake(t.Context(), row.ID, clock.Now().Add(time.Hour), storetest.Maya(""))
	require.ErrorIs(t, err, db.ErrConflict)
	require.ErrorContains(t, err, "does not sleep outside working hours")
	_, err = s.Pool().Exec(t.Context(), `UPDATE clusters SET off_hours = true WHERE id = $1`, row.ID)
	require.NoError(t, err)

	clock.Pass(2 * time.Hour)
	hours := storetest.Night(clock.Now(), 0)
	out, err := s.KeepAwake(t.Context(), row.ID, hours.Opens, storetest.Maya(""))
	require.NoError(t, err)
	require.Equal(t, hours.Opens.UTC(), out.Awake.UTC())
	require.Empty(t, storetest.Decides(t, s, row.ID, hours).Open)
	out, err = s.KeepAwake(t.Context(), row.ID, hours.Opens.Add(-time.Hour), storetest.Maya(""))
	require.NoError(t, err)
	require.True(t, out.Already)
	require.Equal(t, hours.Opens.UTC(), storetest.Load(t, s, row.ID).AwakeUntil.UTC(), "an earlier time changes nothing")
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'awake_asked'`))
}

// What a schedule put to sleep becomes a person's if a person says so, and its job ends with it.
func TestAPersonTakesASleepingClusterOver(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := resting(t, s)
	clock.Pass(2 * time.Hour)
	require.Equal(t, lifecycle.Sleep, storetest.Decides(t, s, row.ID, storetest.Night(clock.Now(), 0)).Open)
	out, err := s.Sleep(t.Context(), row.ID, store.SleepRequest{}, storetest.Maya(""))
	require.NoError(t, err)
	require.False(t, out.Already)
	require.NotEmpty(t, out.Job)
	storetest.Powers(t, s, row.ID, lifecycle.Sleep)
	require.Equal(t, "SUCCEEDED", storetest.Text(t, s, `SELECT status FROM jobs WHERE id = $1`, out.Job))
	require.Equal(t, 0, storetest.Count(t, s, `SELECT count(*) FROM jobs WHERE cluster_id = $1 AND ended_at IS NULL`, row.ID))
	_, err = s.KeepAwake(t.Context(), row.ID, clock.Now().Add(time.Hour), storetest.Maya(""))
	require.ErrorContains(t, err, "the cluster was put to sleep")
	require.Empty(t, storetest.Decides(t, s, row.ID, storetest.Night(clock.Now(), time.Hour)).Open, "working hours do not wake it")
	out, err = s.Wake(t.Context(), row.ID, storetest.Maya(""))
	require.NoError(t, err)
	require.Equal(t, clock.Now().UTC(), storetest.Load(t, s, row.ID).ActiveAt.UTC(), "whoever wakes it uses it")
	require.Equal(t, lifecycle.Wake, storetest.Decides(t, s, row.ID, storetest.Night(clock.Now(), 0)).Open, "also at night")
}

func TestNobodySleepsOutsideWorkingHoursWithoutAWayToSleep(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := sleepy(t, s, "", nil)
	storetest.Refuses(t, s, "clusters_off_hours", `UPDATE clusters SET off_hours = true WHERE id = $1`, row.ID)
}
