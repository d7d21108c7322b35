package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/runs"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

// watched is a ready cluster of run 7001, for which use matters.
func watched(t testing.TB, s *store.Store) clusters.Row {
	t.Helper()
	row := storetest.WaitedBy(t, s, "shop")
	storetest.Step(t, s, row.ID)
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	storetest.Ready(t, s, row, open, "demo-abcde")
	_, err = s.Pool().Exec(t.Context(), `UPDATE clusters SET sleep_mode = 'stopped', off_hours = true, idle_tell = '1h', idle_end = '9h' WHERE id = $1`, row.ID)
	require.NoError(t, err)
	return storetest.Load(t, s, row.ID)
}

func TestEveryUseIsNotedInTheRow(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := watched(t, s)
	run := row.Run.ID
	done := func(_ any, err error) error { return err }
	// Everything that counts as use has a line here. What is noted by Decide, or with the result of an attempt, is tested with that.
	uses := map[lifecycle.Activity]func() error{
		lifecycle.ActivityPush: func() error { return s.Active(t.Context(), row.ID, lifecycle.ActivityPush) }, // see app/pulls
		lifecycle.ActivityAccess: func() error {
			return done(s.Access.Ask(t.Context(), row.ID, storetest.Wants(access.RoleEdit), storetest.Maya("")))
		},
		lifecycle.ActivityWait: func() error { // of a run that cannot be looked at: that it goes on counts otherwise
			if err := done(s.Runs.Unwatch(t.Context(), run, "the app is not installed", time.Time{})); err != nil {
				return err
			}
			ask, in := storetest.Requests(storetest.Granted("other")), storetest.Reusing(storetest.InSlot(1, runs.EnvironmentPrefix+"aws-minimal-test"))
			ask.Run, ask.Wait = &in, &runs.WaitAsk{Ref: storetest.RunRef(1), Environment: storetest.WaitedFor, Event: "10"}
			return done(s.Judge(t.Context(), ask, func(usage.Usage) (store.Judgement, error) { panic("not judged") }))
		},
		lifecycle.ActivityTurn: func() error {
			ref := storetest.RunRef(1)
			ref.Key = "7002"
			_, _, err := s.Runs.AskUse(t.Context(), row.ID, ref, "", storetest.Maya(""))
			return err
		},
		lifecycle.ActivityRun: func() error { return done(s.Runs.See(t.Context(), run, storetest.State(1, "", 1), time.Time{})) },
		lifecycle.ActivityWake: func() error {
			if err := done(s.Sleep(t.Context(), row.ID, store.SleepRequest{}, storetest.Maya(""))); err != nil {
				return err
			}
			return done(s.Wake(t.Context(), row.ID, storetest.Maya("")))
		},
		lifecycle.ActivityExtend: func() error { return done(s.Extend(t.Context(), row.ID, time.Minute, storetest.Maya(""))) },
		lifecycle.ActivityHold: func() error {
			return done(s.Hold(t.Context(), row.ID, clock.Now().Add(time.Minute), storetest.Maya("")))
		},
	}
	for _, what := range lifecycle.Activities {
		if what == lifecycle.ActivitySlept || what == lifecycle.ActivityRequests {
			continue
		}
		require.Contains(t, uses, what)
		clock.Pass(6 * time.Minute)
		require.NoError(t, uses[what](), what)
		got := storetest.Load(t, s, row.ID)
		require.Equal(t, []any{what, clock.Now().UTC()}, []any{got.ActiveWhat, got.ActiveAt.UTC()})
	}
	clock.Pass(6 * time.Minute)
	require.NoError(t, done(s.KeepAwake(t.Context(), row.ID, clock.Now().Add(time.Hour), storetest.Maya(""))))
	require.Equal(t, clock.Now().UTC(), storetest.Load(t, s, row.ID).ActiveAt.UTC(), "so is a hold for the night")
}

func TestARunUsesAClusterWhileItIsKnownToGoOn(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := watched(t, s)
	used := func() bool { return storetest.Load(t, s, row.ID).ActiveAt.Equal(clock.Now()) }
	sees := func(id string, seen runs.Seen) {
		t.Helper()
		clock.Pass(6 * time.Minute)
		_, err := s.Runs.See(t.Context(), id, seen, time.Time{})
		require.NoError(t, err)
	}
	sees(row.Run.ID, storetest.State(1, "", 1))
	require.True(t, used(), "it is the run's own")
	clock.Pass(6 * time.Minute)
	_, err := s.Runs.Unwatch(t.Context(), row.Run.ID, "the app is not installed", time.Time{})
	require.NoError(t, err)
	require.False(t, used(), "nobody knows")
	sees(row.Run.ID, storetest.State(1, "success", 2))
	require.False(t, used(), "the run is over")

	turn := func(key string) runs.Use {
		t.Helper()
		ref := storetest.RunRef(1)
		ref.Key = key
		use, _, err := s.Runs.AskUse(t.Context(), row.ID, ref, "", storetest.Maya(""))
		require.NoError(t, err)
		return use
	}
	first, second := turn("7002"), turn("7003")
	sees(second.RunID, storetest.State(1, "", 1))
	require.False(t, used(), "it waits for its turn")
	sees(first.RunID, storetest.State(1, "", 1))
	require.True(t, used(), "it has the turn")
	sees(first.RunID, storetest.State(1, "failure", 2))
	sees(second.RunID, storetest.State(1, "", 2))
	require.True(t, used(), "the next one has it now")
}

func TestWhoSleepsIsNotWokenByALongerLife(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := watched(t, s)
	for name, by := range map[string]lifecycle.PowerBy{"outside working hours": lifecycle.ByHours, "because nobody used it": lifecycle.ByIdle} {
		_, err := s.Pool().Exec(t.Context(), `UPDATE clusters SET sleep_wanted = true, sleep_why = 'x', power = 'asleep', power_by = $2, active_at = NULL WHERE id = $1`, row.ID, by)
		require.NoError(t, err, name)
		clock.Pass(time.Minute)
		_, err = s.Hold(t.Context(), row.ID, clock.Now().Add(time.Hour), storetest.Maya(""))
		require.NoError(t, err, name)
		require.Zero(t, storetest.Load(t, s, row.ID).ActiveAt, name)
		_, err = s.Extend(t.Context(), row.ID, time.Minute, storetest.Maya(""))
		require.NoError(t, err, name)
		require.Equal(t, by == lifecycle.ByIdle, !storetest.Load(t, s, row.ID).ActiveAt.IsZero(), "%s: an extension counts unless the night does", name)
	}
}
