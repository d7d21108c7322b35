package runner_test

import (
	"encoding/json"
	"fmt"
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

	"github.com/ocpctl/ocpctl/devstack/s3/s3test"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/status"
)

func TestACreateRunsThroughItsPhasesInOrder(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	require.NoError(t, w.run(t.Context()))

	require.Equal(t, []string{
		"server: claim answered", "cloud: account asked", "installer: create manifests", "installer: create ignition-configs",
		"server: record answered", "cloud: limit roles", "installer: create cluster shop-00001", "cloud: limit roles", "server: result answered",
	}, w.happened())
	result := w.result()
	require.Equal(t, "succeeded", result.Outcome)
	require.Equal(t, "https://api.shop.labs.example.com:6443", result.Outputs.APIURL)
	require.Equal(t, "https://console-openshift-console.apps.shop.labs.example.com", result.Outputs.ConsoleURL)

	record := w.records[0]
	require.Equal(t, "shop-00001", record.Identity.InfraID)
	require.Equal(t, "5f0c1b1e-0000-4000-8000-000000000001", record.Identity.ClusterUUID)
	require.Equal(t, account, record.Identity.Account)
	require.Equal(t, "us-east-1", record.Identity.Region)
	require.Equal(t, "sha256:"+strings.Repeat("ab", 32), record.Identity.ReleaseDigest)
	require.Len(t, record.Snapshots, 2)

	store := storeOf(t, w)
	read := func(ref string) string {
		raw, err := store.Read(t.Context(), ref)
		require.NoError(t, err)
		return string(raw)
	}
	at := result.Outputs.StoredAt
	require.Contains(t, read(artifacts.CredentialRef(w.spec.Bucket, "clu_1", 3, at, artifacts.Kubeconfig)), "CANARY-client-key")
	require.Equal(t, "CANARY-kubeadmin-password", read(artifacts.CredentialRef(w.spec.Bucket, "clu_1", 3, at, artifacts.Kubeadmin)))
	require.Equal(t, record.Identity.Metadata, read(artifacts.MetadataRef(w.spec.Bucket, "clu_1", 3, at)))

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

	got, err := json.Marshal([]any{w.records, w.reports, w.results, w.spec})
	require.NoError(t, err)
	require.Contains(t, w.logText(), "Creating infrastructure resources...")
	for name, text := range map[string]string{
		"reports": string(got), "the runner's log": w.log.String(), "the attempt's log": readFile(t, filepath.Join(w.cfg.WorkDir, "attempt.log")),
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
		"cloud: limit roles", "installer: create cluster shop-00001", "cloud: limit roles", "server: result answered",
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
	require.ErrorIs(t, w.run(t.Context()), status.ErrFenced)
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

// With keys that expired, the real installer says nothing for an hour.
func TestAnInstallerThatHangsWhileItWritesIsExplainedByTheCloud(t *testing.T) {
	w := manual(t, contract.KindCreate)
	w.cfg.Timings.Render = 300 * time.Millisecond
	w.hear = func(what string, _ int, _ []byte) {
		if what == "record" {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.refused = fmt.Errorf("%w: ExpiredToken: The security token included in the request is expired", cloud.ErrCredentialsExpired)
		}
	}
	w.on("manifests", hanging)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "ExpiredCredentials", w.result().Reason, w.result().Message)
	require.True(t, w.result().Retryable)
	require.False(t, w.did("installer: create cluster"))
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
