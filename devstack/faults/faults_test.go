package faults_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/faults"
)

func TestAFaultHitsAsOftenAsItIsSet(t *testing.T) {
	s := faults.New()
	hit := func() faults.Effect { return s.Hit(true, "ec2:CreateVpc", "CreateVpc", "*") }
	s.Refuse("CreateVpc", 1, "")
	require.Equal(t, faults.Denied, hit().Code)
	require.Equal(t, faults.Effect{}, hit())
	s.Refuse("ec2:CreateVpc", -1, "VpcLimitExceeded")
	s.Delay("*", time.Second)
	for range 3 {
		require.Equal(t, faults.Effect{Code: "VpcLimitExceeded", Delay: time.Second}, hit())
	}
	require.Equal(t, map[string]string{"ec2:CreateVpc": "VpcLimitExceeded", "*": "1s"}, s.Describe())
	s.Lift("ec2:CreateVpc")
	s.Delay("*", 0)
	s.Throttle("*", 1, 3)
	var slow []bool
	for range 6 {
		slow = append(slow, hit().Throttled)
	}
	require.Equal(t, []bool{true, false, true, false, false, true}, slow)
	s.Throttle("*", 0, 0)
	s.Refused("ec2:CreateVpc")
	require.Equal(t, map[string]faults.Count{"ec2:CreateVpc": {Calls: 11, Throttled: 3, Refused: 5, Write: true}}, s.Calls())
	require.Empty(t, s.Describe())
}

func TestPagesAreNotLongerThanATestAllows(t *testing.T) {
	s := faults.New()
	length, limited := s.Page(50)
	require.Equal(t, 50, length)
	require.False(t, limited)
	s.Pages(3)
	for asked, want := range map[int]int{0: 3, 2: 2, 50: 3} {
		length, limited = s.Page(asked)
		require.Equal(t, want, length)
		require.True(t, limited)
	}
}
