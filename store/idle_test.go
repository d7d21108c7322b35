package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
)

func TestAnIdleClusterIsToldOfPutToSleepWokenByUseAndEnded(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := sleepy(t, s, lifecycle.SleepStopped, nil)
	_, err := s.Pool().Exec(t.Context(), `UPDATE clusters SET idle_tell = '1h', idle_sleep = '2h', idle_end = '3h', end_ttl = end_max WHERE id = $1`, row.ID)
	require.NoError(t, err)
	idle := func() int {
		return count(t, s, `SELECT count(*) FROM announcements WHERE cluster_id = $1 AND event = 'idle'`, row.ID)
	}
	decides(t, s, row.ID, lifecycle.Hours{})
	row = load(t, s, row.ID)
	require.Equal(t, row.ReadyAt.Add(3*time.Hour).UTC(), row.DestroyAt.UTC(), "the table knows this end, too")

	clock.pass(time.Hour)
	require.True(t, decides(t, s, row.ID, lifecycle.Hours{}).TellIdle)
	decides(t, s, row.ID, lifecycle.Hours{})
	require.Equal(t, 1, idle(), "once")
	require.Equal(t, clock.now().Add(time.Hour).UTC().Format(time.RFC3339), text(t, s, `SELECT left(facts->>'sleeps', 19) || 'Z' FROM announcements WHERE event = 'idle'`))

	clock.pass(time.Hour + time.Minute)
	require.Equal(t, lifecycle.Sleep, decides(t, s, row.ID, lifecycle.Hours{}).Open)
	powers(t, s, row.ID, lifecycle.Sleep)
	require.Equal(t, []any{lifecycle.PhaseAsleep, lifecycle.ByIdle}, []any{load(t, s, row.ID).Phase, load(t, s, row.ID).PowerBy})

	require.NoError(t, s.Active(t.Context(), row.ID, "a push to its pull request"))
	require.Equal(t, lifecycle.Wake, decides(t, s, row.ID, lifecycle.Hours{}).Open)
	powers(t, s, row.ID, lifecycle.Wake)
	row = load(t, s, row.ID)
	require.True(t, row.Usable())
	require.Equal(t, row.ActiveAt.Add(3*time.Hour).UTC(), row.DestroyAt.UTC())

	clock.pass(4 * time.Hour)
	d := decides(t, s, row.ID, lifecycle.Hours{})
	require.True(t, d.TellIdle, "nothing ends before people were told")
	require.Equal(t, []any{2, lifecycle.Present}, []any{idle(), d.Next.Desired})
	clock.pass(31 * time.Minute)
	d = decides(t, s, row.ID, lifecycle.Hours{})
	require.Equal(t, lifecycle.Absent, d.Next.Desired)
	require.Equal(t, "nobody used it; whether people used its API is unknown, because it could not be asked", d.Next.DesiredWhy.String())
}

func TestUseMovesTheEndOfALifeThatCountsFromUseUpToTheMaximum(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := sleepy(t, s, lifecycle.SleepStopped, nil)
	clock.pass(time.Hour)
	require.NoError(t, s.Active(t.Context(), row.ID, "a push to its pull request"))
	require.Equal(t, row.Ends.TTL, load(t, s, row.ID).Ends.TTL, "use does not matter for it")
	_, err := s.Pool().Exec(t.Context(), `UPDATE clusters SET use_extends = true, ttl = '2h', end_ttl = $2 WHERE id = $1`, row.ID, clock.now().Add(time.Hour))
	require.NoError(t, err)

	require.NoError(t, s.Active(t.Context(), row.ID, "a push to its pull request"))
	require.Equal(t, clock.now().Add(2*time.Hour).UTC(), load(t, s, row.ID).Ends.TTL.UTC())
	_, err = s.Pool().Exec(t.Context(), `UPDATE clusters SET end_ttl = $2 WHERE id = $1`, row.ID, clock.now().Add(5*time.Hour))
	require.NoError(t, err)
	clock.pass(time.Hour)
	require.NoError(t, s.Active(t.Context(), row.ID, "a push to its pull request"))
	require.Equal(t, clock.now().Add(4*time.Hour).UTC(), load(t, s, row.ID).Ends.TTL.UTC(), "an extension stays")
	_, err = s.Pool().Exec(t.Context(), `UPDATE clusters SET ttl = '1000h' WHERE id = $1`, row.ID)
	require.NoError(t, err)
	clock.pass(time.Hour)
	require.NoError(t, s.Active(t.Context(), row.ID, "a push to its pull request"))
	require.Equal(t, row.Ends.Max.UTC(), load(t, s, row.ID).Ends.TTL.UTC())
}

func TestWhatIsDoneAboutAnIdleClusterIsToldFirst(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	row := sleepy(t, s, lifecycle.SleepStopped, nil)
	refuses(t, s, "clusters_idle_told", `UPDATE clusters SET idle_end = '6h' WHERE id = $1`, row.ID)
	refuses(t, s, "clusters_idle_end", `UPDATE clusters SET end_idle = end_max WHERE id = $1`, row.ID)
}
