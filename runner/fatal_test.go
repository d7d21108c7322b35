package runner_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// repeating makes the install say something again and again until it is asked to end.
func repeating(say string) string {
	return `trap 'note asked; exit 8' TERM; note hanging; while :; do ` + say + `; sleep 0.01; done`
}

const (
	fatalInLog    = `echo 'time="2026" level=debug msg="failed to run instance: VcpuLimitExceeded: limit of 32"' >>"$dir/.openshift_install.log"`
	fatalPrinted  = `echo "level=warning msg=failed to create vpc: VpcLimitExceeded: The maximum number of VPCs has been reached." >&2`
	retriedItself = `echo 'time="2026" level=debug msg="failed to run instance: InsufficientInstanceCapacity: m6i.xlarge"' >>"$dir/.openshift_install.log"; echo "level=warning msg=Throttling: Rate exceeded" >&2`
)

func impatient(t *testing.T, script string) *world {
	w := newWorld(t, contract.KindCreate)
	w.cfg.Timings.LogPoll, w.cfg.Timings.FatalTimes, w.cfg.Timings.FatalOver = time.Millisecond, 4, 20*time.Millisecond
	w.on("create", script)
	return w
}

func TestAnInstallThatCannotGetPastALimitIsStoppedPolitely(t *testing.T) {
	for name, c := range map[string]struct{ script, reason, line string }{
		"said in its own log alone": {repeating(fatalInLog), "VcpuLimitExceeded", "failed to run instance: VcpuLimitExceeded: limit of 32"},
		"printed":                   {repeating(fatalPrinted), "VPCLimitExceeded", "failed to create vpc: VpcLimitExceeded: The maximum number of VPCs has been reached."},
	} {
		t.Run(name, func(t *testing.T) {
			w := impatient(t, c.script)
			require.NoError(t, w.run(t.Context()))
			result := w.result()
			require.Equal(t, "failed", result.Outcome, "our own signal is no reason")
			require.Equal(t, c.reason, result.Reason)
			require.Equal(t, contract.WhoseQuota, result.Whose)
			require.False(t, result.Retryable)
			require.Contains(t, result.Message, "stopped early because it kept retrying). The installer said: "+c.line)
			require.NotEmpty(t, result.Next)
			requireStoppedPolitely(t, w)
			require.False(t, w.did("installer: gather"), "there is nothing to find out")
		})
	}
}

func TestWhatTheInstallerRetriesByItselfDoesNotStopIt(t *testing.T) {
	w := impatient(t, `for i in 1 2 3 4 5 6 7 8 9 10; do `+retriedItself+`; sleep 0.01; done`)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
}

func TestAFatalLineThatPassesDoesNotStopAnInstall(t *testing.T) {
	w := impatient(t, fatalPrinted+`; `+fatalPrinted+`; sleep 0.05; `+fatalPrinted+`; say "Network infrastructure is ready"; `+fatalPrinted+`; `+fatalPrinted)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
}

func TestTheOperatorsOwnWordsAreProgress(t *testing.T) {
	w := impatient(t, `echo 'time="2026" level=debug msg="Still waiting for the cluster to initialize: Working towards 4.20.3: 451 of 903 done (50% complete)"' >>"$dir/.openshift_install.log"; note hanging; while [ ! -e "$D/go" ]; do sleep 0.01; done`)
	w.hear = func(what string, _ int, body []byte) {
		if what == "report" && contains(body, `"percent":80,"step":"the cluster's operators are 50% complete"`) {
			w.touch("go")
		}
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
}

func TestAnInstallThatSucceedsAfterAllIsNotThrownAway(t *testing.T) {
	w := impatient(t, `trap 'note asked; exit 0' TERM; for i in $(seq 1000); do `+fatalInLog+`; sleep 0.01; done`)
	require.NoError(t, w.run(t.Context()))
	require.True(t, w.did("installer: asked"))
	require.Equal(t, "succeeded", w.result().Outcome)
}
