package devstack_test

import (
	"encoding/json"
	"errors"
	"html"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// breakGlass is asked for by maya and approved by will, in their browsers.
func (l *life) breakGlass(*testing.T) {
	maya, will := l.signIn("maya"), l.signIn("will")
	c := l.as("admin").cluster(l.nameOf(42))
	page := "/clusters/" + c.ClusterID
	status, at, _ := maya.visit(page+"/break-glass", url.Values{"reason": {"the console does not let anybody in"}})
	require.Equal(l.t, http.StatusOK, status)
	id := strings.TrimPrefix(at, "/approvals/")
	_, _, said := maya.visit(page+"/kubeadmin-link", url.Values{})
	require.Contains(l.t, said, "break-glass", "nothing before it was approved")
	status, _, said = maya.visit(at+"/approve", url.Values{})
	require.Equal(l.t, http.StatusForbidden, status, said)
	_, _, said = will.visit(at+"/approve", url.Values{"reason": {"INC-7"}})
	require.Contains(l.t, said, "Approved.")
	status, _, _ = will.visit(page+"/kubeadmin-link", url.Values{})
	require.Equal(l.t, v1.ApprovalStateApproved, l.approval(id).State, "it is hers to use, not his: %d", status)

	// The reading is written down before anything is read: it is, too, where the reading fails.
	l.S3Cut.Off()
	status, _, said = maya.visit(page+"/kubeconfig", url.Values{})
	l.S3Cut.On()
	require.GreaterOrEqual(l.t, status, 500, said)
	require.Equal(l.t, 1, l.lines(c.ClusterID, "kubeconfig.read"))

	_, link, _ := maya.visit(page+"/kubeadmin-link", url.Values{})
	require.Contains(l.t, link, "/links/")
	status, _, _ = will.visit(link, url.Values{})
	require.Equal(l.t, http.StatusNotFound, status, "the link is hers alone")
	require.Zero(l.t, l.lines(c.ClusterID, "kubeadmin.read"))
	status, _, said = maya.visit(link, url.Values{})
	require.Equal(l.t, http.StatusOK, status)
	require.Contains(l.t, html.UnescapeString(said), l.kubeadmin(c.ClusterID))
	require.Equal(l.t, 1, l.lines(c.ClusterID, "kubeadmin.read"))
	status, _, said = maya.visit(link, url.Values{})
	require.Equal(l.t, http.StatusNotFound, status)
	require.NotContains(l.t, said, l.kubeadmin(c.ClusterID))
	require.Equal(l.t, v1.ApprovalStateUsed, l.approval(id).State)
	_, _, said = maya.visit(page+"/kubeadmin-link", url.Values{})
	require.Contains(l.t, said, "break-glass", "one approval, one look")
}

func (l *life) lines(cluster, action string) int {
	return l.count("SELECT count(*) FROM audit_events WHERE target_cluster_id = $1 AND action = $2", cluster, action)
}

// kubeadmin reads a cluster's password where it is kept, as nobody else can.
func (l *life) kubeadmin(id string) string {
	l.t.Helper()
	kept, err := filepath.Glob(filepath.Join(l.Dir, "s3", "buckets", "*", "operate", "clusters", id, "*", "kubeadmin-password*"))
	require.NoError(l.t, err)
	require.NotEmpty(l.t, kept)
	raw, err := os.ReadFile(kept[0])
	require.NoError(l.t, err)
	return strings.TrimSpace(string(raw))
}

// killedBeforeItsAnswer: the request is committed, the server is killed, and who asked never hears. Whoever asks again with the
// same key, after the restart, hears what was meant for the first.
func (l *life) killedBeforeItsAnswer(*testing.T) {
	robot := l.byAWS()
	body := v1.CreateRequest{Name: "heard-twice", Profile: "aws-minimal-test", Team: "team-a"}
	server, err := url.Parse(l.PrivateURL())
	require.NoError(l.t, err)
	line := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(server) },
		ModifyResponse: func(*http.Response) error {
			return errors.Join(l.KillServer(), errors.New("nobody heard it"))
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	defer line.Close()
	_, _, err = robot.try(line.URL, http.MethodPost, "/api/v1/clusters", body, "Idempotency-Key", "heard-twice")
	require.Error(l.t, err, "the first was never answered")
	require.Equal(l.t, 1, l.count("SELECT count(*) FROM clusters WHERE name = 'heard-twice'"))
	require.NoError(l.t, l.StartServer(l.ctx))

	again, said := robot.send(http.MethodPost, "/api/v1/clusters", body, "Idempotency-Key", "heard-twice")
	require.Equal(l.t, http.StatusAccepted, again.StatusCode, "%s", said)
	require.Equal(l.t, "true", again.Header.Get("Idempotency-Replayed"))
	third, same := robot.send(http.MethodPost, "/api/v1/clusters", body, "Idempotency-Key", "heard-twice")
	var first, second v1.Accepted
	require.NoError(l.t, json.Unmarshal(said, &first))
	require.NoError(l.t, json.Unmarshal(same, &second))
	first.Status = second.Status // a replay says how it stands now
	require.Equal(l.t, first, second)
	require.Equal(l.t, again.Header.Get("Location"), third.Header.Get("Location"))
	body.Name = "other"
	robot.refused(http.MethodPost, "/api/v1/clusters", body, http.StatusConflict, "Idempotency-Key", "heard-twice")
	robot.until("heard-twice", "ready", isReady)
	require.Equal(l.t, 1, l.count("SELECT count(*) FROM clusters WHERE name = 'heard-twice'"))
}

// allOfItGoes ends whatever the chapters left.
func (l *life) allOfItGoes(*testing.T) {
	admin := l.as("admin")
	for _, r := range l.clusters() {
		if r.Status == "READY" {
			ask[v1.Accepted](admin, http.MethodPost, "/api/v1/clusters/"+r.ID+"/destroy", nil, http.StatusAccepted)
		}
	}
	l.runUntil("every cluster is released", 2*time.Minute, l.every(lifecycle.Released))
	l.runUntil("what opened them is deleted", time.Minute, func() bool { // each deletion is a line of the trail that follows
		return l.count(`SELECT count(*) FROM removals WHERE kind = 'access' AND done_at IS NULL`) == 0
	})
	l.assertNothingLeft()
	l.assertSettled()
}

// theTrail of all this is whole, and whoever changes a copy is found without any server.
func (l *life) theTrail(t *testing.T) {
	auditor := l.as("auditor")
	proof := ask[v1.AuditProof](auditor, http.MethodGet, "/api/v1/audit/verify", nil, http.StatusOK)
	require.True(l.t, proof.Whole, proof.Message)
	require.Greater(l.t, proof.Lines, int64(100))
	l.as("requester").refused(http.MethodGet, "/api/v1/audit/verify", nil, http.StatusForbidden)

	file := filepath.Join(t.TempDir(), "trail.ndjson")
	l.cli("auditor").run("audit", "export", "-f", file).ends(0)
	offline := l.cli("").with("OCPCTL_SERVER=")
	whole := offline.run("audit", "verify", "--file", file).ends(0)
	head := regexp.MustCompile(`\d+:[0-9a-f]{64}`).FindString(whole)
	require.Contains(l.t, head, proof.Head)
	raw, err := os.ReadFile(file)
	require.NoError(l.t, err)
	lines := strings.SplitAfter(strings.TrimRight(string(raw), "\n"), "\n")
	changed := 0
	for what, tamper := range map[string]func() string{
		"a word changed": func() string { return strings.Replace(string(raw), "INC-7", "INC-8", 1) },
		"a line cut out": func() string { return strings.Join(append(append([]string{}, lines[:40]...), lines[41:]...), "") },
		"two swapped": func() string {
			return strings.Join(append(append(append([]string{}, lines[:40]...), lines[41], lines[40]), lines[42:]...), "")
		},
		"the end cut": func() string { return strings.Join(lines[:len(lines)-1], "") },
	} {
		content := tamper()
		require.NotEqual(l.t, string(raw), content, what)
		require.NoError(l.t, os.WriteFile(file, []byte(content), 0o600))
		said := offline.run("audit", "verify", "--file", file, "--head", head).ends(1)
		require.Contains(l.t, said, "broken", what)
		changed++
	}
	require.Equal(l.t, 4, changed)
}
