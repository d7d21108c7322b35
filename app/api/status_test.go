package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/house/oidc"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/runner/contract"
	"github.com/ocpctl/ocpctl/store"
)

func now() time.Time { return time.Now() }

// runner is a runner that says things.
type runner struct {
	*house
	id, bearer string
}

func (r *runner) say(what string, body any) (contract.Answer, int) {
	r.Helper()
	answer, raw := r.ask(http.MethodPost, statusPath+"attempts/"+r.id+"/"+what, r.bearer, body)
	var out contract.Answer
	if what == "claim" {
		var claimed contract.Claimed
		require.NoError(r, json.Unmarshal(raw, &claimed))
		out = claimed.Answer
	} else {
		require.NoError(r, json.Unmarshal(raw, &out))
	}
	return out, answer.StatusCode
}

var identity = contract.Identity{
	InfraID: "shop-x7k2p", ClusterUUID: "5f0c1b1e-0000-4000-8000-000000000001", Account: "123456789012", Region: "us-east-1",
	ReleaseDigest: "sha256:" + strings.Repeat("a", 64), Metadata: `{"infraID":"shop-x7k2p"}`,
	InstallerSHA256: strings.Repeat("d", 64),
}

// recorded is a record as a runner sends it: an identity, and the archive of its install directory.
func recorded(i contract.Identity) contract.Record {
	return contract.Record{Identity: i, Snapshots: []contract.Snapshot{{
		Type: "INSTALL_DIR_SNAPSHOT", Key: "clusters/x/create/0-" + i.InfraID + "/install-dir.tar.zst", ManifestKey: "clusters/x/manifest.json",
		SHA256: strings.Repeat("c", 64), Size: 10, InfraID: i.InfraID, TakenAt: time.Date(2025, 3, 1, 11, 0, 0, 0, time.UTC),
	}}}
}

func started(t *testing.T) (h *house, cluster string, r *runner) {
	h = newHouse(t)
	cluster = h.accept("shop", "platform").ID
	h.step(cluster)
	open, bearer := h.attempt(cluster)
	return h, cluster, &runner{h, open.Attempt, bearer}
}

func TestARunnerIsToldItsWholeWork(t *testing.T) {
	h, cluster, r := started(t)
	answer, raw := h.ask(http.MethodPost, statusPath+"attempts/"+r.id+"/claim", r.bearer, contract.Claim{Pod: "pod-1"})
	require.Equal(t, http.StatusOK, answer.StatusCode, "%s", raw)
	var claimed contract.Claimed
	require.NoError(t, json.Unmarshal(raw, &claimed))
	row, err := h.store.Cluster(t.Context(), cluster)
	require.NoError(t, err)
	require.Equal(t, contract.Spec{
		Attempt: r.id, Number: 1, Kind: contract.KindCreate, Cluster: cluster, Job: row.JobID, Installation: "test",
		Name: "shop", BaseDomain: "labs.example.com", Platform: "aws", Region: "us-east-1", Version: "4.20.3", Account: "123456789012",
		InstallConfig: row.Spec.InstallConfig, Zones: []string{"us-east-1a"}, CredentialsMode: "Mint", Tags: map[string]string{"Owner": "maya"},
		PullSecretRef: "file:/run/pull-secret", Bucket: "artifacts", Heartbeat: 15 * time.Second, CreateDeadline: time.Hour,
		DestroyDeadline: time.Hour, VerifyGap: 3 * time.Minute, SnapshotMaxAge: time.Hour,
	}, claimed.Spec)
	require.Empty(t, claimed.Answer.Stop)
	require.Equal(t, time.Minute, claimed.Answer.Lease)
	fresh, err := h.tokens.Verify(claimed.Answer.Token, time.Now())
	require.NoError(t, err)
	require.Equal(t, r.id, fresh.Attempt)
	require.NotContains(t, string(raw), "pullSecret:")
}

func TestASecondPodIsFencedAndTheFirstMayClaimAgain(t *testing.T) {
	h, _, r := started(t)
	_, status := r.say("claim", contract.Claim{Pod: "pod-1"})
	require.Equal(t, http.StatusOK, status)
	h.refused(http.MethodPost, statusPath+"attempts/"+r.id+"/claim", r.bearer, contract.Claim{Pod: "pod-2"}, http.StatusConflict)
	_, status = r.say("claim", contract.Claim{Pod: "pod-1"})
	require.Equal(t, http.StatusOK, status, "its answer may have been lost")
	p := h.refused(http.MethodPost, statusPath+"attempts/"+r.id+"/claim", r.bearer, contract.Claim{}, http.StatusBadRequest)
	require.Equal(t, "pod", p.Errors[0].Field)
}

