package controller_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/reports"
)

// BenchmarkFindings is one pass over 10,000 live clusters, of which 100 are not as they should be, beside 100,000 past ones. The
// aim is 150 ms.
func BenchmarkFindings(b *testing.B) {
	h := newFixture(b)
	crowd(h, h.accept("seed").ID)
	h.pass(time.Minute)
	h.work(queue.FindingsArgs{}) // from now on the findings are known
	found, err := h.store.Reports.Findings(h.ctx, reports.FindingFilter{})
	require.NoError(b, err)
	require.Len(b, found, 100)
	b.ResetTimer()
	for b.Loop() {
		h.work(queue.FindingsArgs{})
	}
}

// crowd copies the seed cluster, with an attempt and a recorded name each.
func crowd(h *fixture, seed string) {
	for _, sql := range []string{`
		INSERT INTO clusters (id, name, platform, version, profile, region, base_domain, owner, team, cost_center, environment,
			requested_by, source, ttl, hourly_cents, request_tags, effective_tags, spec, status, phase, why, desired, desired_why, teardown,
			max_tries, wake_at, end_ttl, end_max, created_at, updated_at, destroyed_at)
		SELECT 'clu_' || lpad(i::text, 8, '0'), 'c' || i, platform, version, profile, region, base_domain, owner, team, cost_center,
			environment, requested_by, source, ttl, hourly_cents, request_tags, effective_tags, spec,
			CASE WHEN live THEN 'READY' ELSE 'DESTROYED' END, CASE WHEN live THEN 'ready' ELSE 'released' END, why,
			CASE WHEN live THEN 'present' ELSE 'absent' END, CASE WHEN live THEN '{}'::jsonb ELSE '{"code":"other","words":"done"}'::jsonb END, CASE WHEN live THEN '' ELSE 'DESTROY' END,
			max_tries, CASE WHEN live THEN created_at + (CASE WHEN i % 1100 = 0 THEN interval '-1 hour' ELSE interval '1 hour' END) END,
			end_ttl, end_max, created_at, updated_at, CASE WHEN NOT live THEN created_at - i % 100 * interval '1 day' END
		FROM clusters, generate_series(1, 110000) i, LATERAL (SELECT i % 11 = 0 AS live) l WHERE id = $1`, `
		INSERT INTO jobs (id, cluster_id, job_type, status, created_at, ended_at)
		SELECT 'job_' || id, id, 'CREATE', 'SUCCEEDED', created_at, created_at FROM clusters WHERE id <> $1`, `
		INSERT INTO attempts (id, cluster_id, job_id, number, kind, token_id, opened_at, phase, claimed_by, claimed_at, lease_until, recorded_at,
			infra_id, closed_at, outcome)
		SELECT 'att_' || id, id, 'job_' || id, 1, 'create', id, created_at, 'installing', 'pod', created_at, created_at, created_at,
			id, created_at, 'succeeded'
		FROM clusters WHERE id <> $1`} {
		_, err := h.store.Pool().Exec(h.ctx, sql, seed)
		require.NoError(h.t, err)
	}
	_, err := h.store.Pool().Exec(h.ctx, `ANALYZE`)
	require.NoError(h.t, err)
}

// BenchmarkPublishInSlack is one new state of a cluster, shown in its message: facts, rendering, turn, call and record. A channel takes
// one message a second; the aim is 20 ms, so that one worker keeps up with 50 busy channels.
func BenchmarkPublishInSlack(b *testing.B) {
	h := newFixture(b)
	w, client := newWorkspace(b, h.now)
	h.Teller = client
	row := h.askedInSlack("shop", slackChannel)
	h.showInSlack(row.ID, clusters.KindSlackMessage)
	b.ResetTimer()
	defer pgtest.MeasureCPU(b, h.store.Pool())()
	for b.Loop() {
		b.StopTimer()
		h.pass(2 * time.Second)
		_, err := h.store.Pool().Exec(h.ctx, `
			UPDATE subscribers SET shown_body = '', shown_at = NULL, wanted_version = wanted_version + 1 WHERE kind = 'slack_message'`)
		require.NoError(b, err)
		_, err = h.store.Pool().Exec(h.ctx, `UPDATE clusters SET row_version = row_version + 1`)
		require.NoError(b, err)
		args := h.publishArgs(row.ID, clusters.KindSlackMessage)
		b.StartTimer()
		h.work(args)
	}
	require.Zero(b, w.storms)
	require.Len(b, w.standing(false), 1)
}
