package api

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/intake"
)

func now() time.Time { return time.Now() }

// runner is a runner that says things.
type runner struct {
	*fixture
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

// scope is what the runner's attempt is of.
func (r *runner) scope() names.Scope {
	r.Helper()
	row, err := r.store.Attempts.AttemptScope(r.Context(), r.id)
	require.NoError(r, err)
	return intake.ScopeOf(row, "test", "artifacts", nil).Scope
}

// record is what a runner sends before it creates anything: an identity, and the archive of its install directory. The
// installer makes up the infraID and a UUID, which here follows from the attempt.
func (r *runner) record() contract.Record {
	of := r.scope()
	infraID, uuid := of.InfraIDPrefix()+"x7k2p", fmt.Sprintf("5f0c1b1e-0000-4000-8000-%012x", fnvOf(r.id))
	folder := fmt.Sprintf("clusters/%s/create/20250301T110000.000Z-a%d/", of.Cluster, of.Attempt)
	return contract.Record{
		Identity: contract.Identity{
			InfraID: infraID, ClusterUUID: uuid, Account: "123456789012", Region: "us-east-1",
			ReleaseDigest: "sha256:" + strings.Repeat("a", 64), Metadata: string(of.MetadataJSON(names.Identity{InfraID: infraID, ClusterUUID: uuid})), InstallerSHA256: strings.Repeat("d", 64),
		},
		Snapshots: []contract.Snapshot{{
			Type: "INSTALL_DIR_SNAPSHOT", Key: folder + "install-dir.tar.zst", ManifestKey: folder + "manifest.json",
			SHA256: strings.Repeat("c", 64), Size: 10, InfraID: infraID, TakenAt: time.Date(2025, 3, 1, 11, 0, 0, 0, time.UTC),
		}},
	}
}

// fnvOf is a number that follows from a text.
func fnvOf(text string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text))
	return h.Sum32()
}

// succeeds ends the attempt well, with outputs as a good runner tells them.
func (r *runner) succeeds() {
	r.Helper()
	of := r.scope()
	_, status := r.say("result", contract.Result{Outcome: "succeeded", Outputs: &contract.Outputs{APIURL: of.APIURL(), ConsoleURL: of.ConsoleURL(), StoredAt: servicetest.StoredAt}})
	require.Equal(r, http.StatusOK, status)
}

// mints makes the kubeconfigs that were asked for, and removes what was revoked.
func (r *runner) mints(seq int) contract.AccessWork {
	r.Helper()
	of, said := r.scope(), contract.Report{Seq: seq, Phase: "configuring"}
	answer, raw := r.ask(http.MethodPost, statusPath+"attempts/"+r.id+"/access", r.bearer, nil)
	require.Equal(r, http.StatusOK, answer.StatusCode, "%s", raw)
	var work contract.AccessWork
	require.NoError(r, json.Unmarshal(raw, &work))
	for _, a := range work.Give {
		expires := time.Now().Add(a.Lifetime).Truncate(time.Second)
		ref := artifacts.CredentialRef("artifacts", of.Cluster, of.Attempt, servicetest.StoredAt, artifacts.AccessFile(a.ID))
		r.shelf[ref] = servicetest.TokenKubeconfig(of.APIURL(), servicetest.Token(a.Account, expires))
		said.Access = append(said.Access, contract.AccessState{ID: a.ID, StoredAt: servicetest.StoredAt, ExpiresAt: expires})
	}
	for _, a := range work.Take {
		said.Access = append(said.Access, contract.AccessState{ID: a.ID, Removed: true})
	}
	_, status := r.say("report", said)
	require.Equal(r, http.StatusOK, status)
	return work
}

func started(t *testing.T) (h *fixture, cluster string, r *runner) {
	h = newFixture(t)
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
		InstallConfig: row.Spec.InstallConfig, Publish: contract.PublishExternal, Zones: []string{"us-east-1a"}, CredentialsMode: "Mint", Tags: map[string]string{"Owner": "maya"},
		PullSecretRef: "file:/run/pull-secret", Bucket: "artifacts", Heartbeat: 15 * time.Second, CreateDeadline: time.Hour,
		DestroyDeadline: time.Hour, VerifyGap: 3 * time.Minute, SnapshotMaxAge: time.Hour,
		Accepted: &contract.Accepted{
			At: row.AcceptedAt, Profile: row.Profile, Generation: 1, RequestedBy: row.RequestedBy, Source: row.Source, HourlyCents: row.ListCents,
			PullRequest: &contract.PullRequest{Installation: row.PR.Installation, Repo: row.PR.Repo, Number: row.PR.Number, Head: row.PR.Head},
		},
	}, claimed.Spec)
	require.Empty(t, claimed.Answer.Stop)
	require.Equal(t, time.Minute, claimed.Answer.Lease)
	fresh, err := h.tokens.Verify(claimed.Answer.Token, time.Now())
	require.NoError(t, err)
	require.Equal(t, r.id, fresh.Attempt)
	require.NotContains(t, string(raw), "pullSecret:")
}

