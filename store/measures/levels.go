package measures

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/db"
)

// Level is a figure of one group as it is now.
type Level struct {
	Metric string
	Labels []string // in the order of Levels' description of the metric
	Value  float64
}

// Gauge describes a metric of Levels.
type Gauge struct {
	Name, Help string
	Labels     []string
	sql        string
}

// Gauges returns the metrics that Levels reads.
func Gauges() []Gauge {
	return []Gauge{
		{"ocpctl_clusters_active", "Clusters that are not destroyed, by team, profile and status.", []string{"team", "profile", "status"},
			`SELECT ARRAY[team, profile, status] AS labels, count(*)::float8 AS value FROM clusters WHERE destroyed_at IS NULL GROUP BY team, profile, status`},
		{"ocpctl_past_end_seconds", "How long the cluster that is furthest past its end is past it, by what is missing: teardown (none has begun) or proof (the account was not counted empty).", []string{"missing"},
			`SELECT ARRAY[missing] AS labels, coalesce(max(extract(epoch FROM @now::timestamptz - destroy_at))
				FILTER (WHERE missing = 'proof' OR desired = 'present'), 0)::float8 AS value
			FROM (VALUES ('teardown'), ('proof')) AS m (missing) LEFT JOIN clusters ON destroyed_at IS NULL AND NOT abandoned AND destroy_at > '-infinity' AND destroy_at <= @now GROUP BY missing`},
		{"ocpctl_attempts_open", "Attempts that are open, by kind and state: unclaimed (no runner has it yet) or claimed.", []string{"kind", "state"},
			`SELECT ARRAY[k.kind, s.state] AS labels, count(a.id)::float8 AS value
			FROM unnest(@kinds::text[]) AS k (kind) CROSS JOIN (VALUES ('unclaimed'), ('claimed')) AS s (state)
			LEFT JOIN attempts a ON a.closed_at IS NULL AND a.kind = k.kind AND (a.claimed_at IS NOT NULL) = (s.state = 'claimed') GROUP BY k.kind, s.state`},
		{"ocpctl_access_valid", "Kubeconfigs of living clusters that were made and are neither revoked nor expired, by role in the cluster.", []string{"role"},
			`SELECT ARRAY[r.role] AS labels, count(c.id)::float8 AS value FROM (VALUES ('view'), ('edit'), ('admin')) AS r (role)
			LEFT JOIN access a ON a.role = r.role AND a.minted_at IS NOT NULL AND a.revoked_at IS NULL AND a.expires_at > @now
			LEFT JOIN clusters c ON c.id = a.cluster_id AND c.destroyed_at IS NULL GROUP BY r.role`},
		{"ocpctl_access_revoking_seconds", "For how long the access that was revoked first, or whose time was over first, of those whose account is not removed from its ready cluster, waits for that; 0: none waits.", nil,
			`SELECT '{}'::text[] AS labels, coalesce(max(extract(epoch FROM @now::timestamptz - a.revoked_at)), 0)::float8 AS value
			FROM access a JOIN clusters c ON c.id = a.cluster_id AND c.status = 'READY' AND c.desired = 'present' WHERE ` + access.Taken},
		{"ocpctl_orphans", "Groups of cloud resources that belong to no living cluster and were told, by class.", []string{"class"},
			`SELECT ARRAY[k.class] AS labels, count(o.id)::float8 AS value
			FROM (VALUES ('released'), ('unrecorded'), ('unknown'), ('owned'), ('nobody'), ('foreign')) AS k (class)
			LEFT JOIN orphans o ON o.class = k.class AND o.gone_at IS NULL AND o.state IN ('reported', 'approved', 'removing', 'kept') GROUP BY k.class`},
		{"ocpctl_orphans_hourly_cents", "What they cost in US cents an hour, as far as prices are known, by class.", []string{"class"},
			`SELECT ARRAY[k.class] AS labels, coalesce(sum(o.hourly_cents), 0)::float8 AS value
			FROM (VALUES ('released'), ('unrecorded'), ('unknown'), ('owned'), ('nobody'), ('foreign')) AS k (class)
			LEFT JOIN orphans o ON o.class = k.class AND o.gone_at IS NULL AND o.state IN ('reported', 'approved', 'removing', 'kept') GROUP BY k.class`},
		{"ocpctl_scan_age_seconds", "Longest time since a cloud account was last scanned completely, or since its first scan began if it never was. Only accounts with a scan begun in the last 14 days; 0: there are none.", nil,
			`SELECT '{}'::text[] AS labels, coalesce(max(extract(epoch FROM @now::timestamptz - newest)), 0)::float8 AS value
			FROM (SELECT coalesce(max(closed_at) FILTER (WHERE outcome = 'succeeded'), min(opened_at)) AS newest FROM scans
				GROUP BY platform, account HAVING max(opened_at) > @now::timestamptz - interval '14 days') AS accounts`},
		{"ocpctl_attempt_unclaimed_seconds", "How long the oldest attempt waits for its runner; 0: none waits.", nil,
			`SELECT '{}'::text[] AS labels, coalesce(max(extract(epoch FROM @now::timestamptz - opened_at)), 0)::float8 AS value
			FROM attempts WHERE closed_at IS NULL AND claimed_at IS NULL`},
		{"ocpctl_runner_silence_seconds", "For how long the runner that was silent the longest has not called the Status API; 0: none runs.", nil,
			`SELECT '{}'::text[] AS labels, greatest(0, coalesce(max(extract(epoch FROM @now::timestamptz - (lease_until - @lease::interval))), 0))::float8 AS value
			FROM attempts WHERE closed_at IS NULL AND lease_until IS NOT NULL`},
		{"ocpctl_queue_jobs", "Queue jobs that are not finished, by queue and state.", []string{"queue", "state"},
			`SELECT ARRAY[queue, state::text] AS labels, count(*)::float8 AS value FROM river_job
			WHERE state IN ('available', 'running', 'retryable', 'scheduled', 'pending') GROUP BY queue, state`},
		{"ocpctl_queue_oldest_seconds", "How long the oldest job that may run waits for a worker, by queue.", []string{"queue"},
			`SELECT ARRAY[q.queue] AS labels, greatest(0, coalesce(max(extract(epoch FROM clock_timestamp() - j.scheduled_at)), 0))::float8 AS value
			FROM unnest(@queues::text[]) AS q (queue) LEFT JOIN river_job j ON j.queue = q.queue AND j.state = 'available' GROUP BY q.queue`},
		{"ocpctl_leader", "1 if a worker leads, which periodic work depends on; otherwise 0.", nil,
			`SELECT '{}'::text[] AS labels, (CASE WHEN EXISTS (SELECT FROM river_leader WHERE expires_at > clock_timestamp()) THEN 1 ELSE 0 END)::float8 AS value`},
		{"ocpctl_brakes", "What keeps new clusters from being created now, by kind: freeze, breaker.", []string{"kind"},
			`SELECT ARRAY['freeze'] AS labels, count(*)::float8 AS value FROM freezes WHERE thawed_at IS NULL AND until > @now::timestamptz
			UNION ALL SELECT ARRAY['breaker'], count(*)::float8 FROM breakers WHERE closed_at IS NULL`},
		{"ocpctl_webhooks_waiting", "Stored deliveries that are not processed, by source.", []string{"source"},
			`SELECT ARRAY[s.source] AS labels, count(d.id)::float8 AS value
			FROM (VALUES ('github'), ('slack')) AS s (source) LEFT JOIN deliveries d ON d.state = 'received' AND d.source = s.source GROUP BY s.source`},
		{"ocpctl_webhook_oldest_seconds", "How long the oldest delivery that never failed waits to be processed, by source.", []string{"source"},
			`SELECT ARRAY[s.source] AS labels, greatest(0, coalesce(max(extract(epoch FROM clock_timestamp() - d.received_at)), 0))::float8 AS value
			FROM (VALUES ('github'), ('slack')) AS s (source)
			LEFT JOIN deliveries d ON d.state = 'received' AND d.source = s.source AND d.failing_since IS NULL GROUP BY s.source`},
		{"ocpctl_messages_waiting", "Texts on GitHub and in Slack that are not up to date, by place: github or slack.", []string{"place"},
			`SELECT ARRAY['github'] AS labels, ((SELECT count(*) FROM subscribers WHERE workspace = '' AND shown_version < wanted_version AND NOT muted)
				+ (SELECT count(*) FROM replies WHERE external_id = 0 AND workspace IS NULL) + (SELECT count(*) FROM effects WHERE done_at IS NULL))::float8 AS value
			UNION ALL SELECT ARRAY['slack'], ((SELECT count(*) FROM subscribers WHERE workspace <> '' AND shown_version < wanted_version AND NOT muted)
				+ (SELECT count(*) FROM replies WHERE external_id = 0 AND workspace IS NOT NULL)
				+ (SELECT count(*) FROM notices WHERE shown_version < wanted_version AND given_up = ''))::float8`},
	}
}

// Levels reads every gauge, in one query.
func (s *Store) Levels(ctx context.Context) ([]Level, error) {
	now, err := s.db.Now(ctx)
	if err != nil {
		return nil, err
	}
	var parts []string
	for _, g := range Gauges() {
		parts = append(parts, `SELECT '`+g.Name+`' AS metric, labels, value FROM (`+g.sql+`) AS levels`)
	}
	levels, err := db.All[Level](ctx, s.db.Pool(), strings.Join(parts, " UNION ALL "), pgx.NamedArgs{
		"now": now, "lease": s.db.Options.Lease, "kinds": lifecycle.Kinds(),
		"queues": []string{queue.QueueInbox, queue.QueueReconcile, queue.QueueEffects, queue.QueueMessages},
	})
	if err != nil {
		return nil, fmt.Errorf("read the gauges: %w", err)
	}
	return levels, nil
}
