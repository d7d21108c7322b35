package runner_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// manual makes an attempt one whose credentials ccoctl makes.
func manual(t *testing.T, kind string) *world {
	t.Helper()
	w := newWorld(t, kind)
	w.spec.CredentialsMode = "Manual"
	return w
}

var ccoNames = regexp.MustCompile(`^shop-[a-z2-7]{10}$`)

func TestTheNameOfTheRolesIsRecordedBeforeTheFirstOfThemExists(t *testing.T) {
	w := manual(t, contract.KindCreate)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
	name := w.records[0].Identity.CCOName
	require.Regexp(t, ccoNames, name)
	require.Equal(t, []string{
		"server: claim answered", "cloud: account asked", "installer: oc credentials-requests", "server: record answered",
		"cloud: prepare " + name, "installer: ccoctl create-all " + name, "cloud: tag credentials of " + name + " with 2 roles", "installer: create manifests", "installer: create ignition-configs",
		"server: record answered", "cloud: limit roles", "installer: create cluster shop-00001", "cloud: limit roles", "server: result answered",
	}, w.happened())

	program, err := os.ReadFile(filepath.Join("testdata", "openshift-install"))
	require.NoError(t, err)
	sum := sha256.Sum256(program)
	first, second := w.records[0], w.records[1]
	require.Empty(t, first.Identity.InfraID)
	require.Empty(t, first.Snapshots)
	require.Equal(t, "shop-00001", second.Identity.InfraID)
	for _, record := range w.records {
		require.Equal(t, name, record.Identity.CCOName)
		require.Equal(t, account, record.Identity.Account)
		require.Equal(t, "us-east-1", record.Identity.Region)
		require.Equal(t, "sha256:"+strings.Repeat("ab", 32), record.Identity.ReleaseDigest)
		require.Equal(t, hex.EncodeToString(sum[:]), record.Identity.InstallerSHA256)
	}
}

func TestWhatCcoctlMadeReachesTheInstallerAndItsKeyNoBundleButOperate(t *testing.T) {
	w := manual(t, contract.KindCreate)
	w.on("ignition", `(cd "$dir" && cat manifests/*-credentials.yaml tls/*.key credentials-requests/*) >"$D/seen-by-ignition"`)
	w.on("create", `if [ -e "$dir/../cco" ]; then note "the signer's key is still there"; fi`)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)

	seen := readFile(t, filepath.Join(w.dir, "seen-by-ignition"))
	require.Contains(t, seen, "role/"+w.records[0].Identity.CCOName)
	require.Contains(t, seen, "CANARY-signer-key")
	require.Contains(t, seen, "kind: CredentialsRequest")
	require.Contains(t, readFile(t, filepath.Join(w.dir, "seen-install-config.yaml")), "credentialsMode: Manual")
	require.NotContains(t, readFile(t, filepath.Join(w.dir, "seen-oc-install-config.yaml")), "pullSecret")
	require.False(t, w.did("installer: the signer's key"))
	require.NotContains(t, publicObjects(t, w), "CANARY-signer-key")
	require.Contains(t, publicObjects(t, w), "kind: CredentialsRequest", "a teardown may want to ask what there was")
	require.NotContains(t, w.logText()+w.log.String(), "CANARY-signer-key")

	dir := t.TempDir()
	var bundles []artifacts.Snapshot
	for _, s := range w.records[1].Snapshots {
		if s.Type == string(artifacts.Destroy) {
			bundles = append(bundles, artifacts.Snapshot{Type: artifacts.Destroy, Key: s.Key, ManifestKey: s.ManifestKey, SHA256: s.SHA256, Size: s.Size, InfraID: s.InfraID, TakenAt: s.TakenAt})
		}
	}
	_, _, err := storeOf(t, w).Restore(t.Context(), bundles, filepath.Join(dir, "restored"))
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(dir, "restored", "credentials-requests", "0000_50_ingress.yaml"))
	entries, err := os.ReadDir(w.cfg.WorkDir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing but the redacted log stays on disk")
}

