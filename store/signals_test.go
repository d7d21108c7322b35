package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/runs"
	"github.com/ocpctl/ocpctl/store/usage"
)

// askedWithSignal is a cluster of run 7001 that wants to be told.
func askedWithSignal(t testing.TB, s *store.Store, name string) clusters.Row {
	t.Helper()
	g := granted(name)
	g.Row.Spec.RunGrace = 15 * time.Minute
	ask, in := requests(g), inSlot(1, "")
	ask.Run, ask.Signal = &in, &runs.SignalAsk{Ref: runRef(1), Kind: lifecycle.SignalDeployment}
	judged, err := s.Judge(t.Context(), ask, func(usage.Usage) (store.Judgement, error) { return g, nil })
	require.NoError(t, err)
	return read(t, s, judged.Row.ID)
}

func read(t testing.TB, s *store.Store, id string) clusters.Row {
	t.Helper()
	row, err := s.Cluster(t.Context(), id)
	require.NoError(t, err)
	return row
}

// readies brings a cluster to READY.
func readies(t testing.TB, s *store.Store, row clusters.Row) {
	t.Helper()
	require.Equal(t, lifecycle.Create, step(t, s, row.ID).Open)
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	ready(t, s, row, open, row.Name+"-abcde")
}

func signalOf(t testing.TB, s *store.Store, row clusters.Row) runs.Signal {
	t.Helper()
	g, err := s.Runs.Signal(t.Context(), text(t, s, `SELECT id FROM signals WHERE cluster_id = $1 ORDER BY asked_at DESC LIMIT 1`, row.ID))
	require.NoError(t, err)
	return g
}

// finishes has run 7001 finish, as GitHub says.
func finishes(t testing.TB, s *store.Store, row clusters.Row, conclusion string, at time.Time) {
	t.Helper()
	_, err := s.Runs.See(t.Context(), row.Run.ID, runs.Seen{Attempt: 1, State: lifecycle.RunFinished, Conclusion: conclusion, UpdatedAt: at, Confirmed: true}, at.Add(time.Minute))
	require.NoError(t, err)
}

