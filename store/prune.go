package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// pruneBatch bounds what one statement removes, and so how long it holds its locks.
const pruneBatch = 1000

// passing are the rows that are kept for a while. Requests, replies, pull requests, attempts, verifications, approvals, handovers and the
// audit trail are not among them: they prove what was done (verifications go with the state they are about, see removals.go),
// and keep a redelivered webhook from acting twice. Of attempts, looks for links that succeeded are an exception: they prove nothing.
var passing = []struct{ what, sql string }{
	{"log chunks", `
		DELETE FROM log_chunks WHERE (attempt_id, seq) IN (
			SELECT l.attempt_id, l.seq FROM attempts a JOIN log_chunks l ON l.attempt_id = a.id WHERE a.closed_at < @before LIMIT @batch)`},
	// The first report of each phase stays: the timeline is made from it (phases.go).
	{"reports", `
		DELETE FROM reports WHERE (attempt_id, seq) IN (
			SELECT r.attempt_id, r.seq FROM attempts a JOIN reports r ON r.attempt_id = a.id
			WHERE a.closed_at < @before AND NOT EXISTS (SELECT 1 FROM log_chunks l WHERE l.attempt_id = r.attempt_id AND l.seq = r.seq)
				AND (r.phase IN ('', 'preflight') OR EXISTS (
					SELECT 1 FROM reports e WHERE e.attempt_id = r.attempt_id AND e.phase = r.phase AND e.seq < r.seq))
			LIMIT @batch)`},
	// A ready cluster is looked into again and again. Its newest attempt stays, whatever it is: its number is the fence. So does one of which
	// more was told than a look for links tells.
	{"looks for links", `
		WITH old AS MATERIALIZED (
			SELECT a.id, a.job_id FROM attempts a JOIN jobs j ON j.id = a.job_id
			WHERE a.kind = 'inform' AND a.outcome = 'succeeded' AND a.closed_at < @now::timestamptz - interval '1 day' AND j.ended_at IS NOT NULL AND a.recorded_at IS NULL
				AND EXISTS (SELECT FROM attempts n WHERE n.cluster_id = a.cluster_id AND n.number > a.number)
				AND NOT EXISTS (SELECT FROM artifacts f WHERE f.attempt_id = a.id) AND NOT EXISTS (SELECT FROM verifications v WHERE v.attempt_id = a.id)
				AND NOT EXISTS (SELECT FROM reservations r WHERE r.attempt_id = a.id)
			ORDER BY a.closed_at LIMIT @batch),
		chunks AS (DELETE FROM log_chunks WHERE attempt_id IN (SELECT id FROM old)),
		told AS (DELETE FROM reports WHERE attempt_id IN (SELECT id FROM old)),
		ended AS (
			DELETE FROM jobs WHERE id IN (SELECT job_id FROM old)
				AND NOT EXISTS (SELECT FROM attempts o WHERE o.job_id = jobs.id AND o.id NOT IN (SELECT id FROM old)))
		DELETE FROM attempts WHERE id IN (SELECT id FROM old)`},
	{"deliveries", `
		DELETE FROM deliveries WHERE id IN (
			SELECT id FROM deliveries WHERE state <> 'received' AND finished_at < @before ORDER BY finished_at LIMIT @batch)`},
	{"finished effects", `DELETE FROM effects WHERE id IN (SELECT id FROM effects WHERE done_at < @before ORDER BY done_at LIMIT @batch)`},
	// GitHub keeps a commit in a queue for hours. The end of one that is older was lost, and its repository is not looked at any more.
	{"merge groups that ended", `
		DELETE FROM merge_groups WHERE (repo, head) IN (SELECT repo, head FROM merge_groups WHERE ended_at < @before OR ended_at IS NULL AND asked_at < @before LIMIT @batch)`},
	// An open pull request may come into a merge queue at any time, and its gates say which checks the queue's commit needs.
	{"gates that nothing asks for", `
		DELETE FROM gates WHERE id IN (
			SELECT g.id FROM gates g WHERE g.asked_at < @before AND NOT EXISTS (
				SELECT FROM pull_requests p WHERE p.repo = g.repo AND p.head = g.head AND p.open) ORDER BY g.asked_at LIMIT @batch)`},
	{"redeliveries", `DELETE FROM redeliveries WHERE guid IN (SELECT guid FROM redeliveries WHERE asked_at < @before ORDER BY asked_at LIMIT @batch)`},
	{"marks", `DELETE FROM marks WHERE name IN (SELECT name FROM marks WHERE set_at < @before LIMIT @batch)`},
	{"permissions seen long ago", `
		DELETE FROM seen_permissions WHERE (installation, repo, account) IN (
			SELECT installation, repo, account FROM seen_permissions WHERE seen_at < @now::timestamptz - interval '1 day' ORDER BY seen_at LIMIT @batch)`},
	{"reservations", `
		DELETE FROM reservations WHERE cluster_id IN (
			SELECT r.cluster_id FROM reservations r JOIN clusters c ON c.id = r.cluster_id WHERE c.destroyed_at < @before LIMIT @batch)`},
	{"test reports", `
		DELETE FROM test_reports WHERE id IN (
			SELECT t.id FROM test_reports t JOIN clusters c ON c.id = t.cluster_id WHERE c.destroyed_at < @before AND t.reported_at < @before LIMIT @batch)`},
	// The newest scans of an account stay: its findings and its next round are made from them.
	{"scans", `
		DELETE FROM scans WHERE id IN (
			SELECT s.id FROM scans s WHERE s.closed_at < @before AND s.judged_at IS NOT NULL AND 10 <= (
				SELECT count(*) FROM scans n WHERE n.platform = s.platform AND n.account = s.account AND n.round > s.round) LIMIT @batch)`},
	// The newest of each version of an account's document stays, and what was found out last of it: a document may be put back.
	{"proofs", `
		DELETE FROM proofs WHERE id IN (
			SELECT p.id FROM proofs p WHERE p.closed_at < @now::timestamptz - interval '1 day' AND EXISTS (
				SELECT FROM proofs n WHERE (n.platform, n.account, n.version) = (p.platform, p.account, p.version) AND n.round > p.round
					AND (n.verdict <> '' OR p.verdict = '')) LIMIT @batch)`},
	{"resources that are gone", `
		DELETE FROM seen WHERE (platform, account, id) IN (SELECT platform, account, id FROM seen WHERE gone_at < @before LIMIT @batch)`},
	// What people were told of stays for as long as a report can look back from its end.
	{"orphans that are gone", `
		DELETE FROM orphans WHERE id IN (
			SELECT o.id FROM orphans o WHERE o.gone_at < @before AND (o.reported_at IS NULL OR o.gone_at < @now::timestamptz - interval '2 years')
				AND NOT EXISTS (SELECT FROM seen r WHERE r.orphan_id = o.id) LIMIT @batch)`},
	{"expired request keys", `
		DELETE FROM request_keys WHERE (principal, key) IN (SELECT principal, key FROM request_keys WHERE expires_at <= @now LIMIT @batch)`},
	{"expired links", `DELETE FROM links WHERE hash IN (SELECT hash FROM links WHERE expires_at <= @now LIMIT @batch)`},
	{"expired codes of links", `DELETE FROM pending_links WHERE account IN (SELECT account FROM pending_links WHERE expires_at <= @now LIMIT @batch)`},
	{"ended sessions", `DELETE FROM ended_sessions WHERE id IN (SELECT id FROM ended_sessions WHERE expires_at <= @now::timestamptz - interval '1 day' LIMIT @batch)`},
	{"command lines", `DELETE FROM command_lines WHERE id IN (
		SELECT id FROM command_lines WHERE coalesce(expires_at, code_until) <= @now::timestamptz - interval '1 day' LIMIT @batch)`},
	{"spent signatures", `DELETE FROM signatures WHERE hash IN (SELECT hash FROM signatures WHERE expires_at <= @now::timestamptz - interval '1 day' LIMIT @batch)`},
	{"turns in Slack that are over", `
		DELETE FROM slack_channels WHERE (workspace, channel) IN (
			SELECT workspace, channel FROM slack_channels WHERE problem = '' AND next_at < @now::timestamptz - interval '1 day' LIMIT @batch)`},
	// What could not be posted for so long never will be: the repository is gone, or the App is no longer in it.
	{"unposted answers", `
		UPDATE replies SET external_id = -1 WHERE id IN (
			SELECT id FROM replies WHERE external_id = 0 AND created_at < @before LIMIT @batch)`},
	{"effects that could not be made", `
		UPDATE effects SET done_at = @now, given_up = true, note = 'given up: it could not be made for too long' WHERE id IN (
			SELECT id FROM effects WHERE done_at IS NULL AND created_at < @before LIMIT @batch)`},
	// A budget's cause is announced again by whatever comes later in its month.
	{"announcements", `
		DELETE FROM announcements WHERE id IN (
			SELECT id FROM announcements WHERE done_at < @before AND NOT (event = 'budget' AND created_at >= date_trunc('month', @now::timestamptz, 'UTC'))
			ORDER BY done_at LIMIT @batch)`},
	// Their causes are announced no more: the announcement is as old, and what happens again to a cluster has a cause of its own.
	{"notices", `DELETE FROM notices WHERE id IN (SELECT id FROM notices WHERE created_at < @before LIMIT @batch)`},
	{"signals of clusters that are gone", `
		DELETE FROM signals WHERE id IN (
			SELECT g.id FROM signals g JOIN clusters c ON c.id = g.cluster_id WHERE c.destroyed_at < @before AND g.asked_at < @before LIMIT @batch)`},
	{"waits that are over", `
		DELETE FROM waits WHERE id IN (
			SELECT w.id FROM waits w LEFT JOIN clusters c ON c.id = w.cluster_id
			WHERE w.asked_at < @before AND (w.cluster_id IS NULL OR c.destroyed_at < @before) LIMIT @batch)`},
	{"turns of runs", `DELETE FROM uses WHERE id IN (SELECT id FROM uses WHERE released_at < @before ORDER BY released_at LIMIT @batch)`},
	{"runs without a cluster", `
		DELETE FROM runs WHERE id IN (
			SELECT r.id FROM runs r WHERE r.seen_at < @before AND NOT EXISTS (SELECT FROM run_clusters b WHERE b.run_id = r.id)
				AND NOT EXISTS (SELECT FROM run_requests q WHERE q.run_id = r.id) AND NOT EXISTS (SELECT FROM uses u WHERE u.run_id = r.id) AND NOT EXISTS (SELECT FROM signals g WHERE g.run_id = r.id)
				AND NOT EXISTS (SELECT FROM waits w WHERE w.run_id = r.id) AND NOT EXISTS (SELECT FROM test_reports t WHERE t.run_id = r.id)
				AND NOT EXISTS (SELECT FROM access a WHERE a.run_id = r.id) LIMIT @batch)`},
	{"places that lag behind", `
		UPDATE subscribers SET shown_version = wanted_version WHERE id IN (
			SELECT s.id FROM subscribers s JOIN clusters c ON c.id = s.cluster_id
			WHERE s.shown_version < s.wanted_version AND NOT s.muted AND c.destroyed_at < @before LIMIT @batch)`},
}

// Prune removes what finished longer than keep ago: logs and reports of closed attempts (except the first report of each phase),
// processed deliveries, finished effects, announcements, notices, test reports and signals of clusters that are gone, waits, turns of
// runs, runs without a cluster, orphans and resources that are gone, old redeliveries, marks, gates and merge groups. It gives up posts and effects that could not be made for that long. Answers
// and links go as soon as they expire, spent signatures, command lines and ended sessions a day later (clocks differ), looks for links
// that succeeded and outdated proofs of accounts a day after their end. Approvals that can no longer be decided are closed. It returns how many rows it touched.
func (s *Store) Prune(ctx context.Context, keep time.Duration) (n int64, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return 0, err
	}
	closed, err := s.ExpireApprovals(ctx)
	if err != nil {
		return 0, err
	}
	n = int64(closed)
	for _, rows := range passing {
		for {
			tag, err := s.Pool().Exec(ctx, rows.sql, pgx.NamedArgs{"before": now.Add(-keep), "now": now, "batch": pruneBatch})
			if err != nil {
				return n, fmt.Errorf("prune %s: %w", rows.what, err)
			}
			n += tag.RowsAffected()
			if tag.RowsAffected() < pruneBatch {
				break
			}
		}
	}
	return n, nil
}