func TestAStaleDirectoryDoesNotRunCcoctlTwice(t *testing.T) {
	w := manual(t, contract.KindCreate)
	w.on("ignition", `note rendered`)
	w.cfg.Now = func() time.Time { // the first directory ages two hours while it is stored
		if !w.did("installer: rendered") {
			return time.Now()
		}
		return time.Now().Add(2 * time.Hour)
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
	require.Equal(t, "shop-00002", w.records[1].Identity.InfraID)
	require.Equal(t, 1, strings.Count(strings.Join(w.happened(), "\n"), "ccoctl create-all"))
	require.Equal(t, w.records[0].Identity.CCOName, w.records[1].Identity.CCOName)
}

func TestWithoutTheServersWordCcoctlIsNotRun(t *testing.T) {
	for name, c := range map[string]struct {
		code   int
		stop   string
		result contract.Result // its outcome and reason
	}{
		"stop":    {0, "the pull request was closed", contract.Result{Outcome: "stopped", Reason: "StopAsked"}},
		"refused": {http.StatusUnprocessableEntity, "", contract.Result{Outcome: "failed", Reason: "RecordRefused"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := manual(t, contract.KindCreate)
			w.reply = func(what string, _ int) int {
				if what == "record" {
					w.stop = c.stop
					return c.code
				}
				return 0
			}
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, c.result.Outcome, w.result().Outcome)
			require.Equal(t, c.result.Reason, w.result().Reason)
			require.False(t, w.did("installer: ccoctl"))
			require.False(t, w.did("installer: create"))
		})
	}
	w := manual(t, contract.KindCreate)
	w.reply = func(what string, n int) int {
		if what == "record" && n <= 3 {
			return http.StatusBadGateway // it may have been stored: nobody knows
		}
		return 0
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
	require.Equal(t, 5, w.calls["record"])
	events := w.happened()
	require.Less(t, slices.Index(events, "server: record answered"), slices.IndexFunc(events, func(e string) bool { return strings.HasPrefix(e, "installer: ccoctl") }))
}

func TestARoleThatCannotBeMadeEndsTheCreateInWords(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"no key is made":  {`mkdir -p "$out/manifests"; echo x >"$out/manifests/x.yaml"; exit 0`, "wrote no signing key"},
		"a refusal":       {`echo "AccessDenied: not authorized to perform iam:CreateRole" >&2; exit 1`, "exit code 1: AccessDenied: not authorized to perform iam:CreateRole"},
		"nothing is made": {`exit 0`, "wrote no manifests"},
	} {
		t.Run(name, func(t *testing.T) {
			w := manual(t, contract.KindCreate)
			w.on("ccoctl", c.script)
			require.NoError(t, w.run(t.Context()))
			result := w.result()
			require.Equal(t, "CredentialsNotCreated", result.Reason)
			require.Contains(t, result.Message, c.want)
			require.Equal(t, contract.WhoseOurs, result.Whose)
			require.NotEmpty(t, result.Next)
			require.True(t, result.Retryable)
			require.Len(t, w.records, 1, "what may exist is remembered, so a teardown finds it")
			require.False(t, w.did("installer: create"))
		})
	}
}

// ccoctl for AWS prints the request's id in a line of its own, and for IBM Cloud all flags before its error.
func TestWhatTheCloudRefusedCcoctlIsExplained(t *testing.T) {
	for name, c := range map[string]struct {
		script, reason string
		retryable      bool
	}{
		"denied": {`printf '2026/11/29 16:05:01 Failed to process IAM Roles: Failed to create role: AccessDenied: User: arn:aws:iam::123456789012:user/runner is not authorized to perform: iam:CreateRole\n\tstatus code: 403, request id: 1\n' >&2; exit 1`,
			"AWSCreateNotPermitted", false},
		"throttled": {`printf '2026/11/29 16:05:01 Failed to process IAM Roles: Failed to create role: Throttling: Rate exceeded\n\tstatus code: 400, request id: 1\n' >&2; exit 1`,
			"AWSAPIRateLimitExceeded", true},
		"expired on IBM Cloud": {`printf 'Usage:\n  ccoctl ibmcloud create-service-id [flags]\n\nFlags:\n      --force\n\n2026/11/29 16:05:01 Failed to get Details for the given APIKey: The provided token is expired or not valid.\n' >&2; exit 1`,
			"ExpiredCredentials", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := manual(t, contract.KindCreate)
			w.on("ccoctl", c.script)
			require.NoError(t, w.run(t.Context()))
			result := w.result()
			require.Equal(t, c.reason, result.Reason, result.Message)
			require.Equal(t, c.retryable, result.Retryable)
			require.Contains(t, result.Message, "(ccoctl ended with exit code 1: Failed to ")
		})
	}
}

func TestAReleaseWhoseRequestsCannotBeReadRecordsNothing(t *testing.T) {
	w := manual(t, contract.KindCreate)
	w.on("oc", `echo "error: unable to read image: unauthorized" >&2; exit 1`)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "ToolsUnavailable", w.result().Reason)
	require.Contains(t, w.result().Message, "unauthorized")
	require.True(t, w.result().Retryable)
	require.Empty(t, w.records)
	require.False(t, w.did("installer: ccoctl"))
}

// ccoctl reads every identity provider of the account, also those that another cluster's teardown is deleting.
func TestAProviderOfAnotherClusterThatVanishesFailsNoAttempt(t *testing.T) {
	const vanished = `n=$(cat "$D/ccoruns" 2>/dev/null || echo 0); echo $((n + 1)) >"$D/ccoruns"; if [ "$n" -lt %d ]; then ` +
		`echo "failed to create Identity provider: failed to check existing Identity Provider arn:aws:iam::123456789012:oidc-provider/x: NoSuchEntity: not found" >&2; printf '\tstatus code: 404, request id: 1\n' >&2; exit 1; fi`
	for times, outcome := range map[int]string{2: "succeeded", 3: "failed"} {
		t.Run(fmt.Sprintf("%d times", times), func(t *testing.T) {
			w := manual(t, contract.KindCreate)
			w.on("ccoctl", fmt.Sprintf(vanished, times))
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, outcome, w.result().Outcome, w.result().Message)
			require.Equal(t, "3\n", readFile(t, filepath.Join(w.dir, "ccoruns")))
		})
	}
}

func TestAReleaseWithoutRequestsRecordsNothing(t *testing.T) {
	w := manual(t, contract.KindCreate)
	w.on("oc", `exit 0`)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "ToolsUnavailable", w.result().Reason)
	require.Contains(t, w.result().Message, "no credentials requests")
	require.Empty(t, w.records)
	require.False(t, w.did("installer: ccoctl"))
}

func TestMintClaimsNothingAndSaysSo(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
	require.Contains(t, w.logText(), "there is nothing to claim")
	require.Len(t, w.records, 1)
	require.Empty(t, w.records[0].Identity.CCOName)
}
