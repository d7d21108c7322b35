package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// capped returns a store with caps on runners.
func capped(t testing.TB, caps lifecycle.RunnerCaps) (*store.Store, *storetest.Clock) {
	t.Helper()
	c, bound := storetest.NewClock(), storetest.Limits
	bound.Runners = caps
	return storetest.OpenAt(t, pgtest.New(t), db.Options{Limits: bound, Lease: 15 * time.Minute, Now: c.Now}), c
}

// stepWithin decides once under the caps.
func stepWithin(t testing.TB, s *store.Store, caps lifecycle.RunnerCaps, id string) lifecycle.Decision {
	t.Helper()
	bound := storetest.Limits
	bound.Runners = caps
	c, f, err := s.Load(t.Context(), id)
	require.NoError(t, err)
	d := lifecycle.Decide(c, f, bound)
	require.NoError(t, s.Apply(t.Context(), d, c.Version))
	return d
}

// ends claims a cluster's open attempt and ends it with an outcome that made nothing.
func ends(t testing.TB, s *store.Store, id string, how lifecycle.Outcome) {
	t.Helper()
	open, err := s.Attempts.OpenAttempt(t.Context(), id)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: how, Reason: "Broken", Message: "it broke", Retryable: true})
	require.NoError(t, err)
}

func assigned(t testing.TB, s *store.Store) int {
	t.Helper()
	n, err := s.AssignRunners(t.Context())
	require.NoError(t, err)
	return n
}

func in(region, name string) store.Judgement {
	a := storetest.Granted(name)
	a.Row.Region = region
	return a
}

