package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/runs"
	"github.com/ocpctl/ocpctl/store/usage"
)

// RunRef names run 7001 of acme/shop in an attempt.
func RunRef(attempt int) runs.Ref {
	return runs.Ref{
		Platform: lifecycle.GitHub, Issuer: "https://token.actions.githubusercontent.com", Scope: "1001", Key: "7001", Attempt: attempt,
		Repo: "acme/shop", Name: "e2e", URL: "https://github.com/acme/shop/actions/runs/7001", Event: "push", Ref: "refs/heads/main",
	}
}

// InSlot is a request of an attempt of that run for a cluster that ends with the run.
func InSlot(attempt int, slot string) runs.Ask {
	return runs.Ask{Ref: RunRef(attempt), Slot: slot, Lifetime: lifecycle.LifetimeRun, Job: "9001"}
}

func Reusing(a runs.Ask) runs.Ask {
	a.Reuse = func(clusters.Row) error { return nil }
	return a
}

// askedBy has a run's request granted under a name.
func AskedByRun(s *store.Store, name string, a runs.Ask) (store.Judged, error) {
	g := Granted(name)
	g.Row.Spec.RunGrace = 15 * time.Minute
	ask := Requests(g)
	ask.Run = &a
	judged, err := s.Judge(context.Background(), ask, func(usage.Usage) (store.Judgement, error) { return g, nil })
	return judged, err
}

func BoundTo(t testing.TB, s *store.Store, name string, a runs.Ask) clusters.Row {
	t.Helper()
	judged, err := AskedByRun(s, name, a)
	require.NoError(t, err)
	return judged.Row
}

// State is what GitHub says of an attempt; at is when it changed, in minutes.
func State(attempt int, conclusion string, at int) runs.Seen {
	seen := runs.Seen{Attempt: attempt, State: lifecycle.RunRunning, UpdatedAt: time.Date(2026, 11, 20, 12, at, 0, 0, time.UTC), Confirmed: true}
	if conclusion != "" {
		seen.State, seen.Conclusion = lifecycle.RunFinished, conclusion
	}
	return seen
}
