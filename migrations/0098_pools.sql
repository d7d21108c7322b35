-- +goose Up

-- A pool holds ready clusters that wait to be claimed. What the catalogue says of a pool stands there; this is what an admin said since, and how
-- its creates went.
CREATE TABLE pools (
    name       text PRIMARY KEY,
    paused     boolean NOT NULL DEFAULT false,
    draining   boolean NOT NULL DEFAULT false,
    size       integer CHECK (size >= 0), -- NULL: the catalogue's
    changed_by text NOT NULL DEFAULT '',
    changed_at timestamptz
);

ALTER TABLE clusters
    ADD COLUMN pool text NOT NULL DEFAULT '', -- for which it was made; empty: for none
    ADD COLUMN pool_digest text NOT NULL DEFAULT '', -- of what the pool's clusters were made from then
    ADD COLUMN pooled boolean NOT NULL DEFAULT false, -- nobody has claimed it
    ADD COLUMN claimed_at timestamptz,
    -- The columns that a claim replaced, as they were: whose it was while it waited, since when, and what it cost them in the month of the claim.
    ADD COLUMN waited jsonb,
    ADD CONSTRAINT clusters_pooled CHECK (NOT pooled OR pool <> '' AND claimed_at IS NULL),
    ADD CONSTRAINT clusters_claimed CHECK ((claimed_at IS NULL) = (waited IS NULL)),
    DROP CONSTRAINT clusters_status_phase,
    ADD CONSTRAINT clusters_status_phase CHECK (
        (status = 'PENDING'    AND phase IN ('queued', 'awaiting_approval', 'awaiting_capacity')) OR
        (status = 'CREATING'   AND phase IN ('preflight', 'claiming', 'rendering', 'recording', 'installing', 'configuring', 'cleaning')) OR
        (status = 'READY'      AND phase IN ('ready', 'degraded', 'scaled_down', 'expiring', 'going_to_sleep', 'asleep', 'waking', 'preparing')) OR
        (status = 'DESTROYING' AND phase IN ('stopping', 'restoring', 'destroying', 'verifying')) OR
        (status = 'DESTROYED'  AND phase = 'released') OR
        (status = 'FAILED'     AND phase IN ('create_failed', 'destroy_blocked', 'abandoned')));
CREATE INDEX clusters_waited ON clusters (claimed_at) WHERE waited IS NOT NULL;
CREATE INDEX clusters_pool ON clusters (pool) WHERE pool <> '' AND destroyed_at IS NULL;

-- What a claimed cluster cost while it waited stays with whose it was then.
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
DROP TRIGGER clusters_usage_changed ON clusters;
CREATE TRIGGER clusters_usage_changed AFTER UPDATE ON clusters FOR EACH ROW WHEN (
    (old.requested_by, old.team, old.repo, old.destroyed_at IS NULL, old.desired, old.status, old.needs_turn, old.needs_approval, old.meter_month, old.meter_since,
        old.meter_cents, old.meter_nodes, old.month_amount, old.month_node_hours, old.coming_cents, old.nodes, old.workers, old.workers_wanted, old.workers_base, old.destroy_at,
        old.claimed_at)
    IS DISTINCT FROM
    (new.requested_by, new.team, new.repo, new.destroyed_at IS NULL, new.desired, new.status, new.needs_turn, new.needs_approval, new.meter_month, new.meter_since,
        new.meter_cents, new.meter_nodes, new.month_amount, new.month_node_hours, new.coming_cents, new.nodes, new.workers, new.workers_wanted, new.workers_base, new.destroy_at,
        new.claimed_at))
    EXECUTE FUNCTION usage_changed();

-- A claim changes whose a pool's cluster is, once, and nothing of what was made.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION clusters_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF old.desired = 'absent' AND new.desired <> 'absent' THEN
        RAISE EXCEPTION 'the desired state of cluster % is absent, which is final', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF (new.id, new.name, new.platform, new.profile, new.base_domain, new.version, new.region, new.pool, new.pool_digest) IS DISTINCT FROM
       (old.id, old.name, old.platform, old.profile, old.base_domain, old.version, old.region, old.pool, old.pool_digest)
        OR ((new.spec, new.end_max, new.created_at, new.pooled, new.claimed_at, new.waited) IS DISTINCT FROM
            (old.spec, old.end_max, old.created_at, old.pooled, old.claimed_at, old.waited)
            AND NOT (old.pooled AND NOT new.pooled AND new.claimed_at IS NOT NULL)) THEN
        RAISE EXCEPTION 'what was accepted of cluster % never changes', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF new.row_version < old.row_version OR new.pokes < old.pokes THEN
        RAISE EXCEPTION 'version and pokes of cluster % only rise', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF old.status = 'DESTROYED' AND new.status <> 'DESTROYED' THEN
        IF new.status <> 'DESTROYING' OR new.reopened <> old.reopened + 1 OR NOT EXISTS (
            SELECT FROM orphans o WHERE o.cleanup_cluster = old.id AND o.state = 'approved') THEN
            RAISE EXCEPTION 'cluster % is released; only a leak whose removal is allowed opens its teardown again', old.id USING ERRCODE = 'check_violation';
        END IF;
    ELSIF (new.reopened, new.reopened_at) IS DISTINCT FROM (old.reopened, old.reopened_at) THEN
        RAISE EXCEPTION 'cluster % is not released, so its teardown cannot be opened again', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd
