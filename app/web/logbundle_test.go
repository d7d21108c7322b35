package web

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// failedOnce gives a cluster an attempt that failed and stored a log bundle.
func (h *fixture) failedOnce(row clusters.Row, number int, content string) {
	h.Helper()
	attempt := fmt.Sprintf("att_%d", number)
	h.sql(`INSERT INTO attempts (id, cluster_id, job_id, number, kind, token_id, opened_at, phase, closed_at, outcome)
		VALUES ($1, $2, $3, $4, 'create', $1, now(), 'installing', now(), 'failed')`, attempt, row.ID, row.JobID, number)
	servicetest.StoreLogBundle(h, h.store, h.shelf, row.ID, attempt, number, servicetest.StoredAt, "log-bundle-1.tar.gz", content)
}

func TestALogBundleIsDownloadedFromTheClustersPage(t *testing.T) {
	b := newBrowser(t)
	b.signIn("maya")
	row := b.accept("shop", "platform")
	at := "/clusters/" + row.ID
	_, page, _ := b.get(at)
	require.NotContains(t, page, "Download the log bundle")
	status, page, _ := b.post(at+"/log-bundle", nil)
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, page, "shop has no log bundle.")

	b.failedOnce(row, 1, "first")
	b.failedOnce(row, 2, "second")
	_, page, _ = b.get(at)
	for _, want := range []string{
		`id="log-bundle"`, "Download the log bundle of attempt 2", "Download the log bundle of attempt 1", "ocpctl logs shop --bundle", "30 to 90 days after it is destroyed",
	} {
		require.Contains(t, page, want)
	}
	for attempt, want := range map[string]string{"": "second", "1": "first"} {
		status, raw, answer := b.post(at+"/log-bundle", url.Values{"attempt": {attempt}})
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "application/gzip", answer.Header.Get("Content-Type"))
		plain, err := gzip.NewReader(bytes.NewReader([]byte(raw)))
		require.NoError(t, err)
		body, err := io.ReadAll(plain)
		require.NoError(t, err)
		require.Contains(t, string(body), want)
	}

	other := b.browser()
	other.signIn("ada")
	_, page, _ = other.get(at)
	require.NotContains(t, page, "Download the log bundle of attempt")
	require.Contains(t, page, "Only people who may get this cluster")
	status, _, _ = other.post(at+"/log-bundle", nil)
	require.Equal(t, http.StatusForbidden, status)
}
