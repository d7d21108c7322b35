package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/house/s3/s3test"
	"github.com/ocpctl/ocpctl/runner"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/contract"
	"github.com/ocpctl/ocpctl/store/artifacts"
)

func TestACreateRunsThroughItsPhasesInOrder(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	require.NoError(t, w.run(t.Context()))

	require.Equal(t, []string{
		"server: claim answered", "cloud: account asked", "installer: create manifests", "installer: create ignition-configs",
		"server: record answered", "installer: create cluster shop-00001", "server: result answered",
	}, w.happened())
	result := w.result()
	require.Equal(t, "succeeded", result.Outcome)
	require.Equal(t, "https://api.shop.labs.example.com:6443", result.Outputs.APIURL)
	require.Equal(t, "https://console-openshift-console.apps.shop.labs.example.com", result.Outputs.ConsoleURL)

	record := w.records[0]
	require.Equal(t, "shop-00001", record.Identity.InfraID)
	require.Equal(t, "uuid-1", record.Identity.ClusterUUID)
	require.Equal(t, account, record.Identity.Account)
	require.Equal(t, "us-east-1", record.Identity.Region)
	require.Equal(t, "sha256:"+strings.Repeat("ab", 32), record.Identity.ReleaseDigest)
	require.Len(t, record.Snapshots, 2)

	store := storeOf(t, w)
	kubeconfig, err := store.Read(t.Context(), result.Outputs.KubeconfigRef)
	require.NoError(t, err)
	require.Contains(t, string(kubeconfig), "CANARY-client-key")
	require.Contains(t, result.Outputs.KubeconfigRef, "/operate/clusters/clu_1/")
	password, err := store.Read(t.Context(), result.Outputs.KubeadminRef)
	require.NoError(t, err)
	require.Equal(t, "CANARY-kubeadmin-password", string(password))
	metadata, err := store.Read(t.Context(), result.Outputs.MetadataRef)
	require.NoError(t, err)
	require.Equal(t, record.Identity.Metadata, string(metadata))

	order := []string{"preflight", "claiming", "rendering", "recording", "installing", "configuring"}
	phases := w.phases()
	require.True(t, slices.IsSortedFunc(phases, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) }), phases)
	require.Contains(t, phases, "installing")
	require.Equal(t, "configuring", phases[len(phases)-1])
	require.NotEqual(t, "token-0", w.seenToken, "the token is renewed by every answer")
}

func storeOf(t *testing.T, w *world) *artifacts.Store {
	t.Helper()
	store, err := artifacts.New(t.Context(), artifacts.Config{Bucket: w.spec.Bucket})
	require.NoError(t, err)
	return store
}

func TestTheInstallerGetsItsSecretsAndNobodyElseDoes(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("create", `say "and once more, cut in two: CANARY-kubeadm"; printf 'level=info msg=CANARY-kube' >&2; sleep 0.05; echo admin-password >&2; exit 5`)
	require.NoError(t, w.run(t.Context()))
	config, err := os.ReadFile(filepath.Join(w.dir, "seen-install-config.yaml"))
	require.NoError(t, err)
	require.Contains(t, string(config), "Q0FOQVJZOkNBTkFSWS1wdWxs")
	require.Contains(t, string(config), "ssh-ed25519 AAAA")

	told, err := json.Marshal([]any{w.records, w.reports, w.results, w.spec})
	require.NoError(t, err)
	require.Contains(t, w.logText(), "Creating infrastructure resources...")
	for name, text := range map[string]string{
		"reports": string(told), "the runner's log": w.log.String(), "the attempt's log": readFile(t, filepath.Join(w.cfg.WorkDir, "attempt.log")),
		"the bucket outside operate/": publicObjects(t, w),
	} {
		for _, canary := range []string{"CANARY-pull", "Q0FOQVJZOkNBTkFSWS1wdWxs", "CANARY-kubeadmin-password", "CANARY-client-key", "demo-secret-access-key"} {
			require.NotContains(t, text, canary, name)
		}
	}
	entries, err := os.ReadDir(w.cfg.WorkDir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing but the redacted log stays on disk")
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(raw)
}

// publicObjects is the content of every object that is not under operate/, archives unpacked.
func publicObjects(t *testing.T, w *world) string {
	t.Helper()
	client := s3test.Shared(t).Client()
	listed, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &w.spec.Bucket})
	require.NoError(t, err)
	decoder, err := zstd.NewReader(nil)
	require.NoError(t, err)
	defer decoder.Close()
	var all strings.Builder
	for _, object := range listed.Contents {
		if strings.HasPrefix(*object.Key, "operate/") {
			continue
		}
		raw, err := storeOf(t, w).Read(t.Context(), "s3://"+w.spec.Bucket+"/"+*object.Key)
		require.NoError(t, err)
		if strings.HasSuffix(*object.Key, ".zst") {
			raw, err = decoder.DecodeAll(raw, nil)
			require.NoError(t, err)
		}
		all.Write(raw)
	}
	require.Contains(t, all.String(), "shop-00001")
	return all.String()
}

