package api

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// keepsLogs reports archives of logs as a runner does whose installation failed.
func (r *runner) keepsLogs(cluster string, number int, files map[string]string) {
	var stored []contract.Snapshot
	for file, content := range files {
		key := artifacts.LogBundleKey(cluster, number, servicetest.StoredAt, file)
		sum := sha256.Sum256([]byte(content))
		r.shelf[key] = content
		stored = append(stored, contract.Snapshot{
			Type: string(artifacts.Log), Key: key, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(content)), TakenAt: servicetest.StoredAt, InfraID: "shop-00001",
		})
	}
	_, status := r.say("report", contract.Report{Seq: 1, Phase: "installing", Snapshots: stored})
	require.Equal(r, http.StatusOK, status)
}

// unpacked is the content of a .tar.gz by the names of its files.
func unpacked(t *testing.T, raw []byte) map[string]string {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(raw))
	require.NoError(t, err)
	files := map[string]string{}
	for archive := tar.NewReader(plain); ; {
		header, err := archive.Next()
		if err == io.EOF {
			return files
		}
		require.NoError(t, err)
		body, err := io.ReadAll(archive)
		require.NoError(t, err)
		files[header.Name] = string(body)
	}
}

// failing is a cluster whose first attempt stored logs.
func (h *fixture) failing(files map[string]string) (cluster string) {
	h.Helper()
	made := h.make(oidc.Requester, "shop")
	h.step(made.ClusterID)
	open, bearer := h.attempt(made.ClusterID)
	r := &runner{h, open.Attempt, bearer}
	r.say("claim", contract.Claim{Pod: "pod-1"})
	_, status := r.say("record", r.record())
	require.Equal(h, http.StatusOK, status)
	r.keepsLogs(made.ClusterID, 1, files)
	return made.ClusterID
}

const bundleFile, installerLog = "log-bundle-20250301110000.tar.gz", "installer-log-20250301110000.tar.gz"

func TestALogBundleIsDownloadedAsOneArchiveAndEveryReadingIsAudited(t *testing.T) {
	h := newFixture(t)
	cluster := h.failing(map[string]string{bundleFile: "journals", installerLog: "installer"})
	for _, ref := range []string{"shop", cluster} {
		res, raw := h.ask(http.MethodGet, "/api/v1/clusters/"+ref+"/log-bundle", h.as(oidc.Requester), nil)
		require.Equal(t, http.StatusOK, res.StatusCode, "%s", raw)
		require.Equal(t, "application/gzip", res.Header.Get("Content-Type"))
		require.Equal(t, `attachment; filename="shop-attempt-1-logs.tar.gz"`, res.Header.Get("Content-Disposition"))
		require.Equal(t, "no-store", res.Header.Get("Cache-Control"))
		require.Equal(t, map[string]string{"shop-attempt-1-logs/" + bundleFile: "journals", "shop-attempt-1-logs/" + installerLog: "installer"}, unpacked(t, raw))
	}
	require.Equal(t, 2, h.audited("log_bundle.read", cluster))

	h.refused(http.MethodGet, "/api/v1/clusters/"+cluster+"/log-bundle", h.as(will), nil, http.StatusNotFound)
	require.Equal(t, 1, h.audited("log_bundle.refused", cluster))
	require.Contains(t, h.refused(http.MethodGet, "/api/v1/clusters/shop/log-bundle?attempt=7", h.as(oidc.Requester), nil, http.StatusNotFound).Detail,
		"Attempt 7 of shop has no log bundle. These attempts have one: 1.")
	h.refused(http.MethodGet, "/api/v1/clusters/shop/log-bundle?attempt=-1", h.as(oidc.Requester), nil, http.StatusBadRequest)
	require.Equal(t, 2, h.audited("log_bundle.read", cluster), "what was not read is not recorded as read")
}

// audited counts the lines of the audit trail with an action.
func (h *fixture) audited(action, cluster string) (n int) {
	h.Helper()
	require.NoError(h, h.store.Pool().QueryRow(h.Context(), `SELECT count(*) FROM audit_events WHERE action = $1 AND target_cluster_id = $2`, action, cluster).Scan(&n))
	return n
}

func TestTheNewestLogBundleIsGivenUnlessAnAttemptIsNamed(t *testing.T) {
	h := newFixture(t)
	cluster := h.failing(map[string]string{bundleFile: "first"})
	var attempt string
	require.NoError(t, h.store.Pool().QueryRow(t.Context(), `
		INSERT INTO attempts (id, cluster_id, job_id, number, kind, token_id, opened_at, phase, closed_at, outcome)
		SELECT 'att_second', cluster_id, job_id, 2, kind, 'second', now(), phase, now(), 'failed' FROM attempts WHERE cluster_id = $1 RETURNING id`, cluster).Scan(&attempt))
	servicetest.StoreLogBundle(t, h.store, h.shelf, cluster, attempt, 2, servicetest.StoredAt.Add(time.Hour), bundleFile, "second")
	for query, want := range map[string]string{"": "second", "?attempt=2": "second", "?attempt=1": "first"} {
		res, raw := h.ask(http.MethodGet, "/api/v1/clusters/shop/log-bundle"+query, h.as(oidc.Requester), nil)
		require.Equal(t, http.StatusOK, res.StatusCode, "%s", raw)
		for _, content := range unpacked(t, raw) {
			require.Equal(t, want, content, query)
		}
	}
}

func TestALogBundleThatIsNotThereSaysWhyAndOneThatBreaksOffIsNoWholeFile(t *testing.T) {
	h := newFixture(t)
	made := h.make(oidc.Requester, "bare")
	require.Contains(t, h.refused(http.MethodGet, "/api/v1/clusters/bare/log-bundle", h.as(oidc.Requester), nil, http.StatusNotFound).Detail,
		"bare has no log bundle. A bundle is stored when an installation fails")
	_, err := h.store.Pool().Exec(t.Context(), `UPDATE clusters SET status = 'DESTROYED', phase = 'released', desired = 'absent', desired_why = '{"code":"other","words":"x"}', teardown = 'DESTROY', destroyed_at = now() WHERE id = $1`, made.ClusterID)
	require.NoError(t, err)
	require.Contains(t, h.refused(http.MethodGet, "/api/v1/clusters/bare/log-bundle", h.as(oidc.Requester), nil, http.StatusNotFound).Detail,
		"is deleted with the cluster's logs, some time after the cluster is destroyed")

	cluster := h.failing(map[string]string{bundleFile: "journals"})
	key := artifacts.LogBundleKey(cluster, 1, servicetest.StoredAt, bundleFile)
	h.shelf[key] = "damaged!"
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.Server.URL+"/api/v1/clusters/shop/log-bundle", nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+h.as(oidc.Requester))
	res, err := h.Client().Do(request)
	if err == nil {
		_, err = io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	require.Error(t, err, "the connection breaks before the end of the file")
	delete(h.shelf, key)
	require.Contains(t, h.refused(http.MethodGet, "/api/v1/clusters/shop/log-bundle", h.as(oidc.Requester), nil, http.StatusNotFound).Detail,
		"no longer in the bucket")
}
