package aws_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
	"github.com/ocpctl/ocpctl/devstack/installer/release"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// What the scripted tools leave behind when they are told to leak, after a destroy that exited 0: all of it is counted;
// removed is what may be removed by exact name, the rest is named to people or deleted by the next destroy.
func TestWhatTheToolsLeakIsCountedAndRemovedOrNamed(t *testing.T) {
	removed := map[string]bool{installer.LeakZone: true, installer.LeakRecord: true, installer.LeakBucket: true, installer.LeakImage: true, installer.LeakProfile: true}
	named := map[string]string{installer.LeakUser: "user", installer.LeakVolume: "volume", installer.LeakSnapshot: "snapshot", installer.LeakDNS: "record"}
	for _, leak := range installer.Leaks() {
		if !removed[leak.Class] && named[leak.Class] == "" {
			continue // destroy removes it, or goes on for ever: see below
		}
		t.Run(leak.Class, func(t *testing.T) {
			s := newScene(t, "tool-"+shortened(leak.Class), "us-east-2")
			s.render(t)
			require.NoError(t, installer.WriteFaults(s.Faults, installer.Faults{leak.Command: {Leak: []string{leak.Class}, Times: 1}}))
			s.Must(t, s.dir, "create cluster")
			s.Must(t, s.dir, "destroy cluster")
			found := s.client.Verify(t.Context(), s.target)
			require.NotEmpty(t, found.Leftovers)
			deleted, err := s.client.Remove(t.Context(), s.target)
			if leak.Class == installer.LeakDNS {
				require.ErrorContains(t, err, "is external-dns's, with the owner id shop")
			} else {
				require.NoError(t, err)
			}
			after := s.client.Verify(t.Context(), s.target)
			if removed[leak.Class] {
				require.NotEmpty(t, deleted)
				require.Empty(t, s.Left(t, s.target.Name), "counted by the stand-ins")
				require.True(t, after.Clean, after.Leftovers)
				return
			}
			require.Empty(t, deleted)
			require.Contains(t, kinds(after), named[leak.Class])
		})
	}
}

func TestWhatMakesDestroyGoOnForEverIsNamed(t *testing.T) {
	for class, kind := range map[string]string{installer.LeakForeign: "tagged-resource", installer.LeakGroupInUse: "network-interface", installer.LeakBalancer: "classic-load-balancer"} {
		t.Run(class, func(t *testing.T) {
			s := newScene(t, "ever-"+shortened(class), "us-east-2")
			s.render(t)
			require.NoError(t, installer.WriteFaults(s.Faults, installer.Faults{"create": {Leak: []string{class}, Times: 1}}))
			s.Must(t, s.dir, "create cluster")
			require.Contains(t, kinds(s.client.Verify(t.Context(), s.target)), kind)
		})
	}
}

// ccoctl is killed after each of its first writes; what it made by then goes by exact name.
func TestACcoctlKilledAfterAnyWriteIsCleanedUp(t *testing.T) {
	for _, writes := range []int{1, 2, 3, 4, 5, 7, 10, 14} {
		t.Run(strconv.Itoa(writes), func(t *testing.T) {
			s := newScene(t, "cut", "us-east-1")
			name := "cut" + strconv.Itoa(writes) + "-b2c3d4e5f6"
			dir := requests(t, s)
			require.NoError(t, installer.WriteFaults(s.Faults, installer.Faults{"ccoctl-create": {AfterWrites: writes, Kill: true, Times: 1}}))
			out := s.Tool(t, "ccoctl", t.TempDir(), "aws", "create-all", "--name", name, "--region", "us-east-1", "--credentials-requests-dir", dir, "--output-dir", "cc")
			require.Equal(t, -1, out.Code, out.Stderr)
			require.NotEmpty(t, s.Left(t, name))
			s.target.Identities = []contract.Identity{{CCOName: name, Account: account, Region: "us-east-1"}}
			require.False(t, s.client.Verify(t.Context(), s.target).Clean)
			_, err := s.client.Remove(t.Context(), s.target)
			require.NoError(t, err)
			require.Empty(t, s.Left(t, name), "counted by the stand-ins")
			require.True(t, s.client.Verify(t.Context(), s.target).Clean)
		})
	}
}

// requests extracts the credentials requests ccoctl works by.
func requests(t *testing.T, s *scene) string {
	t.Helper()
	dir, secret := t.TempDir(), filepath.Join(t.TempDir(), "pull-secret.json")
	require.NoError(t, os.WriteFile(secret, []byte(installertest.PullSecret), 0o600))
	config := filepath.Join(installertest.Dir(t, installertest.InstallConfig("any", "us-east-1", 0)), "install-config.yaml")
	out := s.Tool(t, "oc", dir, "adm", "release", "extract", "--credentials-requests", "--included", "--install-config="+config,
		"--from="+release.Image("4.20.3"), "--registry-config="+secret, "--to=.")
	require.Zero(t, out.Code, out.Stderr)
	return dir
}

// IAM shows what was there a while ago, so a role that was just made is in no answer yet.
func TestAnIAMThatLagsIsWhyOneCleanPassIsNotEnough(t *testing.T) {
	s := leaky(t)
	s.profile(t, mine, "worker", kubeKey+mine+"=owned")
	s.AWS.SetLag(standin.Lag{IAM: time.Hour})
	require.True(t, s.client.Verify(t.Context(), s.target).Clean, "not seen yet")
	s.AWS.SetLag(standin.Lag{})
	_, err := s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	require.True(t, s.client.Verify(t.Context(), s.target).Clean)
}

// shortened makes a class part of a cluster's name.
func shortened(class string) string { return class[:min(len(class), 16)] }
