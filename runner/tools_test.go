package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
)

const release = "quay.io/openshift-release-dev/ocp-release@sha256:"

// pinned is the release the scripted installer names.
var pinned = release + strings.Repeat("ab", 32)

// without takes programs out of the installers' directory.
func (w *world) without(programs ...string) {
	w.t.Helper()
	for _, program := range programs {
		require.NoError(w.t, os.Remove(filepath.Join(w.cfg.Installers, "4.20.3", program)))
	}
}

func TestWhatTheDirectoryLacksIsExtractedFromThePinnedRelease(t *testing.T) {
	w := manual(t, contract.KindCreate)
	w.without("openshift-install", "ccoctl", "oc")
	link(t, "oc", filepath.Join(w.cfg.Installers, "oc"))
	w.spec.ReleaseImage = pinned
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
	require.Equal(t, "sha256:"+strings.Repeat("ab", 32), w.records[1].Identity.ReleaseDigest)
	require.Len(t, w.records[1].Identity.InstallerSHA256, 64)

	calls := readFile(t, filepath.Join(w.dir, "calls"))
	tools := filepath.Join(w.cfg.WorkDir, "tools")
	registry := " --registry-config=" + filepath.Join(w.cfg.WorkDir, "secrets", "registry.json")
	for _, want := range []string{
		"oc adm release extract --command=openshift-install --from=" + pinned + " --to=" + tools + "/openshift-install-of-release" + registry,
		"oc adm release info --image-for=cloud-credential-operator " + pinned + registry,
		"oc image extract quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:" + strings.Repeat("cd", 32) + " --file=/usr/bin/ccoctl" + registry + "\n  in " + tools + "/ccoctl-of-release,",
		"ccoctl aws create-all ",
		"openshift-install create cluster ",
	} {
		require.Contains(t, calls, want)
	}
}

func TestAVersionThatIsNotToBeHadIsRefusedWithThoseThereAre(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(w *world)
		want  string
	}{
		"no directory, no image":   {func(w *world) { w.spec.Version = "4.19.9" }, "no openshift-install for version 4.19.9"},
		"an image, but no oc":      {func(w *world) { w.spec.Version, w.spec.ReleaseImage, w.cfg.Env = "4.19.9", pinned, nil }, "oc: the program does not exist"},
		"no ccoctl, but no image":  {func(w *world) { w.without("ccoctl", "oc"); w.cfg.Env = []string{"OCPCTL_STANDIN_DIR=" + w.dir} }, "no ccoctl for version 4.20.3"},
		"a version that is a path": {func(w *world) { w.spec.Version = "../4.20.3" }, `"../4.20.3" is not an OpenShift version`},
	} {
		t.Run(name, func(t *testing.T) {
			w := manual(t, contract.KindCreate)
			c.spoil(w)
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, "UnknownVersion", w.result().Reason)
			require.Contains(t, w.result().Message, c.want)
			if !strings.Contains(w.spec.Version, "/") {
				require.Contains(t, w.result().Message, "available versions: 4.20.3")
			}
			require.Equal(t, contract.WhoseOurs, w.result().Whose)
			require.NotEmpty(t, w.result().Next)
			require.Empty(t, w.records)
		})
	}
}

