package chatops_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
)

func TestTheNightsOfAClusterAreSaid(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	closes, opens := now.Add(7*time.Hour), now.Add(19*time.Hour)
	var c lifecycle.Card
	c.Status, c.Desired, c.UpdatedAt, c.RestAt = lifecycle.Ready, lifecycle.Present, now, closes
	c.Ends.TTL, c.Ends.Max = now.Add(48*time.Hour), now.Add(72*time.Hour)
	c.AcceptedAt = now
	require.Empty(t, chatops.Nights(c), "it has none")

	c.OffHours = true
	require.Equal(t, "falls asleep at 2026-11-20 19:00 UTC, unless it is used", chatops.Nights(c))
	require.Contains(t, chatops.StatusReply("maya", []lifecycle.Card{c}, chatops.Links{}, now), " Falls asleep at 2026-11-20 19:00 UTC, unless it is used.")
	require.NotContains(t, chatops.Comment(c, chatops.Detail{}, chatops.Links{}), "Falls asleep soon")
	c.RestWarned = closes
	require.Contains(t, chatops.Comment(c, chatops.Detail{}, chatops.Links{}), "**Falls asleep soon:** at 2026-11-20 19:00 UTC, outside working hours.")

	c.AwakeUntil = opens // and its schedule was not looked at since
	require.Equal(t, "kept awake until 2026-11-21 07:00 UTC", chatops.Nights(c))
	require.NotContains(t, chatops.Comment(c, chatops.Detail{}, chatops.Links{}), "Falls asleep soon")
	c.RestAt = closes.Add(24 * time.Hour)
	require.Equal(t, "kept awake until 2026-11-21 07:00 UTC; falls asleep at 2026-11-21 19:00 UTC, unless it is used", chatops.Nights(c))
	c.UpdatedAt = opens
	require.Equal(t, "falls asleep at 2026-11-21 19:00 UTC, unless it is used", chatops.Nights(c))

	c.SleepWanted = true
	require.Empty(t, chatops.Nights(c), "it sleeps")
}
