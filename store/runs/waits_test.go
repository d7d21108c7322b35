package runs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/runs"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

func waitOf(t testing.TB, s *store.Store) runs.Wait {
	t.Helper()
	w, err := s.Runs.Wait(t.Context(), storetest.Text(t, s, `SELECT id FROM waits`))
	require.NoError(t, err)
	return w
}

func TestAJobThatBeginsToWaitWhileAnotherIsLetThroughIsDecidedAboutAnew(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.WaitedBy(t, s, "shop")
	require.Equal(t, clock.Now(), row.FreeSince.UTC())
	before := waitOf(t, s)
	require.Equal(t, []any{row.ID, 1, lifecycle.WaitDecision("")}, []any{before.Cluster, before.Asks, before.Decision})
	clock.Pass(time.Minute)
	again := storetest.Requests(storetest.Granted("other"))
	in := storetest.Reusing(storetest.InSlot(1, runs.EnvironmentPrefix+"aws-minimal-test"))
	again.Run, again.Wait = &in, &runs.WaitAsk{Ref: storetest.RunRef(1), Environment: storetest.WaitedFor, Event: "10"}
	judged, err := s.Judge(t.Context(), again, func(usage.Usage) (store.Judgement, error) { panic("not judged") })
	require.NoError(t, err)
	require.True(t, judged.Reused)

	require.NoError(t, s.Runs.Decided(t.Context(), before, lifecycle.WaitApproved, "the first job's"))
	require.Empty(t, waitOf(t, s).Decision, "the second job still waits")
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'wait_approved'`))
	require.NoError(t, s.Runs.Decided(t.Context(), waitOf(t, s), lifecycle.WaitApproved, "both"))
	require.Equal(t, lifecycle.WaitApproved, waitOf(t, s).Decision)
	require.Equal(t, 2, storetest.Count(t, s, `SELECT count(*) FROM effects WHERE kind = 'review'`))
	require.NotEqual(t, row.FreeSince.UTC(), clock.Now(), "the first wait counts")
}

func TestNotesAreCountedBeforeTheyArePosted(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	storetest.WaitedBy(t, s, "shop")
	w := waitOf(t, s)
	require.NoError(t, s.Runs.Noting(t.Context(), w.ID, lifecycle.WaitsForCluster))
	require.Equal(t, []any{1, lifecycle.WaitsForCluster}, []any{waitOf(t, s).Notes, waitOf(t, s).Said})
	require.NoError(t, s.Runs.NotNoted(t.Context(), w.ID, w.Said))
	require.Equal(t, []any{0, lifecycle.WaitState("")}, []any{waitOf(t, s).Notes, waitOf(t, s).Said})
}

// A run from which an earlier attempt is known to be over is not over for a later one that got no cluster.
func TestARefusedLaterAttemptIsNotOver(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	refuse := func(attempt int) {
		ref := storetest.RunRef(attempt)
		require.NoError(t, s.Runs.Refuse(t.Context(), runs.WaitAsk{Ref: ref, Environment: storetest.WaitedFor, Event: fmt.Sprint(attempt)}, "A bot asks."))
	}
	refuse(1)
	run := waitOf(t, s).RunID
	_, err := s.Runs.See(t.Context(), run, runs.Seen{Attempt: 1, State: lifecycle.RunFinished, Conclusion: "failure", UpdatedAt: time.Now(), Confirmed: true}, time.Time{})
	require.NoError(t, err)
	require.True(t, waitOf(t, s).Over)
	_, err = s.Pool().Exec(t.Context(), `DELETE FROM waits`)
	require.NoError(t, err)
	refuse(2)
	require.False(t, waitOf(t, s).Over)
}

func TestARefusedWaitIsForgottenWithItsRun(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	require.NoError(t, s.Runs.Refuse(t.Context(), runs.WaitAsk{Ref: storetest.RunRef(1), Environment: storetest.WaitedFor, Event: "9"}, "There is no such profile."))
	require.NoError(t, s.Runs.Untold(t.Context(), waitOf(t, s), "GitHub refuses it."))
	require.Equal(t, "There is no such profile.", waitOf(t, s).Refusal)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM effects WHERE kind = 'review'`))
	clock.Pass(31 * 24 * time.Hour)
	_, err := s.Prune(t.Context(), 30*24*time.Hour)
	require.NoError(t, err)
	require.Equal(t, 0, storetest.Count(t, s, `SELECT count(*) FROM waits`)+storetest.Count(t, s, `SELECT count(*) FROM runs`))
}

func TestTheClusterOfAnEnvironmentEndsWithTheRunWhateverAJobAsksFor(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.WaitedBy(t, s, "shop")
	ask, in := storetest.Requests(storetest.Granted("other")), storetest.Reusing(storetest.InSlot(1, "e2e/0/"))
	in.Beside, in.Lifetime, in.Job = runs.EnvironmentPrefix+"aws-minimal-test", lifecycle.LifetimeJob, "9001"
	ask.Run = &in
	judged, err := s.Judge(t.Context(), ask, func(usage.Usage) (store.Judgement, error) { panic("not judged") })
	require.NoError(t, err)
	require.Equal(t, []any{true, row.ID, lifecycle.LifetimeRun}, []any{judged.Reused, judged.Row.ID, judged.Row.Run.Lifetime})
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM run_clusters WHERE lifetime = 'run' AND job = ''`))
}

func TestARequestThatReusesFindsTheClusterThatWasWaitedFor(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.WaitedBy(t, s, "shop")
	ask := storetest.Requests(storetest.Granted("other"))
	in := storetest.Reusing(storetest.InSlot(1, "e2e/0/"))
	in.Beside = runs.EnvironmentPrefix + "aws-standard"
	ask.Run = &in
	judged, err := s.Judge(t.Context(), ask, func(usage.Usage) (store.Judgement, error) { return storetest.Granted("other"), nil })
	require.NoError(t, err)
	require.False(t, judged.Reused, "it is of another profile")

	in.Slot, in.Beside = "e2e/1/", runs.EnvironmentPrefix+"aws-minimal-test"
	judged, err = s.Judge(t.Context(), ask, func(usage.Usage) (store.Judgement, error) { panic("not judged") })
	require.NoError(t, err)
	require.Equal(t, []any{true, row.ID}, []any{judged.Reused, judged.Row.ID})

	in.Slot = "e2e/0/"
	judged, err = s.Judge(t.Context(), ask, func(usage.Usage) (store.Judgement, error) { panic("not judged") })
	require.NoError(t, err)
	require.Equal(t, "other", judged.Row.Name, "its own slot's comes first")
}
