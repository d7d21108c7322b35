package installer_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
)

// documented are the exit codes of each command, as the real one's.
var documented = []struct {
	command string
	key     string // the command's faults
	codes   []int
}{
	{"create cluster", "create", []int{0, 1, 3, 4, 5, 6, 7, 8}},
	{"wait-for bootstrap-complete", "wait-for", []int{0, 1, 5, 8}},
	{"wait-for install-complete", "wait-for", []int{0, 1, 6, 7, 8}},
	{"gather bootstrap", "gather", []int{1, 8}},
	{"destroy cluster", "destroy", []int{0, 1, 8}},
}

func TestEveryDocumentedExitCodeCanBeProduced(t *testing.T) {
	w := installertest.Start(t)
	dir := installertest.Dir(t, installertest.InstallConfig("codes", "us-east-1", 0))
	w.Must(t, dir, "create ignition-configs")
	for _, d := range documented {
		for i := len(d.codes) - 1; i >= 0; i-- { // success comes last: what follows needs the cluster
			code := d.codes[i]
			fault := installer.Fault{Exit: code, Message: "told to", FailAt: map[string]string{"create": "quota"}[d.key]}
			switch code {
			case 0:
				require.NoError(t, installer.WriteFaults(w.Faults, nil))
				w.Must(t, dir, d.command)
				continue
			case 8:
				fault = installer.Fault{Hang: true, FailAt: fault.FailAt}
			}
			require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{d.key + "/codes": fault}))
			require.Equal(t, code, codeOf(t, w, dir, d.command, code == 8), "%s %d", d.command, code)
		}
	}
	require.Empty(t, w.Left(t, "codes-"))
}

// codeOf runs a command and gives its exit code; one that hangs is told to end once it does.
func codeOf(t *testing.T, w *installertest.World, dir, command string, hangs bool) int {
	t.Helper()
	if !hangs {
		return w.Run(t, dir, command).Code
	}
	lines := trace(t)
	cmd, ended := started(t, w, dir, strings.Fields(command)...)
	eventually(t, "it hangs", func() bool { l := lines(); return len(l) > 0 && strings.Contains(l[len(l)-1], " hang") })
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	code, _ := ended()
	return code
}

func TestAnyWordsCanBeItsFailure(t *testing.T) {
	w := installertest.Start(t)
	for _, text := range []string{
		"InsufficientInstanceCapacity: We currently do not have sufficient m6i.xlarge capacity",
		"EIP: AddressLimitExceeded: The maximum number of addresses has been reached.",
		"AccessDenied: User is not authorized to perform: ec2:CreateVpc with an explicit deny in a service control policy",
		"infrastructure is not ready: failed to reconcile", "Throttling: Rate exceeded",
	} {
		dir := installertest.Dir(t, installertest.InstallConfig("words", "us-east-1", 0))
		require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{"create": {FailAt: "infrastructure", Exit: 4, Message: text}}))
		out := w.Run(t, dir, "create cluster")
		require.Equal(t, 4, out.Code)
		require.Contains(t, out.Stderr, `level=error msg=failed to fetch Cluster: failed to generate asset "Cluster": failed to create cluster: `+text+"\n")
	}
	require.Empty(t, w.Left(t, "words-"))
}
