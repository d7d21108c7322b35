package runner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// adminKey is the secret of the scripted cluster's kubeconfig.
const adminKey = "Q0FOQVJZLWNsaWVudC1rZXk="

// newScaling is a ready cluster with a machine set for each number, and a runner that is to reach another total.
func newScaling(t *testing.T, total int, there ...int) *world {
	t.Helper()
	w := newWorld(t, contract.KindScale)
	w.spec.InstallConfig, w.spec.PullSecretRef = "", ""
	key := artifacts.CredentialKey("clu_1", 1, time.Now(), "kubeconfig")
	ref, err := storeOf(t, w).PutOnce(t.Context(), key, []byte("clusters: []\nusers:\n- name: admin\n  user: {client-key-data: "+adminKey+"}\n"))
	require.NoError(t, err)
	w.spec.Scale = &contract.Scale{Workers: total, Usual: 3, KubeconfigRef: ref}
	w.cfg.Timings.Scale, w.cfg.Timings.ScalePoll, w.cfg.Timings.Reach = 20*time.Second, time.Millisecond, 50*time.Millisecond
	require.NoError(t, os.Mkdir(filepath.Join(w.dir, "sets"), 0o700))
	for i, n := range there {
		w.set(i, n, n, n)
	}
	return w
}

func setName(i int) string { return fmt.Sprintf("shop-00001-worker-us-east-1%c", 'a'+i) }

func (w *world) set(i, wanted, there, ready int) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(filepath.Join(w.dir, "sets", setName(i)), fmt.Appendf(nil, "%d %d %d\n", wanted, there, ready), 0o600))
}

// asked is what was changed in the cluster, in order.
func (w *world) asked() (changes []string) {
	for _, event := range w.happened() {
		if text, ok := strings.CutPrefix(event, "installer: oc "); ok && !strings.HasPrefix(text, "get ") {
			changes = append(changes, text)
		}
	}
	return changes
}

func scaled(i, n int) string {
	return fmt.Sprintf("scale machineset %s -n openshift-machine-api --replicas=%d", setName(i), n)
}

func patched(to bool) string {
	return fmt.Sprintf(`patch schedulers.config.openshift.io cluster --type=merge --patch={"spec":{"mastersSchedulable":%t}}`, to)
}

func TestWorkersAreSpreadOverTheZonesAsTheInstallerDoes(t *testing.T) {
	for name, c := range map[string]struct {
		total   int
		there   []int
		changes []string
	}{
		"up over three zones":                          {5, []int{1, 1, 1}, []string{scaled(0, 2), scaled(1, 2)}},
		"down over three zones":                        {2, []int{1, 1, 1}, []string{scaled(2, 0)}},
		"what shrinks comes first":                     {4, []int{0, 4, 0}, []string{scaled(1, 1), scaled(0, 2), scaled(2, 1)}},
		"from nothing":                                 {3, []int{0, 0, 0}, []string{scaled(0, 1), scaled(1, 1), scaled(2, 1)}},
		"to what is there":                             {3, []int{1, 1, 1}, nil},
		"to nothing, with a schedulable control plane": {0, []int{1, 1, 1}, []string{patched(true), scaled(0, 0), scaled(1, 0), scaled(2, 0)}},
		"to one": {1, []int{1, 1, 0}, []string{scaled(1, 0)}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newScaling(t, c.total, c.there...)
			require.NoError(t, w.run(t.Context()))
			result := w.result()
			require.Equal(t, "succeeded", result.Outcome, result.Message)
			require.Equal(t, c.total, *result.Workers)
			require.Equal(t, c.changes, w.asked())
			require.Equal(t, []string{"restoring", "scaling"}, w.phases())
			require.Empty(t, w.records, "it makes nothing under a name of its own")
		})
	}
}

func TestTheControlPlaneTakesNoWorkloadsOnceThereAreWorkersAgain(t *testing.T) {
	w := newScaling(t, 3, 0, 0, 0)
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "schedulable"), []byte("true"), 0o600))
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, []string{scaled(0, 1), scaled(1, 1), scaled(2, 1), patched(false)}, w.asked())

	compact := newScaling(t, 3, 0)
	compact.spec.Scale.Usual = 0
	require.NoError(t, os.WriteFile(filepath.Join(compact.dir, "schedulable"), []byte("true"), 0o600))
	require.NoError(t, compact.run(t.Context()))
	require.Equal(t, []string{scaled(0, 3)}, compact.asked(), "a compact cluster's control plane always works")
}

func TestTheKubeconfigIsAFileOfOursForAsLongAsItTakes(t *testing.T) {
	w := newScaling(t, 4, 1, 1, 1)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "600\n", readFile(t, filepath.Join(w.dir, "seen-kubeconfig-mode")))
	require.Contains(t, readFile(t, filepath.Join(w.dir, "seen-kubeconfig")), adminKey)
	entries, err := os.ReadDir(w.cfg.WorkDir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "only the redacted log stays: %v", entries)
	for _, text := range []string{w.logText(), w.log.String(), readFile(t, filepath.Join(w.dir, "calls")), readFile(t, filepath.Join(w.dir, "environ"))} {
		require.NotContains(t, text, adminKey)
	}
}

