package installer

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// debug is a line of the installer's own log, as its controllers write it.
func debug(minute int, text string) string {
	return fmt.Sprintf(`time="2026-02-27T10:%02d:13Z" level=debug msg="E0227 10:%02d:13.402118 204 controller.go:324] \"Reconciler error\" err=\"%s\""`, minute, minute, text)
}

func reached(minute int, text string) string {
	return fmt.Sprintf(`time="2026-02-27T10:%02d:13Z" level=info msg="%s"`, minute, text)
}

func TestWhatTheInstallGotPastDoesNotExplainItsEnd(t *testing.T) {
	const (
		noQuotas  = "operation error Service Quotas: ListServiceQuotas, api error AccessDeniedException: User: arn:aws:sts::1:assumed-role/r is not authorized to perform: servicequotas:ListServiceQuotas"
		throttled = "operation error EC2: DescribeInstances, api error RequestLimitExceeded: Request limit exceeded."
		noGateway = "failed to reconcile network: no nat gateways available in us-east-1a for private subnet subnet-1"
		capacity  = "failed to run instance: InsufficientInstanceCapacity: We currently do not have sufficient m6i.xlarge capacity"
		machines  = "level=error msg=failed to fetch Cluster: failed to create cluster: failed to provision control-plane machines: machines are not ready"
		network   = "level=error msg=failed to fetch Cluster: failed to create cluster: infrastructure was not ready within 15m0s"
		strange   = "level=error msg=failed to create cluster: the flux capacitor is empty"
	)
	begun, wired := reached(3, "Creating infrastructure resources..."), reached(9, "Network infrastructure is ready")
	for name, c := range map[string]struct {
		exit   int
		lines  []string
		reason string
		line   string
	}{
		"a permission it can do without": {4, []string{debug(1, noQuotas), begun, wired, debug(12, capacity), machines}, "AWSInsufficientCapacity", ""},
		"… even printed as a warning": {4, []string{begun, wired, debug(12, capacity), `level=warning msg=skipping: ` + noQuotas, machines},
			"AWSInsufficientCapacity", ""},
		"throttling of an earlier stage":            {4, []string{begun, debug(4, throttled), debug(5, noGateway), wired, machines}, "ControlPlaneMachinesFailed", ""},
		"throttling before words nobody knows":      {1, []string{begun, debug(4, throttled), strange}, "InstallFailed", "failed to create cluster: the flux capacitor is empty"},
		"… whatever the exit code says":             {4, []string{begun, debug(4, throttled), debug(5, throttled), strange}, "InfrastructureFailed", "failed to create cluster: the flux capacitor is empty"},
		"throttling beside a stage's end":           {4, []string{begun, debug(4, noGateway), debug(17, throttled), network}, "InfrastructureTimeout", ""},
		"but throttling that the installer names":   {4, []string{begun, "level=error msg=failed to create records: Throttling: Rate exceeded"}, "AWSAPIRateLimitExceeded", ""},
		"but throttling where nothing else is said": {4, []string{begun, debug(4, throttled)}, "AWSAPIRateLimitExceeded", ""},
		"but a cause after the last mark":           {4, []string{debug(1, throttled), begun, debug(4, "VpcLimitExceeded: too many"), debug(5, throttled), network}, "VPCLimitExceeded", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := Explain(Exit{Code: c.exit}, c.lines...)
			require.Equal(t, c.reason, got.Reason, got.Line)
			if c.line != "" {
				require.Equal(t, c.line, got.Line)
			}
		})
	}
	long := slices.Repeat([]string{debug(2, throttled), debug(2, noQuotas)}, 2000)
	long = append(long, begun, wired)
	long = append(long, slices.Repeat([]string{debug(12, throttled)}, 2000)...)
	long = append(long, debug(13, "VcpuLimitExceeded: limit of 32"))
	long = append(long, slices.Repeat([]string{debug(14, throttled)}, 2000)...)
	got := Explain(Exit{Code: 4}, append(long, machines)...)
	require.Equal(t, "VcpuLimitExceeded", got.Reason)
	require.False(t, got.Retryable)
}
