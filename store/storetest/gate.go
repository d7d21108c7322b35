package storetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
)

// Zero claims a destroy attempt and brings the proof that nothing is left of demo-abcde.
func Zero(t testing.TB, s *store.Store, clock *Clock, open attempts.LaunchSpec) {
	t.Helper()
	_, err := s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-"+open.Attempt)
	require.NoError(t, err)
	for i, report := range []attempts.ReportRow{{ToolExit: &attempts.ToolExitRow{}}, {Pass: Pass(1)}, {Pass: Pass(2)}} {
		clock.Pass(Limits.VerifyGap * 1000)
		report.Seq, report.Phase = i+1, lifecycle.Verifying
		_, err = s.Attempts.Report(t.Context(), open.Attempt, open.Token, report)
		require.NoError(t, err)
	}
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded})
	require.NoError(t, err)
}

// Before are rows as the release before wrote them: a cluster that installs, recorded without what is asked for now.
func Before(clock *Clock) []string {
	now := fmt.Sprintf("timestamptz '%s'", clock.Now().Format("2006-01-02 15:04:05Z"))
	return []string{
		`INSERT INTO clusters (id, name, platform, version, profile, region, base_domain, owner, team, cost_center, environment, requested_by, door,
			ttl, hourly_cents, request_tags, effective_tags, spec, status, phase, why, max_tries, tries, wake_at, end_ttl, end_max, created_at, updated_at)
		VALUES ('clu_old', 'old', 'aws', '4.20.1', 'aws-minimal-test', 'us-east-1', 'labs.example.com', 'maya', 'acme/platform', 'cc', 'test', 'github:maya',
			'pr_label', '4 hours', 70, '{}', '{}', '{}', 'CREATING', 'installing', 'because', 2, 1, ` + now + `, ` + now + ` + interval '4 hours', ` + now +
			` + interval '8 hours', ` + now + `, ` + now + `)`,
		`INSERT INTO jobs (id, cluster_id, job_type, status, created_at, started_at, attempt) VALUES ('job_old', 'clu_old', 'CREATE', 'RUNNING', ` + now + `, ` + now + `, 1)`,
		`INSERT INTO attempts (id, cluster_id, job_id, number, kind, token_id, opened_at, claimed_by, claimed_at, lease_until, phase, recorded_at, infra_id, account)
		VALUES ('att_old', 'clu_old', 'job_old', 1, 'create', 'token', ` + now + `, 'pod', ` + now + `, ` + now + ` + interval '15 minutes', 'installing', ` + now + `, 'demo-abcde', '123456789012')`,
	}
}
