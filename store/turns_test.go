package store_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

// served gives turns and returns whose it was.
func served(t testing.TB, s *store.Store) []string {
	t.Helper()
	n, err := s.Turns(t.Context())
	require.NoError(t, err)
	var ids []string
	require.NoError(t, s.Pool().QueryRow(t.Context(), `
		SELECT coalesce(array_agg(target_cluster_id ORDER BY id), '{}') FROM (
			SELECT * FROM audit_events WHERE action = 'turn' ORDER BY id DESC LIMIT $1) newest`, n).Scan(&ids))
	require.Len(t, ids, n)
	return ids
}

// goes destroys a cluster that was never begun, which releases it.
func goes(t testing.TB, s *store.Store, id string) {
	t.Helper()
	_, err := s.Destroy(t.Context(), id, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	require.Equal(t, lifecycle.Released, storetest.Step(t, s, id).Next.Phase)
}

func TestOfFiftyThatMayWaitThreeRunAndEveryoneGetsATurn(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	errs := make([]error, 50)
	together(len(errs), func(i int) {
		a := storetest.RequestedBy(storetest.Granted(fmt.Sprintf("shop-%d", i)), fmt.Sprintf("github:user%d", i))
		_, errs[i] = s.Judge(t.Context(), storetest.Requests(a), storetest.AtMost(3, true, a))
	})
	require.NoError(t, errors.Join(errs...))
	const live = `SELECT count(*) FROM clusters WHERE destroyed_at IS NULL AND NOT needs_turn`
	require.Equal(t, 3, storetest.Count(t, s, live))
	require.Equal(t, 47, storetest.Count(t, s, `SELECT count(*) FROM clusters WHERE needs_turn`))
	require.Equal(t, 47, storetest.Count(t, s, `SELECT count(*) FROM turns`))

	for range 17 {
		for id := range liveIDs(t, s) {
			goes(t, s, id)
		}
		together(3, func(int) {
			_, err := s.Turns(t.Context())
			require.NoError(t, err)
		})
		require.LessOrEqual(t, storetest.Count(t, s, live), 3)
	}
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM turns`))
	require.Equal(t, 50, storetest.Count(t, s, `SELECT count(*) FROM clusters WHERE destroyed_at IS NOT NULL`))
	require.Equal(t, 47, storetest.Count(t, s, `SELECT count(DISTINCT target_cluster_id) FROM audit_events WHERE action = 'turn'`))
}

// liveIDs are the clusters that run.
func liveIDs(t testing.TB, s *store.Store) map[string]bool {
	t.Helper()
	rows, _, err := s.List(t.Context(), store.Filter{Live: true, Limit: 500})
	require.NoError(t, err)
	ids := map[string]bool{}
	for _, row := range rows {
		if !row.NeedsTurn {
			ids[row.ID] = true
		}
	}
	return ids
}

func TestWhoWaitsKnowsTheirPlaceAndIsToldOnlyWhenItMoves(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	first := storetest.Queues(t, s, clock, "first", 2)
	second := storetest.Queues(t, s, clock, "second", 2)
	require.Empty(t, storetest.RiverJobs(t, s, "turns"), "nobody waits")
	third, fourth := storetest.Queues(t, s, clock, "third", 2), storetest.Queues(t, s, clock, "fourth", 2)
	require.Len(t, storetest.RiverJobs(t, s, "turns"), 2)
	require.Equal(t, []any{lifecycle.Pending, lifecycle.AwaitingCapacity, true}, []any{third.Status, third.Phase, third.NeedsTurn})
	require.Empty(t, served(t, s))
	told, err := s.Cluster(t.Context(), third.ID)
	require.NoError(t, err)
	require.EqualValues(t, third.Version+1, told.Version, "when its turn may come is told, though its place is as it was")
	facts := func(id string) lifecycle.Turn {
		_, f, err := s.Load(t.Context(), id)
		require.NoError(t, err)
		return f.Turn
	}
	words := "team acme/platform may have 2 clusters live at once (quota teams)"
	require.Equal(t, lifecycle.Turn{Position: 1, For: words, ETA: first.DestroyAt}, facts(third.ID))
	require.Equal(t, lifecycle.Turn{Position: 2, For: words, ETA: second.DestroyAt}, facts(fourth.ID))

	pokes := func() int { return storetest.Count(t, s, `SELECT sum(pokes)::int FROM clusters`) }
	before := pokes()
	require.Empty(t, served(t, s))
	require.Equal(t, before, pokes(), "nothing is news")

	storetest.Lose(t, s)
	goes(t, s, first.ID)
	require.NotEmpty(t, storetest.RiverJobs(t, s, "turns"), "a place is free")
	version := storetest.Count(t, s, `SELECT row_version::int FROM clusters WHERE id = $1`, third.ID)
	require.Equal(t, []string{third.ID}, served(t, s))
	row, err := s.Cluster(t.Context(), third.ID)
	require.NoError(t, err)
	require.False(t, row.NeedsTurn)
	require.EqualValues(t, version+1, row.Version, "a decision on the state before is stale")
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, third.ID).Open)
	require.Equal(t, 1, facts(fourth.ID).Position)

	goes(t, s, fourth.ID) // it gives up waiting
	require.Empty(t, served(t, s))
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM turns`))
}

