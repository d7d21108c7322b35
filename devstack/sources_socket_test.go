package devstack_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/slack"
)

// Behind a firewall everything comes over the server's own connections to Slack, and the public listener takes nothing of Slack's.
func TestSlackOverSocketMode(t *testing.T) {
	t.Parallel()
	l := newLifeOf(t, devstack.Config{Hour: 30 * time.Second, Pace: 5 * time.Millisecond, SlackSocket: true})
	l.runUntil("the server is connected to Slack", 20*time.Second, func() bool { return l.Slack.Sockets() > 0 })
	require.Contains(t, l.types("maya", slack.Clusters, "help"), "/ocp")
	for range l.Slack.Sockets() {
		l.Slack.Disconnect("refresh_requested")
	}
	l.runUntil("it connects again", 20*time.Second, func() bool { return l.Slack.Sockets() > 0 })
	require.Contains(t, l.types("ada", slack.Clusters, "help"), "/ocp")
	for _, sent := range l.Slack.Sent() {
		require.Empty(t, sent.Code, "%+v", sent)
	}
}
