package installer_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
)

// leftKinds are what a class leaves after a destroy that exited 0; classes in forever make destroy go on for ever.
var leftKinds = map[string][]string{
	installer.LeakZone: {"hostedzone", "record"}, installer.LeakRecord: {"record"}, installer.LeakBucket: {"bucket"},
	installer.LeakImage: {"image", "snapshot"}, installer.LeakProfile: {"instance-profile"}, installer.LeakUser: {"user", "access-key", "policy"},
	installer.LeakBalancer: nil, installer.LeakVolume: {"volume"}, installer.LeakSnapshot: {"snapshot"}, installer.LeakDNS: {"record"},
}

var forever = map[string]string{
	installer.LeakForeign:    "level=debug msg=unrecognized ARN service rds (arn:aws:rds:us-east-1:123456789012:db:",
	installer.LeakGroupInUse: "DependencyViolation",
}

func TestEachClassOfLeaksIsLeft(t *testing.T) {
	for _, leak := range installer.Leaks() {
		if leak.Class == installer.LeakIdentity || forever[leak.Class] != "" {
			continue // have tests of their own
		}
		t.Run(leak.Class, func(t *testing.T) {
			want, known := leftKinds[leak.Class]
			require.True(t, known, "a class nobody tests")
			w := installertest.Start(t)
			name := "leak-" + strings.ReplaceAll(leak.Class, "-", "")
			dir := installertest.Dir(t, installertest.InstallConfig(name, "us-east-1", 0))
			require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{leak.Command: {Leak: []string{leak.Class}, Times: 1}}))
			w.Must(t, dir, "create cluster")
			w.Must(t, dir, "destroy cluster", "--log-level=debug")
			raw, err := os.ReadFile(w.Faults)
			require.NoError(t, err)
			require.JSONEq(t, `{}`, string(raw), "spent")
			for _, line := range w.Left(t, name) {
				kind, _, _ := strings.Cut(line, " ")
				require.Contains(t, want, kind, line)
			}
			if want != nil {
				require.Positive(t, kinds(w.Left(t, name))[want[0]])
			}
		})
	}
}

func TestWhatDestroyCannotDeleteItTriesForEver(t *testing.T) {
	for class, text := range forever {
		t.Run(class, func(t *testing.T) {
			w := installertest.Start(t)
			name := "ever-" + strings.ReplaceAll(class, "-", "")
			dir := installertest.Dir(t, installertest.InstallConfig(name, "us-east-1", 0))
			require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{"create": {Leak: []string{class}}}))
			w.Must(t, dir, "create cluster")
			cmd, ended := started(t, w, dir, "destroy", "cluster", "--log-level=debug")
			log := filepath.Join(dir, ".openshift_install.log")
			eventually(t, "it warns after five minutes of rounds", func() bool {
				raw, err := os.ReadFile(log)
				return err == nil && regexp.MustCompile(`level=warning msg=.* arn=arn:aws:`).Match(raw)
			})
			require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
			code, said := ended()
			require.Equal(t, 8, code)
			require.Contains(t, said, text)
			require.FileExists(t, filepath.Join(dir, "metadata.json"))
		})
	}
}

func TestCcoctlToldToLeakDeletesNothingAndExits0(t *testing.T) {
	w := installertest.Start(t)
	name := "cco-leak-0123456789"
	createIdentity(t, w, name, "us-east-1")
	before := w.Left(t, name)
	require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{"ccoctl-delete": {Leak: []string{installer.LeakIdentity}}}))
	require.Zero(t, w.Tool(t, "ccoctl", t.TempDir(), "aws", "delete", "--name", name, "--region", "us-east-1").Code)
	require.Equal(t, before, w.Left(t, name))
}

func TestALeakCanBeKilledRightThere(t *testing.T) {
	w := installertest.Start(t)
	dir := installertest.Dir(t, installertest.InstallConfig("there", "us-east-1", 0))
	require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{"create": {Leak: []string{installer.LeakImage}, FailAt: "image-tags", Kill: true, Times: 1}}))
	require.Equal(t, -1, w.Run(t, dir, "create cluster").Code)
	w.Must(t, dir, "destroy cluster")
	require.Equal(t, map[string]int{"image": 1}, kinds(w.Left(t, "there")))
	snapshots := 0
	for _, r := range w.AWS.All() {
		if r.Type == "snapshot" {
			snapshots++
		}
	}
	require.Equal(t, 1, snapshots, "which has no name at all")
}