func TestATokenSpeaksForItsAttemptAlone(t *testing.T) {
	h, _, r := started(t)
	path := statusPath + "attempts/" + r.id + "/claim"
	other, err := h.tokens.Sign("att_other", "x", time.Now())
	require.NoError(t, err)
	old, err := h.tokens.Sign(r.id, "x", time.Now().Add(-2*time.Hour))
	require.NoError(t, err)
	wrongID, err := h.tokens.Sign(r.id, "another-token-id", time.Now())
	require.NoError(t, err)
	for name, bearer := range map[string]string{"none": "", "junk": "a.b.c", "another attempt's": other, "an expired one": old, "a person's": h.as(oidc.Admin)} {
		answer, _ := h.ask(http.MethodPost, path, bearer, contract.Claim{Pod: "pod-1"})
		require.Equal(t, http.StatusUnauthorized, answer.StatusCode, name)
	}
	h.refused(http.MethodPost, path, wrongID, contract.Claim{Pod: "pod-1"}, http.StatusConflict)
}

func TestTheAcknowledgedRecordIsTheTransition(t *testing.T) {
	h, cluster, r := started(t)
	r.say("claim", contract.Claim{Pod: "pod-1"})
	answer, status := r.say("record", recorded(identity))
	require.Equal(t, http.StatusOK, status)
	require.Empty(t, answer.Stop)
	row, err := h.store.Cluster(t.Context(), cluster)
	require.NoError(t, err)
	require.Equal(t, []string{"shop-x7k2p"}, row.Identities)
	_, status = r.say("record", recorded(identity))
	require.Equal(t, http.StatusOK, status, "an unanswered record is asked again")
	changed := identity
	changed.InfraID = "shop-other"
	h.refused(http.MethodPost, statusPath+"attempts/"+r.id+"/record", r.bearer, recorded(changed), http.StatusConflict)
}

func TestAnUnwantedClusterIsToldToStopBeforeAnythingIsMade(t *testing.T) {
	h, cluster, r := started(t)
	r.say("claim", contract.Claim{Pod: "pod-1"})
	_, err := h.store.Destroy(t.Context(), cluster, store.Deed{Actor: "github:maya", Why: "changed her mind"})
	require.NoError(t, err)
	answer, status := r.say("record", recorded(identity))
	require.Equal(t, http.StatusOK, status)
	require.NotEmpty(t, answer.Stop)
	row, err := h.store.Cluster(t.Context(), cluster)
	require.NoError(t, err)
	require.Empty(t, row.Identities)
}

func TestReportsBecomeProgressAndLog(t *testing.T) {
	h, cluster, r := started(t)
	r.say("claim", contract.Claim{Pod: "pod-1"})
	for range 2 {
		_, status := r.say("report", contract.Report{Seq: 1, Phase: "rendering", Percent: 20, Step: "creating manifests", Log: "one\ntwo\n"})
		require.Equal(t, http.StatusOK, status)
	}
	p := h.refused(http.MethodPost, statusPath+"attempts/"+r.id+"/report", r.bearer, contract.Report{Seq: 2, Phase: "dancing"}, http.StatusBadRequest)
	require.Contains(t, p.Errors[0].Accepted, "installing")
	h.step(cluster)
	var j JobDetail
	row, err := h.store.Cluster(t.Context(), cluster)
	require.NoError(t, err)
	h.get("/api/v1/jobs/"+row.JobID+"?lines=1", &j)
	require.Equal(t, []string{"two"}, j.Log)
	var c ClusterDetail
	h.get("/api/v1/clusters/"+cluster, &c)
	require.Equal(t, 20, c.Progress.Percent)
	require.Equal(t, "creating manifests", c.Progress.Step)
}

