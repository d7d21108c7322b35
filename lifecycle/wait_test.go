package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEveryPhaseTellsJobsThatWaitOneThing(t *testing.T) {
	waits := map[Phase]WaitState{
		Queued: WaitsForCluster, AwaitingApproval: WaitsForApproval, AwaitingCapacity: WaitsForTurn, Preflight: WaitsForCluster, Claiming: WaitsForCluster,
		Rendering: WaitsForCluster, Recording: WaitsForCluster, Installing: WaitsForCluster, Configuring: WaitsForCluster, Preparing: WaitsForCluster, Cleaning: WaitsForNextTry,
		PhaseReady: WaitSucceeded, Degraded: WaitSucceeded, ScaledDown: WaitSucceeded, Expiring: WaitSucceeded,
		GoingToSleep: WaitsForWaking, PhaseAsleep: WaitsForWaking, Waking: WaitsForWaking,
	}
	for status, phases := range Phases {
		for _, phase := range phases {
			got, want := WaitOf(Cluster{Status: status, Phase: phase, ReadyAt: map[bool]time.Time{true: noon}[phase != Preparing], Pool: "ready"}), waits[phase]
			if want == "" {
				want = WaitFailed
			}
			require.Equal(t, want, got, phase)
			require.Equal(t, status != Pending && status != Creating && want != WaitsForWaking && phase != Preparing, got.Decides(), phase)
		}
	}
	require.Equal(t, WaitsForCluster, WaitOf(Cluster{Status: Ready, Phase: PhaseReady, Pool: "ready"}), "claimed a moment ago")
	require.Equal(t, WaitsForTurn, WaitOf(Cluster{Status: Pending, Phase: Queued, NeedsTurn: true}))
	require.Equal(t, WaitsForApproval, WaitOf(Cluster{Status: Pending, Phase: AwaitingApproval, NeedsTurn: true}))
}
