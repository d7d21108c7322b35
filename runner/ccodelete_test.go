package runner_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// The names that ccoctl was run with in the cluster's first two attempts.
var cco1, cco2 = ccoNameOf(1), ccoNameOf(2)

func ccoNameOf(attempt int) string {
	of := shop
	of.Attempt = attempt
	return of.CCOName()
}

// claimed is what is recorded before ccoctl runs: a name, and no infraID yet.
func claimed(name string) contract.Identity {
	return contract.Identity{CCOName: name, Account: account, Region: "us-east-1", ReleaseDigest: "sha256:" + strings.Repeat("ab", 32)}
}

func TestWhatCcoctlMadeIsRemovedAfterTheClusterUnderEveryRecordedName(t *testing.T) {
	w := newTeardown(t, "shop-00001", "shop-00002")
	first, second := claimed(cco1), claimed(cco2)
	w.spec.Identities[0].CCOName = first.CCOName
	w.spec.Identities = []contract.Identity{first, w.spec.Identities[0], w.spec.Identities[1], second}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, []string{
		"installer: destroy shop-00001", "installer: destroy shop-00002",
		"installer: ccoctl delete " + cco1, "installer: ccoctl delete " + cco2, "cloud: remove", "cloud: verify", "cloud: verify",
	}, w.happened()[2:9])
	calls := readFile(t, filepath.Join(w.dir, "calls"))
	require.Contains(t, calls, "ccoctl aws delete --name "+cco1+" --region us-east-1\n")
	require.Contains(t, calls, "ccoctl aws delete --name "+cco2+" --region us-east-1\n")
	require.Equal(t, contract.Result{Outcome: "succeeded"}, w.result())
	passes, _ := w.passesAndExits()
	require.Equal(t, []string{cco1, "shop-00001", cco1, "shop-00002", cco2}, passes[0].Identities)
}

// A create that was killed while ccoctl ran recorded a name and nothing else. Its teardown has to come to a proof too, which
// needs the end of the tool told before two clean counts of that very name.
func TestANameOfCcoctlAloneIsTornDownAndProved(t *testing.T) {
	for name, prepare := range map[string]func(w *world){
		"with the version's tools":     func(*world) {},
		"without an openshift-install": func(w *world) { os.Remove(filepath.Join(w.cfg.Installers, "4.20.3", "openshift-install")) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newTeardown(t)
			w.spec.Identities = []contract.Identity{claimed(cco1)}
			w.on("ccoctl", `echo "deletion of something failed" >&2`)
			prepare(w)
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, []string{
				"server: claim answered", "cloud: account asked", "installer: ccoctl delete " + cco1, "cloud: remove",
				"cloud: verify", "cloud: verify", "server: result answered",
			}, w.happened())
			require.Equal(t, contract.Result{Outcome: "succeeded"}, w.result())
			passes, exits := w.passesAndExits() // which requires the exit before the first pass
			require.Len(t, passes, 2)
			require.Equal(t, []string{cco1}, passes[1].Identities)
			require.Zero(t, exits[0].Code)
			require.False(t, exits[0].At.IsZero())
		})
	}
}

func TestHowCcoctlEndsDecidesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(w *world)
		code    int
		text    string
	}{
		"it fails": {func(w *world) { w.on("ccoctl", "exit 3") }, 3, "ccoctl delete ended with exit code 3"},
		"it cannot be had": {func(w *world) {
			for _, program := range []string{"ccoctl", "oc"} {
				os.Remove(filepath.Join(w.cfg.Installers, "4.20.3", program))
			}
			w.cfg.Env = []string{"PATH=/nowhere"}
		}, 127, "what it created as " + cco1 + " is removed by name and counted"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTeardown(t)
			w.spec.Identities = []contract.Identity{claimed(cco1)}
			w.verify = func(n int, t cloud.Target) contract.Pass {
				p := cleanPass(t)
				if n == 1 {
					p.Clean, p.Leftovers = false, []contract.Leftover{{Type: "iam-role", ID: cco1 + "-ingress", Free: "it is removed"}}
				}
				return p
			}
			c.prepare(w)
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, "succeeded", w.result().Outcome, "the count decides")
			_, exits := w.passesAndExits()
			require.Equal(t, c.code, exits[0].Code)
			require.Contains(t, w.logText(), c.text)
			require.Len(t, w.removed, 2, "what is still counted is removed by name and counted again")
		})
	}
}

func TestASignalWhileCcoctlRunsIsToldAsStopped(t *testing.T) {
	w := newTeardown(t)
	w.spec.Identities = []contract.Identity{claimed(cco1)}
	w.on("ccoctl", hanging)
	ctx, cancel := context.WithCancel(t.Context())
	w.whenHanging(cancel)
	require.NoError(t, w.run(ctx))
	require.Equal(t, "stopped", w.result().Outcome)
	passes, exits := w.passesAndExits()
	require.Empty(t, passes)
	require.Len(t, exits, 1)
	require.Empty(t, w.removed)
}
