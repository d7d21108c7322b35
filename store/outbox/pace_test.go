package outbox_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/outbox"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// paced are the times at which leave was given.
type paced []time.Time

// keeps requires that the leaves, in their order, pass no limit whichever window is looked at.
func (l paced) keeps(t *testing.T, p outbox.Pace) {
	t.Helper()
	for i, at := range l {
		if i > 0 {
			require.GreaterOrEqual(t, at.Sub(l[i-1]), p.Every, "leave %d", i)
		}
		for _, limit := range []struct {
			most   int
			window time.Duration
		}{{p.PerMinute, time.Minute}, {p.PerHour, time.Hour}} {
			if limit.most > 0 && i >= limit.most {
				require.Greater(t, at.Sub(l[i-limit.most]), limit.window, "leave %d is one too many in %s", i, limit.window)
			}
		}
	}
}

// Everybody who waits asks again when they were told to, and the clock goes from one such time to the next.
func TestNoWindowSeesMoreThanThePace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pace  outbox.Pace
		hours float64
		least int // leaves that must have been given in that time
	}{
		"GitHub's":          {outbox.Pace{Every: time.Second, PerMinute: 80, PerHour: 500}, 2, 740},
		"by the minute":     {outbox.Pace{Every: time.Millisecond, PerMinute: 7}, 0.2, 7 + 4*10},
		"by the hour":       {outbox.Pace{PerHour: 20}, 3, 20 + 10},
		"one an hour":       {outbox.Pace{PerHour: 1}, 3.5, 3},
		"one after another": {outbox.Pace{Every: 20 * time.Second}, 0.5, 80},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, clock := storetest.Open(t)
			start, random := clock.Now(), rand.New(rand.NewPCG(1, 2))
			var l paced
			for clock.Now().Sub(start) < time.Duration(c.hours*float64(time.Hour)) {
				wait, err := s.Outbox.TakePace(t.Context(), 5001, c.pace)
				require.NoError(t, err)
				if wait == 0 {
					l = append(l, clock.Now())
					if random.IntN(50) == 0 { // sometimes nobody wants to write for a while
						clock.Pass(time.Duration(random.IntN(90)) * time.Second)
					}
					continue
				}
				clock.Pass(wait - time.Microsecond)
				early, err := s.Outbox.TakePace(t.Context(), 5001, c.pace)
				require.NoError(t, err)
				require.Equal(t, time.Millisecond, early, "a moment too soon")
				clock.Pass(time.Microsecond)
			}
			l.keeps(t, c.pace)
			require.GreaterOrEqual(t, len(l), c.least)
		})
	}
}

// noted has the database write down each leave that is given.
func noted(t *testing.T, s *store.Store) (given func() paced) {
	t.Helper()
	_, err := s.Pool().Exec(t.Context(), `
		CREATE TABLE given (next_at timestamptz NOT NULL);
		CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO given VALUES (new.next_at); RETURN NULL; END $$;
		CREATE TRIGGER note AFTER UPDATE ON paces FOR EACH ROW EXECUTE FUNCTION note();`)
	require.NoError(t, err)
	return func() paced {
		rows, err := s.Pool().Query(t.Context(), `SELECT next_at FROM given ORDER BY next_at`)
		require.NoError(t, err)
		list, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
		require.NoError(t, err)
		return list
	}
}

