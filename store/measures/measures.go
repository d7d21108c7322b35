package measures

import (
	"github.com/ocpctl/ocpctl/store/usage"
)

// Measure is one figure that is counted over time: a histogram, or without buckets a counter.
type Measure struct {
	Name, Help string
	Labels     []string
	Buckets    []float64  // upper bounds in seconds; nil: a counter
	Zero       [][]string // groups that are shown before anything was counted, so that the first event is seen as a rise
	Fresh      bool       // counted from the start of the process on: older rows are deleted some day, and a counter may not fall
	events     string     // selects labels and took of what happened after @from and not after @to
}

// Bounds that people ask for: 2 s until something is enqueued, 60 s until a job starts, 30 to 60 minutes for an install.
var (
	seconds = []float64{.1, .25, .5, 1, 2, 5, 10, 30, 60, 300}
	starts  = []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800}
	minutes = []float64{30, 60, 120, 300, 600, 900, 1200, 1800, 2400, 3000, 3600, 5400, 7200, 10800}
)

// lasting leaves out closed attempts a whose rows are deleted after a day (store.Prune): a counter may not fall.
const lasting = "NOT (a.kind = 'inform' AND a.outcome = 'succeeded')"

// All returns every measure. Labels are bounded: profiles come from the catalogue, everything else from the code; only reason is a
// runner's word, and its readers bound it.
func All() []Measure {
	return []Measure{
		{
			Name: "ocpctl_attempts_total", Help: "Ended attempts of runners, by kind, outcome and class of failure. Looks for links count only if they did not succeed.",
			Labels: []string{"kind", "outcome", "reason"},
			Zero:   [][]string{{"create", "succeeded", ""}, {"destroy", "succeeded", ""}, {"create", "failed", ""}, {"destroy", "failed", ""}, {"access", "succeeded", ""}, {"access", "failed", ""}},
			events: `SELECT ARRAY[kind, outcome, reason] AS labels, interval '0' AS took FROM attempts a WHERE ` + usage.RanSQL + ` AND ` + lasting + ` AND closed_at > @from AND closed_at <= @to`,
		}, {
			Name: "ocpctl_teardowns_total", Help: "Teardowns, by result: unaided (counted empty without a person's help) or blocked (it needed a person).",
			Labels: []string{"result"}, Zero: [][]string{{"unaided"}, {"blocked"}},
			events: `
				SELECT ARRAY['unaided'] AS labels, interval '0' AS took FROM clusters c WHERE destroyed_at > @from AND destroyed_at <= @to
					AND EXISTS (SELECT FROM attempts a WHERE a.cluster_id = c.id AND a.kind = 'destroy')
					AND NOT EXISTS (SELECT FROM findings f WHERE f.cluster_id = c.id AND f.kind = 'blocked')
				UNION ALL SELECT ARRAY['blocked'], interval '0' FROM findings WHERE kind = 'blocked' AND first_seen_at > @from AND first_seen_at <= @to`,
		}, {
			Name: "ocpctl_attempt_duration_seconds", Help: "Time from the opening to the end of an attempt.",
			Labels: []string{"kind", "profile", "outcome"}, Buckets: minutes,
			events: `SELECT ARRAY[a.kind, c.profile, a.outcome] AS labels, a.closed_at - a.opened_at AS took
				FROM attempts a JOIN clusters c ON c.id = a.cluster_id WHERE ` + usage.RanSQL + ` AND ` + lasting + ` AND a.closed_at > @from AND a.closed_at <= @to`,
		}, {
			Name: "ocpctl_phase_duration_seconds", Help: "Time that a phase of an attempt took, from its first report to that of the next phase or the end.",
			Labels: []string{"kind", "phase", "profile"}, Buckets: minutes,
			events: `SELECT ARRAY[r.kind, r.phase, r.profile] AS labels, coalesce(lead(r.began) OVER (PARTITION BY r.id ORDER BY r.seq), r.closed_at) - r.began AS took
				FROM (SELECT DISTINCT ON (a.id, p.phase) a.id, a.kind, c.profile, a.closed_at, p.phase, p.seq, p.received_at AS began
					FROM attempts a JOIN clusters c ON c.id = a.cluster_id JOIN reports p ON p.attempt_id = a.id
					WHERE ` + lasting + ` AND a.closed_at > @from AND a.closed_at <= @to AND p.phase NOT IN ('', 'preflight') ORDER BY a.id, p.phase, p.seq) AS r`,
		}, {
			Name: "ocpctl_cluster_create_seconds", Help: "Time from the accepted request to the ready cluster, with approvals, queues and retries.",
			Labels: []string{"profile"}, Buckets: minutes,
			events: `SELECT ARRAY[c.profile] AS labels, a.closed_at - coalesce((c.waited ->> 'created_at')::timestamptz, c.created_at) AS took
				FROM attempts a JOIN clusters c ON c.id = a.cluster_id
				WHERE a.kind = 'create' AND a.outcome = 'succeeded' AND a.closed_at > @from AND a.closed_at <= @to`,
		}, {
			Name: "ocpctl_cluster_destroy_seconds", Help: "Time from the first teardown's start until the account was counted empty.",
			Labels: []string{"profile"}, Buckets: minutes,
			events: `SELECT ARRAY[c.profile] AS labels, c.destroyed_at - min(a.opened_at) AS took
				FROM clusters c JOIN attempts a ON a.cluster_id = c.id AND a.kind = 'destroy' AND (c.reopened_at IS NULL OR a.opened_at >= c.reopened_at)
				WHERE c.destroyed_at > @from AND c.destroyed_at <= @to GROUP BY c.id`,
		}, {
			Name: "ocpctl_teardown_start_lag_seconds", Help: "Time from a cluster's end to the start of its first teardown, of clusters that reached their end.",
			Labels: nil, Buckets: starts,
			events: `SELECT '{}'::text[] AS labels, a.opened_at - c.destroy_at AS took
				FROM attempts a JOIN clusters c ON c.id = a.cluster_id
				WHERE a.kind = 'destroy' AND a.closed_at > @from AND a.closed_at <= @to AND a.opened_at >= c.destroy_at
					AND NOT EXISTS (SELECT FROM attempts e WHERE e.cluster_id = a.cluster_id AND e.kind = 'destroy' AND e.number < a.number)`,
		}, {
			Name: "ocpctl_runner_start_seconds", Help: "Time from the opening of an attempt until its runner claimed it, without looks for links. An attempt lost before it was claimed counts with the time until it was closed, at least 61 s.",
			Labels: []string{"kind"}, Buckets: starts,
			events: `SELECT ARRAY[kind] AS labels, claimed_at - opened_at AS took FROM attempts WHERE kind <> 'inform' AND claimed_at > @from AND claimed_at <= @to
				UNION ALL SELECT ARRAY[kind], greatest(closed_at - opened_at, interval '61 seconds') FROM attempts a
				WHERE kind <> 'inform' AND claimed_at IS NULL AND outcome = 'lost' AND ` + usage.RanSQL + ` AND closed_at > @from AND closed_at <= @to`,
		}, {
			Name: "ocpctl_pool_claim_seconds", Help: "Time from a claim until the cluster could be used by whoever claimed it.",
			Labels: []string{"pool"}, Buckets: seconds,
			events: `SELECT ARRAY[pool] AS labels, ready_at - claimed_at AS took FROM clusters WHERE waited IS NOT NULL AND ready_at > @from AND ready_at <= @to`,
		}, {
			Name: "ocpctl_access_total", Help: "Kubeconfigs by what happened: asked, minted, revoked, removed (the account of a revoked or expired one is gone from its cluster).",
			Labels: []string{"event"}, Zero: [][]string{{"asked"}, {"minted"}, {"revoked"}, {"removed"}},
			events: `SELECT ARRAY[e.event] AS labels, interval '0' AS took FROM access a
				CROSS JOIN LATERAL (VALUES ('asked', a.asked_at), ('minted', a.minted_at), ('revoked', a.revoked_at), ('removed', a.removed_at)) AS e (event, at)
				WHERE e.at > @from AND e.at <= @to`,
		}, {
			Name: "ocpctl_access_mint_seconds", Help: "Time from a request for a kubeconfig of a ready cluster until a runner had made it.",
			Labels: []string{"role"}, Buckets: seconds,
			events: `SELECT ARRAY[a.role] AS labels, a.minted_at - a.asked_at AS took FROM access a JOIN clusters c ON c.id = a.cluster_id
				WHERE a.minted_at > @from AND a.minted_at <= @to AND a.asked_at >= c.ready_at`,
		}, {
			Name: "ocpctl_access_revoke_seconds", Help: "Time from the revocation of a kubeconfig until its account was removed from the cluster.",
			Labels: nil, Buckets: starts,
			events: `SELECT '{}'::text[] AS labels, removed_at - revoked_at AS took FROM access
				WHERE removed_at > @from AND removed_at <= @to AND revoked_at IS NOT NULL AND attempt IS NOT NULL`,
		}, {
			Name: "ocpctl_webhook_processing_seconds", Help: "Time from the arrival of a delivery until it was processed, since this process started.",
			Labels: []string{"source", "state"}, Buckets: seconds, Fresh: true,
			events: `SELECT ARRAY[source, state] AS labels, finished_at - received_at AS took
				FROM deliveries WHERE state <> 'received' AND finished_at > @from AND finished_at <= @to`,
		},
	}
}
