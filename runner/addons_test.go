package runner_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
)

const certManager = `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"cert-manager-operator"}}]}`

// furnished gives the world's attempt two add-ons: one with something to wait for and one without.
func furnished(t *testing.T, kind string) *world {
	t.Helper()
	w := newWorld(t, kind)
	w.cfg.Timings.ScalePoll, w.cfg.Timings.Reach = time.Millisecond, 50*time.Millisecond
	w.spec.Addons = []contract.Addon{
		{Name: "cert-manager", Manifests: certManager, Waits: []contract.AddonWait{
			{Kind: "crd", Name: "certificates.cert-manager.io", Condition: "Established", Timeout: 100 * time.Millisecond},
			{Kind: "deployment", Name: "cert-manager-webhook", Namespace: "cert-manager", Condition: "Available", Timeout: 100 * time.Millisecond},
		}},
		{Name: "pr-namespace", Manifests: `{"kind":"List","items":[]}`},
	}
	return w
}

// refreshed is a ready cluster whose add-ons are brought anew.
func refreshed(t *testing.T) *world {
	t.Helper()
	w := furnished(t, contract.KindConfigure)
	w.spec.InstallConfig, w.spec.PullSecretRef = "", ""
	key := artifacts.CredentialKey("clu_1", 1, time.Now(), "kubeconfig")
	ref, err := storeOf(t, w).PutOnce(t.Context(), key, []byte("clusters: [{name: shop, cluster: {server: 'https://api.shop.labs.example.com:6443', certificate-authority-data: Q0E=}}]\nusers:\n- name: admin\n  user: {client-key-data: "+adminKey+"}\n"))
	require.NoError(t, err)
	w.spec.KubeconfigRef = ref
	return w
}

// addonsReported is the last that was told of each add-on.
func (w *world) addonsReported() map[string]contract.AddonState {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]contract.AddonState{}
	for _, r := range w.reports {
		for _, state := range r.Addons {
			out[state.Name] = state
		}
	}
	return out
}

var there = map[string]contract.AddonState{
	"cert-manager": {Name: "cert-manager", There: true, Reason: "Applied", Message: "it is applied and works"},
	"pr-namespace": {Name: "pr-namespace", There: true, Reason: "Applied", Message: "it is applied and works"},
}

func TestAddonsAreAppliedByTheServersSideAndWaitedFor(t *testing.T) {
	w := refreshed(t)
	require.NoError(t, w.run(t.Context()))
	result := w.result()
	require.Equal(t, "succeeded", result.Outcome, result.Message)
	require.Equal(t, 2, *result.Addons)
	require.Equal(t, []string{
		"apply --server-side --force-conflicts --field-manager=ocpctl -f -",
		"wait crd/certificates.cert-manager.io --for=condition=Established --timeout=1s",
		"wait deployment/cert-manager-webhook --for=condition=Available --timeout=1s -n cert-manager",
		"apply --server-side --force-conflicts --field-manager=ocpctl -f -",
	}, w.asked())
	require.Equal(t, certManager+`{"kind":"List","items":[]}`, readFile(t, filepath.Join(w.dir, "applied")))
	require.Equal(t, []string{"restoring", "configuring"}, w.phases())
	require.Equal(t, there, w.addonsReported())
	require.Contains(t, w.logText(), "namespace/cert-manager-operator serverside-applied\n")
	require.Empty(t, w.records, "it makes nothing under a name of its own")
	require.Equal(t, "600\n", readFile(t, filepath.Join(w.dir, "seen-kubeconfig-mode")))
	for _, text := range []string{w.logText(), w.log.String(), readFile(t, filepath.Join(w.dir, "calls")), readFile(t, filepath.Join(w.dir, "environ"))} {
		require.NotContains(t, text, adminKey)
	}
	entries, err := os.ReadDir(w.cfg.WorkDir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "only the redacted log stays: %v", entries)
}

func TestAnAddonThatFailsSaysWhyAndKeepsNoOtherFromComing(t *testing.T) {
	for name, c := range map[string]struct {
		spoil     func(w *world)
		reason    string
		retryable bool
		text      string
	}{
		"a kind that never comes": {func(w *world) {
			require.NoError(w.t, os.WriteFile(filepath.Join(w.dir, "never-certificates.cert-manager.io"), nil, 0o600))
		},
			"NotReady", true, "crd certificates.cert-manager.io is not Established after 0 s: oc wait: error: timed out waiting for the condition on crd/certificates.cert-manager.io"},
		"what is not there yet": {func(w *world) {
			w.on("oc", `case "$asked" in *"wait deployment/"*) echo 'Error from server (NotFound): deployments.apps "cert-manager-webhook" not found' >&2; exit 1;; esac`)
		}, "NotReady", true, "deployment cert-manager/cert-manager-webhook is not Available"},
		"what the cluster refuses": {func(w *world) {
			w.on("oc", `case "$asked" in *apply*) if grep -q cert-manager-operator -; then echo 'Error from server (Forbidden): namespaces is forbidden' >&2; exit 1; fi;; esac`)
		}, "ApplyRefused", false, "the cluster refused it: oc apply: refused: Error from server (Forbidden): namespaces is forbidden"},
		"a conflict that stays": {func(w *world) {
			w.on("oc", `case "$asked" in *apply*) if grep -q cert-manager-operator -; then echo 'error: Apply failed with 1 conflict: conflict with "helm": .spec.channel' >&2; echo 'Please review the fields above.' >&2; exit 1; fi;; esac`)
		}, "ApplyFailed", true, `it could not be applied: oc apply: error: Apply failed with 1 conflict: conflict with "helm": .spec.channel`},
	} {
		t.Run(name, func(t *testing.T) {
			w := refreshed(t)
			c.spoil(w)
			require.NoError(t, w.run(t.Context()))
			result := w.result()
			require.Equal(t, []any{"failed", "AddonsMissing", c.retryable, 1}, []any{result.Outcome, result.Reason, result.Retryable, *result.Addons}, result.Message)
			state := w.addonsReported()["cert-manager"]
			require.Equal(t, []any{false, c.reason}, []any{state.There, state.Reason})
			require.Contains(t, state.Message, c.text)
			require.Contains(t, state.Next, "ocpctl refresh shop")
			require.Equal(t, there["pr-namespace"], w.addonsReported()["pr-namespace"])
			require.Contains(t, result.Message, "1 of 2 add-ons are installed; cert-manager: ")
			require.Equal(t, state.Next, result.Next)
		})
	}
}