func TestWorkersThatDoNotComeAreAFailureThatSaysWhy(t *testing.T) {
	stuck := func(message string) contract.Result {
		w := newScaling(t, 6, 1, 1, 1)
		w.cfg.Timings.Scale = 20 * time.Millisecond
		require.NoError(t, os.WriteFile(filepath.Join(w.dir, "stuck"), nil, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(w.dir, "machine-error"), []byte(message), 0o600))
		require.NoError(t, w.run(t.Context()))
		require.Equal(t, "failed", w.result().Outcome)
		require.Equal(t, 3, *w.result().Workers, "what is there is told all the same")
		require.Contains(t, w.result().Message, "3 of 6 workers were ready after 0 s (shop-00001-worker-us-east-1a: 2 wanted, 1 created, 1 ready; ")
		return w.result()
	}
	slow := stuck("")
	require.Equal(t, []any{"WorkersNotReady", contract.WhoseCloud, true}, []any{slow.Reason, slow.Whose, slow.Retryable})
	require.Contains(t, slow.Message, "node worker-9 is not ready: KubeletNotReady no CNI")
	full := stuck("error launching instance: VcpuLimitExceeded: You have requested more vCPU capacity than your current limit")
	require.Equal(t, []any{"VcpuLimitExceeded", contract.WhoseQuota, false}, []any{full.Reason, full.Whose, full.Retryable})
	require.Contains(t, full.Message, "machine worker-a-1: InvalidConfiguration error launching instance: VcpuLimitExceeded")
	require.NotEmpty(t, full.Next)
}

func TestAClusterThatCannotBeScaledSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		spoil     func(w *world)
		reason    string
		retryable bool
		text      string
	}{
		"no kubeconfig was kept": {func(w *world) { w.spec.Scale.KubeconfigRef = "" }, "KubeconfigMissing", false, "is stored"},
		"the kubeconfig is gone": {func(w *world) { w.spec.Scale.KubeconfigRef += "-gone" }, "KubeconfigMissing", false, "is stored"},
		"no oc": {func(w *world) {
			w.without("oc")
			w.cfg.Env = []string{"OCPCTL_STANDIN_DIR=" + w.dir}
		}, "UnknownVersion", false, "no oc for version 4.20.3"},
		"no machine set of workers": {func(w *world) { require.NoError(w.t, os.RemoveAll(filepath.Join(w.dir, "sets"))) }, "NoMachineSets", false, "no machine set"},
		"an API that does not answer": {func(w *world) {
			w.on("oc", `echo 'E1120 memcache.go:265] "Unhandled Error"' >&2; echo "Unable to connect to the server: dial tcp 10.0.0.1:6443: connect: connection refused" >&2; exit 1`)
		}, "ClusterUnreachable", true, "connection refused"},
		"an API that refuses": {func(w *world) {
			w.on("oc", `echo 'Error from server (Forbidden): machinesets is forbidden' >&2; exit 1`)
		}, "ScaleRefused", false, "machinesets is forbidden"},
		"an answer that is none": {func(w *world) { w.on("oc", `echo '{'; echo '"items": 7'; echo '}'; exit 0`) }, "ClusterUnreachable", true, "not JSON"},
		"somebody else who scales": {func(w *world) {
			w.on("oc", `case "$asked" in *"scale machineset"*) echo "7 7 7" >"$D/sets/`+setName(0)+`"; exit 0;; esac`)
		}, "ScaledElsewhere", true, "was set to 7"},
		"a control plane that takes no workload": {func(w *world) {
			w.spec.Scale.Workers, w.cfg.Timings.Scale = 0, 20*time.Millisecond
			w.on("oc", `case "$asked" in *"patch "*) exit 0;; esac`)
		}, "ControlPlaneNotSchedulable", true, "not become schedulable"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newScaling(t, 5, 1, 1, 1)
			c.spoil(w)
			require.NoError(t, w.run(t.Context()))
			result := w.result()
			require.Equal(t, []any{"failed", c.reason, c.retryable}, []any{result.Outcome, result.Reason, result.Retryable}, result.Message)
			require.Contains(t, result.Message, c.text)
			require.NotEmpty(t, result.Whose)
			require.NotEmpty(t, result.Next)
		})
	}
}

func TestAnAPIThatIsAwayForAMomentIsAskedAgain(t *testing.T) {
	w := newScaling(t, 5, 1, 1, 1)
	w.cfg.Timings.Reach = 20 * time.Second
	w.on("oc", `n=$(cat "$D/asked" 2>/dev/null || echo 0); echo $((n + 1)) >"$D/asked"; if [ $((n % 2)) = 0 ]; then echo "Unable to connect to the server: EOF" >&2; exit 1; fi`)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
}

func TestAScalingThatIsToldToStopStops(t *testing.T) {
	w := newScaling(t, 5, 1, 1, 1)
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "stuck"), nil, 0o600))
	w.hear = func(what string, _ int, _ []byte) {
		if what == "report" && w.did("installer: oc scale") {
			w.mu.Lock()
			w.stop = "another number of workers was requested"
			w.mu.Unlock()
		}
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, []string{"stopped", "StopAsked", "another number of workers was requested"}, []string{w.result().Outcome, w.result().Reason, w.result().Message})
}