func TestAReleaseThatIsNotKnownByDigestOrIsAnotherIsNotInstalled(t *testing.T) {
	unknown := newWorld(t, contract.KindCreate)
	unknown.on("version", `echo "openshift-install 4.20.3"; echo "release image registry.ci.openshift.org/origin/release:4.20"; exit 0`)
	require.NoError(t, unknown.run(t.Context()))
	require.Equal(t, "ReleaseUnknown", unknown.result().Reason)
	require.Empty(t, unknown.records)
	require.False(t, unknown.did("installer:"))

	other := newWorld(t, contract.KindCreate)
	other.spec.ReleaseImage = release + strings.Repeat("ef", 32)
	require.NoError(t, other.run(t.Context()))
	require.Equal(t, "ReleaseMismatch", other.result().Reason)
	require.Contains(t, other.result().Message, strings.Repeat("ef", 32))
	require.Empty(t, other.records)

	broken := newWorld(t, contract.KindCreate)
	broken.without("openshift-install")
	broken.spec.ReleaseImage = pinned
	broken.on("oc", `echo "error: manifest unknown" >&2; exit 1`)
	require.NoError(t, broken.run(t.Context()))
	require.Equal(t, "ToolsUnavailable", broken.result().Reason)
	require.Contains(t, broken.result().Message, "manifest unknown")
	require.True(t, broken.result().Retryable)
}

// recorded is an identity as a create of the scripted installer leaves it.
func recorded(sum string) contract.Identity {
	id := identity("shop-00001")
	id.InstallerSHA256, id.ReleaseDigest = sum, "sha256:"+strings.Repeat("ab", 32)
	return id
}

func TestATeardownTakesTheVeryInstallerThatInstalled(t *testing.T) {
	changed := strings.Repeat("77", 32)
	t.Run("extracted again where the file has changed", func(t *testing.T) {
		before := newWorld(t, contract.KindCreate) // installs with what the release holds
		before.without("openshift-install")
		before.spec.ReleaseImage = pinned
		require.NoError(t, before.run(t.Context()))
		require.Equal(t, "succeeded", before.result().Outcome, before.result().Message)

		w := newWorld(t, contract.KindDestroy) // has another one in its directory
		w.spec.Identities = []contract.Identity{before.records[0].Identity}
		require.NoError(t, w.run(t.Context()))
		require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
		require.Contains(t, readFile(t, filepath.Join(w.dir, "calls")), "oc adm release extract --command=openshift-install --from="+pinned)
		require.Contains(t, w.logText(), "the original was extracted from its release")
		require.True(t, w.did("installer: destroy shop-00001"))
	})
	t.Run("the present one, with words, where the release holds another still", func(t *testing.T) {
		w := newWorld(t, contract.KindDestroy)
		w.spec.Identities = []contract.Identity{recorded(changed)}
		require.NoError(t, w.run(t.Context()))
		require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
		require.True(t, w.did("installer: oc extract openshift-install"))
		require.Contains(t, w.logText(), "is not the file that installed this cluster")
		require.True(t, w.did("installer: destroy shop-00001"))
	})
	t.Run("the present one, with words, where it cannot be had", func(t *testing.T) {
		w := newWorld(t, contract.KindDestroy)
		w.without("oc")
		w.cfg.Env = []string{"PATH=/usr/bin:/bin", "OCPCTL_STANDIN_DIR=" + w.dir}
		w.spec.Identities = []contract.Identity{recorded(changed)}
		require.NoError(t, w.run(t.Context()))
		require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
		require.Contains(t, w.logText(), "is not the file that installed this cluster (SHA-256 777777777777… then")
		require.True(t, w.did("installer: destroy shop-00001"))
	})
	t.Run("extracted where the directory has lost the version", func(t *testing.T) {
		w := newWorld(t, contract.KindDestroy)
		w.without("openshift-install")
		w.spec.Identities = []contract.Identity{recorded("")}
		require.NoError(t, w.run(t.Context()))
		require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
		require.True(t, w.did("installer: oc extract openshift-install"))
	})
	t.Run("nothing is removed without one, and it is said", func(t *testing.T) {
		w := newWorld(t, contract.KindDestroy)
		w.without("openshift-install", "oc")
		w.cfg.Env = []string{"PATH=/usr/bin:/bin", "OCPCTL_STANDIN_DIR=" + w.dir}
		w.spec.Identities = []contract.Identity{recorded("")}
		require.NoError(t, w.run(t.Context()))
		require.Equal(t, "UnknownVersion", w.result().Reason)
	})
}