func TestAnUnansweredRecordIsAskedAgainAndNothingIsCreatedMeanwhile(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.reply = func(what string, n int) int {
		if what == "record" && n <= 3 {
			return http.StatusBadGateway // it may have been stored: nobody knows
		}
		return 0
	}
	w.hear = func(what string, _ int, _ []byte) {
		if what == "record" {
			w.note("server: record heard")
		}
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, []string{
		"server: record heard", "server: record heard", "server: record heard", "server: record heard", "server: record answered",
		"installer: create cluster shop-00001", "server: result answered",
	}, w.happened()[4:])
	require.Equal(t, "succeeded", w.result().Outcome)
}

func TestARecordThatIsAnsweredWithStopCreatesNothing(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.hear = func(what string, _ int, _ []byte) {
		if what == "record" {
			w.mu.Lock()
			w.stop = "the pull request was closed"
			w.mu.Unlock()
		}
	}
	require.NoError(t, w.run(t.Context()))
	require.False(t, w.did("installer: create cluster"))
	require.Equal(t, contract.Result{Outcome: "stopped", Reason: "StopAsked", Message: "the pull request was closed", Retryable: true}, w.result())
}

func TestARefusedRecordCreatesNothing(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.reply = func(what string, _ int) int {
		if what == "record" {
			return http.StatusUnprocessableEntity
		}
		return 0
	}
	require.NoError(t, w.run(t.Context()))
	require.False(t, w.did("installer: create cluster"))
	require.Equal(t, "RecordRefused", w.result().Reason)
}

func TestASecondPodEndsQuietly(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.pod = "pod-0"
	require.ErrorIs(t, w.run(t.Context()), runner.ErrFenced)
	require.Empty(t, w.happened())
	require.Empty(t, w.results)
}

func TestAClaimIsRepeatedUntilTheServerIsBack(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.reply = func(what string, n int) int {
		if what == "claim" && n < 4 {
			return http.StatusServiceUnavailable
		}
		return 0
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
}

// hanging makes the install hang until it is asked to end, which it then does as the real one: exit code 8.
const hanging = `trap 'note asked; exit 8' TERM; note hanging; while :; do sleep 0.01; done`

func (w *world) whenHanging(do func()) {
	go func() {
		for !w.did("installer: hanging") {
			time.Sleep(2 * time.Millisecond)
		}
		do()
	}()
}

func TestAStopInTheMiddleOfAnInstallIsPolite(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("create", hanging)
	w.whenHanging(func() {
		w.mu.Lock()
		w.stop = "destroy was asked for"
		w.mu.Unlock()
	})
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "stopped", w.result().Outcome)
	require.Equal(t, "destroy was asked for", w.result().Message)
	requireStoppedPolitely(t, w)
}

// requireStoppedPolitely: the installer was asked once and ended by itself, and the directory was archived after.
func requireStoppedPolitely(t *testing.T, w *world) {
	t.Helper()
	events := w.happened()
	require.Equal(t, 1, strings.Count(strings.Join(events, "\n"), "installer: asked"))
	var exits, after int
	for _, r := range w.reports {
		if r.ToolExit != nil {
			exits++
			require.Equal(t, 8, r.ToolExit.Code)
		}
		if exits > 0 && len(r.Snapshots) == 2 {
			after++
		}
	}
	require.Equal(t, 1, exits)
	require.Equal(t, 1, after)
}

