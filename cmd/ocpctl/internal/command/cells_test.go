package command_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/command"
)

func TestAListSaysThatAClusterFallsAsleepSoon(t *testing.T) {
	now := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	c := v1.Cluster{Desired: v1.Present, DestroyAt: now.Add(5 * time.Hour)}
	require.Equal(t, "in 5 h", command.DescribeEnd(c, now))
	c.Sleep.SleepsAt = now.Add(2 * time.Hour)
	require.Equal(t, "in 5 h", command.DescribeEnd(c, now), "not soon")
	c.Idle.SleepAt = now.Add(12 * time.Minute)
	require.Equal(t, "in 5 h, asleep in 12 min", command.DescribeEnd(c, now))
}

func TestOnlyAClusterWithAnAPIOfItsOwnHasADomain(t *testing.T) {
	require.Equal(t, ", domain labs.example.com", command.DomainText("", "labs.example.com"))
	require.Empty(t, command.DomainText("namespace", "hub.internal"))
}

func TestAListSaysThatAClusterWaitsInItsPool(t *testing.T) {
	c := v1.Cluster{Status: v1.READY, Phase: "ready", Pool: "aws-ready"}
	require.Equal(t, "READY, waits in its pool", command.StatusText(c))
	c.ClaimedAt = time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	require.Equal(t, "READY", command.StatusText(c))
}
