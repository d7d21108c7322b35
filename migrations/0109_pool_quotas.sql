-- +goose Up

-- A cluster that waits in a pool counts in no quota until somebody claims it: the pool's size, its most and its cost limit it. A claim would else
-- be refused for a place that it does not take.
LOCK TABLE clusters IN SHARE ROW EXCLUSIVE MODE; -- what counts is replaced by what counts now
INSERT INTO usage_changes (kind, key, month, live, creating, waiting, spent, spent_rate, to_come, to_come_rate, node_ms, nodes, come_node_ms, come_nodes)
SELECT u.kind, u.key, u.month, sum(u.live), sum(u.creating), sum(u.waiting), sum(u.spent), sum(u.spent_rate), sum(u.to_come), sum(u.to_come_rate), sum(u.node_ms), sum(u.nodes),
    sum(u.come_node_ms), sum(u.come_nodes)
FROM clusters c, usage_of(c, -1) u WHERE c.pooled AND c.destroyed_at IS NULL GROUP BY 1, 2, 3;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION usage_of(c clusters, sign integer) RETURNS SETOF usage_counters LANGUAGE sql STABLE AS $$
    SELECT k.kind, k.key, s.month,
        sign * (s.here AND NOT c.pooled AND (NOT c.needs_turn OR c.needs_approval))::integer,
        sign * (s.wanted AND NOT c.pooled AND c.status IN ('PENDING', 'CREATING', 'FAILED') AND NOT c.needs_turn AND NOT c.needs_approval)::integer,
        sign * (s.wanted AND NOT c.pooled AND c.needs_turn AND NOT c.needs_approval)::integer,
        sign * (c.month_amount - s.cents * s.since), sign * s.cents,
        sign * s.coming * s.ends, -sign * s.coming,
        sign * (round(c.month_node_hours * 3600000)::bigint - s.nodes * s.since), sign * s.nodes,
        sign * s.machines * s.ends, -sign * s.machines
    FROM (SELECT c.destroyed_at IS NULL AS here, c.destroyed_at IS NULL AND c.desired = 'present' AS wanted,
            coalesce(c.meter_month, date_trunc('month', c.created_at, 'UTC')) AS month) w,
        LATERAL (SELECT w.*,
            CASE WHEN w.here THEN c.meter_cents ELSE 0 END AS cents, CASE WHEN w.here THEN c.meter_nodes ELSE 0 END AS nodes,
            coalesce((date_part('epoch', c.meter_since) * 1e6)::bigint / 1000 - (date_part('epoch', w.month) * 1000)::bigint, 0)::numeric AS since,
            CASE WHEN w.wanted THEN coalesce(c.coming_cents, c.hourly_cents) ELSE 0 END AS coming,
            CASE WHEN w.wanted THEN greatest(0, c.nodes + coalesce(c.workers_wanted, c.workers, c.workers_base, 0) - coalesce(c.workers_base, 0)) ELSE 0 END AS machines,
            ((date_part('epoch', c.destroy_at) * 1e6)::bigint / 1000)::numeric AS ends) s,
        LATERAL (VALUES ('person', principal_key(c.requested_by)), ('team', c.team), ('repository', c.repo), ('all', '')) AS k (kind, key)
    WHERE k.key IS NOT NULL
    UNION ALL
    SELECT k.kind, k.key, (c.waited ->> 'meter_month')::timestamptz, 0, 0, 0, sign * (c.waited ->> 'month_amount')::numeric, 0, 0, 0,
        sign * round((c.waited ->> 'month_node_hours')::double precision * 3600000)::bigint, 0, 0, 0
    FROM (VALUES ('person', principal_key(c.waited ->> 'requested_by')), ('team', c.waited ->> 'team'), ('all', '')) AS k (kind, key)
    WHERE c.waited IS NOT NULL AND k.key IS NOT NULL
$$;
-- +goose StatementEnd
INSERT INTO usage_changes (kind, key, month, live, creating, waiting, spent, spent_rate, to_come, to_come_rate, node_ms, nodes, come_node_ms, come_nodes)
SELECT u.kind, u.key, u.month, sum(u.live), sum(u.creating), sum(u.waiting), sum(u.spent), sum(u.spent_rate), sum(u.to_come), sum(u.to_come_rate), sum(u.node_ms), sum(u.nodes),
    sum(u.come_node_ms), sum(u.come_nodes)
