package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

// What was spent moves with a cluster, as far as it was this month.
func TestATransferIsJudgedWithWhatMoves(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	clock.Pass(time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC).Sub(clock.Now()))
	for i, name := range []string{"moves", "stays"} {
		a := storetest.Sized(name)
		a.Row.TTL, a.MaxTTL, a.Row.Team = 10*time.Hour, 20*time.Hour, []string{"acme/web", "acme/shop"}[i]
		storetest.Step(t, s, storetest.Accept(t, s, a).ID)
	}
	clock.Pass(3 * time.Hour) // to the 1st of December, 02:00
	var foreseen usage.Counts
	judge := func(u usage.Usage, moves usage.Counts) ([]lifecycle.Limit, error) {
		require.Equal(t, usage.Counts{SpentCents: 2 * 70, CommittedCents: 7 * 70, NodeHours: 9 * 6}, moves)
		foreseen = usage.Counts{Live: 2, Creating: 2, SpentCents: u.Team.SpentCents + moves.SpentCents, CommittedCents: u.Team.CommittedCents + moves.CommittedCents, NodeHours: u.Team.NodeHours + moves.NodeHours}
		return nil, nil
	}
	require.NoError(t, s.Transfer(t.Context(), liveOf(t, s, "moves"), "acme/shop", "will", storetest.Maya(""), judge))
	after, err := s.Usage(t.Context(), usage.Scope{Team: "acme/shop"})
	require.NoError(t, err)
	require.Equal(t, foreseen, after.Team)
}