func TestASignalIsToldWheneverItsClusterBecomesSomethingElse(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := askedWithSignal(t, s, "shop")
	require.Equal(t, lifecycle.Signal{Kind: lifecycle.SignalDeployment}, row.Signal)
	require.Equal(t, clock.now(), row.FreeSince.UTC())
	effects := func() int {
		return count(t, s, `SELECT count(*) FROM effects WHERE kind = 'signal' AND content = $1`, signalOf(t, s, row).ID)
	}
	require.Equal(t, 1, effects())
	clock.pass(34 * time.Minute)
	readies(t, s, row)
	require.Equal(t, 2, effects(), "being created tells nothing new")
	require.Equal(t, 34*time.Minute, read(t, s, row.ID).SavedTime())
	_, err := s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	step(t, s, row.ID)
	require.Equal(t, 3, effects())

	g := signalOf(t, s, row)
	require.NoError(t, s.Runs.NotTold(t.Context(), g, "GitHub refuses it."))
	require.NoError(t, s.Runs.NotTold(t.Context(), g, "GitHub refuses it."))
	require.Equal(t, 1, count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'signal_refused'`), "the timeline has it once")
	require.Equal(t, "GitHub refuses it.", read(t, s, row.ID).Signal.Problem)
	require.NoError(t, s.Runs.Told(t.Context(), g, lifecycle.SignalEnded))
	require.Equal(t, lifecycle.Signal{Kind: lifecycle.SignalDeployment, Told: lifecycle.SignalEnded}, read(t, s, row.ID).Signal)
	_, err = s.Runs.Signal(t.Context(), "sig_0")
	require.ErrorIs(t, err, db.ErrNotFound)
}

func TestAnotherAttemptIsToldForItself(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := askedWithSignal(t, s, "shop")
	require.NoError(t, s.Runs.Told(t.Context(), signalOf(t, s, row), lifecycle.SignalBegun))
	ask := func(attempt int) {
		clock.pass(time.Second)
		require.NoError(t, s.Runs.AskSignal(t.Context(), row.ID, runs.SignalAsk{Ref: runRef(attempt), Kind: lifecycle.SignalDispatch}))
	}
	ask(1)
	require.Equal(t, lifecycle.Signal{Kind: lifecycle.SignalDispatch}, read(t, s, row.ID).Signal, "asked for again, it is told again")
	require.Equal(t, 1, count(t, s, `SELECT count(*) FROM signals`))
	ask(2)
	require.Equal(t, 2, count(t, s, `SELECT count(*) FROM signals`))
	require.Equal(t, 3, count(t, s, `SELECT count(*) FROM effects WHERE kind = 'signal'`))
}

func TestWhatIsToldDoesNotOverwriteANewerRequest(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := askedWithSignal(t, s, "shop")
	before := signalOf(t, s, row)
	clock.pass(time.Second)
	require.NoError(t, s.Runs.AskSignal(t.Context(), row.ID, runs.SignalAsk{Ref: runRef(1), Kind: lifecycle.SignalDispatch}))
	require.NoError(t, s.Runs.Told(t.Context(), before, lifecycle.SignalReady))
	require.NoError(t, s.Runs.NotTold(t.Context(), before, "GitHub refuses it."))
	require.Equal(t, lifecycle.Signal{Kind: lifecycle.SignalDispatch}, read(t, s, row.ID).Signal)
	require.NoError(t, s.Runs.Told(t.Context(), signalOf(t, s, row), lifecycle.SignalBegun))
	require.Equal(t, lifecycle.SignalBegun, read(t, s, row.ID).Signal.Told)
}

func TestASignalThatIsRefusedHoldsNoCluster(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := askedWithSignal(t, s, "shop")
	finishes(t, s, row, "success", clock.now())
	require.Zero(t, read(t, s, row.ID).Ends.RunFinished)
	g := signalOf(t, s, row)
	require.NoError(t, s.Runs.NotTold(t.Context(), g, "GitHub refuses it."))
	ends := read(t, s, row.ID).Ends
	require.Equal(t, []any{clock.now(), "its workflow run finished"}, []any{ends.RunFinished.UTC(), ends.RunWhy.String()})
	require.NoError(t, s.Runs.Told(t.Context(), g, lifecycle.SignalBegun))
	require.Zero(t, read(t, s, row.ID).Ends.RunFinished, "the permission came back in time")
}

func TestAReusedClusterTellsTheRunThatGotIt(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := askedWithSignal(t, s, "shop")
	clock.pass(time.Second)
	in := reusing(inSlot(2, ""))
	ask := requests(granted("other"))
	ask.Run, ask.Signal = &in, &runs.SignalAsk{Ref: runRef(2), Kind: lifecycle.SignalDispatch}
	judged, err := s.Judge(t.Context(), ask, func(usage.Usage) (store.Judgement, error) { panic("not judged") })
	require.NoError(t, err)
	require.Equal(t, []any{row.ID, true}, []any{judged.Row.ID, judged.Reused})
	require.Equal(t, lifecycle.SignalDispatch, signalOf(t, s, row).Kind)
}

func TestTheRunThatASignalStartsTakesTheClusterOver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		first bool // the asking run finishes before the cluster is ready
	}{{"the run is over", true}, {"the run goes on", false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, clock := open(t)
			row := askedWithSignal(t, s, "shop")
			if c.first {
				finishes(t, s, row, "success", clock.now())
				require.Zero(t, read(t, s, row.ID).Ends.RunFinished, "there is nothing to use yet")
			}
			clock.pass(34 * time.Minute)
			readies(t, s, row)
			require.NoError(t, s.Runs.Told(t.Context(), signalOf(t, s, row), lifecycle.SignalReady))
			if c.first {
				require.Equal(t, clock.now().Add(15*time.Minute), read(t, s, row.ID).Ends.RunFinished.UTC(), "somebody has to come")
			}
			foreign := another("7300")
			foreign.Scope = "1002"
			_, _, err := s.Runs.AskUse(t.Context(), row.ID, foreign, "", clusters.Origin{Actor: "oidc:other"})
			require.NoError(t, err)
			require.Equal(t, row.Run.ID, read(t, s, row.ID).Run.ID, "another repository's run takes nothing over")

			_, _, err = s.Runs.AskUse(t.Context(), row.ID, another("7400"), "", clusters.Origin{Actor: "oidc:job"})
			require.NoError(t, err)
			taken := read(t, s, row.ID)
			require.NotEqual(t, row.Run.ID, taken.Run.ID)
			require.Equal(t, "https://github.com/acme/shop/actions/runs/7400", taken.Run.URL)
			require.Zero(t, taken.Ends.RunFinished)
			require.Equal(t, 1, count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'run_took_over'`))
			if !c.first {
				finishes(t, s, row, "success", clock.now())
			}
			require.Zero(t, read(t, s, row.ID).Ends.RunFinished, "it is not the asking run's any more")
			finishes(t, s, taken, "failure", clock.now())
			require.Equal(t, clock.now().Add(15*time.Minute), read(t, s, row.ID).Ends.RunFinished.UTC())
		})
	}
}

func TestARunKeepsTheClusterOnWhichItHasATurn(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := askedWithSignal(t, s, "shop")
	readies(t, s, row)
	clock.pass(time.Second)
	for _, ref := range []runs.Ref{runRef(1), another("7400")} {
		_, _, err := s.Runs.AskUse(t.Context(), row.ID, ref, "", clusters.Origin{Actor: "oidc:job"})
		require.NoError(t, err)
	}
	require.Equal(t, row.Run.ID, read(t, s, row.ID).Run.ID)
}
