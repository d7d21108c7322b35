package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestAnIdleClusterIsToldOfPutToSleepWokenByUseAndEnded(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := sleepy(t, s, lifecycle.SleepStopped, nil)
	_, err := s.Pool().Exec(t.Context(), `UPDATE clusters SET idle_tell = '1h', idle_sleep = '2h', idle_end = '3h', end_ttl = end_max WHERE id = $1`, row.ID)
	require.NoError(t, err)
	idle := func() int {
		return storetest.Count(t, s, `SELECT count(*) FROM announcements WHERE cluster_id = $1 AND event = 'idle'`, row.ID)
	}
	storetest.Decides(t, s, row.ID, lifecycle.Hours{})
	row = storetest.Load(t, s, row.ID)
	require.Equal(t, row.ReadyAt.Add(3*time.Hour).UTC(), row.DestroyAt.UTC(), "the table knows this end, too")

	clock.Pass(time.Hour)
	require.True(t, storetest.Decides(t, s, row.ID, lifecycle.Hours{}).TellIdle)
	storetest.Decides(t, s, row.ID, lifecycle.Hours{})
	require.Equal(t, 1, idle(), "once")
	require.Equal(t, clock.Now().Add(time.Hour).UTC().Format(time.RFC3339), storetest.Text(t, s, `SELECT left(facts->>'sleeps', 19) || 'Z' FROM announcements WHERE event = 'idle'`))

	clock.Pass(time.Hour + time.Minute)
	require.Equal(t, lifecycle.Sleep, storetest.Decides(t, s, row.ID, lifecycle.Hours{}).Open)
	storetest.Powers(t, s, row.ID, lifecycle.Sleep)
	require.Equal(t, []any{lifecycle.PhaseAsleep, lifecycle.ByIdle}, []any{storetest.Load(t, s, row.ID).Phase, storetest.Load(t, s, row.ID).PowerBy})

	require.NoError(t, s.Active(t.Context(), row.ID, "a push to its pull request"))
	require.Equal(t, lifecycle.Wake, storetest.Decides(t, s, row.ID, lifecycle.Hours{}).Open)
	storetest.Powers(t, s, row.ID, lifecycle.Wake)
	row = storetest.Load(t, s, row.ID)
	require.True(t, row.Usable())
	require.Equal(t, row.ActiveAt.Add(3*time.Hour).UTC(), row.DestroyAt.UTC())

	clock.Pass(4 * time.Hour)
	d := storetest.Decides(t, s, row.ID, lifecycle.Hours{})
	require.True(t, d.TellIdle, "nothing ends before people were told")
	require.Equal(t, []any{2, lifecycle.Present}, []any{idle(), d.Next.Desired})
	clock.Pass(31 * time.Minute)
	d = storetest.Decides(t, s, row.ID, lifecycle.Hours{})
	require.Equal(t, lifecycle.Absent, d.Next.Desired)
	require.Equal(t, "nobody used it; whether people used its API is unknown, because it could not be asked", d.Next.DesiredWhy.String())
}

func TestUseMovesTheEndOfALifeThatCountsFromUseUpToTheMaximum(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := sleepy(t, s, lifecycle.SleepStopped, nil)
	clock.Pass(time.Hour)
	require.NoError(t, s.Active(t.Context(), row.ID, "a push to its pull request"))
	require.Equal(t, row.Ends.TTL, storetest.Load(t, s, row.ID).Ends.TTL, "use does not matter for it")
	_, err := s.Pool().Exec(t.Context(), `UPDATE clusters SET use_extends = true, ttl = '2h', end_ttl = $2 WHERE id = $1`, row.ID, clock.Now().Add(time.Hour))
	require.NoError(t, err)

	require.NoError(t, s.Active(t.Context(), row.ID, "a push to its pull request"))
	require.Equal(t, clock.Now().Add(2*time.Hour).UTC(), storetest.Load(t, s, row.ID).Ends.TTL.UTC())
	_, err = s.Pool().Exec(t.Context(), `UPDATE clusters SET end_ttl = $2 WHERE id = $1`, row.ID, clock.Now().Add(5*time.Hour))
	require.NoError(t, err)
	clock.Pass(time.Hour)
	require.NoError(t, s.Active(t.Context(), row.ID, "a push to its pull request"))
	require.Equal(t, clock.Now().Add(4*time.Hour).UTC(), storetest.Load(t, s, row.ID).Ends.TTL.UTC(), "an extension stays")
	_, err = s.Pool().Exec(t.Context(), `UPDATE clusters SET ttl = '1000h' WHERE id = $1`, row.ID)
	require.NoError(t, err)
	clock.Pass(time.Hour)
	require.NoError(t, s.Active(t.Context(), row.ID, "a push to its pull request"))
	require.Equal(t, row.Ends.Max.UTC(), storetest.Load(t, s, row.ID).Ends.TTL.UTC())
}

func TestWhatIsDoneAboutAnIdleClusterIsToldFirst(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := sleepy(t, s, lifecycle.SleepStopped, nil)
	storetest.Refuses(t, s, "clusters_idle_told", `UPDATE clusters SET idle_end = '6h' WHERE id = $1`, row.ID)
	storetest.Refuses(t, s, "clusters_idle_end", `UPDATE clusters SET end_idle = end_max WHERE id = $1`, row.ID)
}