func TestWhatIsNotThereYetIsWaitedFor(t *testing.T) {
	w := refreshed(t)
	w.cfg.Timings.Reach = 20 * time.Second
	for i := range w.spec.Addons[0].Waits {
		w.spec.Addons[0].Waits[i].Timeout = 20 * time.Second
	}
	w.on("oc", `n=$(cat "$D/asked" 2>/dev/null || echo 0); echo $((n + 1)) >"$D/asked"; if [ $((n % 2)) = 0 ]; then cat >/dev/null; echo "error: the server doesn't have a resource type \"certificates\"" >&2; exit 1; fi`)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
}

func TestARefreshWithoutAWayInChangesNothing(t *testing.T) {
	w := refreshed(t)
	w.spec.KubeconfigRef += "-gone"
	require.NoError(t, w.run(t.Context()))
	result := w.result()
	require.Equal(t, []any{"failed", "KubeconfigMissing", false}, []any{result.Outcome, result.Reason, result.Retryable})
	require.Empty(t, w.asked())
}

func TestARefreshThatIsToldToStopStops(t *testing.T) {
	w := refreshed(t)
	w.spec.Addons[0].Waits[0].Timeout = time.Minute
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "never-certificates.cert-manager.io"), nil, 0o600))
	w.hear = func(what string, _ int, _ []byte) {
		if what == "report" && w.did("installer: oc wait") {
			w.mu.Lock()
			w.stop = "somebody asked for its end"
			w.mu.Unlock()
		}
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, []string{"stopped", "StopAsked"}, []string{w.result().Outcome, w.result().Reason})
}

func TestACreateBringsItsAddonsOnceItsCredentialsAreSafe(t *testing.T) {
	w := furnished(t, contract.KindCreate)
	require.NoError(t, w.run(t.Context()))
	result := w.result()
	require.Equal(t, []any{"succeeded", 2}, []any{result.Outcome, *result.Addons}, result.Message)
	require.False(t, result.Outputs.StoredAt.IsZero())
	require.Equal(t, there, w.addonsReported())
	require.Equal(t, "configuring", w.phases()[len(w.phases())-1])
	require.Equal(t, "600\n", readFile(t, filepath.Join(w.dir, "seen-kubeconfig-mode")))
}

func TestAnInstallIsNotThrownAwayForItsAddons(t *testing.T) {
	for name, spoil := range map[string]func(w *world) context.Context{
		"one never comes": func(w *world) context.Context {
			require.NoError(w.t, os.WriteFile(filepath.Join(w.dir, "never-certificates.cert-manager.io"), nil, 0o600))
			return w.t.Context()
		},
		"the API is away": func(w *world) context.Context {
			w.on("oc", `cat >/dev/null; echo "Unable to connect to the server: EOF" >&2; exit 1`)
			return w.t.Context()
		},
		"there is no oc": func(w *world) context.Context {
			w.without("oc")
			w.cfg.Env = []string{"OCPCTL_STANDIN_DIR=" + w.dir}
			return w.t.Context()
		},
		"its host ends it": func(w *world) context.Context {
			ctx, cancel := context.WithCancel(w.t.Context())
			w.spec.Addons[0].Waits[0].Timeout = time.Minute
			require.NoError(w.t, os.WriteFile(filepath.Join(w.dir, "never-certificates.cert-manager.io"), nil, 0o600))
			w.hear = func(string, int, []byte) {
				if w.did("installer: oc wait") {
					cancel()
				}
			}
			return ctx
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := furnished(t, contract.KindCreate)
			require.NoError(t, w.run(spoil(w)))
			result := w.result()
			require.Equal(t, "succeeded", result.Outcome, result.Message)
			require.False(t, result.Outputs.StoredAt.IsZero())
			require.Less(t, *result.Addons, 2)
			if name != "its host ends it" {
				state := w.addonsReported()["cert-manager"]
				require.False(t, state.There)
				require.NotEmpty(t, state.Message)
				require.NotEmpty(t, state.Next)
			}
		})
	}
}

func TestAnUnwantedInstallEndsWhileItsAddonsAreBrought(t *testing.T) {
	w := furnished(t, contract.KindCreate)
	w.spec.Addons[0].Waits[0].Timeout = time.Minute
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "never-certificates.cert-manager.io"), nil, 0o600))
	w.hear = func(what string, _ int, _ []byte) {
		if what == "report" && w.did("installer: oc wait") {
			w.mu.Lock()
			w.stop = "somebody asked for its end"
			w.mu.Unlock()
		}
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, []string{"stopped", "StopAsked"}, []string{w.result().Outcome, w.result().Reason})
	require.Nil(t, w.result().Outputs)
}

func TestAnInstallWithoutAddonsAsksNoCluster(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	require.NoError(t, w.run(t.Context()))
	require.Nil(t, w.result().Addons)
	require.False(t, strings.Contains(strings.Join(w.happened(), "\n"), "oc wait"))
	require.Empty(t, w.addonsReported())
}
