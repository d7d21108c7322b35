package runs_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/runs"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestAClusterBelongsToTheRunThatAskedForIt(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.BoundTo(t, s, "shop", storetest.InSlot(1, "e2e-1"))
	run := row.Run
	require.NotEmpty(t, run.ID)
	run.ID = ""
	require.Equal(t, lifecycle.Run{
		Platform: lifecycle.GitHub, Key: "7001", Repo: "acme/shop", Name: "e2e", URL: "https://github.com/acme/shop/actions/runs/7001", Attempt: 1, Slot: "e2e-1",
		Lifetime: lifecycle.LifetimeRun, State: lifecycle.RunRunning,
	}, run)
	known, err := s.Runs.Run(t.Context(), row.Run.ID)
	require.NoError(t, err)
	require.Equal(t, clock.Now().Add(time.Minute), known.LookAt.UTC())
	other := storetest.Accept(t, s, storetest.Granted("other"))
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
	s, _ := storetest.Open(t)
	first := storetest.BoundTo(t, s, "shop", storetest.InSlot(1, ""))
	_, err := storetest.AskedByRun(s, "shop-2", storetest.InSlot(1, ""))
	var refusal *runs.Refusal
	require.ErrorAs(t, err, &refusal)
	require.ErrorIs(t, err, runs.ErrSlotTaken)
	require.Equal(t, "shop", refusal.Cluster)
	storetest.BoundTo(t, s, "shop-2", storetest.InSlot(1, "another"))

	again, err := storetest.AskedByRun(s, "shop-3", storetest.Reusing(storetest.InSlot(1, "")))
	require.NoError(t, err)
	require.True(t, again.Reused)
	require.Equal(t, first.ID, again.Row.ID)
	require.Equal(t, 2, storetest.Count(t, s, `SELECT count(*) FROM clusters`))
	no := errors.New("not this one")
	a := storetest.InSlot(1, "")
	a.Reuse = func(clusters.Row) error { return no }
	_, err = storetest.AskedByRun(s, "shop-3", a)
	require.ErrorIs(t, err, no)
}

func TestANewerAttemptTakesOverTheClusterOrReplacesIt(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	kept, replaced := storetest.BoundTo(t, s, "kept", storetest.InSlot(1, "kept")), storetest.BoundTo(t, s, "replaced", storetest.InSlot(1, "replaced"))
	again, err := storetest.AskedByRun(s, "kept-2", storetest.Reusing(storetest.InSlot(2, "kept")))
	require.NoError(t, err)
	require.Equal(t, kept.ID, again.Row.ID)
	require.Equal(t, 2, again.Row.Run.Attempt)
	next := storetest.BoundTo(t, s, "replaced-2", storetest.InSlot(2, "replaced"))
	old, err := s.Cluster(t.Context(), replaced.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Absent, old.Desired)
	require.Equal(t, "a newer attempt of its run has a new cluster, replaced-2", old.DesiredWhy.String())
	require.Equal(t, lifecycle.Present, next.Desired)

	_, err = storetest.AskedByRun(s, "late", storetest.Reusing(storetest.InSlot(1, "kept")))
	require.ErrorIs(t, err, runs.ErrReplaced)
}

func TestTurnsOnAClusterAreGrantedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	asks := func(key string) runs.Use {
		t.Helper()
		ref := storetest.RunRef(1)
		ref.Key = key
		clock.Pass(time.Second)
		use, fresh, err := s.Runs.AskUse(t.Context(), row.ID, ref, "9"+key, clusters.Origin{Actor: "oidc:x#repo:acme/shop"})
		require.NoError(t, err)
		require.True(t, fresh)
		again, fresh, err := s.Runs.AskUse(t.Context(), row.ID, ref, "9"+key, clusters.Origin{Actor: "oidc:x#repo:acme/shop"})
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
	released, err := s.Runs.Release(t.Context(), row.ID, second.ID, clusters.Origin{Actor: "x", Why: "its run released it"})
	require.NoError(t, err)
	require.Equal(t, runs.UseReleased, released.State())
	require.Equal(t, []string{"1 granted ", "3 waiting ", "2 released its run released it"}, states())
	_, err = s.Runs.Release(t.Context(), row.ID, first.ID, clusters.Origin{Actor: "x", Why: "its run released it"})
	require.NoError(t, err)
	require.Equal(t, "3 granted ", states()[0])
	_, err = s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "maya", Why: "enough"})
	require.NoError(t, err)
	require.Equal(t, "3 released the cluster is no longer wanted: enough", states()[0])
	_, _, err = s.Runs.AskUse(t.Context(), row.ID, storetest.RunRef(1), "", clusters.Origin{Actor: "x"})
	require.ErrorIs(t, err, db.ErrConflict)
	require.NotEmpty(t, third.ID)
}