func TestAReadyClusterHandsOutItsKubeconfigWrittenDownFirst(t *testing.T) {
	h, cluster, r := started(t)
	r.say("claim", contract.Claim{Pod: "pod-1"})
	h.refused(http.MethodGet, "/api/v1/clusters/"+cluster+"/kubeconfig", h.as(oidc.Requester), nil, http.StatusConflict)
	r.say("record", recorded(identity))
	_, status := r.say("result", contract.Result{Outcome: "succeeded", Outputs: &contract.Outputs{
		APIURL: "https://api.shop.labs.example.com:6443", ConsoleURL: "https://console-openshift-console.apps.shop.labs.example.com",
		KubeconfigRef: "s3://artifacts/kubeconfig", KubeadminRef: "s3://artifacts/kubeadmin-password", MetadataRef: "s3://artifacts/metadata.json",
	}})
	require.Equal(t, http.StatusOK, status)
	h.step(cluster)
	h.shelf["s3://artifacts/kubeconfig"] = "apiVersion: v1\nkind: Config\n"

	var out Outputs
	h.get("/api/v1/clusters/"+cluster+"/outputs", &out)
	require.Equal(t, "/api/v1/clusters/"+cluster+"/kubeconfig", out.Kubeconfig)
	require.Equal(t, "s3://artifacts/kubeadmin-password", out.KubeadminRef)
	h.refused(http.MethodGet, out.Kubeconfig, h.as(oidc.Auditor), nil, http.StatusForbidden)

	answer, raw := h.ask(http.MethodGet, out.Kubeconfig, h.as(oidc.Requester), nil)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Equal(t, "application/yaml", answer.Header.Get("Content-Type"))
	require.Equal(t, "no-store", answer.Header.Get("Cache-Control"))
	require.Equal(t, "apiVersion: v1\nkind: Config\n", string(raw))
	var c ClusterDetail
	h.get("/api/v1/clusters/"+cluster, &c)
	require.Equal(t, Status("READY"), c.Status)
	last := c.Timeline[len(c.Timeline)-1]
	require.Equal(t, "kubeconfig.read", last.Action)
	require.Contains(t, last.Actor, "#maya")

	delete(h.shelf, "s3://artifacts/kubeconfig")
	h.refused(http.MethodGet, out.Kubeconfig, h.as(oidc.Requester), nil, http.StatusInternalServerError)
	h.get("/api/v1/clusters/"+cluster, &c)
	require.Equal(t, "kubeconfig.read", c.Timeline[len(c.Timeline)-1].Action, "written down although it was not handed out")
}

func TestNonsenseFromARunnerIsRefused(t *testing.T) {
	h, _, r := started(t)
	path := statusPath + "attempts/" + r.id
	h.refused(http.MethodPost, path+"/claim", r.bearer, "not an object", http.StatusBadRequest)
	h.refused(http.MethodPost, path+"/report", r.bearer, contract.Report{Seq: 1, Phase: "rendering", Log: strings.Repeat("x", maxSaying)}, http.StatusRequestEntityTooLarge)
	r.say("claim", contract.Claim{Pod: "pod-1"})
	p := h.refused(http.MethodPost, path+"/result", r.bearer, contract.Result{Outcome: "lost"}, http.StatusBadRequest)
	require.Contains(t, p.Errors[0].Accepted, "succeeded")
}

func TestADestroyerIsToldEverythingEverRecorded(t *testing.T) {
	h, cluster, r := started(t)
	r.say("claim", contract.Claim{Pod: "pod-1"})
	snapshot := contract.Snapshot{
		Type: "INSTALL_DIR_SNAPSHOT", Key: "clusters/x/create/1-a1/install-dir.tar.zst", ManifestKey: "clusters/x/create/1-a1/manifest.json",
		SHA256: strings.Repeat("b", 64), Size: 10, InfraID: identity.InfraID, TakenAt: time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC),
	}
	r.say("record", contract.Record{Identity: identity, Snapshots: []contract.Snapshot{snapshot}})
	_, status := r.say("result", contract.Result{Outcome: "failed", Reason: "InstallFailed", Message: "it did not come up"})
	require.Equal(t, http.StatusOK, status)
	for range 3 {
		h.step(cluster)
	}
	open, bearer := h.attempt(cluster)
	require.Equal(t, lifecycle.Destroy, open.Kind)
	_, raw := h.ask(http.MethodPost, statusPath+"attempts/"+open.Attempt+"/claim", bearer, contract.Claim{Pod: "pod-2"})
	var claimed contract.Claimed
	require.NoError(t, json.Unmarshal(raw, &claimed))
	require.Equal(t, []contract.Identity{identity}, claimed.Spec.Identities)
	require.Equal(t, []contract.Snapshot{snapshot}, claimed.Spec.Snapshots)
	require.Equal(t, "123456789012", claimed.Spec.Account)
	require.Empty(t, claimed.Spec.InstallConfig)
}
