package reports_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestRowsAreComparedWithWhatShouldAgreeWithThem(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	kinds := func() (list []lifecycle.FindingKind) {
		t.Helper()
		found, err := s.Reports.CrossFindings(t.Context())
		require.NoError(t, err)
		for _, f := range found {
			require.NotEmpty(t, f.Evidence)
			list = append(list, f.Kind)
		}
		return list
	}
	_, open := storetest.Claimed(t, s, "shop")
	_, err := s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("shop-abcde"), storetest.Bundles("shop-abcde"))
	require.NoError(t, err)
	require.Empty(t, kinds())
	_, err = s.Pool().Exec(t.Context(), `DELETE FROM artifacts`)
	require.NoError(t, err)
	require.Equal(t, []lifecycle.FindingKind{lifecycle.ArchiveMissing}, kinds())

	pull := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("pull"), 7))
	require.Len(t, kinds(), 1, "it is not behind for long")
	clock.Pass(11 * time.Minute)
	require.Contains(t, kinds(), lifecycle.ShownBehind)
	_, err = s.Pool().Exec(t.Context(), `UPDATE subscribers SET shown_version = wanted_version WHERE cluster_id = $1`, pull.ID)
	require.NoError(t, err)
	require.Len(t, kinds(), 1)
}

func TestAReadyClusterThatTwoCompleteScansDoNotSeeIsToldAndNothingElse(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	r := storetest.Found(clock, "shop")
	r.Attempts[0].Outputs = storetest.Outputs()
	_, err := s.Recover(t.Context(), r)
	require.NoError(t, err)
	scan := func(id, account, outcome, err string) {
		t.Helper()
		clock.Pass(time.Hour / 4)
		_, e := s.Pool().Exec(t.Context(), `
			INSERT INTO scans (id, platform, account, round, asked_by, spec, opened_at, runner_since, token_id, regions, closed_at, outcome)
			VALUES ($1, 'aws', $2, (SELECT count(*) + 1 FROM scans), 'schedule', '{}', $3, $3, $1, '{us-east-1}', $3, $4)`, id, account, clock.Now(), outcome)
		require.NoError(t, e)
		_, e = s.Pool().Exec(t.Context(), `INSERT INTO scan_parts (scan_id, name, runner, done_at, err) VALUES ($1, 'us-east-1/ec2', 1, $2, $3), ($1, 'us-west-2/ec2', 1, $2, 'denied')`, id, clock.Now(), err)
		require.NoError(t, e)
	}
	told := func() int {
		t.Helper()
		found, err := s.Reports.CrossFindings(t.Context())
		require.NoError(t, err)
		return len(found)
	}
	scan("scn_1", "123456789012", "succeeded", "")
	scan("scn_2", "123456789012", "succeeded", "access denied")
	scan("scn_3", "123456789012", "failed", "")
	scan("scn_4", "999999999999", "succeeded", "")
	require.Zero(t, told(), "only one of them looked at everything there")
	scan("scn_5", "123456789012", "succeeded", "")
	require.Equal(t, 1, told())
	_, err = s.Pool().Exec(t.Context(), `
		INSERT INTO seen (platform, account, id, parts, resource, first_seen_at, last_seen_at, last_scan, sights)
		VALUES ('aws', '123456789012', 'vpc-1', '{us-east-1/ec2}', '{"tags": {"kubernetes.io/cluster/shop-abcde": "owned"}}', now(), now(), 'scn_5', 1)`)
	require.NoError(t, err)
	require.Zero(t, told())
}

func TestTheDeploymentOfARunThatStaysActiveAfterItsClusterIsToldUntilItFollows(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.AskedWithSignal(t, s, "shop")
	require.NoError(t, s.Runs.Told(t.Context(), storetest.SignalOf(t, s, row), lifecycle.SignalBegun))
	storetest.Readies(t, s, row)
	require.NoError(t, s.Runs.Told(t.Context(), storetest.SignalOf(t, s, row), lifecycle.SignalReady))
	behind := func() (evidence []string) {
		t.Helper()
		_, err := s.Pool().Exec(t.Context(), `UPDATE subscribers SET shown_version = wanted_version WHERE cluster_id = $1`, row.ID)
		require.NoError(t, err)
		found, err := s.Reports.CrossFindings(t.Context())
		require.NoError(t, err)
		for _, f := range found {
			if f.Kind == lifecycle.ShownBehind {
				require.Equal(t, row.ID, f.Cluster)
				evidence = append(evidence, f.Evidence...)
			}
		}
		return evidence
	}
	clock.Pass(time.Hour)
	require.Empty(t, behind(), "it is ready, and its deployment says so")
	_, err := s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	storetest.Step(t, s, row.ID)
	clock.Pass(9 * time.Minute)
	require.Empty(t, behind(), "it is not behind for long")
	clock.Pass(2 * time.Minute)
	require.Equal(t, []string{"the deployment of a run in acme/shop says ready"}, behind())
	require.NoError(t, s.Runs.Told(t.Context(), storetest.SignalOf(t, s, row), lifecycle.SignalEnded))
	require.Empty(t, behind())
}

func TestJobsOfClustersWithoutARowAreDeleted(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	storetest.Accept(t, s, storetest.Granted("shop"))
	_, err := s.Pool().Exec(t.Context(), `
		INSERT INTO river_job (kind, args, queue, max_attempts, state, priority) VALUES ('reconcile', '{"cluster": "clu_gone"}', 'reconcile', 1, 'available', 1)`)
	require.NoError(t, err)
	n, err := s.Reports.DropDeadJobs(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.NotEmpty(t, storetest.RiverJobs(t, s, "reconcile"), "those of clusters with a row stay")
}
