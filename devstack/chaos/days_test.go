package chaos

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/workhours"
)

// The product reads the working hours by its own clock. They must mean the same moments as opening and closing by the soak's, or hours that
// pass at once would be other hours than those that clusters sleep.
func TestWorkingHoursMeanTheSameByTheProductsClock(t *testing.T) {
	start := time.Date(2025, 3, 3, 0, 0, 0, 0, time.UTC)
	for ahead := time.Duration(0); ahead < 50*time.Hour; ahead += 37 * time.Minute {
		hours, err := workhours.Parse("UTC", []string{hoursBehind(ahead)}, nil)
		require.NoError(t, err)
		for at := time.Duration(0); at < 24*time.Hour; at += 15 * time.Minute {
			ofDay := (at + ahead) % (24 * time.Hour)
			require.Equal(t, ofDay >= opening && ofDay < closing, hours.Open(start.Add(at)), "%s ahead, at %s: %s", ahead, at, hoursBehind(ahead))
		}
	}
}

// Each night says what a cluster is at each moment, and nothing follows its release.
func TestEveryNightSaysWhatAClusterIsAtEachMoment(t *testing.T) {
	for _, n := range nights() {
		ended := false
		for at, is := range n.is {
			require.Contains(t, []state{awake, asleep, gone}, is, "%s, %s", n.name, moments()[at].name)
			require.False(t, ended && is != gone, "%s, %s", n.name, moments()[at].name)
			ended = ended || is == gone
		}
	}
}

func TestEachNightIsSpentOnEachCloud(t *testing.T) {
	all, clouds := nights(), []string{"aws", "ibmcloud"}
	met := map[string]bool{}
	for n := range len(all) * len(clouds) {
		c := newCycle(1, n, clouds)
		c.drawNight(all, len(clouds))
		met[c.cloud+" "+c.night.name] = true
		require.Contains(t, profilesOn[c.cloud], strings.TrimPrefix(c.profile, c.night.way+"-"))
	}
	require.Len(t, met, len(all)*len(clouds))
}

// What is reported too much on one cloud does not make up for what is missing on the other.
func TestTheReportHasToAgreeWithEachCloudsMeter(t *testing.T) {
	run := &Run{out: io.Discard}
	done := []*cycle{{name: "one", cloud: "aws", ready: true}, {name: "two", cloud: "ibmcloud", ready: true}, {name: "three", cloud: "ibmcloud", ready: true}}
	aws := func(reported float64) map[string]cost {
		return map[string]cost{"one": {reported: reported, metered: 1000}}
	}
	require.NoError(t, run.printCosts("aws", done, aws(1009)))
	require.ErrorContains(t, run.printCosts("aws", done, aws(1011)), "on aws the report says 10.11 $ and the cloud's meter 10.00 $")
	require.ErrorContains(t, run.printCosts("aws", done, aws(989)), "on aws")
	ibm := map[string]cost{"two": {reported: 1100, metered: 1000}, "three": {reported: 900, metered: 990}, "": {metered: 10}}
	require.NoError(t, run.printCosts("ibmcloud", done, ibm), "clusters of one cloud are compared together")
	ibm = map[string]cost{"two": {reported: 1000}, "three": {reported: 1000}, "": {metered: 2000}}
	require.ErrorContains(t, run.printCosts("ibmcloud", done, ibm), "counts 20.00 $ for no cluster")
	require.ErrorContains(t, run.printCosts("ibmcloud", done, nil), "on ibmcloud", "a meter that counts nothing says nothing")
}