func TestASignalInTheMiddleOfAnInstallIsPolite(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("create", hanging)
	ctx, cancel := context.WithCancel(t.Context())
	w.whenHanging(cancel)
	require.NoError(t, w.run(ctx))
	require.Equal(t, "Interrupted", w.result().Reason)
	requireStoppedPolitely(t, w)
}

func TestALeaseThatRunsOutStopsTheInstallAndSpoolsTheResult(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.lease = 300 * time.Millisecond
	w.on("create", hanging)
	w.whenHanging(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.reply = func(string, int) int { return http.StatusBadGateway }
	})
	err := w.run(t.Context())
	require.ErrorIs(t, err, runner.ErrUntold)
	require.True(t, w.did("installer: asked"))

	kinds := map[string]contract.Result{}
	listed, err := s3test.Shared(t).Client().ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &w.spec.Bucket, Prefix: new("spool/att_1/")})
	require.NoError(t, err)
	var exitSpooled bool
	for _, object := range listed.Contents {
		raw, err := storeOf(t, w).Read(t.Context(), "s3://"+w.spec.Bucket+"/"+*object.Key)
		require.NoError(t, err)
		if strings.HasSuffix(*object.Key, "-result.json") {
			var result contract.Result
			require.NoError(t, json.Unmarshal(raw, &result))
			kinds["result"] = result
			continue
		}
		var report contract.Report
		require.NoError(t, json.Unmarshal(raw, &report))
		exitSpooled = exitSpooled || report.ToolExit != nil
	}
	require.Equal(t, "stopped", kinds["result"].Outcome)
	require.Equal(t, "LeaseOver", kinds["result"].Reason)
	require.True(t, exitSpooled, "what was not told is kept too")
}

func TestAServerThatIsAwayForAWhileLosesNothing(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("create", `note hanging; while [ ! -e "$D/go" ]; do sleep 0.01; done; say "said while nobody listened"`)
	var away bool
	w.whenHanging(func() {
		w.mu.Lock()
		away = true
		w.reply = func(string, int) int {
			if away {
				return http.StatusBadGateway
			}
			return 0
		}
		w.mu.Unlock()
		require.NoError(w.t, os.WriteFile(filepath.Join(w.dir, "go"), nil, 0o600))
		time.Sleep(100 * time.Millisecond)
		w.mu.Lock()
		away = false
		w.mu.Unlock()
	})
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
	require.Equal(t, 1, strings.Count(w.logText(), "said while nobody listened"))
}

func TestAFencedRunnerStopsAndTellsNobody(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("create", hanging)
	w.whenHanging(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.reply = func(string, int) int { return http.StatusConflict }
	})
	require.ErrorIs(t, w.run(t.Context()), runner.ErrFenced)
	require.True(t, w.did("installer: asked"))
	require.Empty(t, w.results)
	require.Zero(t, w.calls["result"])
}

func TestAnotherAccountEndsACreateBeforeAnythingIsRun(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.account = "999999999999"
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "WrongAccount", w.result().Reason)
	require.Contains(t, w.result().Message, account)
	require.False(t, w.did("installer:"))
}

func TestABlockingProblemEndsACreateInWords(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	var asked []string
	w.look = func(_ cloud.Target, types []string) ([]cloud.Problem, error) {
		asked = types
		return []cloud.Problem{
			{Code: "NotAnswered", Words: "quota was not told", Next: "it goes on"},
			{Code: "ZoneMissing", Words: "no zone for labs.example.com", Next: "choose another base domain", Block: true},
		}, nil
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, contract.Result{Outcome: "failed", Reason: "ZoneMissing", Message: "no zone for labs.example.com; choose another base domain"}, w.result())
	require.Equal(t, []string{"m6i.xlarge"}, asked, "a pool of no machines asks for no type")
	require.False(t, w.did("installer:"))
	require.Contains(t, w.logText(), "quota was not told")
}

func TestAPreflightThatIsNotAnsweredBlocksNothing(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.look = func(cloud.Target, []string) ([]cloud.Problem, error) { return nil, errors.New("throttled") }
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
}

