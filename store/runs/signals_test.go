package runs_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/runs"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

// finishes has run 7001 finish, as GitHub says.
func finishes(t testing.TB, s *store.Store, row clusters.Row, conclusion string, at time.Time) {
	t.Helper()
	_, err := s.Runs.See(t.Context(), row.Run.ID, runs.Seen{Attempt: 1, State: lifecycle.RunFinished, Conclusion: conclusion, UpdatedAt: at, Confirmed: true}, at.Add(time.Minute))
	require.NoError(t, err)
}

func TestASignalIsToldWheneverItsClusterBecomesSomethingElse(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.AskedWithSignal(t, s, "shop")
	require.Equal(t, lifecycle.Signal{Kind: lifecycle.SignalDeployment}, row.Signal)
	require.Equal(t, clock.Now(), row.FreeSince.UTC())
	effects := func() int {
		return storetest.Count(t, s, `SELECT count(*) FROM effects WHERE kind = 'signal' AND content = $1`, storetest.SignalOf(t, s, row).ID)
	}
	require.Equal(t, 1, effects())
	clock.Pass(34 * time.Minute)
	storetest.Readies(t, s, row)
	require.Equal(t, 2, effects(), "being created tells nothing new")
	require.Equal(t, 34*time.Minute, storetest.Read(t, s, row.ID).SavedTime())
	_, err := s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	storetest.Step(t, s, row.ID)
	require.Equal(t, 3, effects())

	g := storetest.SignalOf(t, s, row)
	require.NoError(t, s.Runs.NotTold(t.Context(), g, "GitHub refuses it."))
	require.NoError(t, s.Runs.NotTold(t.Context(), g, "GitHub refuses it."))
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'signal_refused'`), "the timeline has it once")
	require.Equal(t, "GitHub refuses it.", storetest.Read(t, s, row.ID).Signal.Problem)
	require.NoError(t, s.Runs.Told(t.Context(), g, lifecycle.SignalEnded))
	require.Equal(t, lifecycle.Signal{Kind: lifecycle.SignalDeployment, Told: lifecycle.SignalEnded}, storetest.Read(t, s, row.ID).Signal)
	_, err = s.Runs.Signal(t.Context(), "sig_0")
	require.ErrorIs(t, err, db.ErrNotFound)
}

func TestAnotherAttemptIsToldForItself(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.AskedWithSignal(t, s, "shop")
	require.NoError(t, s.Runs.Told(t.Context(), storetest.SignalOf(t, s, row), lifecycle.SignalBegun))
	ask := func(attempt int) {
		clock.Pass(time.Second)
		require.NoError(t, s.Runs.AskSignal(t.Context(), row.ID, runs.SignalAsk{Ref: storetest.RunRef(attempt), Kind: lifecycle.SignalDispatch}))
	}
	ask(1)
	require.Equal(t, lifecycle.Signal{Kind: lifecycle.SignalDispatch}, storetest.Read(t, s, row.ID).Signal, "asked for again, it is told again")
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM signals`))
	ask(2)
	require.Equal(t, 2, storetest.Count(t, s, `SELECT count(*) FROM signals`))
	require.Equal(t, 3, storetest.Count(t, s, `SELECT count(*) FROM effects WHERE kind = 'signal'`))
}

func TestWhatIsToldDoesNotOverwriteANewerRequest(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.AskedWithSignal(t, s, "shop")
	before := storetest.SignalOf(t, s, row)
	clock.Pass(time.Second)
	require.NoError(t, s.Runs.AskSignal(t.Context(), row.ID, runs.SignalAsk{Ref: storetest.RunRef(1), Kind: lifecycle.SignalDispatch}))
	require.NoError(t, s.Runs.Told(t.Context(), before, lifecycle.SignalReady))
	require.NoError(t, s.Runs.NotTold(t.Context(), before, "GitHub refuses it."))
	require.Equal(t, lifecycle.Signal{Kind: lifecycle.SignalDispatch}, storetest.Read(t, s, row.ID).Signal)
	require.NoError(t, s.Runs.Told(t.Context(), storetest.SignalOf(t, s, row), lifecycle.SignalBegun))
	require.Equal(t, lifecycle.SignalBegun, storetest.Read(t, s, row.ID).Signal.Told)
}

