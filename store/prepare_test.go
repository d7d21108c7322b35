package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestReplacedCredentialsAreReferredToAtOnce(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := sleepy(t, s, lifecycle.SleepStopped, nil)
	for _, sql := range []string{
		`INSERT INTO cluster_outputs (cluster_id, api_url, console_url, kubeconfig_s3_uri, kubeadmin_secret_ref, metadata_s3_uri)
		VALUES ($1, 'https://api', 'https://console', 's3://k', 's3://p', 's3://m') ON CONFLICT DO NOTHING`,
		`UPDATE clusters SET work = work || '{"prepare": {"wanted": 1}}' WHERE id = $1`,
	} {
		_, err := s.Pool().Exec(t.Context(), sql, row.ID)
		require.NoError(t, err)
	}
	open := openNext(t, s, row.ID, lifecycle.Prepare)
	report := attempts.ReportRow{Seq: 1, Phase: lifecycle.Preparing, Replaced: &clusters.Outputs{KubeconfigRef: "s3://k2", KubeadminRef: "s3://p2"}}
	_, err := s.Attempts.Report(t.Context(), open.Attempt, open.Token, report)
	require.NoError(t, err)
	outputs := storetest.Read(t, s, row.ID).Outputs
	require.Equal(t, []string{"https://api", "https://console", "s3://k2", "s3://p2", "s3://m"},
		[]string{outputs.APIURL, outputs.ConsoleURL, outputs.KubeconfigRef, outputs.KubeadminRef, outputs.MetadataRef})

	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded})
	require.NoError(t, err)
	report.Seq, report.Replaced = 2, &clusters.Outputs{KubeconfigRef: "s3://k3", KubeadminRef: "s3://p3"}
	_, err = s.Attempts.Report(t.Context(), open.Attempt, open.Token, report)
	require.NoError(t, err)
	require.Equal(t, "s3://k2", storetest.Read(t, s, row.ID).Outputs.KubeconfigRef, "a closed attempt says nothing any more")

	storetest.Step(t, s, row.ID)
	_, err = s.Sleep(t.Context(), row.ID, store.SleepRequest{}, storetest.Maya(""))
	require.NoError(t, err)
	open = openNext(t, s, row.ID, lifecycle.Sleep)
	_, err = s.Attempts.Report(t.Context(), open.Attempt, open.Token, report)
	require.ErrorIs(t, err, db.ErrConflict, "only what prepares a cluster replaces them")
}

// openNext lets the next attempt begin, and claims it.
func openNext(t *testing.T, s *store.Store, cluster string, kind lifecycle.Kind) attempts.LaunchSpec {
	t.Helper()
	require.Equal(t, kind, storetest.Step(t, s, cluster).Open)
	open, err := s.Attempts.OpenAttempt(t.Context(), cluster)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod")
	require.NoError(t, err)
	return open
}
