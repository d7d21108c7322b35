package chatops

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/lifecycle/pool"
	"github.com/ocpctl/ocpctl/policy"
)

func TestAClusterThatWasClaimedAMomentAgoIsNotReadyYet(t *testing.T) {
	c := lifecycle.Card{Cluster: lifecycle.Cluster{Status: lifecycle.Ready, Phase: lifecycle.PhaseReady, Pool: "ready"}, ClaimedAt: time.Unix(1, 0)}
	require.Equal(t, "is being prepared for you", faceOf(c).head)
	c.ReadyAt = time.Unix(5, 0)
	require.Equal(t, "is ready", faceOf(c).head)
}

func TestAClusterSaysOfWhichPoolItIs(t *testing.T) {
	claimed := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	c := lifecycle.Card{}
	require.Empty(t, InPool(c))
	c.Pool, c.Pooled = "ready", true
	require.Equal(t, "waits in the pool ready to be claimed", InPool(c))
	require.Empty(t, FromPool(c))
	c.Pooled, c.ClaimedAt, c.WaitSpared = false, claimed, 40*time.Minute
	require.Equal(t, "claimed from `ready`", FromPool(c), "it cannot be used yet")
	c.ReadyAt = claimed.Add(4 * time.Second)
	require.Equal(t, "claimed from the pool ready and ready after 4 s, where its install had taken 40 min", InPool(c))
}

func TestEveryReasonForFewerClustersHasWords(t *testing.T) {
	for _, why := range []pool.Reason{pool.Paused, pool.Drained, pool.Closed, pool.YieldedToPeople, pool.OverBudget, pool.Failing, pool.Full, pool.Busy} {
		require.NotEmpty(t, PoolWhy([]pool.Reason{why}, ""), why)
	}
	require.Empty(t, PoolWhy(nil, ""))
	require.Equal(t, "the next one is refused: Team x may not; it is paused", PoolWhy([]pool.Reason{pool.Paused}, "Team x may not."))
}

func TestACommandNamesAPoolOrNone(t *testing.T) {
	for line, want := range map[string]string{"create --pool ready": "ready", "create --no-pool": policy.NoPool, "create": ""} {
		c, problem := ParseSlack(line)
		require.NotNil(t, c, problem)
		require.Equal(t, want, c.Pool, line)
		comment := Parse("/ocp " + line)
		require.Len(t, comment, 1)
		require.Equal(t, want, comment[0].Command.Pool, line)
	}
	_, problem := ParseSlack("create --pool ready --no-pool")
	require.Contains(t, problem, "one of")
}
