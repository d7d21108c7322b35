package installer

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const vcpus = `time="2026" level=debug msg="failed to run instance: VcpuLimitExceeded: You have requested more"`

func at(minutes float64) time.Time {
	return time.Unix(1_800_000_000, 0).Add(time.Duration(minutes * float64(time.Minute)))
}

func TestAnInstallIsStoppedOnlyForTheSameFatalLineOftenAndForLong(t *testing.T) {
	type heard struct {
		minute float64
		line   string
	}
	var fast, slow []heard
	for i := range 30 {
		fast = append(fast, heard{float64(i) / 10, vcpus})
	}
	for i := range 4 {
		slow = append(slow, heard{float64(3 * i), vcpus})
	}
	for name, c := range map[string]struct {
		heard []heard
		stops bool
	}{
		"often, not for long":      {fast, false},
		"for long, not often":      {slow, false},
		"often and for long":       {slices.Concat(fast, []heard{{5, vcpus}}), true},
		"two classes in turn":      {[]heard{{0, vcpus}, {2, vcpus}, {4, vcpus}, {0, "VpcLimitExceeded"}, {3, "VpcLimitExceeded"}, {6, "VpcLimitExceeded"}}, false},
		"it got further meanwhile": {slices.Concat(fast, []heard{{4, "level=info msg=Network infrastructure is ready"}, {6, vcpus}}), false},
		"the machines run already": {slices.Concat([]heard{{0, "level=info msg=Control-plane machines are ready"}}, fast, []heard{{9, vcpus}, {20, vcpus}}), false},
		"what the installer retries": {[]heard{
			{0, "InsufficientInstanceCapacity"}, {1, "Throttling: Rate exceeded"}, {2, "InsufficientInstanceCapacity"}, {3, "InsufficientInstanceCapacity"},
			{4, "InsufficientInstanceCapacity"}, {5, "InsufficientInstanceCapacity"}, {9, "InsufficientInstanceCapacity"}, {10, "Throttling: Rate exceeded"},
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := NewWatch(5, 5*time.Minute)
			stops := false
			for i, h := range c.heard {
				f, stop := w.Line(at(h.minute), h.line)
				stops = stops || stop
				if stop {
					require.Equal(t, "VcpuLimitExceeded", f.Reason)
					require.Equal(t, "failed to run instance: VcpuLimitExceeded: You have requested more", f.Line)
					require.Equal(t, len(c.heard)-1, i)
				}
			}
			require.Equal(t, c.stops, stops)
		})
	}
}

func TestTheFatalLinesAreAShortListWithReasons(t *testing.T) {
	var fatal []string
	for _, c := range Classes() {
		if c.Fatal == "" {
			continue
		}
		fatal = append(fatal, c.Reason)
		for _, sample := range c.Samples {
			w := NewWatch(1, 0)
			f, stop := w.Line(at(0), sample)
			require.True(t, stop, sample)
			require.Equal(t, c.Reason, f.Reason, sample)
		}
	}
	require.Equal(t, []string{
		"VcpuLimitExceeded", "EIPAddressLimitExceeded", "VPCLimitExceeded", "AWSNATGatewayLimitExceeded", "AWSInternetGatewayLimitExceeded",
		"LoadBalancerLimitExceeded", "AWSAccountIsBlocked", "AWSDeniedBySCP", "AWSDeniedByBoundary", "ExpiredCredentials", "InvalidCredentials",
		"AWSCreateNotPermitted", "MachineImageNotShared", "IBMQuotaExceeded", "IBMAPIKeyInvalid", "IBMNotAuthorized",
	}, fatal)
	for _, c := range []string{"AWSInsufficientCapacity", "AWSAPIRateLimitExceeded", "PendingVerification", "AWSInsufficientPermissions", "InstanceLaunchFailed"} {
		require.Empty(t, classWithReason(c).Fatal, "%s: the installer tries again, and it passes", c)
	}
}
