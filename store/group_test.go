package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

// hold has a request judged until it is let go, so that those that come meanwhile are judged together.
func hold(t *testing.T, s *store.Store, person, team string) (letGo func()) {
	t.Helper()
	begun, end, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	a := storetest.RequestedBy(storetest.Granted("held"), person)
	a.Row.Team = team
	go func() {
		_, err := s.Judge(context.Background(), storetest.Requests(a), func(usage.Usage) (store.Judgement, error) {
			close(begun)
			<-end
			return a, nil
		})
		done <- err
	}()
	<-begun
	return func() {
		close(end)
		require.NoError(t, <-done)
	}
}

// ask sends requests one after the other while another one is judged, and returns what came of each.
func ask(t *testing.T, s *store.Store, asks []store.Ask, judge func(i int, u usage.Usage) (store.Judgement, error)) ([]store.Judged, []error) {
	t.Helper()
	letGo := hold(t, s, "github:maya", storetest.Granted("any").Row.Team)
	out, errs := make([]store.Judged, len(asks)), make([]error, len(asks))
	waiting := make(chan struct{}, len(asks))
	go func() {
		for range asks {
			<-waiting
		}
		letGo()
	}()
	together(len(asks), func(i int) {
		waiting <- struct{}{}
		out[i], errs[i] = s.Judge(t.Context(), asks[i], func(u usage.Usage) (store.Judgement, error) { return judge(i, u) })
	})
	return out, errs
}

func TestWhatFailsInAGroupIsItsOwn(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	grants := make([]store.Judgement, 12)
	asks := make([]store.Ask, len(grants))
	for i := range grants {
		grants[i] = storetest.RequestedBy(storetest.Granted(fmt.Sprintf("shop-%d", i)), fmt.Sprintf("github:user%d", i))
		asks[i] = storetest.Requests(grants[i])
	}
	grants[3].Row.Name, grants[4].Row.Name = "held", "shop-5" // one is taken, and two want another
	asks[6].Key, asks[7].Key, asks[7].Principal, grants[7].Row.RequestedBy, asks[7].Scope = "cause", "cause", asks[6].Principal, asks[6].Principal, asks[6].Scope
	_, errs := ask(t, s, asks, func(i int, u usage.Usage) (store.Judgement, error) {
		switch i {
		case 0:
			return store.Judgement{}, errors.New("it cannot be judged")
		case 1:
			panic("a fault")
		case 2:
			return storetest.Refusal("no"), nil
		}
		return grants[i], nil
	})
	require.ErrorContains(t, errs[0], "it cannot be judged")
	require.ErrorContains(t, errs[1], "a fault")
	require.NoError(t, errs[2])
	require.ErrorIs(t, errs[3], db.ErrNameTaken)
	require.True(t, errors.Is(errs[4], db.ErrNameTaken) != errors.Is(errs[5], db.ErrNameTaken), "one of the two has the name: %v, %v", errs[4], errs[5])
	require.NoError(t, errors.Join(errs[6:]...))
	require.Equal(t, 1+1+1+4, storetest.Count(t, s, `SELECT count(*) FROM clusters`), "held, shop-5, one for the key, and four others")
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM cluster_requests WHERE NOT allowed`))
	wrong, err := s.CorrectUsage(t.Context())
	require.NoError(t, err)
	require.Empty(t, wrong)
}

func TestAGroupThatCannotBeStoredIsJudgedOneByOne(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*store.Judgement, *store.Ask){
		"a statement is refused":                   func(j *store.Judgement, _ *store.Ask) { j.Row.Platform = "mars" },
		"a statement before the commit is refused": func(_ *store.Judgement, a *store.Ask) { *a = once(*a, "key", "not hex") },
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := storetest.Open(t)
			grants := make([]store.Judgement, 6)
			asks := make([]store.Ask, len(grants))
			for i := range grants {
				grants[i] = storetest.RequestedBy(storetest.Granted(fmt.Sprintf("shop-%d", i)), fmt.Sprintf("github:user%d", i))
				asks[i] = storetest.Requests(grants[i])
			}
			spoil(&grants[2], &asks[2])
			judged, errs := ask(t, s, asks, func(i int, _ usage.Usage) (store.Judgement, error) { return grants[i], nil })
			for i, err := range errs {
				require.Equal(t, i == 2, err != nil, "%d: %v", i, err)
				require.True(t, i == 2 || judged[i].Row.ID != "", "%d", i)
			}
			require.Equal(t, 6, storetest.Count(t, s, `SELECT count(*) FROM clusters`), "with the one that was held")
			require.Equal(t, 6, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'accepted'`))
		})
	}
}