// heard is what a webhook alone says.
func heard(attempt int, conclusion string) runs.Seen {
	return runs.Seen{Attempt: attempt, State: lifecycle.RunFinished, Conclusion: conclusion}
}

func TestTheNewestThatIsKnownOfARunCounts(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	for name, c := range map[string]struct {
		seen []runs.Seen
		want string // attempt, conclusion, whether GitHub confirmed it
	}{
		"it runs":                                    {[]runs.Seen{storetest.State(1, "", 1)}, "1  true"},
		"it finished":                                {[]runs.Seen{storetest.State(1, "", 1), storetest.State(1, "failure", 2)}, "1 failure true"},
		"it finished within the second":              {[]runs.Seen{storetest.State(1, "", 1), storetest.State(1, "failure", 1)}, "1 failure true"},
		"a server of GitHub that lags":               {[]runs.Seen{storetest.State(1, "failure", 2), storetest.State(1, "", 1)}, "1 failure true"},
		"one that lags by less than a second":        {[]runs.Seen{storetest.State(1, "failure", 2), storetest.State(1, "", 2)}, "1 failure true"},
		"a new attempt":                              {[]runs.Seen{storetest.State(1, "failure", 2), storetest.State(2, "", 3)}, "2  true"},
		"a server that knows no new attempt yet":     {[]runs.Seen{storetest.State(2, "", 3), storetest.State(1, "failure", 2)}, "2  true"},
		"an older attempt that changed later":        {[]runs.Seen{storetest.State(2, "", 3), storetest.State(1, "failure", 9)}, "2  true"},
		"a webhook":                                  {[]runs.Seen{heard(1, "cancelled")}, "1 cancelled false"},
		"a webhook, and then GitHub":                 {[]runs.Seen{heard(1, "cancelled"), storetest.State(1, "failure", 2)}, "1 failure true"},
		"a forged webhook, and then GitHub":          {[]runs.Seen{heard(1, "cancelled"), storetest.State(1, "", 1)}, "1  true"},
		"a webhook of an older attempt":              {[]runs.Seen{storetest.State(2, "", 2), heard(1, "cancelled")}, "2  true"},
		"a webhook of an attempt that nobody knows":  {[]runs.Seen{storetest.State(1, "", 2), heard(2, "cancelled")}, "1  true"},
		"a webhook about what GitHub said otherwise": {[]runs.Seen{storetest.State(1, "failure", 2), heard(1, "success")}, "1 failure true"},
	} {
		ref := storetest.RunRef(1)
		ref.Key = fmt.Sprint(len(name), name)
		a := storetest.InSlot(1, "")
		a.Ref = ref
		row := storetest.BoundTo(t, s, fmt.Sprintf("c%d", storetest.Count(t, s, `SELECT count(*) FROM clusters`)), a)
		var run runs.Run
		for _, seen := range c.seen {
			clock.Pass(time.Second)
			var err error
			run, err = s.Runs.See(t.Context(), row.Run.ID, seen, clock.Now().Add(time.Minute))
			require.NoError(t, err, name)
		}
		require.Equal(t, c.want, fmt.Sprint(run.Attempt, " ", run.Conclusion, " ", run.Confirmed), name)
		now, err := s.Cluster(t.Context(), row.ID)
		require.NoError(t, err)
		require.Equal(t, run.Conclusion == "", now.Ends.RunFinished.IsZero(), name)
		if run.FinishedAt != nil {
			require.Equal(t, run.FinishedAt.Add(lifecycle.GraceAfter(run.Conclusion, 15*time.Minute)).UTC(), now.Ends.RunFinished.UTC(), name)
		}
	}
}

func TestTheEndOfARunIsWrittenDownOnceAndForAll(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.BoundTo(t, s, "shop", storetest.InSlot(1, ""))
	see := func(seen runs.Seen) clusters.Row {
		t.Helper()
		_, err := s.Runs.See(t.Context(), row.Run.ID, seen, clock.Now().Add(time.Minute))
		require.NoError(t, err)
		now, err := s.Cluster(t.Context(), row.ID)
		require.NoError(t, err)
		return now
	}
	first := see(storetest.State(1, "failure", 1))
	clock.Pass(time.Minute)
	again := see(storetest.State(1, "failure", 1))
	require.Equal(t, first.Version, again.Version, "the same answer changes nothing")
	require.Equal(t, []string{"end_set its workflow run failed"}, trailOf(t, s, row.ID, "end_set", "end_lifted"))
	see(storetest.State(2, "", 2))
	require.Equal(t, []string{"end_set its workflow run failed", "end_lifted its run goes on"}, trailOf(t, s, row.ID, "end_set", "end_lifted"))
	require.ErrorContains(t, s.SetEnd(t.Context(), row.ID, clusters.EndKind("run_finished"), nil, lifecycle.Reason{}, "x"), "cannot be set here")
}