func TestWhoWaitsForARunnerSaysSoAndStartsWhenOneIsFree(t *testing.T) {
	t.Parallel()
	caps := lifecycle.RunnerCaps{Region: 2} // one of them is for teardowns
	s, clock := capped(t, caps)
	first := storetest.Accept(t, s, in("us-east-1", "first"))
	require.Equal(t, lifecycle.Create, stepWithin(t, s, caps, first.ID).Open)
	clock.Pass(time.Minute)
	second, third := storetest.Accept(t, s, in("us-east-1", "second")), storetest.Accept(t, s, in("us-east-1", "third"))
	for i, id := range []string{second.ID, third.ID} {
		require.Equal(t, &lifecycle.RunnerWait{Kind: lifecycle.Create, Position: 1 + i,
			For: "at most 1 run at once in region us-east-1 of the runners' aws account besides teardowns"}, stepWithin(t, s, caps, id).Wait)
	}
	elsewhere := storetest.Accept(t, s, in("us-west-2", "elsewhere"))
	require.NotNil(t, stepWithin(t, s, caps, elsewhere.ID).Wait, "others came first")
	require.Equal(t, 1, assigned(t, s), "a full region holds up no other")
	require.Equal(t, lifecycle.Create, stepWithin(t, s, caps, elsewhere.ID).Open)

	row, err := s.Cluster(t.Context(), third.ID)
	require.NoError(t, err)
	require.Equal(t, []any{lifecycle.Pending, lifecycle.AwaitingCapacity, 2, clock.Now()}, []any{row.Status, row.Phase, row.Position, row.WaitsSince})
	require.Equal(t, "waiting for a free runner: at most 1 run at once in region us-east-1 of the runners' aws account besides teardowns", row.Why.String())
	counts, err := s.RunnersByKind(t.Context())
	require.NoError(t, err)
	require.Contains(t, counts, store.RunnerCount{Kind: lifecycle.Create, Running: 2, Waiting: 2})
	require.Contains(t, counts, store.RunnerCount{Kind: lifecycle.Destroy})
	require.Zero(t, assigned(t, s), "nothing is free")

	storetest.Lose(t, s)
	ends(t, s, first.ID, lifecycle.Failure)
	require.Len(t, storetest.RiverJobs(t, s, "turns"), 1, "a pass is asked for with the end of an attempt")
	require.Equal(t, 1, assigned(t, s))
	require.Len(t, storetest.RiverJobs(t, s, "reconcile"), 2+2, "the first's own, the next, and the one whose position moved")
	require.Equal(t, lifecycle.Create, stepWithin(t, s, caps, second.ID).Open)
	require.Equal(t, 1, stepWithin(t, s, caps, third.ID).Next.Position)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM runner_queue`))
}

func TestATeardownDoesNotWaitBehindCreates(t *testing.T) {
	t.Parallel()
	caps := lifecycle.RunnerCaps{All: 2}
	s, _ := capped(t, caps)
	var ids []string
	for i := range 3 {
		ids = append(ids, storetest.Accept(t, s, storetest.Granted(fmt.Sprintf("shop-%d", i))).ID)
		stepWithin(t, s, caps, ids[i])
	}
	ends(t, s, ids[0], lifecycle.Failure)
	require.Equal(t, 1, assigned(t, s))
	_, err := s.Destroy(t.Context(), ids[0], clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	require.Equal(t, lifecycle.Destroy, stepWithin(t, s, caps, ids[0]).Open, "creates wait, and it takes what is reserved for it")
	require.Equal(t, lifecycle.Create, stepWithin(t, s, caps, ids[1]).Open)

	ends(t, s, ids[1], lifecycle.Failure)
	_, err = s.Destroy(t.Context(), ids[1], clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	require.Equal(t, 1, assigned(t, s))
	require.Equal(t, lifecycle.Create, stepWithin(t, s, caps, ids[2]).Open, "its turn came before the teardown asked")
	d := stepWithin(t, s, caps, ids[1])
	require.Equal(t, lifecycle.Destroy, d.Wait.Kind)
	require.Equal(t, "done; waiting for a free runner: at most 2 run at once in this installation", d.Next.Why.String())
	require.Equal(t, 1, d.Next.Position)
	ends(t, s, ids[0], lifecycle.Failure)
	require.Equal(t, 1, assigned(t, s))
	require.Equal(t, "done", stepWithin(t, s, caps, ids[1]).Next.Why.String())
}

// A decision is applied after others took the last runner.
func TestADecisionForARunnerThatIsTakenIsStale(t *testing.T) {
	t.Parallel()
	caps := lifecycle.RunnerCaps{All: 1}
	s, _ := capped(t, caps)
	bound := storetest.Limits
	bound.Runners = caps
	first, second := storetest.Accept(t, s, storetest.Granted("first")), storetest.Accept(t, s, storetest.Granted("second"))
	c, f, err := s.Load(t.Context(), second.ID)
	require.NoError(t, err)
	late := lifecycle.Decide(c, f, bound)
	require.Equal(t, lifecycle.Create, late.Open)
	require.Equal(t, lifecycle.Create, stepWithin(t, s, caps, first.ID).Open)
	require.ErrorIs(t, s.Apply(t.Context(), late, c.Version), db.ErrStale)
	require.NotNil(t, stepWithin(t, s, caps, second.ID).Wait)
}

// A cluster whose turn came is never reconciled; the next pass gives the runner to somebody else, and the cap still holds.
func TestOneWhoseTurnCameAndThatDoesNotStartHoldsUpNobody(t *testing.T) {
	t.Parallel()
	caps := lifecycle.RunnerCaps{All: 1}
	s, clock := capped(t, caps)
	var ids []string
	for i := range 3 {
		clock.Pass(time.Minute)
		ids = append(ids, storetest.Accept(t, s, storetest.Granted(fmt.Sprintf("shop-%d", i))).ID)
		stepWithin(t, s, caps, ids[i])
	}
	ends(t, s, ids[0], lifecycle.Failure)
	require.Equal(t, 1, assigned(t, s))
	require.Zero(t, assigned(t, s), "it has time to start")
	clock.Pass(time.Minute)
	storetest.Lose(t, s)
	require.Equal(t, 1, assigned(t, s))
	require.Len(t, storetest.RiverJobs(t, s, "reconcile"), 2, "it is asked again")
	require.Equal(t, lifecycle.Create, stepWithin(t, s, caps, ids[2]).Open)
	require.NotNil(t, stepWithin(t, s, caps, ids[1]).Wait)
	ends(t, s, ids[2], lifecycle.Failure)
	assigned(t, s)
	require.Equal(t, lifecycle.Create, stepWithin(t, s, caps, ids[1]).Open)
}

func TestWithoutCapsNobodyWaitsAnyMore(t *testing.T) {
	t.Parallel()
	url, clock, caps := pgtest.New(t), storetest.NewClock(), lifecycle.RunnerCaps{All: 1}
	bound := storetest.Limits
	bound.Runners = caps
	s := storetest.OpenAt(t, url, db.Options{Limits: bound, Lease: time.Hour, Now: clock.Now})
	first, second := storetest.Accept(t, s, storetest.Granted("first")), storetest.Accept(t, s, storetest.Granted("second"))
	stepWithin(t, s, caps, first.ID)
	stepWithin(t, s, caps, second.ID)
	free := storetest.OpenAt(t, url, db.Options{Limits: storetest.Limits, Lease: time.Hour, Now: clock.Now})
	require.Equal(t, 1, assigned(t, free))
	require.Equal(t, lifecycle.Create, storetest.Step(t, free, second.ID).Open)
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM runner_queue`))
}