// Eight processes ask as often as they can, by a clock that one of them moves, and by the database's own, which goes on while
// they wait for each other's row.
func TestEightProcessesShareOnePace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pace  outbox.Pace
		clock *storetest.Clock
		long  time.Duration
		most  int // leaves there can be in that time
	}{
		"by a clock that is moved":  {outbox.Pace{Every: 100 * time.Millisecond, PerMinute: 30, PerHour: 60}, storetest.NewClock(), storetest.Patience, 30 + 3*15},
		"by the database's own one": {outbox.Pace{Every: 15 * time.Millisecond, PerMinute: 60}, nil, 1500 * time.Millisecond, 31},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, options := pgtest.New(t), db.Options{Limits: storetest.Limits, Lease: time.Minute}
			if c.clock != nil {
				options.Now = c.clock.Now
			}
			given, granted := noted(t, storetest.OpenAt(t, url, options)), atomic.Int64{}
			ctx, stop := context.WithTimeout(t.Context(), c.long)
			defer stop()
			var wg sync.WaitGroup
			for i := range 8 {
				s := storetest.OpenAt(t, url, options)
				wg.Go(func() {
					for ctx.Err() == nil {
						wait, err := s.Outbox.TakePace(t.Context(), 5001, c.pace)
						if err != nil {
							t.Error(err)
							return
						}
						if wait == 0 {
							granted.Add(1)
						}
						if i == 0 && c.clock != nil {
							c.clock.Pass(time.Second)
							if c.clock.Now().After(storetest.NewClock().Now().Add(4 * time.Minute)) {
								stop()
							}
						}
					}
				})
			}
			wg.Wait()
			at := given()
			at.keeps(t, c.pace)
			require.EqualValues(t, len(at), granted.Load(), "each leave was written, and each that was written was given")
			require.GreaterOrEqual(t, len(at), 30)
			require.LessOrEqual(t, len(at), c.most)
		})
	}
}

func TestWhatGitHubSaysHoldsEverybody(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	pace := outbox.Pace{Every: time.Second}
	take := func(installation int64) time.Duration {
		t.Helper()
		wait, err := s.Outbox.TakePace(t.Context(), installation, pace)
		require.NoError(t, err)
		return wait
	}
	require.NoError(t, s.Outbox.HoldPace(t.Context(), 5001, time.Minute), "before anything was written")
	require.NoError(t, s.Outbox.HoldPace(t.Context(), 5001, time.Second), "the longer one stays")
	require.Equal(t, time.Minute, take(5001))
	require.Zero(t, take(5002), "another installation has a pace of its own")
	require.Equal(t, time.Second, take(5002))
	clock.Pass(time.Minute)
	require.Zero(t, take(5001))
	require.NoError(t, s.Outbox.HoldPace(t.Context(), 5001, 0))
	require.Equal(t, time.Second, take(5001))

	_, err := s.Outbox.TakePace(t.Context(), 5003, outbox.Pace{PerHour: 2})
	require.NoError(t, err)
	wait, err := s.Outbox.TakePace(t.Context(), 5003, outbox.Pace{PerHour: 2})
	require.NoError(t, err)
	require.Equal(t, time.Hour, wait)
	wait, err = s.Outbox.TakePace(t.Context(), 5003, outbox.Pace{})
	require.NoError(t, err)
	require.Zero(t, wait, "a limit that was taken away holds nobody")
}

func TestAClockThatRanAheadSilencesNobody(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	pace := outbox.Pace{Every: time.Second, PerMinute: 80, PerHour: 500}
	for name, ask := range map[string]func(int64) (time.Duration, error){
		"who takes leave":      func(in int64) (time.Duration, error) { return s.Outbox.TakePace(t.Context(), in, pace) },
		"who looks before":     func(in int64) (time.Duration, error) { return s.Outbox.PaceAhead(t.Context(), in, pace, false) },
		"who can wait as well": func(in int64) (time.Duration, error) { return s.Outbox.PaceAhead(t.Context(), in, pace, true) },
	} {
		in := int64(len(name))
		clock.Pass(365 * 24 * time.Hour)
		_, err := s.Outbox.TakePace(t.Context(), in, pace)
		require.NoError(t, err)
		require.NoError(t, s.Outbox.HoldPace(t.Context(), in, 365*24*time.Hour), "what a proxy made up")
		clock.Pass(-365 * 24 * time.Hour)
		wait, err := ask(in)
		require.NoError(t, err)
		require.Equal(t, time.Minute, wait, name)
		clock.Pass(time.Hour)
		wait, err = ask(in)
		require.NoError(t, err)
		require.Zero(t, wait, name)
	}
	require.NoError(t, s.Outbox.HoldPace(t.Context(), 5001, -time.Hour))
	wait, err := s.Outbox.TakePace(t.Context(), 5001, pace)
	require.NoError(t, err)
	require.Zero(t, wait)
}
