package runner_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"golang.org/x/crypto/bcrypt"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// The scripted oc asks this program whether a cluster lets a kubeconfig in, and for what guards the credentials of its install.
func TestMain(m *testing.M) {
	if os.Getenv("SCRIPTED_GUARD") != "" {
		os.Exit(guardInstall(os.Getenv("OCPCTL_STANDIN_DIR"), os.Args[1:]))
	}
	os.Exit(m.Run())
}

const notGuarded = 99 // the script answers

// guardInstall answers a call of oc. The folder has the trusted signers and the hash of the kubeadmin password, and in die-after the beginning of the
// last call that is answered, with how often it comes.
func guardInstall(dir string, args []string) int {
	path := func(name string) string { return filepath.Join(dir, name) }
	complain := func(text string) int { fmt.Fprintln(os.Stderr, text); return 1 }
	if _, err := os.Stat(path("dead")); err == nil {
		return complain("Unable to connect to the server: EOF")
	}
	signers, _ := os.ReadFile(path("signers"))
	kubeconfig, _ := os.ReadFile(strings.TrimPrefix(args[0], "--kubeconfig="))
	call, code := strings.Join(args[2:], " "), notGuarded
	var change struct{ Data map[string]string }
	if _, file, ok := strings.Cut(call, "--patch-file="); ok {
		raw, _ := os.ReadFile(file)
		_ = json.Unmarshal(raw, &change)
	}
	switch {
	case !isSigned(signers, kubeconfig):
		code = complain("error: You must be logged in to the server (Unauthorized)")
	case call == "get configmaps admin-kubeconfig-client-ca -n openshift-config -o json":
		raw, _ := json.Marshal(map[string]any{"data": map[string]string{"ca-bundle.crt": string(signers)}})
		fmt.Printf("%s\n", raw)
		code = 0
	case strings.HasPrefix(call, "patch configmaps admin-kubeconfig-client-ca -n openshift-config --type=merge --patch-file="):
		_ = os.WriteFile(path("signers"), []byte(change.Data["ca-bundle.crt"]), 0o600)
		code = 0
	case strings.HasPrefix(call, "patch secrets kubeadmin -n kube-system --type=merge --patch-file="):
		if _, err := os.Stat(path("kubeadmin")); err != nil {
			return complain(`Error from server (NotFound): secrets "kubeadmin" not found`)
		}
		hash, _ := base64.StdEncoding.DecodeString(change.Data["kubeadmin"])
		_ = os.WriteFile(path("kubeadmin"), hash, 0o600)
		code = 0
	}
	countDown(path, call)
	return code
}

// countDown ends the cluster's life for the runner after the call that a test chose.
func countDown(path func(string) string, call string) {
	raw, err := os.ReadFile(path("die-after"))
	var times int
	var begin string
	if err != nil {
		return
	}
	if n, _ := fmt.Sscanf(string(raw), "%d %q", &times, &begin); n == 2 && strings.HasPrefix(call, begin) {
		if times--; times == 0 {
			_ = os.WriteFile(path("dead"), nil, 0o600)
		}
		_ = os.WriteFile(path("die-after"), fmt.Appendf(nil, "%d %q", times, begin), 0o600)
	}
}

// isSigned checks a kubeconfig as API servers do.
func isSigned(signers, kubeconfig []byte) bool {
	var k struct {
		Users []struct {
			User struct {
				Certificate string `yaml:"client-certificate-data"`
				Key         string `yaml:"client-key-data"`
			}
		}
	}
	if yaml.Unmarshal(kubeconfig, &k) != nil || len(k.Users) != 1 {
		return false
	}
	certificate, _ := base64.StdEncoding.DecodeString(k.Users[0].User.Certificate)
	key, _ := base64.StdEncoding.DecodeString(k.Users[0].User.Key)
	pair, err := tls.X509KeyPair(certificate, key)
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(signers) {
		return false
	}
	_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	return err == nil && pair.Leaf.Subject.CommonName == "system:admin" && slices.Equal(pair.Leaf.Subject.Organization, []string{"system:masters"})
}

// newInstall makes a signer, and a kubeconfig of system:admin for the clusters of another one.
func newInstall(t *testing.T, clusters string) (signer string, kubeconfig []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	own := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), Subject: pkix.Name{CommonName: "system:admin", Organization: []string{"system:masters"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, own, own, key.Public(), key)
	require.NoError(t, err)
	raw, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	var parsed map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(clusters), &parsed))
	encode := base64.StdEncoding.EncodeToString
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	parsed["users"] = []any{map[string]any{"name": "admin", "user": map[string]any{
		"client-certificate-data": encode(certificate), "client-key-data": encode(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw})),
	}}}
	kubeconfig, err = yaml.Marshal(parsed)
	require.NoError(t, err)
	return string(certificate), kubeconfig
}