func TestASignalThatIsRefusedHoldsNoCluster(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.AskedWithSignal(t, s, "shop")
	finishes(t, s, row, "success", clock.Now())
	require.Zero(t, storetest.Read(t, s, row.ID).Ends.RunFinished)
	g := storetest.SignalOf(t, s, row)
	require.NoError(t, s.Runs.NotTold(t.Context(), g, "GitHub refuses it."))
	ends := storetest.Read(t, s, row.ID).Ends
	require.Equal(t, []any{clock.Now(), "its workflow run finished"}, []any{ends.RunFinished.UTC(), ends.RunWhy.String()})
	require.NoError(t, s.Runs.Told(t.Context(), g, lifecycle.SignalBegun))
	require.Zero(t, storetest.Read(t, s, row.ID).Ends.RunFinished, "the permission came back in time")
}

func TestAReusedClusterTellsTheRunThatGotIt(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.AskedWithSignal(t, s, "shop")
	clock.Pass(time.Second)
	in := storetest.Reusing(storetest.InSlot(2, ""))
	ask := storetest.Requests(storetest.Granted("other"))
	ask.Run, ask.Signal = &in, &runs.SignalAsk{Ref: storetest.RunRef(2), Kind: lifecycle.SignalDispatch}
	judged, err := s.Judge(t.Context(), ask, func(usage.Usage) (store.Judgement, error) { panic("not judged") })
	require.NoError(t, err)
	require.Equal(t, []any{row.ID, true}, []any{judged.Row.ID, judged.Reused})
	require.Equal(t, lifecycle.SignalDispatch, storetest.SignalOf(t, s, row).Kind)
}

func TestTheRunThatASignalStartsTakesTheClusterOver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		first bool // the asking run finishes before the cluster is ready
	}{{"the run is over", true}, {"the run goes on", false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, clock := storetest.Open(t)
			row := storetest.AskedWithSignal(t, s, "shop")
			if c.first {
				finishes(t, s, row, "success", clock.Now())
				require.Zero(t, storetest.Read(t, s, row.ID).Ends.RunFinished, "there is nothing to use yet")
			}
			clock.Pass(34 * time.Minute)
			storetest.Readies(t, s, row)
			require.NoError(t, s.Runs.Told(t.Context(), storetest.SignalOf(t, s, row), lifecycle.SignalReady))
			if c.first {
				require.Equal(t, clock.Now().Add(15*time.Minute), storetest.Read(t, s, row.ID).Ends.RunFinished.UTC(), "somebody has to come")
			}
			foreign := storetest.Another("7300")
			foreign.Scope = "1002"
			_, _, err := s.Runs.AskUse(t.Context(), row.ID, foreign, "", clusters.Origin{Actor: "oidc:other"})
			require.NoError(t, err)
			require.Equal(t, row.Run.ID, storetest.Read(t, s, row.ID).Run.ID, "another repository's run takes nothing over")

			_, _, err = s.Runs.AskUse(t.Context(), row.ID, storetest.Another("7400"), "", clusters.Origin{Actor: "oidc:job"})
			require.NoError(t, err)
			taken := storetest.Read(t, s, row.ID)
			require.NotEqual(t, row.Run.ID, taken.Run.ID)
			require.Equal(t, "https://github.com/acme/shop/actions/runs/7400", taken.Run.URL)
			require.Zero(t, taken.Ends.RunFinished)
			require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'run_took_over'`))
			if !c.first {
				finishes(t, s, row, "success", clock.Now())
			}
			require.Zero(t, storetest.Read(t, s, row.ID).Ends.RunFinished, "it is not the asking run's any more")
			finishes(t, s, taken, "failure", clock.Now())
			require.Equal(t, clock.Now().Add(15*time.Minute), storetest.Read(t, s, row.ID).Ends.RunFinished.UTC())
		})
	}
}

func TestARunKeepsTheClusterOnWhichItHasATurn(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.AskedWithSignal(t, s, "shop")
	storetest.Readies(t, s, row)
	clock.Pass(time.Second)
	for _, ref := range []runs.Ref{storetest.RunRef(1), storetest.Another("7400")} {
		_, _, err := s.Runs.AskUse(t.Context(), row.ID, ref, "", clusters.Origin{Actor: "oidc:job"})
		require.NoError(t, err)
	}
	require.Equal(t, row.Run.ID, storetest.Read(t, s, row.ID).Run.ID)
}