func TestAFailedInstallSaysWhyWithItsLastLines(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("create", `echo 'time="2026" level=error msg="no etcd quorum"' >>"$dir/.openshift_install.log"; echo "level=error msg=Bootstrap failed, password: CANARY-pull" >&2; exit 5`)
	require.NoError(t, w.run(t.Context()))
	result := w.result()
	require.Equal(t, "InstallFailed", result.Reason)
	require.True(t, result.Retryable)
	require.Contains(t, result.Message, "exit code 5")
	require.Contains(t, result.Message, "The installer said: Bootstrap failed, password:[redacted]")
	require.Contains(t, w.logText(), "no etcd quorum")
}

func TestARefusedInstallConfigIsNotTriedAgain(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("manifests", `exit 3`)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "InvalidInstallConfig", w.result().Reason)
	require.False(t, w.result().Retryable)
	require.Empty(t, w.records)
}

func TestAnInstallPastItsDeadlineIsStopped(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.spec.CreateDeadline = 100 * time.Millisecond
	w.on("create", hanging)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "DeadlineExceeded", w.result().Reason)
	require.True(t, w.result().Retryable)
}

func TestMetadataWithoutAnInfraIDIsNotInstalled(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("ignition", `mkdir -p "$dir/auth"; echo x >"$dir/auth/kubeadmin-password"; echo '{"clusterName":"shop"}' >"$dir/metadata.json"; exit 0`)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "MetadataUnusable", w.result().Reason)
	require.Empty(t, w.records)
}

func TestAMissingInstallerIsSaidInWords(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.spec.Version = "4.19.9"
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "InstallerMissing", w.result().Reason)
	require.Contains(t, w.result().Message, "4.19.9")
}

func TestABadPullSecretIsNotShownToTheInstaller(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "pull-secret"), []byte(`{"auths":"CANARY-pull"}`), 0o600))
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "InvalidPullSecret", w.result().Reason)
	require.False(t, w.did("installer:"))
	told, err := json.Marshal([]any{w.results, w.reports})
	require.NoError(t, err)
	require.NotContains(t, string(told), "CANARY-pull")
}

func TestAStaleDirectoryIsRenderedAgainBeforeItIsRecorded(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("ignition", `note rendered`)
	w.cfg.Now = func() time.Time { // the first directory ages two hours while it is stored
		if !w.did("installer: rendered") {
			return time.Now()
		}
		return time.Now().Add(2 * time.Hour)
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
	require.Len(t, w.records, 1)
	require.Equal(t, "shop-00002", w.records[0].Identity.InfraID, "the first identity was never recorded")
	require.True(t, w.did("installer: create cluster shop-00002"))
	require.False(t, w.did("installer: create cluster shop-00001"))
}

func TestAnAcknowledgementThatComesTooLateIsNotInstalledFrom(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	late := false
	w.cfg.Now = func() time.Time {
		w.mu.Lock()
		defer w.mu.Unlock()
		if late {
			return time.Now().Add(2 * time.Hour)
		}
		return time.Now()
	}
	w.hear = func(what string, _ int, _ []byte) {
		if what == "record" {
			w.mu.Lock()
			late = true
			w.mu.Unlock()
		}
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "RecordTooLate", w.result().Reason)
	require.True(t, w.result().Retryable)
	require.False(t, w.did("installer: create cluster"), "the recorded identity may not be exchanged within the attempt")
	require.Len(t, w.records, 1)
}

func TestMomentsOfAnInstallAreArchived(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("create", `say "Control-plane machines are ready"; note hanging; while [ ! -e "$D/go" ]; do sleep 0.01; done`)
	seen := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		n := 0
		for _, r := range w.reports {
			if len(r.Snapshots) == 2 {
				n++
			}
		}
		return n
	}
	go func() {
		for seen() == 0 {
			time.Sleep(2 * time.Millisecond)
		}
		os.WriteFile(filepath.Join(w.dir, "go"), nil, 0o600)
	}()
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
	require.GreaterOrEqual(t, seen(), 2, "at the moment, and after the end")
}

func TestS3ThatIsAwayBeforeTheRecordCreatesNothing(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	t.Setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	w.cfg.Timings.Save, w.cfg.Timings.LastSave = 20*time.Millisecond, 20*time.Millisecond
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "ArtifactsUnavailable", w.result().Reason)
	require.True(t, w.result().Retryable)
	require.Empty(t, w.records)
	require.False(t, w.did("installer: create cluster"))
}
