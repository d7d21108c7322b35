package chaos

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCellsAreChosenByTheirNamesAndPhases(t *testing.T) {
	bounds := []boundary{
		{ID: "create@12", Job: creating, Group: "installing ec2"}, {ID: "destroy@3", Job: destroying, Group: "destroying ec2"},
		{ID: "ccoctl-delete@1", Job: destroying, Group: "ccoctl delete iam"}, {ID: "status:destroy-result-before", Job: destroying, Group: "verifying"},
	}
	strikes := strikesOn("aws")
	n := len(strikes)
	require.Len(t, strikesOn(onHub), n+1)
	for only, want := range map[string]int{
		"": 4 * n, "destroy@3/s3-cut": 1, "destroy@3": n, "s3-cut": 4, "destroying": n, "restoring,destroying,verifying": 2 * n,
		"create@12/s3-cut,create@12/keys-expired": 2, "destroy@99/s3-cut": 1, "sleeping": 0,
	} {
		o := Options{Only: only}
		got := 0
		for _, queue := range o.cells(o.named(bounds), strikes) {
			got += len(queue)
		}
		require.Equal(t, want, got, only)
	}
}