func TestATurnOfWhatIsBeingCreatedComesWhenOneIsReady(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, attempt := storetest.Claimed(t, s, "first")
	limit := lifecycle.Limit{Quota: "everybody", Scope: lifecycle.ScopeEverywhere, What: lifecycle.CountCreating, Most: 1}
	a := storetest.Granted("second")
	a.Turn = &store.TurnAsk{Limits: []lifecycle.Limit{limit}, Words: limit.Text()}
	waiting := storetest.Accept(t, s, a)
	require.Empty(t, served(t, s))
	require.Zero(t, turnETA(t, s, waiting.ID), "nothing is known of how long it takes: its end, a day off, is no answer")
	_, err := s.Pool().Exec(t.Context(), `UPDATE attempts SET expected_seconds = 1800 WHERE id = $1`, attempt.Attempt)
	require.NoError(t, err)
	require.Empty(t, served(t, s))
	require.Equal(t, clock.Now().Add(30*time.Minute), turnETA(t, s, waiting.ID))

	storetest.Lose(t, s)
	storetest.Ready(t, s, row, attempt, "first-abcde")
	require.Len(t, storetest.RiverJobs(t, s, "turns"), 1)
	require.Equal(t, []string{waiting.ID}, served(t, s))
}

func turnETA(t testing.TB, s *store.Store, id string) time.Time {
	t.Helper()
	_, f, err := s.Load(t.Context(), id)
	require.NoError(t, err)
	return f.Turn.ETA
}

// What is approved together takes its turns one by one.
func TestWhatIsApprovedTakesItsTurn(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	limit := lifecycle.Limit{Quota: "teams", Scope: lifecycle.ScopeTeam, Key: "acme/platform", What: lifecycle.CountCreating, Most: 1}
	var ids []string
	for i := range 2 {
		clock.Pass(time.Minute)
		a := storetest.Granted(fmt.Sprintf("shop-%d", i))
		a.Approval = &store.ApprovalAsk{Why: []string{"dear"}, Needs: 1, By: "platform_admin", For: time.Hour, Asked: fmt.Sprintf("%064d", i)}
		a.Turn = &store.TurnAsk{Limits: []lifecycle.Limit{limit}}
		ids = append(ids, storetest.Accept(t, s, a).ID)
	}
	require.Empty(t, served(t, s))
	storetest.Lose(t, s)
	_, err := s.Pool().Exec(t.Context(), `UPDATE clusters SET needs_approval = false, approve_by = NULL`)
	require.NoError(t, err)
	require.Equal(t, ids[:1], served(t, s))
	usage, err := s.Usage(t.Context(), usage.Scope{Team: "acme/platform"})
	require.NoError(t, err)
	require.Equal(t, []int{1, 1, 1}, []int{usage.Team.Live, usage.Team.Creating, usage.Team.Waiting})
	goes(t, s, ids[0])
	require.Equal(t, ids[1:], served(t, s))
}