// Everything that an adopted cluster had before its row would be older than the cluster, and no teardown would delete it.
func TestARunnerIsToldNoAcceptanceThatNothingRecorded(t *testing.T) {
	row := clusters.Row{Source: store.Recovery}
	row.AcceptedAt, row.MadeAt = time.Now(), time.Now().Add(-time.Hour)
	require.Zero(t, toAccepted(row).At)
	row.Source = "api"
	require.Equal(t, row.MadeAt, toAccepted(row).At, "its resources are as old as it was made")
	row.Account, row.Exclusive = "own", true
	require.Equal(t, []any{"own", true}, []any{toAccepted(row).Account, toAccepted(row).Exclusive})
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
	answer, status := r.say("record", r.record())
	require.Equal(t, http.StatusOK, status)
	require.Empty(t, answer.Stop)
	row, err := h.store.Cluster(t.Context(), cluster)
	require.NoError(t, err)
	require.Equal(t, []string{"shop-x7k2p"}, row.Identities)
	_, status = r.say("record", r.record())
	require.Equal(t, http.StatusOK, status, "an unanswered record is asked again")
	changed := r.record()
	changed.Identity.InfraID, changed.Snapshots[0].InfraID = "shop-other", "shop-other"
	changed.Identity.Metadata = string(r.scope().MetadataJSON(names.Identity{InfraID: "shop-other", ClusterUUID: changed.Identity.ClusterUUID}))
	h.refused(http.MethodPost, statusPath+"attempts/"+r.id+"/record", r.bearer, changed, http.StatusConflict)
}

func TestAnUnwantedClusterIsToldToStopBeforeAnythingIsMade(t *testing.T) {
	h, cluster, r := started(t)
	r.say("claim", contract.Claim{Pod: "pod-1"})
	_, err := h.store.Destroy(t.Context(), cluster, clusters.Origin{Actor: "github:maya", Why: "changed her mind"})
	require.NoError(t, err)
	answer, status := r.say("record", r.record())
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
	var j v1.JobDetail
	row, err := h.store.Cluster(t.Context(), cluster)
	require.NoError(t, err)
	h.get("/api/v1/jobs/"+row.JobID+"?lines=1", &j)
	require.Equal(t, []string{"two"}, j.Log)
	var c v1.ClusterDetail
	h.get("/api/v1/clusters/"+cluster, &c)
	require.Equal(t, 20, c.Progress.Percent)
	require.Equal(t, "creating manifests", c.Progress.Step)
}

func TestAReadyClusterHandsOutItsKubeconfigWrittenDownFirst(t *testing.T) {
	h, cluster, r := started(t)
	r.say("claim", contract.Claim{Pod: "pod-1"})
	h.refused(http.MethodGet, "/api/v1/clusters/"+cluster+"/kubeconfig", h.as(oidc.Requester), nil, http.StatusConflict)
	r.say("record", r.record())
	r.succeeds()
	h.step(cluster)

	var out v1.Outputs
	h.get("/api/v1/clusters/"+cluster+"/outputs", &out)
	require.Equal(t, "/api/v1/clusters/"+cluster+"/kubeconfig", out.Kubeconfig)
	h.refused(http.MethodGet, out.Kubeconfig, h.as(oidc.Auditor), nil, http.StatusForbidden)

	answer, raw := h.ask(http.MethodGet, out.Kubeconfig, h.as(oidc.Requester), nil)
	require.Equal(t, http.StatusAccepted, answer.StatusCode, "%s", raw)
	require.NotEmpty(t, answer.Header.Get("Retry-After"))
	answer, _ = h.ask(http.MethodGet, out.Kubeconfig+"?wait=1", h.as(oidc.Requester), nil)
	require.Equal(t, http.StatusServiceUnavailable, answer.StatusCode, "for programs that know no 202")
	require.NotEmpty(t, answer.Header.Get("Retry-After"))
	servicetest.Mint(t, h.store, h.shelf)
	answer, raw = h.ask(http.MethodGet, out.Kubeconfig+"?wait=1", h.as(oidc.Requester), nil)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Equal(t, "application/yaml", answer.Header.Get("Content-Type"))
	require.Equal(t, "no-store", answer.Header.Get("Cache-Control"))
	require.Contains(t, string(raw), "server: https://api.shop.labs.example.com:6443\n")
	require.Contains(t, string(raw), servicetest.TokenSignature)
	require.NotContains(t, string(raw), servicetest.ClientKey, "the installer's is handed out to nobody")
	expires, err := time.Parse(time.RFC3339, answer.Header.Get("Ocpctl-Access-Expires"))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(8*time.Hour), expires, time.Hour)
	var c v1.ClusterDetail
	h.get("/api/v1/clusters/"+cluster, &c)
	require.Equal(t, v1.Status("READY"), c.Status)
	last := c.Timeline[len(c.Timeline)-1]
	require.Equal(t, "kubeconfig.read", last.Action)
	require.Contains(t, last.Actor, "#maya")

	delete(h.shelf, servicetest.AccessRef(cluster, answer.Header.Get("Ocpctl-Access-Id")))
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
	record := r.record()
	r.say("record", record)
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
	require.Equal(t, []contract.Identity{record.Identity}, claimed.Spec.Identities)
	require.Equal(t, record.Snapshots, claimed.Spec.Snapshots)
	require.Equal(t, "123456789012", claimed.Spec.Account)
	require.Empty(t, claimed.Spec.InstallConfig)
}

func TestAZoneThatHadNoCapacityIsLeftOut(t *testing.T) {
	row := attempts.SpecRow{Kind: lifecycle.Create, ShortZones: []string{"us-east-1a"}}
	row.Row.Spec = clusters.Spec{InstallConfig: "platform: {aws: {defaultMachinePlatform: {zones: [us-east-1a]}}}\n", Zones: []string{"us-east-1a"}, SpareZones: []string{"us-east-1b"}}
	got := toSpec(row, RunnerSettings{})
	require.Equal(t, []string{"us-east-1b"}, got.Zones)
	require.YAMLEq(t, "platform: {aws: {defaultMachinePlatform: {zones: [us-east-1b]}}}", got.InstallConfig)
	row.ShortZones = nil
	require.Equal(t, row.Row.Spec.InstallConfig, toSpec(row, RunnerSettings{}).InstallConfig)
}
