package devstack_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/aws"
)

// A zone without machines costs one try: the next one is made in the profile's spare zone.
func TestAClusterIsMadeInAnotherZoneIfItsOwnHasNoCapacity(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Minute)
	l.AWS.Refuse("ec2:RunInstances/us-east-1a", -1, aws.NoCapacity)
	number := l.labelledWith(label, "No machines there")
	l.runUntil("it is ready", 4*time.Minute, func() bool {
		return l.count(`SELECT count(*) FROM clusters WHERE pr_number = $1 AND status = 'READY'`, number) == 1
	})
	require.Equal(t, 1, l.count(`SELECT count(*) FROM attempts WHERE kind = 'create' AND outcome = 'failed' AND reason = 'AWSInsufficientCapacity' AND zone = 'us-east-1a'`))
	zones := map[string]int{}
	for _, r := range l.AWS.All() {
		if r.Type == "instance" && r.State == "running" {
			zones[r.Attrs["availability-zone"]]++
		}
	}
	require.Equal(t, map[string]int{"us-east-1b": 3}, zones)
	require.NoError(t, l.GitHub.Unlabel(number, label, "maya"))
	l.runUntil("it is destroyed", 2*time.Minute, func() bool {
		return l.count(`SELECT count(*) FROM clusters WHERE status <> 'DESTROYED'`) == 0
	})
	l.assertNothingLeft()
}

// A region without any machines costs two clusters: then its breaker is open, and the next request is served in the profile's other region.
func TestARegionWithoutCapacityGivesWayToAnother(t *testing.T) {
	t.Parallel()
	l := newLifeOf(t, devstack.Config{Hour: time.Minute, Scarce: true, Breaker: 3})
	const scarce = "ocp/aws-fallback-test"
	l.labelledWith(scarce, "One")
	l.labelledWith(scarce, "Two")
	l.runUntil("its breaker is open", 3*time.Minute, func() bool {
		return l.count(`SELECT count(*) FROM breakers WHERE closed_at IS NULL AND region = 'us-west-2' AND code = 'AWSInsufficientCapacity'`) == 1
	})
	require.NotZero(t, l.count(`SELECT count(*) FROM attempts WHERE kind = 'create' AND outcome = 'failed' AND zone = 'us-west-2b'`), "another zone was tried first")
	third := l.labelledWith(scarce, "Three")
	l.runUntil("the next one is ready elsewhere", 2*time.Minute, func() bool {
		return l.count(`SELECT count(*) FROM clusters WHERE pr_number = $1 AND status = 'READY' AND region = 'us-east-1'`, third) == 1
	})
	require.True(t, l.comments(third, "us-west-2 gets no new cluster now"))
}