// asksFirst is a request that has to be approved, under a quota of so many live clusters for the team.
func asksFirst(t testing.TB, s *store.Store, clock *storetest.Clock, name string, most int) clusters.Row {
	t.Helper()
	clock.Pass(time.Minute)
	a := storetest.Granted(name)
	limit := lifecycle.Limit{Quota: "teams", Scope: lifecycle.ScopeTeam, Key: a.Row.Team, What: lifecycle.CountLive, Most: most}
	a.Approval = &store.ApprovalAsk{Why: []string{"dear"}, Needs: 1, By: "platform_admin", For: 8 * time.Hour, Asked: strings.Repeat("a", 64)}
	a.Turn = &store.TurnAsk{Limits: []lifecycle.Limit{limit}}
	return storetest.Accept(t, s, a)
}

func TestWhatNobodyApprovedYetTakesNoPlaceFromThoseBeforeIt(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	first := storetest.Queues(t, s, clock, "first", 1)
	second := storetest.Queues(t, s, clock, "second", 1)
	third := asksFirst(t, s, clock, "third", 1)
	fourth := storetest.Queues(t, s, clock, "fourth", 1)
	require.Empty(t, served(t, s))
	goes(t, s, first.ID)
	require.Equal(t, []string{second.ID}, served(t, s), "it waited before")
	goes(t, s, second.ID)
	require.Empty(t, served(t, s), "the place is kept, though nobody approved it yet")
	_, err := s.Vote(t.Context(), storetest.Pending(t, s, third.ID).ID, true, storetest.OriginBy("saml:admin", ""))
	require.NoError(t, err)
	require.Equal(t, []string{third.ID}, served(t, s))
	goes(t, s, third.ID)
	require.Equal(t, []string{fourth.ID}, served(t, s))
}

// A request is counted before an approval is given, and written after the turns were.
func TestNoTurnIsGivenBesideARequestThatWasCountedBeforeTheApproval(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	const counts = `SELECT count(*) FROM clusters WHERE needs_turn = false AND needs_approval = false`
	first := storetest.Granted("first")
	limit := lifecycle.Limit{Quota: "teams", Scope: lifecycle.ScopeTeam, Key: first.Row.Team, What: lifecycle.CountCreating, Most: 1}
	first.Approval = &store.ApprovalAsk{Why: []string{"dear"}, Needs: 1, By: "platform_admin", For: time.Hour, Asked: strings.Repeat("a", 64)}
	first.Turn = &store.TurnAsk{Limits: []lifecycle.Limit{limit}}
	approved := storetest.Accept(t, s, first).ID
	clock.Pass(time.Minute)

	second := storetest.Granted("second")
	var passed sync.WaitGroup
	var granted int
	var failed error
	_, err := s.Judge(t.Context(), storetest.Requests(second), func(u usage.Usage) (store.Judgement, error) {
		require.Zero(t, u.Team.Creating+u.Team.Waiting)
		_, err := s.Pool().Exec(t.Context(), `UPDATE clusters SET needs_approval = false, approve_by = NULL WHERE id = $1`, approved)
		require.NoError(t, err)
		passed.Go(func() { granted, failed = s.Turns(t.Context()) })
		require.Eventually(t, func() bool { // the pass waits for this request, or has given the turn
			var waits, started int
			require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
				WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted`).Scan(&waits))
			require.NoError(t, s.Pool().QueryRow(t.Context(), counts).Scan(&started))
			return waits+started > 0
		}, 20*time.Second, time.Millisecond)
		return second, nil
	})
	require.NoError(t, err)
	passed.Wait()
	require.NoError(t, failed)
	require.Zero(t, granted)
	var started int
	require.NoError(t, s.Pool().QueryRow(t.Context(), counts).Scan(&started))
	require.Equal(t, 1, started, "one may be created at once")
}
