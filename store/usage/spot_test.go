package usage_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

// What a cluster costs follows from what its tries order. That is stored with the attempt before a runner hears of it.
func TestALastTryOnDemandCostsMoreFromThenOn(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	asked := storetest.Sized("shop")
	asked.Row.Spot, asked.Row.HourlyCents, asked.Row.OnDemandCents, asked.Row.WorkerMicros = lifecycle.SpotWorkers, 60, new(90), new(80_000)
	row := storetest.Accept(t, s, asked)
	require.Equal(t, []int{60, 60, 30}, []int{row.ListCents, row.HourlyCents, row.SpotSaves})
	for try, orders := range []bool{true, false} {
		require.Equal(t, lifecycle.Create, storetest.Step(t, s, row.ID).Open)
		open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
		require.NoError(t, err)
		spec, err := s.Attempts.AttemptSpec(t.Context(), open.Attempt)
		require.NoError(t, err)
		require.Equal(t, orders, spec.Spot, "try %d", try+1)
		_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
		require.NoError(t, err)
		if orders {
			clock.Pass(time.Hour)
			_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: lifecycle.SpotUnavailable, Whose: "cloud", Retryable: true})
			require.NoError(t, err)
			storetest.Settled(t, s, row.ID)
			clock.Pass(time.Hour)
			continue
		}
		storetest.Ready(t, s, row, open, "demo-abcde")
	}
	clock.Pass(time.Hour)
	ready, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []int{90, 90, 0, 180_000}, []int{ready.ListCents, ready.HourlyCents, ready.SpotSaves, *ready.WorkerMicros})
	require.Equal(t, lifecycle.SpotGivenUp, ready.Spot)
	require.EqualValues(t, 60+90, used(t, s).Team.SpentCents, "an hour of each try; the queue between them costs nothing")
	require.EqualValues(t, 90, used(t, s).Team.CommittedCents)
}

func TestOnlyWorkersCostLessAsSpotMachines(t *testing.T) {
	p := usage.Prices{List: 60, OnDemand: new(90), Worker: new(80_000), Machines: 6}
	c := lifecycle.Cluster{WorkersBase: new(3), Spot: lifecycle.SpotWorkers}
	require.Equal(t, []int{60, 76, 36}, []int{p.Rate(c, nil), p.Rate(c, new(5)), p.Rate(c, new(0))})
	require.Equal(t, 30, p.SpotSaves(c))
	c.Workers = new(5)
	require.Equal(t, 50, p.SpotSaves(c))
	c.Spot = lifecycle.SpotGivenUp
	require.Equal(t, []int{90, 126, 36}, []int{p.Rate(c, nil), p.Rate(c, new(5)), p.Rate(c, new(0))})
}