func TestRequestsOfAGroupSeeWhatThoseBeforeThemUse(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	asks := make([]store.Ask, 40)
	var seen []usage.Usage
	grants := make([]store.Judgement, len(asks))
	for i := range asks {
		grants[i] = storetest.FromPR(storetest.RequestedBy(storetest.Sized(fmt.Sprintf("shop-%d", i)), fmt.Sprintf("github:user%d", i%3)), i+1)
		asks[i] = storetest.Requests(grants[i])
		asks[i].Scope.Everywhere = true
	}
	_, errs := ask(t, s, asks, func(i int, u usage.Usage) (store.Judgement, error) {
		seen = append(seen, u)
		return storetest.AtMost(30, true, grants[i])(u)
	})
	require.NoError(t, errors.Join(errs...))
	for i, u := range seen {
		require.Equal(t, i+1, u.Team.Live+u.Team.Waiting, "with the one that was held")
		require.Equal(t, i+1, u.Everywhere.Live+u.Everywhere.Waiting)
		require.Equal(t, i, u.Repository.Live+u.Repository.Waiting)
	}
	last := asks[len(asks)-1].Scope
	stored, err := s.Usage(t.Context(), last)
	require.NoError(t, err)
	require.Equal(t, []int{30, 11}, []int{stored.Team.Live, stored.Team.Waiting})
	ahead := seen[len(seen)-1].Team
	each := (stored.Team.CommittedCents + 20) / 41
	require.InDelta(t, stored.Team.CommittedCents-each, ahead.CommittedCents, float64(each), "what is counted in memory is what is stored")
}

func TestTwoHundredCallersAndLostSessionsPassNoQuota(t *testing.T) {
	t.Parallel()
	url, clock := pgtest.New(t), storetest.NewClock()
	options := db.Options{Limits: storetest.Limits, Lease: time.Minute, Now: clock.Now}
	replicas := []*store.Store{storetest.OpenAt(t, url, options), storetest.OpenAt(t, url, options)}
	request := func(i int) error {
		a := storetest.RequestedBy(storetest.Granted(fmt.Sprintf("shop-%d", i)), fmt.Sprintf("github:user%d", i%7))
		_, err := replicas[i%2].Judge(t.Context(), storetest.Requests(a), storetest.AtMost(20, i%3 == 0, a))
		return err
	}
	over := make(chan struct{})
	var killer sync.WaitGroup
	killer.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
				_ = endSessions(replicas[0])
			}
		}
	})
	failed := make([]error, 200)
	together(len(failed), func(i int) { failed[i] = request(i) })
	close(over)
	killer.Wait()
	for i := range failed { // whose request was lost sends it again; a name that is taken was stored although its answer was lost
		if failed[i] != nil && !errors.Is(failed[i], db.ErrNameTaken) {
			if err := request(i); !errors.Is(err, db.ErrNameTaken) {
				require.NoError(t, err)
			}
		}
	}
	require.Equal(t, 20, storetest.Count(t, replicas[0], `SELECT count(*) FROM clusters WHERE NOT needs_turn`))
	wrong, err := replicas[0].CorrectUsage(t.Context())
	require.NoError(t, err)
	require.Empty(t, wrong)
	proof, err := replicas[0].VerifyAudit(t.Context())
	require.NoError(t, err)
	require.True(t, proof.Whole(), proof.Text())
}

func TestNobodyWaitsForTheLockOfAnotherTeam(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	first, second := storetest.Granted("first"), storetest.RequestedBy(storetest.Granted("second"), "github:will")
	second.Row.Team = "other"
	held, err := s.Pool().Begin(t.Context())
	require.NoError(t, err)
	_, err = held.Exec(t.Context(), `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, "quota team "+first.Row.Team)
	require.NoError(t, err)
	waits := make(chan error, 1)
	letGo := hold(t, s, "github:rob", "third")
	go func() {
		_, err := s.Judge(t.Context(), storetest.Requests(first), storetest.AtMost(3, false, first))
		waits <- err
	}()
	go letGo()
	_, err = s.Judge(t.Context(), storetest.Requests(second), storetest.AtMost(3, false, second))
	require.NoError(t, err, "with the one that waits in its group, or after it")
	select {
	case err := <-waits:
		t.Fatalf("it did not wait: %v", err)
	default:
	}
	require.NoError(t, held.Rollback(t.Context()))
	require.NoError(t, <-waits)
}
