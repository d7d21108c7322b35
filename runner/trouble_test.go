package runner_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

func TestAnotherAccountEndsACreateBeforeAnythingIsRun(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.account = "999999999999"
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "WrongAccount", w.result().Reason)
	require.Contains(t, w.result().Message, account)
	require.False(t, w.did("installer:"))
}

func TestABlockingProblemEndsACreateInWords(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	var asked []string
	w.look = func(_ cloud.Target, types []string) ([]cloud.Problem, error) {
		asked = types
		return []cloud.Problem{
			{Code: "NotAnswered", Message: "quota was not told", Next: "it goes on"},
			{Code: "ZoneMissing", Message: "no zone for labs.example.com", Next: "choose another base domain", Block: true},
		}, nil
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, contract.Result{
		Outcome: "failed", Reason: "ZoneMissing", Whose: "user", Message: "no zone for labs.example.com", Next: "choose another base domain",
	}, w.result())
	require.Equal(t, []string{"m6i.xlarge"}, asked, "a pool of no machines asks for no type")
	require.False(t, w.did("installer:"))
	require.Contains(t, w.logText(), "quota was not told")
}

func TestAPreflightThatIsNotAnsweredBlocksNothing(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.look = func(cloud.Target, []string) ([]cloud.Problem, error) { return nil, errors.New("throttled") }
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
}

func TestAFailedInstallSaysWhyWithItsLastLines(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("create", `echo 'time="2026" level=debug msg="a trace of password: CANARY-pull"' >>"$dir/.openshift_install.log"; echo "level=error msg=Bootstrap failed to complete, password: CANARY-pull" >&2; exit 5`)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, contract.Result{
		Outcome: "failed", Reason: "BootstrapFailed", Whose: contract.WhoseInstaller, Retryable: true,
		Message: "the control plane never took over from the bootstrap machine (openshift-install create cluster, exit code 5). The installer said: Bootstrap failed to complete, password:[redacted]",
		Next:    "read the machines' logs in the log bundle, and try again",
		Line:    "level=error msg=Bootstrap failed to complete, password:[redacted]",
	}, w.result())
	require.Contains(t, w.logText(), w.result().Line)
	require.Contains(t, w.logText(), "a trace of password:[redacted]")
}

func TestWhatTheInstallersOwnLogSaysExplainsAFailureToo(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("create", `echo 'time="2026" level=debug msg="failed to run instance: VcpuLimitExceeded: limit of 32"' >>"$dir/.openshift_install.log"; echo "level=error msg=failed to provision control-plane machines: machines are not ready" >&2; exit 4`)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "VcpuLimitExceeded", w.result().Reason)
	require.Equal(t, contract.WhoseQuota, w.result().Whose)
	require.False(t, w.result().Retryable)
	require.Contains(t, w.result().Message, "The installer said: failed to run instance: VcpuLimitExceeded: limit of 32")
}

func TestARefusedInstallConfigIsNotTriedAgain(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("manifests", `exit 3`)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "InvalidInstallConfig", w.result().Reason)
	require.False(t, w.result().Retryable)
	require.Empty(t, w.records)
}

func TestAnInstallPastItsDeadlineIsStopped(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.spec.CreateDeadline = 100 * time.Millisecond
	w.on("create", hanging)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "DeadlineExceeded", w.result().Reason)
	require.True(t, w.result().Retryable)
}

func TestMetadataWithoutAnInfraIDIsNotInstalled(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("ignition", `mkdir -p "$dir/auth"; echo x >"$dir/auth/kubeadmin-password"; echo '{"clusterName":"shop"}' >"$dir/metadata.json"; exit 0`)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "MetadataUnusable", w.result().Reason)
	require.Empty(t, w.records)
}

func TestAMissingInstallerIsSaidInWords(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.spec.Version = "4.19.9"
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "UnknownVersion", w.result().Reason)
	require.Contains(t, w.result().Message, "no openshift-install for version 4.19.9")
	require.Contains(t, w.result().Message, "available versions: 4.20.3")
	require.Equal(t, "ocpctl", w.result().Whose)
	require.Contains(t, w.result().Next, "add 4.19.9/openshift-install")
}

func TestABadPullSecretIsNotShownToTheInstaller(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "pull-secret"), []byte(`{"auths":"CANARY-pull"}`), 0o600))
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "InvalidPullSecret", w.result().Reason)
	require.False(t, w.did("installer:"))
	got, err := json.Marshal([]any{w.results, w.reports})
	require.NoError(t, err)
	require.NotContains(t, string(got), "CANARY-pull")
}

func TestAResultNamesTheZoneThatHadNoCapacity(t *testing.T) {
	short := func(where string) string {
		return `echo 'time="2026" level=debug msg="failed to run instance: InsufficientInstanceCapacity: We currently do not have sufficient m6i.xlarge capacity` + where + `"' >>"$dir/.openshift_install.log"; exit 4`
	}
	for name, c := range map[string]struct {
		zones      []string
		line, want string
	}{
		"the cloud names it":  {[]string{"us-east-1a", "us-east-1b"}, short(" in the Availability Zone you requested (us-east-1b)."), "us-east-1b"},
		"it is the only one":  {[]string{"us-east-1a"}, short(""), "us-east-1a"},
		"it could be any":     {[]string{"us-east-1a", "us-east-1b"}, short(""), ""},
		"it is none of these": {[]string{"us-east-1a", "us-east-1b"}, short(" in the Availability Zone you requested (us-west-2a)."), ""},
		"it is about no zone": {[]string{"us-east-1a"}, `echo 'time="2026" level=debug msg="failed: VpcLimitExceeded"' >>"$dir/.openshift_install.log"; exit 4`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, contract.KindCreate)
			w.spec.Zones = c.zones
			w.on("create", c.line)
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, c.want, w.result().Zone, w.result().Reason)
		})
	}
}
