package installer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
)

func TestEverySampleIsItsOwnClassAmongAll(t *testing.T) {
	classes := Classes()
	require.GreaterOrEqual(t, len(classes), 60)
	for _, c := range classes {
		exits := c.Exits
		if len(exits) == 0 {
			exits = []int{1, 3, 4, 5, 6, 7}
		}
		for _, sample := range c.Samples {
			for _, code := range exits {
				noise := []string{"level=info msg=Creating infrastructure resources...", sample, `time="2026" level=debug msg="no Condition to speak of"`}
				got := Explain(Exit{Code: code}, noise...)
				require.Equal(t, c.Reason, got.Reason, "exit code %d, %s", code, sample)
				require.NotEmpty(t, got.Line)
				require.Equal(t, c.Reason, Explain(Exit{Code: code}, NewRedactor().Text(sample)).Reason, "redacted: %s", sample)
				require.Equal(t, c.Reason, Explain(Exit{Code: code}, strings.ToUpper(sample)).Reason, "in capitals: %s", sample)
			}
		}
	}
}

func TestOnlyWhatWaitingMendsIsRetryable(t *testing.T) {
	for _, c := range Classes() {
		switch c.Whose {
		case contract.WhoseUser, contract.WhoseQuota:
			require.False(t, c.Retryable, c.Reason)
		case contract.WhoseCloud:
			require.True(t, c.Retryable, c.Reason)
		}
		require.NotRegexp(t, "tried again|next try", c.Next, "%s: it is read when the tries are used up", c.Reason)
		if strings.Contains(c.Next, "try again") {
			require.True(t, c.Retryable, "%s advises another try", c.Reason)
		}
	}
	for reason, retryable := range map[string]bool{
		"AWSDeniedBySCP": false, "AWSCreateNotPermitted": false, "AWSInsufficientPermissions": false, "InvalidCredentials": false,
		"InvalidPullSecret": false, "InvalidInstallConfig": false, "UnsupportedInstanceType": false, "InstallFailed": false,
		"ExpiredCredentials": true, "InstallerEndedFromOutside": true, "BootstrapFailed": true, "ClusterAPINotStarted": true,
	} {
		require.Equal(t, retryable, classWithReason(reason).Retryable, reason)
	}
}

func TestTheExitCodeSpeaksWhereNothingIsRecognized(t *testing.T) {
	for code, reason := range map[int]string{
		1: "InstallFailed", 2: "InstallFailed", 3: "InvalidInstallConfig", 4: "InfrastructureFailed", 5: "BootstrapFailed", 6: "ClusterNotInitialized",
		7: "OperatorsNotStable", 8: "InstallerEndedFromOutside", -1: "InstallerEndedFromOutside", 42: "InstallFailed",
	} {
		got := Explain(Exit{Code: code}, "level=error msg=one", "level=error msg=no etcd quorum", "level=info msg=bye")
		require.Equal(t, reason, got.Reason, "exit code %d", code)
		require.Equal(t, "no etcd quorum", got.Line, "the last complaint stands in for a recognized line")
		require.Empty(t, Explain(Exit{Code: code}).Line)
	}
}

func TestADeadlineIsWhatEndedItWhateverTheLogSays(t *testing.T) {
	got := Explain(Exit{Code: 8, Stopped: true, TimedOut: true}, "level=error msg=Throttling: Rate exceeded")
	require.Equal(t, DeadlineExceeded, got.Reason)
	require.True(t, got.Retryable)
}

func TestTheMostSpecificClassComesBeforeTheLastLine(t *testing.T) {
	got := Explain(Exit{Code: 4},
		`time="2026" level=debug msg="failed to run instance: VcpuLimitExceeded: You have requested more \"vCPU\" capacity"`,
		`time="2026" level=debug msg="failed to run instance: VcpuLimitExceeded: again"`,
		"level=error msg=failed to fetch Cluster: failed to generate asset \"Cluster\": failed to create cluster: failed to provision control-plane machines: machines are not ready",
	)
	require.Equal(t, "VcpuLimitExceeded", got.Reason)
	require.Equal(t, "failed to run instance: VcpuLimitExceeded: again", got.Line, "the last line that tells of it")
}

func TestWordsThatAreHarmlessWithAnotherExitCodeDoNotCount(t *testing.T) {
	throttled := `time="2026" level=debug msg="Throttling: Rate exceeded, retrying"`
	require.Equal(t, "AWSAPIRateLimitExceeded", Explain(Exit{Code: 4}, throttled).Reason)
	require.Equal(t, "BootstrapFailed", Explain(Exit{Code: 5}, throttled).Reason)
}

func TestABrokenListOfFailuresIsRefusedWithEveryFault(t *testing.T) {
	_, err := parseClasses([]byte(`
- {reason: InstallFailed, whose: user, message: a, next: b, color: red}`), InstallFailed)
	require.ErrorContains(t, err, "color")
	_, err = parseClasses([]byte(`
- {reason: two words, whose: nobody, message: 'It broke.', fatal: because}
- {reason: InstallFailed, whose: user, message: a, next: b, patterns: ['(', 'x', 'y'], samples: [x, z]}
- {reason: InstallFailed, whose: user, message: a, next: b}`), InstallFailed, DeadlineExceeded)
	for _, fault := range []string{
		"entry 1 (two words): reason: must be one word", `whose: "nobody" must be one of user, quota, cloud, installer, ocpctl`, "message: must say what happened",
		"next: must say what to do", "fatal: requires patterns", "missing closing", `no sample for the pattern "y"`, `no pattern matches "z"`,
		`reason "InstallFailed" appears twice`, "reason DeadlineExceeded is missing",
	} {
		require.ErrorContains(t, err, fault)
	}
}

func TestAMessageIsWhatALineSays(t *testing.T) {
	for line, want := range map[string]string{
		`time="2026-02-27T10:00:00Z" level=debug msg="a \"quoted\"\nword" controller=x`: `a "quoted" word`,
		`level=error msg=plain words: here`:                                             `plain words: here`,
		`something else`:                                                                `something else`,
		`time="2026" level=error msg="password:[redacted]`:                              `password:[redacted]`,
	} {
		require.Equal(t, want, Message(line))
	}
}
