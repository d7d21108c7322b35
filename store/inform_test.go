package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/measures"
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

func TestALookForLinksIsForgottenAfterADay(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := sleepy(t, s, lifecycle.SleepStopped, nil)
	informed := storetest.Limits
	informed.InformEvery = 30 * time.Minute
	step := func() lifecycle.Decision {
		c, f, err := s.Load(t.Context(), row.ID)
		require.NoError(t, err)
		d := lifecycle.Decide(c, f, informed)
		require.NoError(t, s.Apply(t.Context(), d, c.Version))
		return d
	}
	look := func(r attempts.ResultRow) {
		clock.Pass(30 * time.Minute)
		require.Equal(t, lifecycle.Inform, step().Open)
		open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
		require.NoError(t, err)
		_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod")
		require.NoError(t, err)
		_, err = s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: 1, Phase: lifecycle.Informing, Log: "a line\n"})
		require.NoError(t, err)
		_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, r)
		require.NoError(t, err)
		step()
	}
	looks := func() string {
		return storetest.Text(t, s, `SELECT string_agg(number || ' ' || outcome, ', ' ORDER BY number) FROM attempts WHERE kind = 'inform'`)
	}
	good := attempts.ResultRow{Outcome: lifecycle.Succeeded}
	look(good)
	look(attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "CardRefused", Message: "it may not"})
	look(good)
	look(good)
	look(good)
	all := "2 succeeded, 3 failed, 4 succeeded, 5 succeeded, 6 succeeded"
	require.Equal(t, all, looks())
	const keep = 30 * 24 * time.Hour
	_, err := s.Prune(t.Context(), keep)
	require.NoError(t, err)
	require.Equal(t, all, looks(), "they are new")

	_, err = s.Pool().Exec(t.Context(), `
		INSERT INTO artifacts (cluster_id, attempt_id, artifact_type, s3_key, manifest_key, checksum, size, infra_id, taken_at, created_at)
		SELECT cluster_id, id, 'LOG', 'k', 'm', repeat('a', 64), 1, '', opened_at, opened_at FROM attempts WHERE number = 2`)
	require.NoError(t, err)
	counted := func() (out []string) {
		for _, m := range measures.All() {
			counts, _, err := s.Measures.Counted(t.Context(), m, time.Time{})
			require.NoError(t, err)
			for _, c := range counts {
				if slices.Contains(c.Labels, "inform") {
					out = append(out, fmt.Sprint(m.Name, " ", c.Labels, " ", c.N))
				}
			}
		}
		return out
	}
	clock.Pass(25 * time.Hour)
	before := counted()
	require.Contains(t, before, "ocpctl_attempts_total [inform failed CardRefused] 1")
	n, err := s.Prune(t.Context(), keep)
	require.NoError(t, err)
	require.EqualValues(t, 2, n)
	require.Equal(t, "2 succeeded, 3 failed, 6 succeeded", looks(), "one of which something is kept stays, one that failed, and the newest attempt, which is the fence")
	require.Equal(t, "FAILED, SUCCEEDED, SUCCEEDED", storetest.Text(t, s, `SELECT string_agg(status, ', ' ORDER BY status) FROM jobs WHERE job_type = 'INFORM'`))
	storetest.Refuses(t, s, "fence and stays", `DELETE FROM attempts WHERE number = 6`)
	storetest.Refuses(t, s, "fence and stays", `DELETE FROM attempts WHERE number = 3`)
	require.Equal(t, before, counted(), "no counter falls")
	census, err := s.Census(t.Context())
	require.NoError(t, err)
	require.Contains(t, census.Jobs, store.JobCount{Type: lifecycle.JobInform, Status: lifecycle.JobFailed, N: 1})
	require.NotContains(t, census.Jobs, store.JobCount{Type: lifecycle.JobInform, Status: lifecycle.JobSucceeded, N: 2})
	require.NotEmpty(t, step().Open)
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, 7, open.Number)
}
