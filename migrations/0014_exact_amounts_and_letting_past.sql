-- +goose Up

-- What a cluster cost this month before meter_since was kept in cents, as a fraction. An exact amount is a whole number:
-- cents an hour x milliseconds (package price). month_cents is no longer read or written; a later migration drops it.
ALTER TABLE clusters
    ADD COLUMN month_amount bigint NOT NULL DEFAULT 0 CHECK (month_amount >= 0),
    ADD COLUMN coming_cents integer CHECK (coming_cents >= 0); -- list price of an hour to come, with the workers asked for; NULL: hourly_cents

-- What nothing was ever made of costs nothing, in reports too.
UPDATE usage_samples u SET estimated_hourly_cost = 0 FROM clusters c WHERE c.id = u.cluster_id AND c.destroyed_at IS NOT NULL
    AND NOT EXISTS (SELECT FROM attempts a WHERE a.cluster_id = c.id AND (a.infra_id IS NOT NULL OR a.cco_name IS NOT NULL));

WITH samples AS (
    SELECT u.cluster_id, u.estimated_hourly_cost::bigint AS cents, c.meter_month AS month,
        (date_part('epoch', u.sample_time) * 1e6)::bigint / 1000 AS at,
        (date_part('epoch', lead(u.sample_time) OVER (PARTITION BY u.cluster_id ORDER BY u.sample_time)) * 1e6)::bigint / 1000 AS until
    FROM usage_samples u JOIN clusters c ON c.id = u.cluster_id WHERE c.meter_month IS NOT NULL
), metered AS (
    SELECT cluster_id, sum(cents * greatest(0, until - greatest(at, (date_part('epoch', month) * 1e6)::bigint / 1000)))::bigint AS amount
    FROM samples WHERE until IS NOT NULL GROUP BY cluster_id
)
UPDATE clusters c SET month_amount = m.amount FROM metered m WHERE m.cluster_id = c.id;

-- The rate of scaled clusters, rounded half up: in whole numbers, as package price does.
UPDATE clusters SET coming_cents =
    (2 * hourly_cents::bigint * greatest(0, nodes + coalesce(workers_wanted, workers, workers_base, 0) - coalesce(workers_base, 0)) + nodes) / (2 * nodes)
    WHERE nodes > 0 AND destroyed_at IS NULL AND (workers IS NOT NULL OR workers_wanted IS NOT NULL);

DROP INDEX clusters_counted;
DROP INDEX clusters_ended;
CREATE INDEX clusters_counted ON clusters (team) INCLUDE (id, requested_by, repo, wish, status, needs_turn, needs_approval, destroy_at, hourly_cents, coming_cents, nodes,
    workers, workers_base, workers_wanted, meter_since, meter_cents, meter_nodes, meter_month, month_amount, month_node_hours) WHERE destroyed_at IS NULL;
CREATE INDEX clusters_ended ON clusters (destroyed_at) INCLUDE (requested_by, team, repo, meter_month, month_amount, month_node_hours);

-- When room was given to a cluster although others had waited for longer; NULL: it was in turn.
ALTER TABLE reservations ADD COLUMN passed_at timestamptz;

-- +goose Down
ALTER TABLE reservations DROP COLUMN passed_at;
DROP INDEX clusters_counted;
DROP INDEX clusters_ended;
UPDATE clusters SET month_cents = month_amount / 3600000.0 WHERE meter_month IS NOT NULL;
ALTER TABLE clusters DROP COLUMN month_amount, DROP COLUMN coming_cents;
CREATE INDEX clusters_counted ON clusters (team) INCLUDE (id, requested_by, repo, wish, status, needs_turn, needs_approval, destroy_at, hourly_cents, nodes,
    workers, workers_base, workers_wanted, meter_since, meter_cents, meter_nodes, meter_month, month_cents, month_node_hours) WHERE destroyed_at IS NULL;
CREATE INDEX clusters_ended ON clusters (destroyed_at) INCLUDE (requested_by, team, repo, meter_month, month_cents, month_node_hours);