// trailOf lists the lines of the audit trail about a cluster with these actions, oldest first.
func trailOf(t testing.TB, s *store.Store, cluster string, actions ...string) (lines []string) {
	t.Helper()
	rows, err := s.Pool().Query(t.Context(), `SELECT action || ' ' || (metadata ->> 'why') FROM audit_events WHERE target_cluster_id = $1 AND action = ANY ($2) ORDER BY seq`, cluster, actions)
	require.NoError(t, err)
	lines, err = pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return lines
}

func TestEachStepOfARunsClusterIsInTheTrail(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.BoundTo(t, s, "shop", storetest.InSlot(1, "e2e"))
	_, err := storetest.AskedByRun(s, "other", storetest.Reusing(storetest.InSlot(2, "e2e")))
	require.NoError(t, err)
	use, _, err := s.Runs.AskUse(t.Context(), row.ID, storetest.RunRef(2), "9001", clusters.Origin{Actor: "oidc:x#y"})
	require.NoError(t, err)
	clock.Pass(7 * time.Hour)
	n, err := s.Runs.ExpireUses(t.Context(), 6*time.Hour)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	const run = "https://github.com/acme/shop/actions/runs/7001"
	require.Equal(t, []string{
		`run_bound attempt 1 of ` + run + `, slot "e2e"`, `run_took_over attempt 2 of ` + run + `, slot "e2e"`,
		`use_asked for attempt 2 of ` + run, `use_granted to attempt 2 of ` + run, `use_released its turn lasted longer than limits.use allows`,
	}, trailOf(t, s, row.ID, "run_bound", "run_took_over", "use_asked", "use_granted", "use_released"))
	require.NotEmpty(t, use.ID)
}

func TestOnlyRunsOnWhichSomethingDependsAreLookedAt(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.BoundTo(t, s, "shop", storetest.InSlot(1, ""))
	due := func() int {
		t.Helper()
		list, err := s.Runs.ToLook(t.Context(), clock.Now(), 100)
		require.NoError(t, err)
		return len(list)
	}
	require.Zero(t, due())
	clock.Pass(time.Minute)
	require.Equal(t, 1, due())
	require.NoError(t, s.Runs.Postpone(t.Context(), row.Run.ID, clock.Now().Add(time.Minute)))
	require.Zero(t, due())
	clock.Pass(time.Minute)
	_, err := s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "maya", Why: "enough"})
	require.NoError(t, err)
	require.Zero(t, due())
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM runs WHERE look_at IS NOT NULL`))
	elsewhere := storetest.InSlot(1, "")
	elsewhere.Key, elsewhere.Unwatched = "7002", "the run is on https://github.com and the GitHub App on https://git.example.com"
	other := storetest.BoundTo(t, s, "other", elsewhere)
	require.Equal(t, elsewhere.Unwatched, other.Run.Unwatched)
	clock.Pass(time.Hour)
	require.Zero(t, due(), "nobody could be asked")
}

func TestADeletedRunEndsEveryClusterOfItWithTheGrace(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	for name, happens := range map[string]func(run string) error{
		"nothing else was heard": func(string) error { return nil },
		"a webhook said that the run was cancelled": func(run string) error {
			_, err := s.Runs.See(t.Context(), run, heard(1, "cancelled"), clock.Now().Add(time.Minute))
			return err
		},
		"a webhook said that the job was cancelled": func(run string) error {
			return s.Runs.SeeJob(t.Context(), run, "9001", lifecycle.Finish{Conclusion: "cancelled", At: clock.Now()}, false)
		},
		"it was in a newer attempt": func(run string) error {
			_, err := s.Runs.See(t.Context(), run, storetest.State(2, "", 2), clock.Now().Add(time.Minute))
			return err
		},
	} {
		a := storetest.InSlot(1, "")
		a.Ref.Key, a.Lifetime, a.Job = fmt.Sprint(len(name), name), lifecycle.LifetimeJob, "9001"
		row := storetest.BoundTo(t, s, fmt.Sprintf("c%d", storetest.Count(t, s, `SELECT count(*) FROM clusters`)), a)
		since := clock.Now()
		require.NoError(t, happens(row.Run.ID), name)
		for range 2 {
			_, err := s.Runs.Miss(t.Context(), row.Run.ID, clock.Now().Add(time.Minute))
			require.NoError(t, err, name)
			clock.Pass(time.Minute)
		}
		now, err := s.Cluster(t.Context(), row.ID)
		require.NoError(t, err)
		require.Equal(t, lifecycle.ConclusionGone, now.Run.Conclusion, name)
		require.Equal(t, "its job was deleted", now.Ends.RunWhy.String(), name)
		require.WithinRange(t, now.Ends.RunFinished, since.Add(15*time.Minute), since.Add(17*time.Minute), name)
	}
}
