package chatops_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// used is the cluster after somebody used it, so that it ends an hour later.
func used(c lifecycle.Card) lifecycle.Card {
	c.Ends.Idle = c.Ends.Idle.Add(time.Hour)
	return c
}

func TestWhatFollowsIfNobodyUsesAClusterIsSaid(t *testing.T) {
	ready := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	var c lifecycle.Card
	c.Status, c.Desired, c.ReadyAt, c.SleepMode = lifecycle.Ready, lifecycle.Present, ready, lifecycle.SleepStopped
	c.Ends.TTL, c.Ends.Max = ready.Add(48*time.Hour), ready.Add(72*time.Hour)
	require.Empty(t, chatops.Unused(c), "its profile does nothing about it")

	c.Idle = lifecycle.Idle{TellAfter: time.Hour, SleepAfter: 2 * time.Hour, EndAfter: 6 * time.Hour}
	c.Ends.Idle = ready.Add(6 * time.Hour)
	require.Equal(t, "As far as ocpctl knows, nobody has used it since 2026-11-20 08:00:00 UTC. If that stays so, its people are told at 2026-11-20 09:00:00 UTC;"+
		" it is put to sleep at 2026-11-20 10:00:00 UTC; it ends at 2026-11-20 14:00:00 UTC.", chatops.Unused(c))
	said := chatops.DeploymentOf(c, chatops.Links{})
	require.Equal(t, said, chatops.DeploymentOf(used(c), chatops.Links{}), "use moves the end, and no deployment tells an end that moves")
	require.Contains(t, said.Description, "or when nobody has used it for 6 h")
	held := c
	held.Ends.Hold = ready.Add(10 * time.Hour)
	require.Contains(t, chatops.Unused(held), "; it ends at 2026-11-20 18:00:00 UTC, when its hold is over.")
	soon := c
	soon.Ends.TTL = ready.Add(5 * time.Hour)
	require.NotContains(t, chatops.Unused(soon), "it ends", "its time to live ends it before")
	c.ActiveAt, c.ActiveWhat, c.IdleTold = ready.Add(time.Hour), lifecycle.ActivityExtend, ready.Add(2*time.Hour)
	c.Ends.Idle = time.Time{}
	c.IdleTold = c.IdleTold.Add(time.Second)
	require.Equal(t, "As far as ocpctl knows, nobody has used it since 2026-11-20 09:00:00 UTC (somebody extended it)."+
		" If that stays so, it is put to sleep at 2026-11-20 11:00:00 UTC.", chatops.Unused(c))
	c.Work = map[lifecycle.Kind]lifecycle.Work{lifecycle.Observe: {Failures: 2}}
	require.Contains(t, chatops.Unused(c), "(somebody extended it). Whether people use its API is unknown: ocpctl could not ask it. If that")
	c.SleepWanted = true
	require.Empty(t, chatops.Unused(c), "a person put it to sleep")
}
