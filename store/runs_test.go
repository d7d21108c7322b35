package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/runs"
)

// runRef names run 7001 of acme/shop in an attempt.
func runRef(attempt int) runs.Ref {
	return runs.Ref{
		Platform: lifecycle.GitHub, Issuer: "https://token.actions.githubusercontent.com", Scope: "1001", Key: "7001", Attempt: attempt,
		Repo: "acme/shop", Name: "e2e", URL: "https://github.com/acme/shop/actions/runs/7001", Event: "push", Ref: "refs/heads/main",
	}
}

// inSlot is a request of an attempt of that run for a cluster that ends with the run.
func inSlot(attempt int, slot string) runs.Ask {
	return runs.Ask{Ref: runRef(attempt), Slot: slot, Lifetime: lifecycle.LifetimeRun, Job: "9001"}
}

func reusing(a runs.Ask) runs.Ask {
	a.Reuse = func(store.Row) error { return nil }
	return a
}

// askedBy has a run's request granted under a name.
func askedByRun(s *store.Store, name string, a runs.Ask) (store.Judged, error) {
	g := granted(name)
	g.Row.Spec.RunGrace = 15 * time.Minute
	ask := requests(g)
	ask.Run = &a
	judged, err := s.Judge(context.Background(), ask, func(store.Usage) (store.Judgement, error) { return g, nil }, nil)
	return judged, err
}

func boundTo(t testing.TB, s *store.Store, name string, a runs.Ask) store.Row {
	t.Helper()
	judged, err := askedByRun(s, name, a)
	require.NoError(t, err)
	return judged.Row
}

func TestAClusterBelongsToTheRunThatAskedForIt(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := boundTo(t, s, "shop", inSlot(1, "e2e-1"))
	run := row.Run
	require.NotEmpty(t, run.ID)
	run.ID = ""
	require.Equal(t, lifecycle.Run{
		Platform: lifecycle.GitHub, Key: "7001", Repo: "acme/shop", Name: "e2e", URL: "https://github.com/acme/shop/actions/runs/7001", Attempt: 1, Slot: "e2e-1",
		Lifetime: lifecycle.LifetimeRun, State: lifecycle.RunRunning,
	}, run)
	known, err := s.Runs.Run(t.Context(), row.Run.ID)
	require.NoError(t, err)
	require.Equal(t, clock.now().Add(time.Minute), known.LookAt.UTC())
	other := accept(t, s, granted("other"))
	require.Empty(t, other.Run)
	for _, by := range []string{row.Run.ID, row.Run.URL, row.Run.Key} {
		list, _, err := s.List(t.Context(), store.Filter{Run: by})
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, row.ID, list[0].ID)
	}
}

func TestARunHasAtMostOneWantedClusterInEachSlot(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	first := boundTo(t, s, "shop", inSlot(1, ""))
	_, err := askedByRun(s, "shop-2", inSlot(1, ""))
	var refusal *runs.Refusal
	require.ErrorAs(t, err, &refusal)
	require.ErrorIs(t, err, runs.ErrSlotTaken)
	require.Equal(t, "shop", refusal.Cluster)
	boundTo(t, s, "shop-2", inSlot(1, "another"))

	again, err := askedByRun(s, "shop-3", reusing(inSlot(1, "")))
	require.NoError(t, err)
	require.True(t, again.Reused)
	require.Equal(t, first.ID, again.Row.ID)
	require.Equal(t, 2, count(t, s, `SELECT count(*) FROM clusters`))
	no := errors.New("not this one")
	a := inSlot(1, "")
	a.Reuse = func(store.Row) error { return no }
	_, err = askedByRun(s, "shop-3", a)
	require.ErrorIs(t, err, no)
}

func TestANewerAttemptTakesOverTheClusterOrReplacesIt(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	kept, replaced := boundTo(t, s, "kept", inSlot(1, "kept")), boundTo(t, s, "replaced", inSlot(1, "replaced"))
	again, err := askedByRun(s, "kept-2", reusing(inSlot(2, "kept")))
	require.NoError(t, err)
	require.Equal(t, kept.ID, again.Row.ID)
	require.Equal(t, 2, again.Row.Run.Attempt)
	next := boundTo(t, s, "replaced-2", inSlot(2, "replaced"))
	old, err := s.Cluster(t.Context(), replaced.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Absent, old.Desired)
	require.Equal(t, "a newer attempt of its run has a new cluster, replaced-2", old.DesiredWhy)
	require.Equal(t, lifecycle.Present, next.Desired)

	_, err = askedByRun(s, "late", reusing(inSlot(1, "kept")))
	require.ErrorIs(t, err, runs.ErrReplaced)
}

func TestTurnsOnAClusterAreGrantedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := accept(t, s, granted("shop"))
	asks := func(key string) runs.Use {
		t.Helper()
		ref := runRef(1)
		ref.Key = key
		clock.pass(time.Second)
		use, fresh, err := s.Runs.AskUse(t.Context(), row.ID, ref, "9"+key, store.Origin{Actor: "oidc:x#repo:acme/shop"})
		require.NoError(t, err)
		require.True(t, fresh)
		again, fresh, err := s.Runs.AskUse(t.Context(), row.ID, ref, "9"+key, store.Origin{Actor: "oidc:x#repo:acme/shop"})
		require.NoError(t, err)
		require.False(t, fresh)
		require.Equal(t, use.ID, again.ID)
		return use
	}
	first, second, third := asks("1"), asks("2"), asks("3")
	require.Equal(t, runs.UseGranted, first.State())
	require.Equal(t, runs.UseWaiting, second.State())
	states := func() (out []string) {
		list, err := s.Runs.Uses(t.Context(), row.ID)
		require.NoError(t, err)
		for _, u := range list {
			out = append(out, fmt.Sprint(u.Key, " ", u.State(), " ", u.Why))
		}
		return out
	}
	released, err := s.Runs.Release(t.Context(), row.ID, second.ID, store.Origin{Actor: "x", Why: "its run released it"})
	require.NoError(t, err)
	require.Equal(t, runs.UseReleased, released.State())
	require.Equal(t, []string{"1 granted ", "3 waiting ", "2 released its run released it"}, states())
	_, err = s.Runs.Release(t.Context(), row.ID, first.ID, store.Origin{Actor: "x", Why: "its run released it"})
	require.NoError(t, err)
	require.Equal(t, "3 granted ", states()[0])
	_, err = s.Destroy(t.Context(), row.ID, store.Origin{Actor: "maya", Why: "enough"})
	require.NoError(t, err)
	require.Equal(t, "3 released the cluster is no longer wanted: enough", states()[0])
	_, _, err = s.Runs.AskUse(t.Context(), row.ID, runRef(1), "", store.Origin{Actor: "x"})
	require.ErrorIs(t, err, store.ErrConflict)
	require.NotEmpty(t, third.ID)
}