// newClaim is a ready cluster of a pool that somebody claimed, and a runner that prepares it.
func newClaim(t *testing.T) *world {
	t.Helper()
	w := opened(t, contract.KindPrepare)
	w.cfg.Timings.Health = 50 * time.Millisecond
	w.spec.Card = &contract.Card{Owner: "Maya", Team: "payments", Ends: time.Date(2030, 1, 2, 15, 0, 0, 0, time.UTC)}
	w.spec.Tags = map[string]string{"Owner": "maya@example.com"}
	w.access = func(int) contract.AccessWork { return contract.AccessWork{Give: []contract.Access{willView}} }
	w.file("operators", operators("True", "False", "False"))
	w.file("nodes", nodes("True", time.Now()))
	signer, kubeconfig := newInstall(t, "clusters: [{name: shop, cluster: {server: 'https://api.shop.labs.example.com:6443', certificate-authority-data: Q0E=}}]\n")
	ref, err := storeOf(t, w).PutOnce(t.Context(), artifacts.CredentialKey("clu_1", 2, time.Now(), "kubeconfig"), kubeconfig)
	require.NoError(t, err)
	w.spec.KubeconfigRef = ref
	w.file("signers", signer)
	w.file("kubeadmin", "the installer's hash")
	own, err := os.Executable()
	require.NoError(t, err)
	w.on("oc", `case "$asked" in --kubeconfig=*) SCRIPTED_GUARD=1 '`+own+`' $asked; code=$?; if [ $code != 99 ]; then note "oc ${asked#* * }"; exit $code; fi ;; esac`)
	return w
}

// replaced returns the references that the server made of what it was told last; empty: it was told nothing.
func (w *world) replaced() (kubeconfig, kubeadmin string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.reports {
		if !r.ReplacedAt.IsZero() {
			kubeconfig = artifacts.CredentialRef(w.spec.Bucket, "clu_1", w.spec.Number, r.ReplacedAt, artifacts.Kubeconfig)
			kubeadmin = artifacts.CredentialRef(w.spec.Bucket, "clu_1", w.spec.Number, r.ReplacedAt, artifacts.Kubeadmin)
		}
	}
	return kubeconfig, kubeadmin
}

func (w *world) read(ref string) []byte {
	w.t.Helper()
	raw, err := storeOf(w.t, w).Read(w.t.Context(), ref)
	require.NoError(w.t, err)
	return raw
}

// opens reports that the cluster accepts the kubeconfig of a reference.
func (w *world) opens(ref string) bool {
	w.t.Helper()
	return isSigned([]byte(readFile(w.t, filepath.Join(w.dir, "signers"))), w.read(ref))
}

// requirePrepared checks the end that every attempt has to reach.
func requirePrepared(t *testing.T, w *world, before ...string) {
	t.Helper()
	require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
	kubeconfig, kubeadmin := w.replaced()
	require.True(t, w.opens(kubeconfig))
	require.Equal(t, 1, strings.Count(readFile(t, filepath.Join(w.dir, "signers")), "BEGIN"), "the new signer alone")
	for _, ref := range before {
		require.False(t, w.opens(ref), ref)
	}
	password := w.read(kubeadmin)
	require.Regexp(t, `^[A-Z2-7]{5}(-[A-Z2-7]{5}){3}$`, string(password))
	require.NoError(t, bcrypt.CompareHashAndPassword([]byte(readFile(t, filepath.Join(w.dir, "kubeadmin"))), password))
}

