package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestLinksAreKeptAndLooksThatSucceededAreShownNowhere(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := sleepy(t, s, lifecycle.SleepStopped, nil)
	_, err := s.Pool().Exec(t.Context(), `INSERT INTO cluster_outputs (cluster_id, api_url, console_url, kubeconfig_s3_uri, kubeadmin_secret_ref, metadata_s3_uri)
		VALUES ($1, 'https://api', 'https://console', 's3://k', 's3://p', 's3://m') ON CONFLICT DO NOTHING`, row.ID)
	require.NoError(t, err)
	newest := storetest.Read(t, s, row.ID).JobID
	informed := storetest.Limits
	informed.InformEvery = time.Hour
	step := func() lifecycle.Decision {
		c, f, err := s.Load(t.Context(), row.ID)
		require.NoError(t, err)
		require.Contains(t, f.Described, row.Owner)
		d := lifecycle.Decide(c, f, informed)
		require.NoError(t, s.Apply(t.Context(), d, c.Version))
		return d
	}
	require.Equal(t, lifecycle.Inform, step().Open)
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod")
	require.NoError(t, err)
	links := []lifecycle.Link{{Title: "The shop", URL: "https://web.apps.x"}, {URL: "https://api.apps.x"}}
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Links: &links})
	require.ErrorIs(t, err, db.ErrConflict)
	for range 2 { // the second is the same again
		_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded, Links: &links})
		require.NoError(t, err)
	}
	require.Empty(t, step().Open)
	got := storetest.Read(t, s, row.ID)
	require.Equal(t, links, got.LinksNow())
	require.False(t, got.Work[lifecycle.Inform].IsRequested())
	require.Equal(t, newest, got.JobID, "people read the log of what somebody asked for")

	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM jobs WHERE cluster_id = $1 AND job_type = 'INFORM' AND status = 'SUCCEEDED'`, row.ID))
	for _, c := range []struct {
		of   lifecycle.JobType
		jobs int
	}{{"", 0}, {lifecycle.JobInform, 1}} {
		page, _, err := s.Reports.Jobs(t.Context(), reports.JobFilter{Cluster: row.ID, Type: c.of})
		require.NoError(t, err)
		n := 0
		for _, j := range page {
			if j.Type == lifecycle.JobInform {
				n++
			}
		}
		require.Equal(t, c.jobs, n)
	}
	list, err := s.Attempts.List(t.Context(), row.ID)
	require.NoError(t, err)
	for _, a := range list {
		require.NotEqual(t, lifecycle.Inform, a.Kind)
	}
}

func TestAPushHasLinksLookedForInAClusterForWhichUseDoesNotMatter(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := sleepy(t, s, lifecycle.SleepStopped, nil)
	pokes := func() int { return storetest.Count(t, s, `SELECT pokes FROM clusters WHERE id = $1`, row.ID) }
	before, version := pokes(), storetest.Load(t, s, row.ID).Version
	require.NoError(t, s.Active(t.Context(), row.ID, lifecycle.ActivityPush))
	require.Equal(t, []any{before + 1, version}, []any{pokes(), storetest.Load(t, s, row.ID).Version})
}
