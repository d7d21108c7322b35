package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/runs"
	"github.com/ocpctl/ocpctl/store/usage"
)

const waitedFor = "ocp/aws-minimal-test"

// waitedBy is a cluster for which jobs of run 7001 wait.
func waitedBy(t testing.TB, s *store.Store, name string) clusters.Row {
	t.Helper()
	ask, in := requests(granted(name)), reusing(inSlot(1, runs.EnvironmentPrefix+"aws-minimal-test"))
	ask.Run, ask.Wait = &in, &runs.WaitAsk{Ref: runRef(1), Environment: waitedFor, Event: "9"}
	judged, err := s.Judge(t.Context(), ask, func(usage.Usage) (store.Judgement, error) { return granted(name), nil })
	require.NoError(t, err)
	return read(t, s, judged.Row.ID)
}

func waitOf(t testing.TB, s *store.Store) runs.Wait {
	t.Helper()
	w, err := s.Runs.Wait(t.Context(), text(t, s, `SELECT id FROM waits`))
	require.NoError(t, err)
	return w
}

func TestAJobThatBeginsToWaitWhileAnotherIsLetThroughIsDecidedAboutAnew(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := waitedBy(t, s, "shop")
	require.Equal(t, clock.now(), row.FreeSince.UTC())
	before := waitOf(t, s)
	require.Equal(t, []any{row.ID, 1, lifecycle.WaitDecision("")}, []any{before.Cluster, before.Asks, before.Decision})
	clock.pass(time.Minute)
	again := requests(granted("other"))
	in := reusing(inSlot(1, runs.EnvironmentPrefix+"aws-minimal-test"))
	again.Run, again.Wait = &in, &runs.WaitAsk{Ref: runRef(1), Environment: waitedFor, Event: "10"}
	judged, err := s.Judge(t.Context(), again, func(usage.Usage) (store.Judgement, error) { panic("not judged") })
	require.NoError(t, err)
	require.True(t, judged.Reused)

	require.NoError(t, s.Runs.Decided(t.Context(), before, lifecycle.WaitApproved, "the first job's"))
	require.Empty(t, waitOf(t, s).Decision, "the second job still waits")
	require.Zero(t, count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'wait_approved'`))
	require.NoError(t, s.Runs.Decided(t.Context(), waitOf(t, s), lifecycle.WaitApproved, "both"))
	require.Equal(t, lifecycle.WaitApproved, waitOf(t, s).Decision)
	require.Equal(t, 2, count(t, s, `SELECT count(*) FROM effects WHERE kind = 'review'`))
	require.NotEqual(t, row.FreeSince.UTC(), clock.now(), "the first wait counts")
}

func TestNotesAreCountedBeforeTheyArePosted(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	waitedBy(t, s, "shop")
	w := waitOf(t, s)
	require.NoError(t, s.Runs.Noting(t.Context(), w.ID, lifecycle.WaitsForCluster))
	require.Equal(t, []any{1, lifecycle.WaitsForCluster}, []any{waitOf(t, s).Notes, waitOf(t, s).Said})
	require.NoError(t, s.Runs.NotNoted(t.Context(), w.ID, w.Said))
	require.Equal(t, []any{0, lifecycle.WaitState("")}, []any{waitOf(t, s).Notes, waitOf(t, s).Said})
}

func TestARefusedWaitIsForgottenWithItsRun(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	require.NoError(t, s.Runs.Refuse(t.Context(), runs.WaitAsk{Ref: runRef(1), Environment: waitedFor, Event: "9"}, "There is no such profile."))
	require.NoError(t, s.Runs.Untold(t.Context(), waitOf(t, s), "GitHub refuses it."))
	require.Equal(t, "There is no such profile.", waitOf(t, s).Refusal)
	require.Equal(t, 1, count(t, s, `SELECT count(*) FROM effects WHERE kind = 'review'`))
	clock.pass(31 * 24 * time.Hour)
	_, err := s.Prune(t.Context(), 30*24*time.Hour)
	require.NoError(t, err)
	require.Equal(t, 0, count(t, s, `SELECT count(*) FROM waits`)+count(t, s, `SELECT count(*) FROM runs`))
}

func TestTheClusterOfAnEnvironmentEndsWithTheRunWhateverAJobAsksFor(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	row := waitedBy(t, s, "shop")
	ask, in := requests(granted("other")), reusing(inSlot(1, "e2e/0/"))
	in.Beside, in.Lifetime, in.Job = runs.EnvironmentPrefix+"aws-minimal-test", lifecycle.LifetimeJob, "9001"
	ask.Run = &in
	judged, err := s.Judge(t.Context(), ask, func(usage.Usage) (store.Judgement, error) { panic("not judged") })
	require.NoError(t, err)
	require.Equal(t, []any{true, row.ID, lifecycle.LifetimeRun}, []any{judged.Reused, judged.Row.ID, judged.Row.Run.Lifetime})
	require.Equal(t, 1, count(t, s, `SELECT count(*) FROM run_clusters WHERE lifetime = 'run' AND job = ''`))
}

func TestARequestThatReusesFindsTheClusterThatWasWaitedFor(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	row := waitedBy(t, s, "shop")
	ask := requests(granted("other"))
	in := reusing(inSlot(1, "e2e/0/"))
	in.Beside = runs.EnvironmentPrefix + "aws-standard"
	ask.Run = &in
	judged, err := s.Judge(t.Context(), ask, func(usage.Usage) (store.Judgement, error) { return granted("other"), nil })
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