func TestAClaimedClusterGetsNewCredentialsTagsAccessAndItsCard(t *testing.T) {
	w := newClaim(t)
	old := w.spec.KubeconfigRef
	require.NoError(t, w.run(t.Context()))
	requirePrepared(t, w, old)
	require.Equal(t, []string{"restoring", "preparing"}, w.phases())
	require.Equal(t, w.spec.Tags, w.tagged)
	require.Contains(t, w.appliedText(), `"owner":"Maya"`)
	state := w.accessReported()["acc_1"]
	require.Empty(t, state.Trouble)
	require.Contains(t, string(w.read(artifacts.CredentialRef(w.spec.Bucket, "clu_1", 3, state.StoredAt, artifacts.AccessFile("acc_1")))), "https://api.shop.labs.example.com:6443")
	require.Empty(t, w.records)

	kubeconfig, kubeadmin := w.replaced()
	var k struct {
		Users []struct{ User map[string]string }
	}
	require.NoError(t, yaml.Unmarshal(w.read(kubeconfig), &k))
	told, err := json.Marshal([]any{w.reports, w.results})
	require.NoError(t, err)
	for name, text := range map[string]string{
		"what the server was told": string(told), "the runner's log": w.log.String(), "the attempt's log": readFile(t, filepath.Join(w.cfg.WorkDir, "attempt.log")),
		"arguments": readFile(t, filepath.Join(w.dir, "calls")), "environments": readFile(t, filepath.Join(w.dir, "environ")),
	} {
		for _, canary := range []string{k.Users[0].User["client-key-data"], string(w.read(kubeadmin)), readFile(t, filepath.Join(w.dir, "kubeadmin"))} {
			require.NotContains(t, text, canary, name)
		}
	}
	entries, err := os.ReadDir(w.cfg.WorkDir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "only the redacted log stays")
}

// A cluster that lacks add-ons of its claimant's request gets them before it is ready. One that cannot be brought is tried again beside it.
func TestAClaimedClusterGetsTheAddonsThatItLacks(t *testing.T) {
	for name, refuses := range map[string]bool{"all": false, "one is refused": true} {
		t.Run(name, func(t *testing.T) {
			w := newClaim(t)
			w.spec.Addons = []contract.Addon{{Name: "pr-namespace", Manifests: `{"kind":"List","items":[]}`}}
			if refuses {
				w.spec.Addons = append(w.spec.Addons, contract.Addon{Name: "cert-manager", Manifests: certManager, Waits: []contract.AddonWait{
					{Kind: "crd", Name: "never.example.com", Condition: "Established", Timeout: time.Millisecond}}})
				w.cfg.Timings.Addons = 50 * time.Millisecond
				w.file("never-never.example.com", "")
			}
			require.NoError(t, w.run(t.Context()))
			requirePrepared(t, w)
			require.Equal(t, 1, *w.result().Addons)
			require.Equal(t, there["pr-namespace"], w.addonsReported()["pr-namespace"])
		})
	}
}

// again lets the server open another attempt, with the kubeconfig that it refers to.
func (w *world) again() {
	w.t.Helper()
	if kubeconfig, _ := w.replaced(); kubeconfig != "" {
		w.spec.KubeconfigRef = kubeconfig
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spec.Number++
	w.pod, w.results, w.reports, w.reply, w.hear, w.cfg.WorkDir = "", nil, nil, nil, nil, w.t.TempDir()
	_ = os.Remove(filepath.Join(w.dir, "dead"))
	_ = os.Remove(filepath.Join(w.dir, "die-after"))
}

func TestAnAttemptThatEndsAnywhereIsFollowedByOneThatReachesTheEnd(t *testing.T) {
	for _, point := range []struct {
		times int
		after string
	}{
		{1, "get nodes"}, {1, "get configmaps"}, {1, "patch configmaps"}, {2, "get configmaps"}, {4, "get configmaps"}, {1, "patch secrets"},
		{2, "patch configmaps"}, {5, "get configmaps"}, {7, "get configmaps"}, {10, "get configmaps"}, {1, "create token"},
	} {
		t.Run(fmt.Sprintf("%s %d", point.after, point.times), func(t *testing.T) {
			w := newClaim(t)
			first := w.spec.KubeconfigRef
			w.file("die-after", fmt.Sprintf("%d %q", point.times, point.after))
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, []any{"failed", true}, []any{w.result().Outcome, w.result().Retryable}, w.result().Message)
			w.again()
			require.True(t, w.opens(w.spec.KubeconfigRef), "what the server refers to works")
			require.NoError(t, w.run(t.Context()))
			requirePrepared(t, w, first)
		})
	}
}

