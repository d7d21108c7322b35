package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

func TestPeopleHearOfABudgetAtHalfAtItsWarningAndAtAllOfIt(t *testing.T) {
	t.Parallel()
	of := func(warn int) profiles.Budget { return profiles.Budget{MonthlyCents: 1000, WarnPercent: warn} }
	for _, c := range []struct {
		budget profiles.Budget
		cents  int64
		want   []int
	}{
		{of(80), 499, nil}, {of(80), 500, []int{50}}, {of(80), 799, []int{50}}, {of(80), 800, []int{50, 80}}, {of(80), 1000, []int{50, 80, 100}}, {of(80), 5000, []int{50, 80, 100}},
		{of(30), 500, []int{30, 50}}, {of(100), 1000, []int{50, 100}}, {of(50), 500, []int{50}}, {of(0), 999, []int{50}},
		{profiles.Budget{WarnPercent: 80}, 1000, nil},
	} {
		require.Equal(t, c.want, policy.BudgetReached(c.budget, c.cents), "%v %d", c.budget, c.cents)
	}
}
