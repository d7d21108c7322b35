package policy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
)

func TestTheVerdictSaysWhatSpotMachinesSaveAndRisk(t *testing.T) {
	r := validRequest()
	r.Profile, r.TTL = "aws-standard", 24*time.Hour
	with := working(t, officeHours+"spot: workers\n")
	v := Evaluate(r, Usage{}, with, Settings{})
	require.True(t, v.Allowed, v.Text())
	require.Equal(t, "About $1.13 an hour and $27.12 until its end, by list prices of 2025-09-05. Its workers are spot machines: that saves about $0.35 an hour, "+
		"AWS may take them back with two minutes' notice, and the last of 2 tries is on demand.", find(t, v, "price").Message)
	require.Equal(t, []int{113, 148}, []int{v.Grant.HourlyCents, *v.Grant.OnDemand})

	yes := true
	r.OffHours = &yes
	v = Evaluate(r, Usage{}, with, Settings{})
	require.Contains(t, find(t, v, "off-hours").Message, "cannot sleep: their workers are spot machines, which AWS ends instead of stopping them")
}

func TestNobodyIsOfferedToPutSpotMachinesToSleep(t *testing.T) {
	c := lifecycle.Card{Cluster: lifecycle.Cluster{Status: lifecycle.Ready, Desired: lifecycle.Present}}
	require.Equal(t, CannotSleep, ObstacleTo(VerbSleep, c, noon))
	for _, is := range []lifecycle.Spot{lifecycle.SpotWorkers, lifecycle.SpotGivenUp} {
		c.Spot = is
		require.Equal(t, SpotMachines, ObstacleTo(VerbSleep, c, noon))
	}
}