func TestTheOldCredentialsWorkUntilTheServerKnowsTheNewOnes(t *testing.T) {
	for name, spoil := range map[string]func(w *world, stop context.CancelFunc){
		"the server refuses the report": func(w *world, _ context.CancelFunc) {
			w.reply = func(string, int) int { return 0 }
			w.hear = func(what string, _ int, body []byte) {
				refuse := what == "report" && strings.Contains(string(body), "replacedAt")
				w.mu.Lock()
				defer w.mu.Unlock()
				w.reply = func(string, int) int {
					if refuse {
						return http.StatusBadRequest
					}
					return 0
				}
			}
		},
		"its host ends the runner before the answer": func(w *world, stop context.CancelFunc) {
			w.hear = func(what string, _ int, body []byte) {
				if what == "report" && strings.Contains(string(body), "replacedAt") {
					w.mu.Lock()
					w.reply = func(what string, _ int) int {
						if what == "report" {
							return http.StatusBadGateway
						}
						return 0
					}
					w.mu.Unlock()
					stop()
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newClaim(t)
			first := w.spec.KubeconfigRef
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			spoil(w, stop)
			_ = w.run(ctx) // the result may be in the spool
			kubeconfig, _ := w.replaced()
			require.Empty(t, kubeconfig)
			require.True(t, w.opens(first))
			require.Equal(t, "the installer's hash", readFile(t, filepath.Join(w.dir, "kubeadmin")))
			w.again()
			require.NoError(t, w.run(t.Context()))
			requirePrepared(t, w, first)
		})
	}
}

func TestAClusterThatCannotBePreparedSaysWhy(t *testing.T) {
	const away = `echo 'Unable to connect to the server: EOF' >&2; exit 1`
	for name, c := range map[string]struct {
		spoil        func(w *world)
		reason, says string
		retryable    bool
	}{
		"no kubeconfig":           {func(w *world) { w.spec.KubeconfigRef = "" }, "KubeconfigMissing", "no kubeconfig", false},
		"the API does not answer": {func(w *world) { w.on("oc", away) }, "ClusterNotWell", "the cluster's API does not answer: oc get: Unable to connect", true},
		"a node is not ready":     {func(w *world) { w.file("nodes", nodes("Unknown", time.Now())) }, "ClusterNotWell", "node node-0 is not ready: NodeStatusUnknown", true},
		"there are no nodes":      {func(w *world) { w.file("nodes", "{\n\"items\": []\n}\n") }, "ClusterNotWell", "it has no nodes", true},
		"an operator is not well": {func(w *world) { w.file("operators", operators("True", "True", "False")) }, "ClusterNotWell", "ingress is degraded", true},
		"the signers are unknown": {func(w *world) {
			w.on("oc", `case "$asked" in *admin-kubeconfig-client-ca*) echo '{"data": {}}'; exit 0 ;; esac`)
		}, "CredentialsNotReplaced", "has no certificates", true},
		"the new one is not accepted": {func(w *world) {
			w.on("oc", `case "$asked" in *"get configmaps"*) if [ -e "$D/patched" ]; then echo 'error: You must be logged in to the server (Unauthorized)' >&2; exit 1; fi; echo '{"data": {"ca-bundle.crt": "x"}}'; exit 0 ;;
				*"patch configmaps"*) touch "$D/patched"; exit 0 ;; esac`)
		}, "CredentialsNotReplaced", "does not accept the new kubeconfig", true},
		"the old one is not refused": {func(w *world) {
			w.on("oc", `case "$asked" in *"get configmaps"*) echo '{"data": {"ca-bundle.crt": "x"}}'; exit 0 ;; *"patch "*) exit 0 ;; esac`)
		}, "CredentialsNotReplaced", "does not refuse the old kubeconfig", true},
		"the card is refused": {func(w *world) {
			w.access = nil
			w.on("oc", readFile(w.t, filepath.Join(w.dir, "on-oc"))+"\n"+`case "$asked" in *" apply "*) echo 'Error from server (Forbidden): configmaps is forbidden' >&2; exit 1 ;; esac`)
		}, "CardRefused", "configmaps is forbidden", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newClaim(t)
			c.spoil(w)
			require.NoError(t, w.run(t.Context()))
			got := w.result()
			require.Equal(t, []any{"failed", c.reason, c.retryable}, []any{got.Outcome, got.Reason, got.Retryable}, got.Message)
			require.Contains(t, got.Message, c.says)
			require.NotContains(t, got.Message, w.cfg.WorkDir)
		})
	}
}

// A cluster whose admin closed a way in, or whose resources cannot be tagged now, can still be used.
func TestAClusterIsPreparedWithoutKubeadminAndTags(t *testing.T) {
	w := newClaim(t)
	require.NoError(t, os.Remove(filepath.Join(w.dir, "kubeadmin")))
	w.untaggable = errors.New("no route")
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
	require.Contains(t, w.logText(), "the cluster has no Secret kubeadmin any more")
	require.Contains(t, w.logText(), "not every resource could be tagged: no route")
}
