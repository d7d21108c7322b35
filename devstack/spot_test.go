package devstack_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// Where AWS has no spot machines, the last try is made on demand, in another zone, and costs what that costs.
func TestTheLastTryIsMadeOnDemandIfThereAreNoSpotMachines(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Minute)
	body, err := os.ReadFile("../profiles/catalogue/profiles/aws-standard.yaml")
	require.NoError(t, err)
	l.catalogueWith(map[string]string{"profiles/aws-spot.yaml": strings.NewReplacer(
		"name: aws-standard", "name: aws-spot", "attempts: 2", "attempts: 2\nspot: workers", "zones: [us-east-1a, us-east-1b, us-east-1c]", "zones: [us-east-1a], spareZones: [us-east-1b]",
	).Replace(string(body))})
	l.AWS.Refuse("ec2:RunInstances/spot/us-east-1a", -1, aws.NoCapacity)
	number := l.labelledWith("ocp/aws-spot", "No spot machines there")
	price := func() (cents int) {
		require.NoError(t, l.pool.QueryRow(l.ctx, `SELECT coalesce(max(meter_cents), 0)::int FROM clusters WHERE pr_number = $1`, number).Scan(&cents))
		return cents
	}
	l.runUntil("the first try is made with spot machines", time.Minute, func() bool { return price() > 0 })
	cheap := price()
	l.runUntil("it is ready", 4*time.Minute, func() bool {
		return l.count(`SELECT count(*) FROM clusters WHERE pr_number = $1 AND status = 'READY'`, number) == 1
	})
	require.Equal(t, 1, l.count(`SELECT count(*) FROM attempts WHERE kind = 'create' AND spot AND outcome = 'failed' AND reason = $1 AND whose = 'cloud' AND zone = 'us-east-1a'`, lifecycle.SpotUnavailable))
	require.Equal(t, 1, l.count(`SELECT count(*) FROM attempts WHERE kind = 'create' AND NOT spot AND outcome = 'succeeded'`))
	machines := map[string]int{}
	for _, r := range l.AWS.All() {
		if r.Type == "instance" && r.State == "running" {
			machines[r.Attrs["availability-zone"]+r.Attrs["instance-lifecycle"]]++
		}
	}
	require.Equal(t, map[string]int{"us-east-1b": 6}, machines, "six on demand, in the spare zone")
	require.InDelta(t, 3*(19.2-7.68), price()-cheap, 1, "three workers on demand instead of spot")
	var why string
	require.NoError(t, l.pool.QueryRow(l.ctx, `SELECT string_agg(metadata::text, ' ' ORDER BY seq) FROM audit_events WHERE action = 'decided'`).Scan(&why))
	require.Contains(t, why, "attempt 2 of 2 begins, with its workers on demand instead of spot")
	require.NoError(t, l.GitHub.Unlabel(number, "ocp/aws-spot", "maya"))
	l.runUntil("it is destroyed", 2*time.Minute, func() bool {
		return l.count(`SELECT count(*) FROM clusters WHERE status <> 'DESTROYED'`) == 0
	})
	l.assertNothingLeft()
}