DROP TRIGGER clusters_origin_guard ON clusters;
CREATE TRIGGER clusters_origin_guard BEFORE UPDATE OF repo, installation, repo_id, pr_number, pr_head, generation, source, requested_by ON clusters
    FOR EACH ROW WHEN (new.claimed_at IS NOT DISTINCT FROM old.claimed_at) EXECUTE FUNCTION clusters_origin_guard();

-- +goose Down
DROP TRIGGER clusters_origin_guard ON clusters;
CREATE TRIGGER clusters_origin_guard BEFORE UPDATE OF repo, installation, repo_id, pr_number, pr_head, generation, source, requested_by ON clusters
    FOR EACH ROW EXECUTE FUNCTION clusters_origin_guard();
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION clusters_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF old.desired = 'absent' AND new.desired <> 'absent' THEN
        RAISE EXCEPTION 'the desired state of cluster % is absent, which is final', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF (new.id, new.name, new.platform, new.profile, new.base_domain, new.version, new.region, new.spec, new.end_max, new.created_at)
        IS DISTINCT FROM
       (old.id, old.name, old.platform, old.profile, old.base_domain, old.version, old.region, old.spec, old.end_max, old.created_at) THEN
        RAISE EXCEPTION 'what was accepted of cluster % never changes', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF new.row_version < old.row_version OR new.pokes < old.pokes THEN
        RAISE EXCEPTION 'version and pokes of cluster % only rise', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF old.status = 'DESTROYED' AND new.status <> 'DESTROYED' THEN
        IF new.status <> 'DESTROYING' OR new.reopened <> old.reopened + 1 OR NOT EXISTS (
            SELECT FROM orphans o WHERE o.cleanup_cluster = old.id AND o.state = 'approved') THEN
            RAISE EXCEPTION 'cluster % is released; only a leak whose removal is allowed opens its teardown again', old.id USING ERRCODE = 'check_violation';
        END IF;
    ELSIF (new.reopened, new.reopened_at) IS DISTINCT FROM (old.reopened, old.reopened_at) THEN
        RAISE EXCEPTION 'cluster % is not released, so its teardown cannot be opened again', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd
DROP TRIGGER clusters_usage_changed ON clusters;
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
$$;
-- +goose StatementEnd
CREATE TRIGGER clusters_usage_changed AFTER UPDATE ON clusters FOR EACH ROW WHEN (
    (old.requested_by, old.team, old.repo, old.destroyed_at IS NULL, old.desired, old.status, old.needs_turn, old.needs_approval, old.meter_month, old.meter_since,
        old.meter_cents, old.meter_nodes, old.month_amount, old.month_node_hours, old.coming_cents, old.nodes, old.workers, old.workers_wanted, old.workers_base, old.destroy_at)
    IS DISTINCT FROM
    (new.requested_by, new.team, new.repo, new.destroyed_at IS NULL, new.desired, new.status, new.needs_turn, new.needs_approval, new.meter_month, new.meter_since,
        new.meter_cents, new.meter_nodes, new.month_amount, new.month_node_hours, new.coming_cents, new.nodes, new.workers, new.workers_wanted, new.workers_base, new.destroy_at))
    EXECUTE FUNCTION usage_changed();
UPDATE clusters SET phase = 'ready' WHERE phase = 'preparing';
ALTER TABLE clusters
    DROP CONSTRAINT clusters_status_phase,
    ADD CONSTRAINT clusters_status_phase CHECK (
        (status = 'PENDING'    AND phase IN ('queued', 'awaiting_approval', 'awaiting_capacity')) OR
        (status = 'CREATING'   AND phase IN ('preflight', 'claiming', 'rendering', 'recording', 'installing', 'configuring', 'cleaning')) OR
        (status = 'READY'      AND phase IN ('ready', 'degraded', 'scaled_down', 'expiring', 'going_to_sleep', 'asleep', 'waking')) OR
        (status = 'DESTROYING' AND phase IN ('stopping', 'restoring', 'destroying', 'verifying')) OR
        (status = 'DESTROYED'  AND phase = 'released') OR
        (status = 'FAILED'     AND phase IN ('create_failed', 'destroy_blocked', 'abandoned'))),
    DROP COLUMN waited, DROP COLUMN claimed_at, DROP COLUMN pooled, DROP COLUMN pool_digest, DROP COLUMN pool;
DROP TABLE pools;
