package storetest

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
)

// Crowd copies the seed cluster into 10,000 ready and 20,000 released ones, each with a job and an attempt.
func Crowd(b *testing.B, s *store.Store, seed string) {
	b.Helper()
	CrowdOf(b, s, seed, 30_000, 20)
}

// CrowdOf copies the seed cluster n times into that many teams; every third copy is ready, the others are released.
func CrowdOf(b *testing.B, s *store.Store, seed string, n, teams int) {
	b.Helper()
	for _, sql := range []string{`
		INSERT INTO clusters (id, name, platform, version, profile, region, base_domain, owner, team, cost_center, environment,
			requested_by, source, ttl, hourly_cents, request_tags, effective_tags, spec, installation, repo, pr_number, pr_head,
			status, phase, why, desired, desired_why, teardown, max_tries, wake_at, end_ttl, end_max, created_at, updated_at, destroyed_at)
		SELECT 'clu_' || lpad(i::text, 8, '0'), 'c' || i, platform, version, profile, region, base_domain, owner, 'team-' || i % $3, cost_center,
			environment, requested_by, source, ttl, hourly_cents, request_tags, effective_tags, spec, installation, repo, i, pr_head,
			CASE WHEN i % 3 = 0 THEN 'READY' ELSE 'DESTROYED' END, CASE WHEN i % 3 = 0 THEN 'ready' ELSE 'released' END, why,
			CASE WHEN i % 3 = 0 THEN 'present' ELSE 'absent' END, CASE WHEN i % 3 = 0 THEN '{}'::jsonb ELSE '{"code":"other","words":"done"}'::jsonb END,
			CASE WHEN i % 3 = 0 THEN '' ELSE 'DESTROY' END, max_tries, CASE WHEN i % 3 = 0 THEN now() + interval '1 day' END,
			end_ttl, end_max, created_at, updated_at, CASE WHEN i % 3 <> 0 THEN created_at - interval '1 day' END
		FROM clusters, generate_series(1000, 999 + $2) i WHERE id = $1`, `
		INSERT INTO jobs (id, cluster_id, job_type, status, created_at, ended_at)
		SELECT 'job_' || id, id, 'CREATE', 'SUCCEEDED', created_at, created_at - interval '1 day' FROM clusters WHERE id <> $1`, `
		INSERT INTO attempts (id, cluster_id, job_id, number, kind, token_id, opened_at, phase, claimed_by, claimed_at, lease_until, recorded_at,
			infra_id, closed_at, outcome)
		SELECT 'att_' || id, id, 'job_' || id, 1, 'create', id, now(), 'installing', 'pod', now(), now(), now(), id, now(), 'succeeded'
		FROM clusters WHERE id <> $1`} {
		args := []any{seed, n, teams}
		_, err := s.Pool().Exec(context.Background(), sql, args[:1+strings.Count(sql, "$2")+strings.Count(sql, "$3")]...)
		require.NoError(b, err)
	}
	_, err := s.Pool().Exec(context.Background(), `VACUUM ANALYZE`)
	require.NoError(b, err)
}