FROM clusters c, usage_of(c, 1) u WHERE c.pooled AND c.destroyed_at IS NULL GROUP BY 1, 2, 3;

-- +goose Down
LOCK TABLE clusters IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO usage_changes (kind, key, month, live, creating, waiting, spent, spent_rate, to_come, to_come_rate, node_ms, nodes, come_node_ms, come_nodes)
SELECT u.kind, u.key, u.month, sum(u.live), sum(u.creating), sum(u.waiting), sum(u.spent), sum(u.spent_rate), sum(u.to_come), sum(u.to_come_rate), sum(u.node_ms), sum(u.nodes),
    sum(u.come_node_ms), sum(u.come_nodes)
FROM clusters c, usage_of(c, -1) u WHERE c.pooled AND c.destroyed_at IS NULL GROUP BY 1, 2, 3;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION usage_of(c clusters, sign integer) RETURNS SETOF usage_counters LANGUAGE sql STABLE AS $$
    SELECT k.kind, k.key, s.month,
        sign * (s.here AND (NOT c.needs_turn OR c.needs_approval))::integer,
        sign * (s.wanted AND c.status IN ('PENDING', 'CREATING', 'FAILED') AND NOT c.needs_turn AND NOT c.needs_approval)::integer,
        sign * (s.wanted AND c.needs_turn AND NOT c.needs_approval)::integer,
        sign * (c.month_amount - s.cents * s.since), sign * s.cents,
        sign * s.coming * s.ends, -sign * s.coming,
        sign * (round(c.month_node_hours * 3600000)::bigint - s.nodes * s.since), sign * s.nodes,
        sign * s.machines * s.ends, -sign * s.machines
    FROM (SELECT c.destroyed_at IS NULL AS here, c.destroyed_at IS NULL AND c.desired = 'present' AS wanted,
            coalesce(c.meter_month, date_trunc('month', c.created_at, 'UTC')) AS month) w,
        LATERAL (SELECT w.*,
            CASE WHEN w.here THEN c.meter_cents ELSE 0 END AS cents, CASE WHEN w.here THEN c.meter_nodes ELSE 0 END AS nodes,
            coalesce((date_part('epoch', c.meter_since) * 1e6)::bigint / 1000 - (date_part('epoch', w.month) * 1000)::bigint, 0)::numeric AS since,
            CASE WHEN w.wanted THEN coalesce(c.coming_cents, c.hourly_cents) ELSE 0 END AS coming,
            CASE WHEN w.wanted THEN greatest(0, c.nodes + coalesce(c.workers_wanted, c.workers, c.workers_base, 0) - coalesce(c.workers_base, 0)) ELSE 0 END AS machines,
            ((date_part('epoch', c.destroy_at) * 1e6)::bigint / 1000)::numeric AS ends) s,
        LATERAL (VALUES ('person', principal_key(c.requested_by)), ('team', c.team), ('repository', c.repo), ('all', '')) AS k (kind, key)
    WHERE k.key IS NOT NULL
    UNION ALL
    SELECT k.kind, k.key, (c.waited ->> 'meter_month')::timestamptz, 0, 0, 0, sign * (c.waited ->> 'month_amount')::numeric, 0, 0, 0,
        sign * round((c.waited ->> 'month_node_hours')::double precision * 3600000)::bigint, 0, 0, 0
    FROM (VALUES ('person', principal_key(c.waited ->> 'requested_by')), ('team', c.waited ->> 'team'), ('all', '')) AS k (kind, key)
    WHERE c.waited IS NOT NULL AND k.key IS NOT NULL
$$;
-- +goose StatementEnd
INSERT INTO usage_changes (kind, key, month, live, creating, waiting, spent, spent_rate, to_come, to_come_rate, node_ms, nodes, come_node_ms, come_nodes)
SELECT u.kind, u.key, u.month, sum(u.live), sum(u.creating), sum(u.waiting), sum(u.spent), sum(u.spent_rate), sum(u.to_come), sum(u.to_come_rate), sum(u.node_ms), sum(u.nodes),
    sum(u.come_node_ms), sum(u.come_nodes)
FROM clusters c, usage_of(c, 1) u WHERE c.pooled AND c.destroyed_at IS NULL GROUP BY 1, 2, 3;
