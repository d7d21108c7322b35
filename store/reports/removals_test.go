package reports_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/storetest"
)

const retention = 60 * 24 * time.Hour

func due(t testing.TB, s *store.Store) map[string][]reports.RemovalKind {
	t.Helper()
	list, err := s.Reports.DueRemovals(t.Context(), retention, 1000)
	require.NoError(t, err)
	found := map[string][]reports.RemovalKind{}
	for _, r := range list {
		found[r.Cluster] = append(found[r.Cluster], r.Kind)
	}
	return found
}

func TestWhatIsToBeDeletedIsRecordedWithTheEndAndBecomesDueInTime(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	lives := storetest.Accept(t, s, storetest.Granted("lives"))
	require.Empty(t, storetest.RiverJobs(t, s, "remove"))
	gone := storetest.Released(t, s, "gone")
	require.Len(t, storetest.RiverJobs(t, s, "remove"), 1, "the end asks for it at once")
	require.Equal(t, map[string][]reports.RemovalKind{gone: {reports.RemoveAccess}}, due(t, s))
	clock.Pass(2 * time.Hour)
	require.ElementsMatch(t, []reports.RemovalKind{reports.RemoveAccess, reports.RemoveAccessAgain}, due(t, s)[gone])
	clock.Pass(retention)
	require.Len(t, due(t, s)[gone], 3)
	require.NotContains(t, due(t, s), lives.ID)
}

func TestTheEndOfAClusterDuringARoundOfRemovalsAsksForAnotherRound(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	first := storetest.Released(t, s, "first")
	_, err := s.Pool().Exec(t.Context(), `UPDATE river_job SET state = 'running', attempted_at = now(), attempt = 1 WHERE kind = 'remove'`)
	require.NoError(t, err)
	second := storetest.Released(t, s, "second")
	require.Equal(t, []string{`{"news": "released ` + first + `"}`, `{"news": "released ` + second + `"}`}, storetest.RiverJobs(t, s, "remove"))
}

func TestARemovalIsRecordedOnceWithItsAuditLine(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Gone(t, s, clock, "shop")
	_, err := s.Pool().Exec(t.Context(), `
		INSERT INTO cluster_outputs (cluster_id, api_url, console_url, kubeconfig_s3_uri, kubeadmin_secret_ref, metadata_s3_uri)
		VALUES ($1, 'https://api', 'https://console', 's3://b/operate/k', 's3:operate/p', 's3://b/clusters/m')`, row.ID)
	require.NoError(t, err)

	r := reports.Removal{Cluster: row.ID, Kind: reports.RemoveAccess}
	require.NoError(t, s.Reports.RemovalFailed(t.Context(), r, 2, strings.Repeat("x", 999)+"ä: AccessDenied"), "cut within a character")
	require.Equal(t, 1, storetest.Count(t, s, `SELECT tries FROM removals WHERE kind = 'access'`))
	require.NoError(t, s.Reports.Removed(t.Context(), r, 5))
	require.NoError(t, s.Reports.Removed(t.Context(), r, 5), "repeated after a crash")
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'access.removed' AND target_cluster_id = $1`, row.ID))
	require.Equal(t, 7, storetest.Count(t, s, `SELECT objects FROM removals WHERE kind = 'access'`))
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM cluster_outputs WHERE kubeconfig_s3_uri = '' AND kubeadmin_secret_ref = '' AND metadata_s3_uri <> ''`))
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM artifacts WHERE s3_key LIKE 'operate/%'`))
	require.Positive(t, storetest.Count(t, s, `SELECT count(*) FROM artifacts`), "the teardown's archives stay until the retention is over")
	require.Equal(t, 2, storetest.Count(t, s, `SELECT count(*) FROM verifications`))

	clock.Pass(retention)
	require.NoError(t, s.Reports.Removed(t.Context(), reports.Removal{Cluster: row.ID, Kind: reports.RemoveState}, 9))
	require.Zero(t, storetest.Count(t, s, `SELECT (SELECT count(*) FROM artifacts) + (SELECT count(*) FROM verifications)`))
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'state.removed'`))
}

// Its teardown needs the archives, and its proof the counts.
func TestAClusterThatALeakReopensKeepsWhatWasToBeDeleted(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Gone(t, s, clock, "shop")
	clock.Pass(retention + time.Hour)
	list, err := s.Reports.DueRemovals(t.Context(), retention, 1000)
	require.NoError(t, err)
	require.Len(t, list, 3)
	isDue := func() (n int) {
		for _, r := range list {
			due, err := s.Reports.IsDue(t.Context(), r, retention)
			require.NoError(t, err)
			if due {
				n++
			}
		}
		return n
	}
	require.Equal(t, 3, isDue())
	storetest.Orphan(t, s, clock, row.ID, "shop-abcde", lifecycle.OrphanApproved)
	require.Equal(t, lifecycle.Destroy, storetest.Step(t, s, row.ID).Open)
	require.Zero(t, isDue())
	for _, r := range list { // that had begun
		require.NoError(t, s.Reports.Removed(t.Context(), r, 9))
	}
	require.Equal(t, 2, storetest.Count(t, s, `SELECT count(*) FROM verifications`))
	require.Positive(t, storetest.Count(t, s, `SELECT count(*) FROM artifacts`))
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM removals WHERE done_at IS NOT NULL`))
}

// Whatever happens to clusters, and however long they live: only what is DESTROYED is ever due, and all of it is.
func TestOnlyClustersThatAreGoneAreEverDue(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		row := storetest.Accept(t, s, storetest.Granted(fmt.Sprintf("c%d", n)))
		for range rapid.IntRange(0, 4).Draw(r, "steps") {
			switch rapid.SampledFrom([]string{"step", "destroy", "hour", "quarter"}).Draw(r, "what") {
			case "step":
				storetest.Step(t, s, row.ID)
			case "destroy":
				_, err := s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
				require.True(t, err == nil || errors.Is(err, db.ErrConflict), err)
			case "hour":
				clock.Pass(time.Hour)
			case "quarter":
				clock.Pass(90 * 24 * time.Hour)
			}
		}
		now, err := s.Cluster(t.Context(), row.ID)
		require.NoError(t, err)
		require.Equal(t, now.Status == lifecycle.Destroyed, len(due(t, s)[row.ID]) > 0, "%s, %s", now.Status, now.Phase)
	})
}
