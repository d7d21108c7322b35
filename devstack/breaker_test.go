package devstack_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/installer"
)

// Installs fail until a breaker opens, a label waits for it and says why, one cluster is tried at a time, and the first that succeeds lets all go on.
func TestABreakerOpensByFailingInstallsAndClosesByItself(t *testing.T) {
	t.Parallel()
	l := newLifeOf(t, devstack.Config{Hour: time.Minute, Breaker: 3})
	require.NoError(t, installer.WriteFaults(l.Faults(), installer.Faults{"create": {
		FailAt: "network", Message: "failed to create one or more NAT gateways: NatGatewayLimitExceeded: Performing this operation would exceed the limit of 5 NAT gateways",
	}}))
	for _, title := range []string{"One", "Two", "Three"} {
		l.labelledWith(label, title)
	}
	open := func() int { return l.count(`SELECT count(*) FROM breakers WHERE closed_at IS NULL`) }
	l.runUntil("a breaker opens", 2*time.Minute, func() bool { return open() == 1 })
	require.Equal(t, 1, l.count(`SELECT count(*) FROM breakers WHERE code = 'AWSNATGatewayLimitExceeded' AND region <> '' AND profile = ''`))
	first, second := l.labelledWith(label, "Four"), l.labelledWith(label, "Five")
	l.runUntil("who waits says why", time.Minute, func() bool {
		return l.comments(first, "AWSNATGatewayLimitExceeded") && l.comments(second, "AWSNATGatewayLimitExceeded")
	})
	l.runUntil("a cluster is tried, and fails", time.Minute, func() bool {
		require.LessOrEqual(t, l.count(`SELECT count(*) FROM attempts a, breakers b WHERE a.kind = 'create' AND a.closed_at IS NULL AND a.opened_at > b.since`), 1, "one at a time")
		return l.count(`SELECT count(*) FROM breakers WHERE probes > 0`) == 1
	})
	require.NoError(t, installer.WriteFaults(l.Faults(), nil))
	l.runUntil("it closes by itself", 2*time.Minute, func() bool { return open() == 0 })
	// Whichever of the two was tried may have failed; the other waited, and is ready.
	l.runUntil("all that waited are ready", 2*time.Minute, func() bool {
		return (l.isReady(first) || l.isReady(second)) && l.count(`SELECT count(*) FROM clusters WHERE desired = 'present' AND status <> 'READY'`) == 0
	})
}