// A server of the release before opens attempts and knows no queue.
func TestAnAttemptThatWasOpenedBesideTheQueueLeavesIt(t *testing.T) {
	t.Parallel()
	caps := lifecycle.RunnerCaps{All: 1}
	s, _ := capped(t, caps)
	first, second := storetest.Accept(t, s, storetest.Granted("first")), storetest.Accept(t, s, storetest.Granted("second"))
	stepWithin(t, s, caps, first.ID)
	stepWithin(t, s, caps, second.ID)
	_, err := s.Pool().Exec(t.Context(), `
		INSERT INTO attempts (id, cluster_id, job_id, number, kind, token_id, opened_at, phase)
		SELECT 'att_old', cluster_id, id, 1, 'create', 'old', now(), 'preflight' FROM jobs WHERE cluster_id = $1`, second.ID)
	require.NoError(t, err)
	require.Zero(t, assigned(t, s))
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM runner_queue`))
}

const mostRunners = 5

// runnersPassed lists the caps of the storm that are passed at one moment.
const runnersPassed = `
	SELECT 'runners ' || count(*) FROM attempts WHERE closed_at IS NULL HAVING count(*) > 5
	UNION ALL SELECT 'runners besides teardowns ' || count(*) FROM attempts WHERE closed_at IS NULL AND kind <> 'destroy' HAVING count(*) > 4`

// Thirty clusters, two replicas and eight appliers that look, run, destroy and give runners at once.
func TestNoCapOnRunnersIsEverPassedAndEverybodyGetsOne(t *testing.T) {
	t.Parallel()
	s := newStorm(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for i := range 30 {
		a := storetest.RequestedBy(storetest.Granted(fmt.Sprintf("shop-%d", i)), fmt.Sprintf("github:user%d", i))
		a.Row.Team, a.Weight = fmt.Sprintf("team-%d", i%3), 1+i%2
		s.ids = append(s.ids, storetest.Accept(t, s.replicas[0], a).ID)
	}
	seed, errs, busiest := rand.Uint64(), make([]error, 8), make([]int, 8)
	t.Logf("seed %d", seed)
	together(len(errs), func(i int) {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		for n := 0; n < 60 && errs[i] == nil; n++ {
			at, id := s.any(r)
			switch dice := r.IntN(20); {
			case dice < 11:
				errs[i] = s.deciding(ctx, at, id)
			case dice < 16:
				_, errs[i] = s.running(ctx, r, at, id, nil)
			case dice < 17:
				_, err := at.Destroy(ctx, id, clusters.Origin{Actor: "github:maya", Why: "done"})
				errs[i] = tolerable(err)
			default:
				_, errs[i] = at.AssignRunners(ctx)
			}
			if errs[i] == nil {
				errs[i] = s.watching(ctx, runnersPassed)
			}
			var open int
			if err := at.Pool().QueryRow(ctx, `SELECT count(*) FROM attempts WHERE closed_at IS NULL`).Scan(&open); err != nil && errs[i] == nil {
				errs[i] = err
			}
			busiest[i] = max(busiest[i], open)
		}
	})
	require.NoError(t, errors.Join(errs...))
	require.GreaterOrEqual(t, slices.Max(busiest), mostRunners-1, "a cap that nobody reaches proves nothing")
	s.usesEveryRunner(ctx)
	s.calm(ctx, runnersPassed)
	s.whole(ctx)
}

// deciding is the controller on one cluster, without its runner.
func (s *storm) deciding(ctx context.Context, at *store.Store, id string) error {
	c, f, err := at.Load(ctx, id)
	if err != nil {
		return tolerable(err)
	}
	return tolerable(at.Apply(ctx, lifecycle.Decide(c, f, s.limits), c.Version))
}

// usesEveryRunner requires that nobody waits while a runner is free for them.
func (s *storm) usesEveryRunner(ctx context.Context) {
	s.Helper()
	at := s.replicas[0]
	for range 3 { // an attempt that ended is accounted for, its wait after a failure is over, and whoever is next begins
		_, err := at.AssignRunners(ctx)
		require.NoError(s, err)
		for _, id := range s.ids {
			require.NoError(s, s.deciding(ctx, at, id))
		}
	}
	waiting := storetest.Count(s, at, `SELECT count(*) FROM runner_queue`)
	running := storetest.Count(s, at, `SELECT count(*) FROM attempts WHERE closed_at IS NULL`)
	require.True(s, waiting == 0 || running >= mostRunners-1, "%d wait and %d run", waiting, running)
}

// BenchmarkAssignRunners is one pass in which one of many gets a runner, and one decision of those that wait.
func BenchmarkAssignRunners(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			caps := lifecycle.RunnerCaps{All: 2}
			s, _ := capped(b, caps)
			seed := storetest.Accept(b, s, storetest.FromPR(storetest.Granted("seed"), 41))
			stepWithin(b, s, caps, seed.ID)
			storetest.Crowd(b, s, seed.ID)
			_, err := s.Pool().Exec(b.Context(), `
				INSERT INTO runner_queue (cluster_id, kind, account, since, position, words)
				SELECT id, 'create', '', created_at, row_number() OVER (ORDER BY created_at, id), 'at most 1 run at once in this installation besides teardowns'
				FROM clusters WHERE destroyed_at IS NULL AND id <> $1 ORDER BY created_at, id LIMIT $2`, seed.ID, n)
			require.NoError(b, err)
			_, err = s.Pool().Exec(b.Context(), `ANALYZE`)
			require.NoError(b, err)
			require.Equal(b, n, storetest.Count(b, s, `SELECT count(*) FROM runner_queue`))
			assigned(b, s)
			b.Run("pass", func(b *testing.B) {
				for b.Loop() {
					assigned(b, s)
				}
			})
			b.Run("load", func(b *testing.B) {
				id := ""
				require.NoError(b, s.Pool().QueryRow(b.Context(), `SELECT cluster_id FROM runner_queue LIMIT 1`).Scan(&id))
				for b.Loop() {
					_, _, err := s.Load(b.Context(), id)
					require.NoError(b, err)
				}
			})
		})
	}
}
