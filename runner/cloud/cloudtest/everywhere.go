package cloudtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// checkEverywhere has copies of a cluster's resources in a region in which the cluster never was.
func checkEverywhere(t *testing.T, s Scene) {
	target := s.Target("shop")
	target.Installation, target.Accepted = "test", time.Now()
	target.Identities = []contract.Identity{{InfraID: "shop-x7k2p", Account: target.Account, Region: target.Region}}
	ours, left := s.PlantElsewhere(t, target, time.Now().AddDate(-1, 0, 0))
	require.NotEmpty(t, ours)
	require.NotEmpty(t, left)

	target.Everywhere = true
	require.ElementsMatch(t, append(ours, left...), leftoversElsewhere(t, s.Client().Verify(t.Context(), target), target.Region))
	deleted, err := s.Client().Remove(t.Context(), target)
	require.Len(t, deleted, len(ours), deleted)
	for _, id := range left {
		require.NotContains(t, deleted, id)
	}
	require.ErrorContains(t, err, "it was not deleted", "what is left to people is told")
	require.ElementsMatch(t, left, leftoversElsewhere(t, s.Client().Verify(t.Context(), target), target.Region))
	for _, id := range ours {
		require.Empty(t, s.Left(id))
	}
}

// leftoversElsewhere returns the ids of what a pass found, all of it in other regions, with who can remove it.
func leftoversElsewhere(t *testing.T, pass contract.Pass, home string) (ids []string) {
	t.Helper()
	require.False(t, pass.Clean)
	for _, l := range pass.Leftovers {
		if l.Type == "user-tag" { // it goes with the last resource that has it
			continue
		}
		require.NotEmpty(t, l.Region, l)
		require.NotEqual(t, home, l.Region, l)
		require.NotEmpty(t, l.Advice(), l)
		ids = append(ids, l.ID)
	}
	return ids
}
